package org.revenantdb.jmh.recovery;

import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Random;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.DatabaseStatistics;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.jmh.commit.LogPeak;
import org.revenantdb.jmh.fork.Told;
import org.revenantdb.jmh.insert.RowNumbers;

/**
 * A JVM that kills itself with a large transaction open, when a restart would have most to do.
 *
 * <p>Until then a second session commits scattered updates, lazily. Who takes credit leaves an
 * eighth of {@code maxRecoveryLog} to those who take none, which are mostly commits; so the last
 * part is filled by committing transactions that had written before.
 *
 * <p>Arguments: directory, operation, rows, bytes of {@code maxRecoveryLog} (0 = all options as
 * they are by default), seed.
 */
public final class KilledWriter {
  static final String BIG = "big";
  static final String OTHER = "other";

  /** More than a restart reads by default, so that updates at random come to many. */
  private static final int OTHER_ROWS = 400_000;

  private static final int WAITING = 20_000;
  private static final double MOST = 0.9;
  private static final double BEFORE = 0.84;
  private static final long LONGEST_NANOS = 60_000_000_000L;

  private final Database database;
  private final DatabaseOptions options;
  private final Table other;
  private final Random random;

  private KilledWriter(Database database, DatabaseOptions options, long seed) {
    this.database = database;
    this.options = options;
    this.other = database.table(OTHER);
    this.random = new Random(seed);
  }

  static DatabaseOptions options(long maxRecoveryLog) {
    DatabaseOptions options = DatabaseOptions.defaults();
    return maxRecoveryLog == 0
        ? options
        : options.withLogSegmentBytes(1 << 20).withMaxRecoveryLog(maxRecoveryLog);
  }

  /**
   * Prints what stands in the log, then ends with a signal.
   *
   * @param arguments see the class
   */
  public static void main(String[] arguments) {
    Path directory = Path.of(arguments[0]);
    BigRows.Operation operation = BigRows.Operation.valueOf(arguments[1]);
    long rows = Long.parseLong(arguments[2]);
    DatabaseOptions options = options(Long.parseLong(arguments[3]));
    Database database = Database.open(directory, options);
    new KilledWriter(database, options, Long.parseLong(arguments[4]))
        .run(directory, operation, rows);
  }

  private void run(Path directory, BigRows.Operation operation, long rows) {
    Table big = database.table(BIG);
    if (operation.needsRows()) {
      BigRows.load(database, big, rows, 0);
    }
    BigRows.load(database, other, OTHER_ROWS, 0);
    database.cleanNow();
    Sigkill signal = new Sigkill();
    Transaction tx = database.begin();
    try (LogPeak peak = LogPeak.of(directory, options)) {
      for (long key = 0; key < rows; key++) {
        operation.apply(tx, big, key, 1);
      }
      DatabaseStatistics reached = fill(options.maxRecoveryLog());
      Told.tell("log_at_kill", share(reached));
      Told.tell("pages_at_kill", (double) reached.restartPages() / options.maxRecoveryPages());
      peak.tell();
      System.out.flush();
      signal.send();
    }
    tx.close();
  }

  private double share(DatabaseStatistics now) {
    return (double) (now.logTail() - now.redoPoint()) / options.maxRecoveryLog();
  }

  /** Goes on until the log is nearly as long as a restart may find it, for a minute at most. */
  private DatabaseStatistics fill(long limit) {
    long end = System.nanoTime() + LONGEST_NANOS;
    Deque<Transaction> waiting = new ArrayDeque<>();
    int next = 0;
    while (System.nanoTime() - end < 0) {
      while (waiting.size() < WAITING) {
        Transaction one = database.begin(TransactionOptions.lazy());
        one.put(other, RowNumbers.key(next), BigRows.row(next, next));
        next = (next + 1) % (WAITING * 2);
        waiting.add(one);
      }
      while (share(database.statistics()) < BEFORE && System.nanoTime() - end < 0) {
        for (int i = 0; i < 16; i++) {
          long key = WAITING * 2L + random.nextInt(OTHER_ROWS - WAITING * 2);
          database.run(
              TransactionOptions.lazy(),
              tx -> tx.put(other, RowNumbers.key(key), BigRows.row(key, random.nextInt())));
        }
      }
      DatabaseStatistics now = database.statistics();
      while (!waiting.isEmpty() && share(now) > BEFORE - 0.1) {
        for (int i = 0; i < 64 && !waiting.isEmpty(); i++) {
          waiting.remove().commit();
        }
        now = database.statistics();
        if (share(now) >= MOST) {
          return now;
        }
      }
    }
    return database.statistics();
  }
}
