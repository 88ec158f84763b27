package org.revenantdb.jmh.recovery;

import java.nio.file.Path;
import java.util.Random;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.DatabaseStatistics;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.jmh.fork.Told;
import org.revenantdb.jmh.insert.RowNumbers;

/**
 * A JVM that updates random rows, lazily, a transaction each, and kills itself as soon as so much
 * log is durable behind the redo point. How many pages are changed by then follows from the part of
 * the table that it chooses rows from: the same log is about few pages or about many.
 *
 * <p>No checkpoint begins until then: its bounds are four times what it needs. The log that a
 * restart reads with default options is thus the longest that they allow.
 *
 * <p>Arguments: directory, rows to choose from, bytes of log, bytes of memory for pages of the JVM
 * that opens it, seed, the suffix of the names of its figures.
 */
public final class ManyPagesWriter {
  private static final int ROWS_A_LOOK = 256;

  /** A checkpoint begins at half of a bound. */
  private static final int FAR = 4;

  private ManyPagesWriter() {}

  static DatabaseOptions options(long logBytes, long poolBytes) {
    DatabaseOptions usual = CrashImage.options(FAR * poolBytes);
    return usual.withMaxRecoveryLog(Math.max(usual.maxRecoveryLog(), FAR * logBytes));
  }

  /**
   * Prints {@code = pages_changed} and {@code = updates_before_kill}, and ends with a signal.
   *
   * @param arguments see the class
   */
  public static void main(String[] arguments) {
    int among = Integer.parseInt(arguments[1]);
    long logBytes = Long.parseLong(arguments[2]);
    DatabaseOptions options = options(logBytes, Long.parseLong(arguments[3]));
    Random random = new Random(Long.parseLong(arguments[4]));
    String suffix = arguments[5];
    Sigkill signal = new Sigkill();
    try (Database database = Database.open(Path.of(arguments[0]), options)) {
      Table table = database.getOrCreateTable(CrashImage.ROWS);
      database.checkpoint(); // the redo point is in this life: the log behind it has no gap
      long updates = 0;
      DatabaseStatistics now;
      do {
        for (int i = 0; i < ROWS_A_LOOK; i++) {
          long key = random.nextInt(among);
          int number = random.nextInt();
          database.run(
              TransactionOptions.lazy(),
              tx -> tx.put(table, RowNumbers.key(key), BigRows.row(key, number)));
        }
        updates += ROWS_A_LOOK;
        now = database.statistics();
      } while (now.files().durableLsn() - now.files().redoPoint() < logBytes);
      Told.tell("pages_changed" + suffix, (double) now.files().restartPages());
      Told.tell("updates_before_kill" + suffix, (double) updates);
      System.out.flush();
      signal.send();
    }
  }
}
