package org.revenantdb.jmh.cli;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.util.Version;
import org.revenantdb.jmh.space.PageLsnBenchmark;

/**
 * A page LSN of one word compared with the paper's ten bytes, by {@link PageLsnBenchmark}. A quick
 * run leaves out points that no figure needs.
 */
final class SpaceMapLsn {
  /** The figure: raises a second, one word divided by ten bytes, the worse number of threads. */
  static final String RAISE = "lsn_raise_ratio";

  /** The figure: reads a second while no thread raises, as above. */
  static final String READ = "lsn_read_ratio";

  private static final List<Integer> THREADS = List.of(1, 2);
  private static final List<String> OPERATIONS = List.of("raise", "read", "turns");
  private static final List<String> KINDS = List.of("word", "ten");

  /** The last one is for JMH itself, which would print a warning. */
  private static final String[] FLAGS = {
    "-Xms128m", "-Xmx128m", "-XX:+UseSerialGC", "--sun-misc-unsafe-memory-access=allow"
  };

  private SpaceMapLsn() {}

  static void measure(Figures figures, Rounds rounds, boolean quick) throws CannotMeasureException {
    JmhRounds.Plan plan =
        quick
            ? new JmhRounds.Plan(3, TimeValue.milliseconds(40), 9, TimeValue.milliseconds(15))
            : new JmhRounds.Plan(3, TimeValue.milliseconds(250), 9, TimeValue.milliseconds(100));
    String methods = quick ? "\\.(raise|read)_" : "\\.";
    Map<String, Sample> points = new LinkedHashMap<>();
    for (int threads : THREADS) {
      JmhRounds.run(
              "page LSN, threads=" + threads,
              rounds,
              new OptionsBuilder()
                  .include(PageLsnBenchmark.class.getName() + methods)
                  .threads(threads)
                  .jvmArgs(FLAGS),
              plan)
          .forEach((method, sample) -> points.put(name(method, threads), sample));
    }
    figures.version("JMH", Version.getPlainVersion());
    figures.setting("page LSN", "one page, off heap; two threads share it");
    points.forEach(figures::point);
    plot(figures);
    figures.put(RAISE, worst(points, "raise"));
    figures.put(READ, worst(points, "read"));
  }

  /** Times: theirs divided by ours is our throughput divided by theirs. */
  static double worst(Map<String, Sample> points, String operation) throws CannotMeasureException {
    double worst = Double.POSITIVE_INFINITY;
    for (int threads : THREADS) {
      double ours = LatchSession.median(points, name(operation + "_word", threads));
      double theirs = LatchSession.median(points, name(operation + "_ten", threads));
      worst = Math.min(worst, theirs / ours);
    }
    return worst;
  }

  private static String name(String method, int threads) {
    return "lsn_" + method + ",threads=" + threads;
  }

  private static void plot(Figures figures) {
    Plot plot =
        new Plot(
            "What does it cost to raise and to read the LSN of a shared page?",
            Plot.Form.BARS,
            "operation, threads",
            "ns",
            /* logarithmic= */ false);
    for (String operation : OPERATIONS) {
      for (int threads : THREADS) {
        for (String kind : KINDS) {
          plot.mark(kind, operation + ", " + threads, name(operation + "_" + kind, threads));
        }
      }
    }
    figures.plot(plot);
  }
}
