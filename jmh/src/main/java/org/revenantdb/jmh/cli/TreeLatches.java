package org.revenantdb.jmh.cli;

import java.util.List;
import java.util.Map;
import org.revenantdb.jmh.coupling.CouplingFork;
import org.revenantdb.jmh.coupling.LatchMode;

/**
 * The same tree under exclusive, shared, optimistic and hybrid latches. It is a separate tree,
 * because the engine's tree supports only hybrid ones.
 */
final class TreeLatches {
  private static final String CHILD = "one_tree";
  private static final String RATE = "latched";

  /** The figure. */
  static final String FIGURE = "hybrid_vs_best";

  /** A heap of fixed size and a collector without threads: nothing but the turns runs. */
  static final List<String> FLAGS = List.of("-Xms512m", "-Xmx512m", "-XX:+UseSerialGC");

  private TreeLatches() {}

  static void measure(ForkSession session) throws CannotMeasureException {
    Figures figures = session.figures();
    String rows = session.sized(200_000, 1_000_000);
    String rounds = session.sized(11, 100);
    String millis = "10";
    figures.setting(
        FIGURE,
        "one tree of "
            + rows
            + " rows in memory, pages of 8 KiB off heap, its latches HybridLatch; rows by zipfian"
            + " 0.99; the modes take turns of "
            + millis
            + " ms, "
            + rounds
            + " each a JVM; a point is the median of hybrid divided by the best other of the same"
            + " round of turns");
    plot(figures, "reads", "How many reads and updates a second, by mode of the latches?");
    plot(figures, "scans", "How many scans and updates a second, by mode of the latches?");
    Map<String, Sample> samples =
        session.run(
            "tree, modes of latches",
            List.of(
                new ForkSession.Child(
                    CHILD,
                    CouplingFork.class,
                    FLAGS,
                    null,
                    List.of(rows, rounds, millis, session.seed()))),
            Map.of(RATE, "1/s"));
    figures.put(FIGURE, worst(samples));
  }

  /** The worst of all points, each of which must have been measured. */
  static double worst(Map<String, Sample> samples) throws CannotMeasureException {
    double worst = Double.POSITIVE_INFINITY;
    for (String point : CouplingFork.points()) {
      if (point.startsWith(FIGURE)) {
        worst = Math.min(worst, ForkSession.median(samples, point + "," + CHILD));
      }
    }
    return worst;
  }

  private static void plot(Figures figures, String kind, String question) {
    Plot plot = new Plot(question, Plot.Form.BARS, "what", "1/s", /* logarithmic= */ true);
    for (LatchMode mode : LatchMode.values()) {
      String first = RATE + "," + kind + ",";
      String last = "," + mode.title();
      CouplingFork.points().stream()
          .filter(point -> point.startsWith(first) && point.endsWith(last))
          .forEach(point ->
              plot.mark(
                  mode.title(),
                  point.substring(first.length(), point.length() - last.length()),
                  point + "," + CHILD));
    }
    figures.plot(plot);
  }
}
