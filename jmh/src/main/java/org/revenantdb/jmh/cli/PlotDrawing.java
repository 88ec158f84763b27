package org.revenantdb.jmh.cli;

import java.util.ArrayList;
import java.util.Formatter;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A {@link Plot} drawn as SVG: axes with titles and ticks, a legend, and for each mark its median
 * and the range of its rounds. The tooltip of a mark contains its point's name and values.
 */
final class PlotDrawing {
  /*
   *   0   LEFT                     RIGHT     WIDTH
   *   +----+------------------------+----------+ 0
   *   |    |                        |  legend  | TOP
   *   | y  |         marks          |          |
   *   |    +------------------------+          | BOTTOM
   *   |           places, x title              |
   *   +----------------------------------------+ HEIGHT
   *
   * The places share the width of the axis evenly. Values run from 0 or, logarithmic, from the power of ten
   * below the lowest.
   */
  private static final int WIDTH = 860;
  private static final int HEIGHT = 330;
  private static final int LEFT = 76;
  private static final int RIGHT = 640;
  private static final int TOP = 14;
  private static final int BOTTOM = 272;
  private static final int TICKS = 5;

  /**
   * Lines meet their places slightly apart, because their ranges would otherwise cover each other.
   */
  private static final int STAGGER = 5;

  private static final List<String> COLOURS =
      List.of(
          "#1b4f8f", "#d1642b", "#3c8d5a", "#8a4fa3", "#b8962e", "#4aa3b5", "#a33c4f", "#6b6b6b",
          "#7fa52f", "#c77fb0");

  private final Plot plot;
  private final Map<String, Sample> points;
  private final Formatter svg = new Formatter(Locale.ROOT);
  private int seriesCount;
  private double low;
  private double high;

  private PlotDrawing(Plot plot, Map<String, Sample> points) {
    this.plot = plot;
    this.points = points;
  }

  /** Returns the picture, or a sentence where not one of its points was measured. */
  static String draw(Plot plot, Map<String, Sample> points) {
    PlotDrawing drawing = new PlotDrawing(plot, points);
    return drawing.findRange() ? drawing.draw() : "<p>Nothing of this was measured.\n";
  }

  /**
   * Returns round numbers from at most {@code low} to at least {@code high}: powers of ten, or
   * about five steps of 1, 2 or 5 times a power of ten from 0.
   */
  static List<Double> ticks(double low, double high, boolean logarithmic) {
    List<Double> ticks = new ArrayList<>();
    if (logarithmic) {
      int last = (int) Math.ceil(Math.log10(high) - 1e-9);
      int first = Math.min((int) Math.floor(Math.log10(low) + 1e-9), last - 1);
      for (int exponent = first; exponent <= last; exponent++) {
        ticks.add(Math.pow(10, exponent));
      }
      return ticks;
    }
    double rough = Math.max(high, Double.MIN_NORMAL) / TICKS;
    double power = Math.pow(10, Math.floor(Math.log10(rough)));
    double step =
        power * (rough <= power ? 1 : rough <= 2 * power ? 2 : rough <= 5 * power ? 5 : 10);
    int count = (int) Math.ceil(high / step - 1e-9);
    for (int i = 0; i <= Math.max(count, 1); i++) {
      ticks.add(i * step);
    }
    return ticks;
  }

  private boolean findRange() {
    low = Double.POSITIVE_INFINITY;
    high = 0;
    for (Map<String, String> marks : plot.series().values()) {
      seriesCount += isMeasured(marks) ? 1 : 0;
      for (String name : marks.values()) {
        Sample sample = drawable(name);
        if (sample != null) {
          low = Math.min(low, sample.lowest() > 0 ? sample.lowest() : sample.median());
          high = Math.max(high, sample.highest());
        }
      }
    }
    return high > 0 || (low == 0 && !plot.logarithmic());
  }

  /** A series without a point takes no room, neither among the bars nor in the legend. */
  private boolean isMeasured(Map<String, String> marks) {
    return marks.values().stream().anyMatch(name -> drawable(name) != null);
  }

  /** The sample of a point, if there is one that this axis can show. */
  private @Nullable Sample drawable(String point) {
    Sample sample = points.get(point);
    return sample == null || (plot.logarithmic() && sample.median() <= 0) ? null : sample;
  }

  private String draw() {
    svg.format("<svg viewBox='0 0 %d %d' role=img>%n", WIDTH, HEIGHT);
    drawAxes();
    int index = 0;
    for (Map.Entry<String, Map<String, String>> series : plot.series().entrySet()) {
      if (!isMeasured(series.getValue())) {
        continue;
      }
      String colour = COLOURS.get(index % COLOURS.size());
      svg.format("<g fill='%s' stroke='%s'>%n", colour, colour);
      drawSeries(index, series.getValue());
      int y = TOP + 10 + 20 * index;
      svg.format("<rect x=%d y=%d width=12 height=12 />%n", RIGHT + 20, y - 10);
      svg.format(
          "<text class=l x=%d y=%d>%s</text></g>%n", RIGHT + 38, y, Report.escape(series.getKey()));
      index++;
    }
    return svg.format("</svg>%n").toString();
  }

  private void drawAxes() {
    List<Double> ticks = ticks(low, high, plot.logarithmic());
    low = ticks.getFirst();
    high = ticks.getLast();
    for (double tick : ticks) {
      svg.format("<path class=g d='M%d %.1fH%d' />", LEFT, y(tick), RIGHT);
      svg.format("<text class=y x=%d y=%.1f>%s</text>%n", LEFT - 6, y(tick) + 4, number(tick));
    }
    svg.format("<path class=a d='M%d %dV%dH%d' />%n", LEFT, TOP, BOTTOM, RIGHT);
    for (int place = 0; place < plot.places().size(); place++) {
      svg.format(
          "<text class=x x=%.1f y=%d>%s</text>%n",
          centre(place), BOTTOM + 18, Report.escape(plot.places().get(place)));
    }
    svg.format(
        "<text class=x x=%d y=%d>%s</text>%n",
        (LEFT + RIGHT) / 2, BOTTOM + 42, Report.escape(plot.xTitle()));
    svg.format(
        "<text class=x transform='translate(14 %d) rotate(-90)'>%s</text>%n",
        (TOP + BOTTOM) / 2, Report.escape(plot.yTitle()));
  }

  private void drawSeries(int index, Map<String, String> marks) {
    StringBuilder line = new StringBuilder();
    for (int place = 0; place < plot.places().size(); place++) {
      String name = marks.get(plot.places().get(place));
      if (name == null) {
        continue;
      }
      Sample sample = drawable(name);
      if (sample == null) {
        continue;
      }
      double x = centre(place);
      if (plot.form() == Plot.Form.LINES) {
        x += STAGGER * (index - (seriesCount - 1) / 2.0);
        line.append(line.isEmpty() ? 'M' : 'L').append(coordinates(x, y(sample.median())));
        svg.format(
            "<circle cx=%.1f cy=%.1f r=3.5>%s</circle>",
            x, y(sample.median()), title(name, sample));
      } else {
        double width = placeWidth() * 0.84 / seriesCount;
        double left = x + width * (index - seriesCount / 2.0);
        double top = y(sample.median());
        svg.format("<rect class=b x=%.1f y=%.1f width=%.1f ", left, top, width * 0.9);
        svg.format("height=%.1f>%s</rect>", BOTTOM - top, title(name, sample));
        x = left + width * 0.45;
      }
      svg.format(
          "<path class=%s d='M%.1f %.1fV%.1f' />%n",
          plot.form() == Plot.Form.BARS ? "r" : "t", x, y(sample.lowest()), y(sample.highest()));
    }
    if (!line.isEmpty()) {
      svg.format("<path class=s d='%s' />%n", line);
    }
  }

  private static String title(String name, Sample sample) {
    return String.format(
        Locale.ROOT,
        "<title>%s: %s %s, +-%.0f %%, n = %d</title>",
        Report.escape(name),
        number(sample.median()),
        Report.escape(sample.unit()),
        100 * sample.spread(),
        sample.n());
  }

  private double placeWidth() {
    return (double) (RIGHT - LEFT) / plot.places().size();
  }

  private double centre(int place) {
    return LEFT + placeWidth() * (place + 0.5);
  }

  private double y(double value) {
    double share =
        plot.logarithmic()
            ? Math.log10(Math.max(value, low) / low) / Math.log10(high / low)
            : value / high;
    return BOTTOM - Math.clamp(share, 0.0, 1.0) * (BOTTOM - TOP);
  }

  private static String coordinates(double x, double y) {
    return String.format(Locale.ROOT, "%.1f %.1f ", x, y);
  }

  /** Three digits, with a letter for thousands and more. */
  static String number(double value) {
    double size = Math.abs(value);
    if (size >= 1e9) {
      return trim(value / 1e9) + "G";
    }
    if (size >= 1e6) {
      return trim(value / 1e6) + "M";
    }
    if (size >= 1e4) {
      return trim(value / 1e3) + "k";
    }
    return size > 0 && size < 0.001 ? String.format(Locale.ROOT, "%.1e", value) : trim(value);
  }

  private static String trim(double value) {
    String digits = String.format(Locale.ROOT, Math.abs(value) >= 100 ? "%.0f" : "%.3f", value);
    return digits.contains(".") ? digits.replaceAll("\\.?0+$", "") : digits;
  }
}
