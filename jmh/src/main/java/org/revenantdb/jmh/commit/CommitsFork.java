package org.revenantdb.jmh.commit;

import java.nio.file.Path;
import java.util.Random;
import org.revenantdb.jmh.fork.Sessions;
import org.revenantdb.jmh.fork.Told;

/**
 * A JVM for one engine: sessions that commit one row each, durably.
 *
 * <p>Arguments: class of the engine, directory, sessions, {@code platform} or {@code virtual},
 * milliseconds to warm up, milliseconds to measure, seed.
 */
public final class CommitsFork {
  private CommitsFork() {}

  /**
   * Prints {@code = commits} a second, and the percentiles of a commit in microseconds.
   *
   * @param arguments see the class
   * @throws Exception if something cannot be measured
   */
  public static void main(String[] arguments) throws Exception {
    Path directory = Path.of(arguments[1]);
    int sessions = Integer.parseInt(arguments[2]);
    boolean virtual = arguments[3].equals("virtual");
    Sessions.Times times =
        new Sessions.Times(Long.parseLong(arguments[4]), Long.parseLong(arguments[5]));
    long seed = Long.parseLong(arguments[6]);
    try (OneRowCommits engine =
            Class.forName(arguments[0])
                .asSubclass(OneRowCommits.class)
                .getDeclaredConstructor(Path.class)
                .newInstance(directory);
        LogPeak peak = LogPeak.of(engine instanceof RevenantCommits ? directory : null)) {
      long[] forces = new long[2];
      Sessions.Result result =
          Sessions.run(
              sessions,
              virtual,
              times,
              number -> {
                Random random = new Random(seed + number);
                return () -> engine.commit(Rows.key(Rows.of(number, random)), Rows.value(random));
              },
              () -> forces[0] = forces(engine),
              () -> forces[1] = forces(engine));
      Told.tell("commits", result.perSecond());
      Told.tell("cpu_us", result.processorMicros());
      Told.tell("p50_us", result.waits().percentile(0.5) / 1e3);
      Told.tell("p99_us", result.waits().percentile(0.99) / 1e3);
      if (forces[1] > forces[0]) {
        Told.tell("commits_per_force", (double) result.steps() / (forces[1] - forces[0]));
      }
      peak.tell();
    }
  }

  private static long forces(OneRowCommits engine) {
    return engine instanceof RevenantCommits ours ? ours.forces() : 0;
  }
}
