package org.revenantdb.jmh.commit;

import java.nio.file.Path;
import java.util.Random;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.jmh.fork.Sessions;
import org.revenantdb.jmh.fork.Told;

/**
 * A JVM in which one session processes the queue of the paper (section 7.4), lazily or durably, one
 * entry a transaction. Lazy commits are synced in the end, and that time counts.
 *
 * <p>Arguments: directory, {@code lazy} or {@code durable}, milliseconds to warm up, milliseconds
 * to measure, seed.
 */
public final class QueueFork {
  private static final int FORCES = 500;

  private QueueFork() {}

  /**
   * Prints {@code = entries} a second and {@code = force_p50_us}.
   *
   * @param arguments see the class
   * @throws Exception if something cannot be measured
   */
  public static void main(String[] arguments) throws Exception {
    Path directory = Path.of(arguments[0]);
    TransactionOptions options =
        arguments[1].equals("lazy") ? TransactionOptions.lazy() : TransactionOptions.durable();
    Path database = directory.resolve("database");
    Random random = new Random(Long.parseLong(arguments[4]));
    try (QueueDatabase queue = new QueueDatabase(database, DatabaseOptions.defaults());
        LogPeak peak = LogPeak.of(database)) {
      // Lazily first in both cases: durable ones would take seconds until the code is compiled.
      Sessions.compile(() -> queue.processOne(TransactionOptions.lazy(), random));
      process(queue, options, random, Long.parseLong(arguments[2]));
      long forces = queue.statistics().files().forces();
      long start = System.nanoTime();
      long entries = process(queue, options, random, Long.parseLong(arguments[3]));
      Told.tell("entries", entries * 1e9 / (System.nanoTime() - start));
      Told.tell("forces", (double) (queue.statistics().files().forces() - forces));
      peak.tell();
    }
    tellForce(directory);
  }

  private static long process(
      QueueDatabase queue, TransactionOptions options, Random random, long millis) {
    long end = System.nanoTime() + millis * 1_000_000;
    long n = 0;
    while (System.nanoTime() - end < 0) {
      queue.processOne(options, random);
      n++;
    }
    queue.sync();
    return n;
  }

  /** The median of bare forces of the same disk, by the same JVM. */
  private static void tellForce(Path directory) throws Exception {
    org.revenantdb.jmh.contend.WaitHistogram waits = new org.revenantdb.jmh.contend.WaitHistogram();
    try (Forces forces = new Forces(directory.resolve("force"))) {
      for (int i = 0; i < FORCES; i++) {
        long start = System.nanoTime();
        forces.append();
        waits.record(System.nanoTime() - start);
      }
    }
    Told.tell("force_p50_us", waits.percentile(0.5) / 1e3);
  }
}
