package org.revenantdb.jmh.cli;

import java.util.List;
import java.util.Map;
import org.revenantdb.jmh.commit.QueueFork;
import org.revenantdb.jmh.commit.SingleFork;

/** One session: compared with the disk, and lazy compared with durable. */
final class CommitSingle {
  private static final Map<String, String> UNITS =
      Map.of(
          "commits", "1/s",
          "entries", "1/s",
          "force_p50_us", "us",
          "force_mean_us", "us",
          "force_p99_us", "us",
          "commit_p50_us", "us",
          "commit_p99_us", "us");
  private static final double MICROS = 1e6;

  private CommitSingle() {}

  static void measure(ForkSession session) throws CannotMeasureException {
    Map<String, Sample> samples =
        session.run(
            "commit, one session",
            List.of(
                new ForkSession.Child(
                    "single",
                    SingleFork.class,
                    "DIRECTORY",
                    session.sized(300, 1000),
                    session.sized(1500, 4000),
                    session.seed())),
            UNITS);
    session
        .figures()
        .put(
            "single_commit_vs_force",
            ForkSession.median(samples, "commits,single")
                * ForkSession.median(samples, "force_p50_us,single")
                / MICROS);
  }

  static void measureLazy(ForkSession session) throws CannotMeasureException {
    Map<String, Sample> samples =
        session.run(
            "commit, the queue, one session",
            List.of(queue(session, "lazy"), queue(session, "durable")),
            UNITS);
    session
        .figures()
        .put(
            "lazy_vs_durable",
            ForkSession.median(samples, "entries,lazy")
                / ForkSession.median(samples, "entries,durable"));
  }

  private static ForkSession.Child queue(ForkSession session, String durability) {
    return new ForkSession.Child(
        durability,
        QueueFork.class,
        "DIRECTORY",
        durability,
        session.sized(300, 1000),
        session.sized(1000, 4000),
        session.seed());
  }
}
