package org.revenantdb.jmh.cli;

import java.util.Map;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.util.Version;
import org.revenantdb.jmh.BeginCommitBenchmark;

/** The cost of the begin and the commit of a read-only transaction. */
final class GcBegin {
  /** The figure: nanoseconds of both, with nothing in between. */
  static final String FIGURE = "begin_commit_ns";

  private static final String ALONE = "beginCommit";

  /** The last one is for JMH itself, which would print a warning. */
  private static final String[] FLAGS = {
    "-Xms256m", "-Xmx256m", "--sun-misc-unsafe-memory-access=allow"
  };

  private GcBegin() {}

  static void measure(Figures figures, Rounds rounds, boolean quick) throws CannotMeasureException {
    JmhRounds.Plan plan =
        quick
            ? new JmhRounds.Plan(5, TimeValue.milliseconds(200), 9, TimeValue.milliseconds(50))
            : new JmhRounds.Plan(5, TimeValue.milliseconds(500), 9, TimeValue.milliseconds(200));
    String methods = quick ? "\\." + ALONE + '$' : "\\.";
    Map<String, Sample> points =
        JmhRounds.run(
            "begin and commit",
            rounds,
            new OptionsBuilder()
                .include(BeginCommitBenchmark.class.getName() + methods)
                .addProfiler(GCProfiler.class)
                .jvmArgs(FLAGS),
            plan);
    figures.version("JMH", Version.getPlainVersion());
    points.forEach((name, sample) -> figures.point(pointOf(name), sample));
    figures.put(FIGURE, LatchSession.median(points, ALONE));
  }

  private static String pointOf(String name) {
    return name.replace("beginCommit", "begin_commit")
        .replace("beginReadCommit", "begin_read_commit");
  }
}
