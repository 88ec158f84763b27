package org.revenantdb.chaos.report;

import static org.revenantdb.chaos.report.Html.escape;
import static org.revenantdb.chaos.report.Html.px;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A plot as inline SVG: two axes, a legend, and curves, points, steps or bars.
 *
 * <p>Colours come from the page (classes {@code c0} to {@code c7}, {@code bound}). Curves also
 * differ by marker and dashes, so that a grey print can be read. Values that an axis cannot show
 * (not finite; zero on a logarithmic axis) are left out, and a note below gives their number.
 *
 * <p>Threads: one.
 */
final class SvgPlot {

  private static final int WIDTH = 640;
  private static final int LEFT = 76;
  private static final int RIGHT = 28;
  private static final int PLOT_HEIGHT = 220;
  private static final int BELOW = 46;
  private static final int COLOURS = 8;
  private static final double ROOM_ABOVE = 1.04;
  private static final double ROOM_OF_A_FACTOR = 5;

  /** The approximate width of a letter in the legend. */
  private static final double LETTER = 7.1;

  private enum Look {
    CURVE,
    STEPS,
    BARS,
    BOUND
  }

  private record Series(
      String name, Look look, int colour, double[] x, double[] y, List<String> labels) {}

  private final String title;
  private final String xTitle;
  private final Unit xUnit;
  private final boolean xLog;
  private final String yTitle;
  private final Unit yUnit;
  private final List<Series> series = new ArrayList<>();
  private int colours;
  private boolean yLog;
  private boolean airy;

  SvgPlot(String title, String xTitle, Unit xUnit, boolean xLog, String yTitle, Unit yUnit) {
    this.title = title;
    this.xTitle = xTitle;
    this.xUnit = xUnit;
    this.xLog = xLog;
    this.yTitle = yTitle;
    this.yUnit = yUnit;
  }

  /** Leaves some space above the highest value, because a curve along the edge looks cut off. */
  SvgPlot airy() {
    airy = true;
    return this;
  }

  /** Uses a logarithmic y axis; only for lines. */
  SvgPlot logarithmic() {
    yLog = true;
    return this;
  }

  /** Adds a line with a marker at each point; labels are above the markers, or empty. */
  SvgPlot curve(String name, double[] x, double[] y, List<String> labels) {
    return add(name, Look.CURVE, x, y, labels);
  }

  /** Adds a curve that keeps its value until the next point. */
  SvgPlot steps(String name, double[] x, double[] y) {
    return add(name, Look.STEPS, x, y, List.of());
  }

  /** Adds bars; bar i stands from edge i to edge i + 1. */
  SvgPlot bars(String name, double[] edges, double[] heights) {
    return add(name, Look.BARS, edges, heights, List.of());
  }

  /** Adds a line that is an upper bound for others. */
  SvgPlot bound(String name, double[] x, double[] y) {
    series.add(new Series(name, Look.BOUND, 0, x, y, List.of()));
    return this;
  }

  private SvgPlot add(String name, Look look, double[] x, double[] y, List<String> labels) {
    series.add(new Series(name, look, colours++, x, y, labels));
    return this;
  }

  @Override
  public String toString() {
    List<String> legend = new ArrayList<>();
    double top = legend(legend) + 14;
    double bottom = top + PLOT_HEIGHT;
    Scale x = xScale();
    Scale y = yScale(bottom, top);
    StringBuilder out = new StringBuilder();
    out.append("<svg class=\"plot\" role=\"img\" viewBox=\"0 0 ")
        .append(WIDTH + " " + px(bottom + BELOW))
        .append("\"><title>" + escape(title) + "</title>\n");
    legend.forEach(out::append);
    axes(out, x, y, top, bottom);
    int hidden = 0;
    for (Series one : series) {
      hidden += draw(out, one, x, y);
    }
    if (hidden > 0) {
      text(out, "note", LEFT, bottom + 42, "start", hidden + " values cannot be shown here");
    }
    return out.append("</svg>\n").toString();
  }

  private Scale xScale() {
    double[] all =
        series.stream().flatMapToDouble(s -> Arrays.stream(s.x)).filter(this::onX).toArray();
    double low = Arrays.stream(all).min().orElse(xLog ? 1 : 0);
    double high = Arrays.stream(all).max().orElse(xLog ? 10 : 1);
    double last = WIDTH - RIGHT;
    boolean bars = series.stream().anyMatch(s -> s.look == Look.BARS);
    if (!xLog) {
      return Scale.linear(xUnit, 0, high, 8, LEFT, last);
    }
    return bars && low < high
        ? new Scale(xUnit, true, low, high, LEFT, last)
        : Scale.log(xUnit, low, high, LEFT, last);
  }

  private boolean onX(double value) {
    return Double.isFinite(value) && (xLog ? value > 0 : value >= 0);
  }

  private Scale yScale(double bottom, double top) {
    double[] all =
        series.stream()
            .flatMapToDouble(s -> Arrays.stream(s.y))
            .filter(v -> Double.isFinite(v) && (!yLog || v > 0))
            .toArray();
    double high = Arrays.stream(all).max().orElse(1);
    if (yLog) {
      // Space around it, so that a little noise looks little.
      double low = Arrays.stream(all).min().orElse(1);
      return Scale.log(yUnit, low / ROOM_OF_A_FACTOR, high * ROOM_OF_A_FACTOR, bottom, top);
    }
    return Scale.linear(yUnit, 0, high * (airy ? ROOM_ABOVE : 1), 5, bottom, top);
  }

  private double legend(List<String> out) {
    double y = 12;
    double x = LEFT;
    for (Series one : series) {
      double width = 34 + one.name.length() * LETTER;
      if (x > LEFT && x + width > WIDTH - RIGHT) {
        x = LEFT;
        y += 18;
      }
      StringBuilder entry = new StringBuilder();
      String cls = styleOf(one);
      if (one.look == Look.BARS) {
        entry.append(
            "<rect class=\"column %s\" x=\"%s\" y=\"%s\" width=\"18\" height=\"9\"/>"
                .formatted(cls, px(x), px(y - 8)));
      } else {
        entry.append("<path class=\"line %s\" d=\"M%s %sh18\"/>".formatted(cls, px(x), px(y - 4)));
        if (one.look == Look.CURVE) {
          entry.append(marker(one, x + 9, y - 4, ""));
        }
      }
      text(entry, "legend", x + 23, y, "start", one.name);
      out.add(entry.toString());
      x += width;
    }
    return y;
  }

  private void axes(StringBuilder out, Scale x, Scale y, double top, double bottom) {
    double right = WIDTH - RIGHT;
    for (double tick : y.ticks(5)) {
      out.append(
          "<path class=\"grid\" d=\"M%s %sH%s\"/>".formatted(LEFT, px(y.at(tick)), px(right)));
      text(out, "tick", LEFT - 7, y.at(tick) + 4, "end", yUnit.format(tick));
    }
    for (double tick : x.ticks(8)) {
      out.append(
          "<path class=\"grid\" d=\"M%s %sV%s\"/>".formatted(px(x.at(tick)), px(top), px(bottom)));
      text(out, "tick", x.at(tick), bottom + 16, "middle", xUnit.format(tick));
    }
    out.append(
        "<path class=\"axis\" d=\"M%s %sV%sH%s\"/>"
            .formatted(LEFT, px(top), px(bottom), px(right)));
    text(out, "name", right, bottom + 36, "end", xTitle);
    out.append(
        "<text class=\"name\" text-anchor=\"end\" transform=\"translate(13 %s) rotate(-90)\">%s</text>\n"
            .formatted(px(top), escape(yTitle)));
  }

  /** Draws the values that can be shown; returns the number of the others. */
  private int draw(StringBuilder out, Series one, Scale x, Scale y) {
    return one.look == Look.BARS ? drawBars(out, one, x, y) : drawLine(out, one, x, y);
  }

  private int drawBars(StringBuilder out, Series one, Scale x, Scale y) {
    int hidden = 0;
    for (int i = 0; i < one.y.length; i++) {
      if (!x.shows(one.x[i]) || !x.shows(one.x[i + 1]) || !y.shows(one.y[i])) {
        hidden++;
      } else if (one.y[i] > 0) {
        double left = x.at(one.x[i]);
        double up = y.at(one.y[i]);
        String tip =
            xUnit.format(one.x[i])
                + " to "
                + xUnit.format(one.x[i + 1])
                + ": "
                + yUnit.format(one.y[i]);
        out.append(
            "<rect class=\"column %s\" x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\"><title>%s</title></rect>\n"
                .formatted(
                    styleOf(one),
                    px(left + 0.5),
                    px(up),
                    px(Math.max(1, x.at(one.x[i + 1]) - left - 1)),
                    px(Math.max(0.8, y.at(0) - up)),
                    escape(tip)));
      }
    }
    return hidden;
  }

  private int drawLine(StringBuilder out, Series one, Scale x, Scale y) {
    StringBuilder path = new StringBuilder();
    StringBuilder markers = new StringBuilder();
    int hidden = 0;
    for (int i = 0; i < one.x.length; i++) {
      if (!x.shows(one.x[i]) || !y.shows(one.y[i])) {
        hidden++;
        continue;
      }
      double px = x.at(one.x[i]);
      double py = y.at(one.y[i]);
      if (path.isEmpty()) {
        path.append('M').append(px(px)).append(' ').append(px(py));
      } else if (one.look == Look.STEPS) {
        path.append('H').append(px(px)).append('V').append(px(py));
      } else {
        path.append('L').append(px(px)).append(' ').append(px(py));
      }
      if (one.look == Look.CURVE) {
        String label = i < one.labels.size() ? one.labels.get(i) : "";
        String at = xUnit.format(one.x[i]) + ", " + yUnit.format(one.y[i]);
        String tip = one.name + (label.isEmpty() ? "" : ", " + label) + ": " + at;
        markers.append(marker(one, px, py, tip));
        if (!label.isEmpty()) {
          text(markers, "label", px, py - 9, "middle", label);
        }
      }
    }
    out.append("<path class=\"line %s\" d=\"%s\"/>\n".formatted(styleOf(one), path))
        .append(markers);
    return hidden;
  }

  private static String styleOf(Series one) {
    if (one.look == Look.BOUND) {
      return "bound";
    }
    int round = one.colour / COLOURS;
    return "c" + one.colour % COLOURS + (round > 0 ? " d" + Math.min(round, 2) : "");
  }

  private static String marker(Series one, double x, double y, String tip) {
    String shape =
        switch (one.colour % 4) {
          case 0 -> "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z";
          case 1 -> "m-3.5 -3.5h7v7h-7z";
          case 2 -> "m0 -4.5l4.5 8h-9z";
          default -> "m0 -5l5 5l-5 5l-5 -5z";
        };
    String title = tip.isEmpty() ? "" : "<title>" + escape(tip) + "</title>";
    return "<path class=\"dot %s\" d=\"M%s %s%s\">%s</path>\n"
        .formatted(styleOf(one), px(x), px(y), shape, title);
  }

  private static void text(
      StringBuilder out, String cls, double x, double y, String anchor, String text) {
    out.append(
        "<text class=\"%s\" x=\"%s\" y=\"%s\" text-anchor=\"%s\">%s</text>\n"
            .formatted(cls, px(x), px(y), anchor, escape(text)));
  }
}
