package org.revenantdb.jmh.cli;

import java.util.List;
import java.util.Map;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.revenantdb.jmh.latch.LatchUncontendedBenchmark;

/**
 * The cost of the uncontended latch, by {@link LatchUncontendedBenchmark}. A quick run leaves out
 * the locks that no figure needs.
 */
final class LatchUncontended {
  private static final List<String> MODES = List.of("exclusive", "shared", "optimistic");
  private static final List<String> LOCKS =
      List.of(
          "hybrid",
          "stamped",
          "rwUnfair",
          "rwFair",
          "reentrantUnfair",
          "reentrantFair",
          "synchronized");

  /** The last one is for JMH itself, which would print a warning. */
  private static final String[] FLAGS = {
    "-Xms256m", "-Xmx256m", "-XX:+UseSerialGC", "--sun-misc-unsafe-memory-access=allow"
  };

  private LatchUncontended() {}

  static void measure(LatchSession session) throws CannotMeasureException {
    Figures figures = session.figures();
    ChainedOptionsBuilder options =
        new OptionsBuilder()
            .include(
                LatchUncontendedBenchmark.class.getName()
                    + (session.quick() ? "\\..*_(hybrid|stamped)$" : "\\."))
            .jvmArgs(FLAGS);
    JmhRounds.Plan plan =
        session.quick()
            ? new JmhRounds.Plan(3, TimeValue.milliseconds(60), 9, TimeValue.milliseconds(20))
            : new JmhRounds.Plan(3, TimeValue.milliseconds(250), 9, TimeValue.milliseconds(100));
    Map<String, Sample> points =
        JmhRounds.run("latch, uncontended", session.rounds(), options, plan);
    points.forEach(figures::point);
    plot(figures);
    put(figures, "ratio_uncontended_exclusive", points, "exclusive");
    put(figures, "ratio_uncontended_shared", points, "shared");
    put(figures, "ratio_optimistic", points, "optimistic");
  }

  private static void put(Figures figures, String figure, Map<String, Sample> points, String mode)
      throws CannotMeasureException {
    double ours = LatchSession.median(points, mode + "_hybrid");
    double theirs = LatchSession.median(points, mode + "_stamped");
    figures.put(figure, ours / theirs);
  }

  private static void plot(Figures figures) {
    Plot plot =
        new Plot(
            "What does an uncontended acquire and release cost?",
            Plot.Form.BARS,
            "mode",
            "ns",
            /* logarithmic= */ false);
    for (String lock : LOCKS) {
      for (String mode : MODES) {
        plot.mark(lock, mode, mode + "_" + lock);
      }
    }
    figures.plot(plot);
  }
}
