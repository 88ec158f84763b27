package org.revenantdb.jmh.commit;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Objects;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseStatistics;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.jmh.fork.Sessions;
import org.revenantdb.jmh.fork.Told;

/**
 * A JVM in which all sessions increment one counter, durably. Either they act on what they have
 * read only after their commit and request that, or they do not request it.
 *
 * <p>Arguments: directory, sessions, {@code after} or {@code before}, milliseconds to warm up,
 * milliseconds to measure.
 */
public final class HotCounterFork {
  private static final byte[] KEY = {1};

  private HotCounterFork() {}

  /**
   * Prints {@code = increments} a second and {@code = increments_per_force}.
   *
   * @param arguments see the class
   * @throws Exception if something cannot be measured
   */
  public static void main(String[] arguments) throws Exception {
    int sessions = Integer.parseInt(arguments[1]);
    TransactionOptions options =
        TransactionOptions.durable().withDeferReadWaitsToCommit(arguments[2].equals("after"));
    Sessions.Times times =
        new Sessions.Times(Long.parseLong(arguments[3]), Long.parseLong(arguments[4]));
    try (Database database = Database.open(Path.of(arguments[0]).resolve("database"))) {
      Table table = database.getOrCreateTable("counter");
      database.run(transaction -> transaction.put(table, KEY, new byte[Long.BYTES]));
      DatabaseStatistics[] ends = {database.statistics(), database.statistics()};
      Sessions.Result result =
          Sessions.run(
              sessions,
              /* virtual= */ false,
              times,
              _ -> () -> increment(database, table, options),
              () -> ends[0] = database.statistics(),
              () -> ends[1] = database.statistics());
      Told.tell("increments", result.perSecond());
      Told.tell("cpu_us", result.processorMicros());
      Told.tell(
          "increments_per_force",
          (double) result.steps()
              / Math.max(1, ends[1].files().forces() - ends[0].files().forces()));
    }
  }

  private static void increment(Database database, Table table, TransactionOptions options) {
    database.run(
        options,
        transaction -> {
          ByteBuffer counter = ByteBuffer.wrap(Objects.requireNonNull(transaction.get(table, KEY)));
          counter.putLong(0, counter.getLong(0) + 1);
          transaction.put(table, KEY, counter.array());
        });
  }
}
