package org.revenantdb.jmh.recovery;

import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.DatabaseStatistics;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.jmh.commit.LogPeak;
import org.revenantdb.jmh.insert.RowNumbers;

/**
 * A JVM that kills itself with a large transaction open, when a restart would have most to do.
 *
 * <p>Until then other sessions commit updates, lazily. A thread that takes credit leaves an eighth
 * of {@code maxRecoveryLog} to those that take none, mostly commits. So the last part is filled by
 * committing transactions that had written before. Writers are throttled when space gets scarce, so
 * more than two thirds of a large log are hardly ever in use.
 *
 * <p>Arguments: directory, operation, rows, bytes of {@code maxRecoveryLog} (0 = all options as
 * they are by default), seed.
 */
public final class KilledWriter {
  static final String BIG = "big";
  static final String OTHER = "other";

  /** More than a restart reads by default, so that updates at random come to many. */
  private static final int OTHER_ROWS = 400_000;

  private static final int WAITING = 6_000;
  private static final double MOST = 0.9;

  /** After so long less is enough, and less with each second. */
  private static final long PATIENCE = 3_000_000_000L;

  private static final double LESS = 0.02;
  private static final double BEFORE = 0.84;

  /** So many pages are changed and not written at the kill: few enough for a small log. */
  private static final int PAGES = 1_400;

  private static final int SCATTERED = 1_600;
  private static final int HOT_ROWS = 10;
  private static final int SESSIONS = 32;
  private static final int HOT_VALUE = 1_300;

  private final Database database;
  private final DatabaseOptions options;
  private final Table other;
  private final Random random;
  private final byte[][] hot = new byte[64][HOT_VALUE];

  private KilledWriter(Database database, DatabaseOptions options, long seed) {
    this.database = database;
    this.options = options;
    this.other = database.getOrCreateTable(OTHER);
    this.random = new Random(seed);
    for (byte[] value : hot) {
      random.nextBytes(value);
    }
  }

  static DatabaseOptions options(long maxRecoveryLog) {
    DatabaseOptions options = DatabaseOptions.defaults();
    return maxRecoveryLog == 0
        ? options
        : options.withLogSegmentBytes(1 << 20).withMaxRecoveryLog(maxRecoveryLog);
  }

  /**
   * Leaves {@link LastWords}, and ends with a signal.
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
    Table big = database.getOrCreateTable(BIG);
    if (operation.needsRows()) {
      BigRows.load(database, big, rows, 0);
    }
    BigRows.load(database, other, OTHER_ROWS, 0);
    database.cleanNow();
    Sigkill signal = new Sigkill();
    LastWords words = LastWords.beside(directory);
    Transaction tx = database.begin();
    try (LogPeak peak = LogPeak.of(directory, options)) {
      for (long key = 0; key < rows; key++) {
        operation.apply(tx, big, key, 1);
      }
      DatabaseStatistics reached = fill();
      words.leave(share(reached), (double) pages(reached), peak.seen());
      signal.send();
    }
    tx.close();
  }

  private double share(DatabaseStatistics now) {
    return (double) (now.files().logTail() - now.files().redoPoint()) / options.maxRecoveryLog();
  }

  /**
   * Continues until the log is nearly as long as a restart may find it. Of several sessions one
   * changes rows all over a table, a page each, as long as that does not start a checkpoint. The
   * others change the same few rows repeatedly, with values that differ completely, which gives log
   * and no further pages.
   */
  private DatabaseStatistics fill() {
    Deque<Transaction> waiting = new ArrayDeque<>();
    for (int row = 0; row < WAITING; row++) {
      Transaction one = database.begin(TransactionOptions.lazy());
      one.put(other, RowNumbers.key(row), BigRows.row(row, 1));
      waiting.add(one);
    }
    AtomicBoolean scatters = new AtomicBoolean(true);
    for (int session = 0; session < SESSIONS; session++) {
      Random own = new Random(random.nextLong());
      long first = OTHER_ROWS + (long) session * HOT_ROWS;
      boolean mayScatter = session == 0;
      Thread.ofPlatform()
          .daemon()
          .start(() -> {
            while (true) {
              if (mayScatter && scatters.get()) {
                long key = (long) WAITING + own.nextInt(OTHER_ROWS - WAITING);
                put(key, BigRows.row(key, own.nextInt()));
              } else {
                put(first + own.nextInt(HOT_ROWS), hot[own.nextInt(hot.length)]);
              }
            }
          });
    }
    long start = System.nanoTime();
    DatabaseStatistics now = database.statistics();
    while (share(now) < most(start) || pages(now) < PAGES) {
      for (int i = 0; i < 64 && share(now) > BEFORE && !waiting.isEmpty(); i++) {
        waiting.remove().commit();
      }
      now = database.statistics();
      scatters.set(pages(now) < SCATTERED);
    }
    return now;
  }

  private static long pages(DatabaseStatistics now) {
    return now.files().restartPages();
  }

  /** What is reached before checkpoints are faster depends on luck: the best value comes soon. */
  private static double most(long start) {
    double late = Math.max(0, System.nanoTime() - start - PATIENCE) / 1e9;
    return MOST - LESS * late;
  }

  private void put(long key, byte[] value) {
    database.run(TransactionOptions.lazy(), tx -> tx.put(other, RowNumbers.key(key), value));
  }
}
