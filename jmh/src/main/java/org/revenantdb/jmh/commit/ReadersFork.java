package org.revenantdb.jmh.commit;

import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.jmh.contend.WaitHistogram;
import org.revenantdb.jmh.fork.Sessions;
import org.revenantdb.jmh.fork.Told;

/**
 * A JVM in which one session processes the entries of the queue at a fixed rate, and another one
 * reads balances, also at a fixed rate. A response time is counted from when the read was due, not
 * from when it began, so an earlier wait is not hidden.
 *
 * <p>Arguments: directory, entries in a transaction (0: lazily, one each), entries a second, {@code
 * durable} or {@code lazy} readers, reads a second, milliseconds to warm up, milliseconds to
 * measure, seed.
 */
public final class ReadersFork {
  private static final long SECOND = 1_000_000_000;

  private final QueueDatabase queue;
  private final long start = System.nanoTime();
  private final long warm;
  private final long end;
  private volatile long processed;

  private ReadersFork(QueueDatabase queue, long warmMillis, long windowMillis) {
    this.queue = queue;
    warm = start + warmMillis * 1_000_000;
    end = warm + windowMillis * 1_000_000;
  }

  /**
   * Prints {@code = p50_us} and {@code = p99_us} of the readers, {@code = entries} a second.
   *
   * @param arguments see the class
   * @throws Exception if something cannot be measured
   */
  public static void main(String[] arguments) throws Exception {
    int batch = Integer.parseInt(arguments[1]);
    double rate = Double.parseDouble(arguments[2]);
    TransactionOptions readers =
        arguments[3].equals("lazy") ? TransactionOptions.lazy() : TransactionOptions.durable();
    double reads = Double.parseDouble(arguments[4]);
    long seed = Long.parseLong(arguments[7]);
    Path database = Path.of(arguments[0]).resolve("database");
    try (QueueDatabase queue = new QueueDatabase(database, DatabaseOptions.defaults())) {
      Random warm = new Random(seed + 2);
      Sessions.compile(() -> {
        queue.processOne(TransactionOptions.lazy(), warm);
        queue.balance(TransactionOptions.lazy(), Queue.read(warm));
      });
      queue.sync();
      ReadersFork run =
          new ReadersFork(queue, Long.parseLong(arguments[5]), Long.parseLong(arguments[6]));
      Thread writer = Thread.ofPlatform().unstarted(() -> run.write(batch, rate, new Random(seed)));
      writer.start();
      long before = queue.statistics().commits().durableReadWaits();
      WaitHistogram responses = run.read(readers, reads, new Random(seed + 1));
      writer.join();
      Told.tell("mean_us", responses.mean() / 1e3);
      Told.tell("p50_us", responses.percentile(0.5) / 1e3);
      Told.tell("p99_us", responses.percentile(0.99) / 1e3);
      Told.tell(
          "reads_that_waited", (double) (queue.statistics().commits().durableReadWaits() - before));
      Told.tell("entries", run.processed * 1e9 / (run.end - run.start));
    }
  }

  /** Returns when it is time, or a little later. */
  private static void awaitTime(long time) {
    long left = time - System.nanoTime();
    while (left > 0) {
      LockSupport.parkNanos(left);
      left = time - System.nanoTime();
    }
  }

  private void write(int batch, double rate, Random random) {
    TransactionOptions options =
        batch == 0 ? TransactionOptions.lazy() : TransactionOptions.durable();
    long due = start;
    for (long n = 0; due - end < 0; ) {
      try (Transaction transaction = queue.begin(options)) {
        for (int i = 0; i < Math.max(1, batch); i++) {
          awaitTime(due);
          queue.process(transaction, random);
          n++;
          due = start + (long) (n * SECOND / rate);
        }
        transaction.commit();
      }
      processed = n;
    }
  }

  private WaitHistogram read(TransactionOptions options, double rate, Random random) {
    WaitHistogram responses = new WaitHistogram();
    long due = start;
    for (long n = 1; due - end < 0; n++) {
      awaitTime(due);
      long begin = Math.max(due, start);
      queue.balance(options, Queue.read(random));
      if (due - warm >= 0) {
        responses.record(System.nanoTime() - begin);
      }
      due = start + (long) (n * SECOND / rate);
    }
    return responses;
  }
}
