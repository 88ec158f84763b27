package org.revenantdb.chaos.report;

import static org.revenantdb.chaos.report.Html.count;
import static org.revenantdb.chaos.report.Html.escape;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;
import java.util.function.ToDoubleFunction;
import org.revenantdb.chaos.report.SizeSeries.Along;
import org.revenantdb.chaos.run.Outcome;

/** The plots of a page, each with a sentence that says what it shows. */
final class HtmlPlots {

  /** A curve with more points than this is reduced to its extremes. */
  private static final int MANY_POINTS = 1_500;

  private static final int BINS_PER_DECADE = 8;

  /** Times whose quotient is larger than this get a logarithmic axis. */
  private static final double WIDE = 30;

  private HtmlPlots() {}

  /** The duration of openings: a histogram of all, and the cumulative share for each part. */
  static String recoveryTime(RunReport report) {
    double[] all = RunFigures.of(report).recoveryMillis();
    if (all.length == 0) {
      return "";
    }
    double high = all[all.length - 1];
    double low = Arrays.stream(all).filter(v -> v > 0).findFirst().orElse(1);
    boolean log = all[0] > 0 && high / low > WIDE;
    double[] edges = log ? logEdges(low, high) : linearEdges(high);
    SvgPlot histogram =
        new SvgPlot("Recovery time", "time to open", Unit.MILLIS, log, "openings", Unit.COUNT)
            .bars(count(all.length) + " openings", edges, heights(all, edges));
    SvgPlot shares =
        new SvgPlot("Recovery time, share", "time to open", Unit.MILLIS, log, "done", Unit.SHARE);
    for (Outcome part : report.parts()) {
      double[] sorted = RunFigures.sorted(part.recoveryMillis());
      if (sorted.length > 0) {
        addShares(shares, part.name(), sorted, log);
      }
    }
    return row(
        figure(histogram, "How many openings took how long."),
        figure(shares, "Which share of a part's openings was done after how long."));
  }

  private static void addShares(SvgPlot plot, String name, double[] sorted, boolean log) {
    int points = Math.min(sorted.length, 400);
    double[] x = new double[points + 1];
    double[] y = new double[points + 1];
    x[0] = log ? sorted[0] : 0;
    for (int i = 1; i <= points; i++) {
      int rank = (int) ((long) i * sorted.length / points);
      x[i] = sorted[rank - 1];
      y[i] = (double) rank / sorted.length;
    }
    plot.steps(name, x, y);
  }

  static double[] logEdges(double low, double high) {
    int first = (int) Math.floor(Math.log10(low) * BINS_PER_DECADE);
    int last = (int) Math.floor(Math.log10(high) * BINS_PER_DECADE) + 1;
    double[] edges = new double[last - first + 1];
    Arrays.setAll(edges, i -> Math.pow(10, (double) (first + i) / BINS_PER_DECADE));
    return edges;
  }

  static double[] linearEdges(double high) {
    double step = Scale.step(Unit.MILLIS, high > 0 ? high : 1, 40);
    double[] edges = new double[(int) (high / step) + 2];
    Arrays.setAll(edges, i -> i * step);
    return edges;
  }

  /** The number of values in each bin. A value on an edge counts to its right. */
  static double[] heights(double[] values, double[] edges) {
    double[] heights = new double[edges.length - 1];
    for (double value : values) {
      int found = Arrays.binarySearch(edges, value);
      int bin = found >= 0 ? found : -found - 2;
      heights[Math.clamp(bin, 0, heights.length - 1)]++;
    }
    return heights;
  }

  /** The cost of recovery as the transaction in flight grows: it should stay the same. */
  static String costBySize(List<RecoveryCostPoint> unsorted) {
    if (unsorted.isEmpty()) {
      return "";
    }
    List<RecoveryCostPoint> points =
        unsorted.stream()
            .sorted(Comparator.comparingLong(RecoveryCostPoint::transactionBytes))
            .toList();
    double[] x = column(points, RecoveryCostPoint::transactionBytes);
    boolean log = x[0] > 0 && x[x.length - 1] / x[0] > WIDE;
    List<String> labels = points.stream().map(RecoveryCostPoint::label).toList();
    String axis = "written by the transaction in flight";
    SvgPlot time =
        new SvgPlot("Time by transaction size", axis, Unit.BYTES, log, "time", Unit.MILLIS)
            .logarithmic()
            .curve("time", x, column(points, RecoveryCostPoint::millis), labels);
    SvgPlot bytes =
        new SvgPlot("I/O by transaction size", axis, Unit.BYTES, log, "I/O", Unit.BYTES)
            .airy()
            .curve("bytes read", x, column(points, RecoveryCostPoint::bytesRead), labels)
            .curve("bytes written", x, column(points, RecoveryCostPoint::bytesWritten), List.of());
    SvgPlot operations =
        new SvgPlot("Operations by size", axis, Unit.BYTES, log, "operations", Unit.COUNT)
            .airy()
            .curve("operations", x, column(points, RecoveryCostPoint::operations), labels);
    return row(
        figure(bytes, growth(points)),
        figure(operations, "Operations on files, of every kind."),
        figure(time, "Time until the first read was answered: of this machine, and noisy."));
  }

  /** The growth from the smallest to the largest transaction, where both ends are above zero. */
  private static String growth(List<RecoveryCostPoint> points) {
    RecoveryCostPoint small = points.getFirst();
    RecoveryCostPoint large = points.getLast();
    boolean grows = small.transactionBytes() > 0 && small.bytes() > 0 && points.size() > 1;
    return grows
        ? "The transaction × %s: bytes read and written together × %s."
            .formatted(
                Unit.digits((double) large.transactionBytes() / small.transactionBytes()),
                Unit.digits((double) large.bytes() / small.bytes()))
        : "Bytes counted, not estimated.";
  }

  /** The cost of recovery as the log since the checkpoint grows, and the declared bound. */
  static String costByLog(RunReport report) {
    if (report.costByLog().isEmpty()) {
      return "";
    }
    List<RecoveryCostPoint> points =
        report.costByLog().stream()
            .sorted(Comparator.comparingLong(RecoveryCostPoint::logSinceCheckpoint))
            .toList();
    double[] x = column(points, RecoveryCostPoint::logSinceCheckpoint);
    SvgPlot plot =
        new SvgPlot(
                "Recovery I/O by log", "log since checkpoint", Unit.BYTES, false, "I/O", Unit.BYTES)
            .curve("read and written", x, column(points, RecoveryCostPoint::bytes), List.of())
            .curve("read", x, column(points, RecoveryCostPoint::bytesRead), List.of())
            .curve("written", x, column(points, RecoveryCostPoint::bytesWritten), List.of());
    RecoveryBound bound = report.bound();
    if (bound == null) {
      return figure(plot, "No bound is declared.");
    }
    double end = x[x.length - 1];
    plot.bound(bound.label(), new double[] {0, end}, new double[] {bound.at(0), bound.at(end)});
    long above = points.stream().filter(point -> !bound.holds(point)).count();
    return figure(
        plot,
        above == 0
            ? "All %s recoveries are on or below the declared bound.".formatted(points.size())
            : "%s of %s recoveries are ABOVE the declared bound.".formatted(above, points.size()));
  }

  /** The size of the log: a plot for each kind of x axis. */
  static String sizes(List<SizeSeries> all) {
    StringBuilder out = new StringBuilder();
    for (Along along : Along.values()) {
      List<SizeSeries> some =
          all.stream().filter(s -> s.along() == along && !s.points().isEmpty()).toList();
      if (!some.isEmpty()) {
        SvgPlot plot =
            along == Along.SECONDS
                ? new SvgPlot("Size", "time", Unit.SECONDS, false, "size", Unit.BYTES)
                : new SvgPlot("Size", "operation", Unit.COUNT, false, "size", Unit.BYTES);
        for (SizeSeries series : some) {
          List<SizeSeries.Point> points = thinned(series.points());
          plot.airy()
              .steps(
                  series.label(),
                  points.stream().mapToDouble(SizeSeries.Point::at).toArray(),
                  points.stream().mapToDouble(SizeSeries.Point::bytes).toArray());
        }
        out.append(figure(plot, "Sizes as they were looked at."));
      }
    }
    return row(out.toString());
  }

  /** The first, smallest, largest and last point of each stretch, so that peaks stay. */
  static List<SizeSeries.Point> thinned(List<SizeSeries.Point> points) {
    if (points.size() <= MANY_POINTS) {
      return points;
    }
    List<SizeSeries.Point> kept = new ArrayList<>();
    int stretches = MANY_POINTS / 4;
    for (int i = 0; i < stretches; i++) {
      int from = (int) ((long) i * points.size() / stretches);
      int to = (int) ((long) (i + 1) * points.size() / stretches);
      int low = from;
      int high = from;
      for (int at = from; at < to; at++) {
        low = points.get(at).bytes() < points.get(low).bytes() ? at : low;
        high = points.get(at).bytes() > points.get(high).bytes() ? at : high;
      }
      for (int at : new TreeSet<>(List.of(from, low, high, to - 1))) {
        kept.add(points.get(at));
      }
    }
    return kept;
  }

  static String timeline(KillTimeline timeline) {
    return "<h3>"
        + escape(timeline.title())
        + "</h3>\n"
        + figure(new SvgTimeline(timeline), "Operations from left to right; strokes are instants.");
  }

  private static double[] column(
      List<RecoveryCostPoint> points, ToDoubleFunction<RecoveryCostPoint> value) {
    return points.stream().mapToDouble(value).toArray();
  }

  /** Figures side by side where there is space; nothing without any. */
  private static String row(String... figures) {
    String all = String.join("", figures);
    return all.isEmpty() ? "" : "<div class=\"figures\">" + all + "</div>\n";
  }

  private static String figure(Object svg, String caption) {
    return "<figure>" + svg + "<figcaption>" + escape(caption) + "</figcaption></figure>\n";
  }
}
