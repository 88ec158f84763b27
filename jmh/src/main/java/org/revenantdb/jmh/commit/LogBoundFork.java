package org.revenantdb.jmh.commit;

import java.nio.file.Path;
import java.util.Random;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.jmh.fork.Sessions;
import org.revenantdb.jmh.fork.Told;

/**
 * A JVM in which sessions write as fast as they can into a database with a small log, so that
 * checkpoints must be frequent. The log directory must stay within its bound.
 *
 * <p>Arguments: directory, milliseconds, seed.
 */
public final class LogBoundFork {
  private static final int SESSIONS = 4;
  private static final int ROWS_EACH = 2_000;
  private static final int MIB = 1 << 20;

  private LogBoundFork() {}

  /**
   * Prints {@code = log_peak_over_bound} and how often the bound was written.
   *
   * @param arguments see the class
   * @throws Exception if something cannot be measured
   */
  public static void main(String[] arguments) throws Exception {
    Path directory = Path.of(arguments[0]).resolve("database");
    long seed = Long.parseLong(arguments[2]);
    DatabaseOptions options =
        DatabaseOptions.defaults().withLogSegmentBytes(MIB).withMaxRecoveryLog(8L * MIB);
    try (Database database = Database.open(directory, options);
        LogPeak peak = LogPeak.of(directory, options)) {
      Table table = database.getOrCreateTable("rows");
      Sessions.run(
          SESSIONS,
          new Sessions.Times(0, Long.parseLong(arguments[1])),
          number -> {
            Random random = new Random(seed + number);
            return () ->
                database.run(
                    TransactionOptions.lazy(),
                    transaction ->
                        transaction.put(
                            table,
                            Rows.key((long) number * ROWS_EACH + random.nextInt(ROWS_EACH)),
                            Rows.value(random)));
          });
      Told.tell(
          "bounds_written",
          database.statistics().files().logTail() / (2.0 * options.maxRecoveryLog()));
      peak.tell();
    }
  }
}
