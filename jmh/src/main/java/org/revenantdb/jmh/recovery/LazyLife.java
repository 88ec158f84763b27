package org.revenantdb.jmh.recovery;

import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.jmh.insert.RowNumbers;

/**
 * One life of a database in a process that is killed: it counts the rows that were acknowledged in
 * the lives before and are not there, and then two sessions insert rows, lazily, a transaction
 * each. A row is acknowledged when the commit has returned. After a random time the process kills
 * itself.
 *
 * <p>Arguments: directory, number of the life, seed.
 */
public final class LazyLife {
  static final int SESSIONS = 2;

  /** Keys of a session begin here, times its number. */
  private static final long KEYS = 1L << 40;

  private static final int LEAST_MILLIS = 30;
  private static final int MOST_MILLIS = 330;

  private LazyLife() {}

  /**
   * Ends with a signal.
   *
   * @param arguments see the class
   * @throws InterruptedException never
   */
  public static void main(String[] arguments) throws InterruptedException {
    Path directory = Path.of(arguments[0]);
    int life = Integer.parseInt(arguments[1]);
    Random random = new Random(Long.parseLong(arguments[2]) * 1_000_003 + life);
    Sigkill signal = new Sigkill();
    Acknowledged acknowledged = Acknowledged.beside(directory, SESSIONS);
    try (Database database = Database.open(directory)) {
      Table table = database.getOrCreateTable(CrashImage.ROWS);
      acknowledged.lose(missing(database, table, acknowledged));
      CountDownLatch begun = new CountDownLatch(SESSIONS);
      for (int session = 0; session < SESSIONS; session++) {
        int number = session;
        Thread.ofPlatform()
            .daemon()
            .start(() -> insert(database, table, acknowledged, number, begun));
      }
      begun.await();
      Thread.sleep(random.nextInt(LEAST_MILLIS, MOST_MILLIS));
      signal.send();
    }
  }

  /**
   * Counts acknowledged rows that are not there. A number that was lost is not given again, so a
   * row that is lost once is counted in each life.
   */
  static long missing(Database database, Table table, Acknowledged acknowledged) {
    long missing = 0;
    try (Transaction tx = database.begin()) {
      for (int session = 0; session < SESSIONS; session++) {
        long rows = acknowledged.of(session);
        missing += rows - tx.count(table, key(session, 0), key(session, rows));
      }
    }
    return missing;
  }

  private static void insert(
      Database database,
      Table table,
      Acknowledged acknowledged,
      int session,
      CountDownLatch begun) {
    for (long row = acknowledged.of(session); ; row++) {
      byte[] key = key(session, row);
      byte[] value = BigRows.row(row, 0);
      database.run(TransactionOptions.lazy(), tx -> tx.put(table, key, value));
      acknowledged.store(session, row + 1);
      begun.countDown();
    }
  }

  /** The key of a row of a session. */
  static byte[] key(int session, long row) {
    return RowNumbers.key(session * KEYS + row);
  }
}
