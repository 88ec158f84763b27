package org.revenantdb.jmh.commit;

import java.nio.file.Path;
import java.util.Random;
import org.revenantdb.jmh.contend.WaitHistogram;
import org.revenantdb.jmh.fork.Sessions;
import org.revenantdb.jmh.fork.Told;

/**
 * A JVM with one session: bare forces and durable commits of one row, alternating every few tens of
 * milliseconds, so that both meet the same disk.
 *
 * <p>Arguments: directory, milliseconds to warm up, milliseconds to measure, seed.
 */
public final class SingleFork {
  private static final long TURN_NANOS = 50_000_000;

  private SingleFork() {}

  /**
   * Prints {@code = force_p50_us}, {@code = commits} a second while it was their turn, {@code =
   * commit_p50_us}.
   *
   * @param arguments see the class
   * @throws Exception if something cannot be measured
   */
  public static void main(String[] arguments) throws Exception {
    Path directory = Path.of(arguments[0]);
    Random random = new Random(Long.parseLong(arguments[3]));
    try (RevenantCommits ours = new RevenantCommits(directory.resolve("database"));
        LogPeak peak = LogPeak.of(directory.resolve("database"));
        Forces forces = new Forces(directory.resolve("force"))) {
      Sessions.Session force = forces::append;
      Sessions.Session commit = () -> ours.commit(Rows.key(Rows.of(0, random)), Rows.value(random));
      Sessions.compile(() -> ours.commitLazily(Rows.key(Rows.of(0, random)), Rows.value(random)));
      Turns warm = new Turns();
      warm.run(force, commit, Long.parseLong(arguments[1]));
      Turns turns = new Turns();
      turns.run(force, commit, Long.parseLong(arguments[2]));
      Told.tell("force_p50_us", turns.first.percentile(0.5) / 1e3);
      Told.tell("force_mean_us", turns.first.mean() / 1e3);
      Told.tell("force_p99_us", turns.first.percentile(0.99) / 1e3);
      Told.tell("commits", turns.second.count() * 1e9 / turns.secondNanos);
      Told.tell("commit_p50_us", turns.second.percentile(0.5) / 1e3);
      Told.tell("commit_p99_us", turns.second.percentile(0.99) / 1e3);
      peak.tell();
    }
  }

  /** Two tasks in turn. */
  private static final class Turns {
    private final WaitHistogram first = new WaitHistogram();
    private final WaitHistogram second = new WaitHistogram();
    private long secondNanos;

    private void run(Sessions.Session one, Sessions.Session other, long millis) throws Exception {
      long end = System.nanoTime() + millis * 1_000_000;
      while (System.nanoTime() - end < 0) {
        turn(one, first);
        secondNanos += turn(other, second);
      }
    }

    private static long turn(Sessions.Session session, WaitHistogram waits) throws Exception {
      long start = System.nanoTime();
      long now = start;
      while (now - start < TURN_NANOS) {
        session.step();
        long end = System.nanoTime();
        waits.record(end - now);
        now = end;
      }
      return now - start;
    }
  }
}
