package org.revenantdb.jmh.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.revenantdb.jmh.commit.LogBoundFork;
import org.revenantdb.jmh.commit.LogFork;

/** The log alone: compared with a file, and within its bound. */
final class CommitLog {
  private static final List<Integer> QUICK = List.of(200, 4000);
  private static final List<Integer> FULL = List.of(200, 1000, 4000, 30_000);

  private CommitLog() {}

  static void measure(ForkSession session) throws CannotMeasureException {
    List<Integer> sizes = session.quick() ? QUICK : FULL;
    List<ForkSession.Child> children = new ArrayList<>();
    for (int size : sizes) {
      children.add(
          new ForkSession.Child(
              "record=" + size,
              LogFork.class,
              "DIRECTORY",
              Integer.toString(size),
              session.sized(256, 1024)));
    }
    children.add(
        new ForkSession.Child(
            "bound", LogBoundFork.class, "DIRECTORY", session.sized(1500, 5000), session.seed()));
    Map<String, Sample> samples =
        session.run("commit, the log", children, Map.of("log", "B/s", "raw", "B/s"));
    double worst = Double.POSITIVE_INFINITY;
    for (int size : sizes) {
      worst =
          Math.min(
              worst,
              ForkSession.median(samples, "log,record=" + size)
                  / ForkSession.median(samples, "raw,record=" + size));
    }
    session.figures().put("log_vs_raw", worst);
  }
}
