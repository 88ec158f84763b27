package org.revenantdb.jmh.work;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import org.revenantdb.collections.Codecs;
import org.revenantdb.collections.Keys;
import org.revenantdb.collections.Merger;
import org.revenantdb.collections.TypedTable;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.jmh.fork.Sessions;
import org.revenantdb.jmh.fork.Told;

/**
 * A JVM in which all sessions count in one row, each call a transaction. Either they lock the row,
 * with a lock timeout, and write it; or they do the same without one; or their calls are combined.
 *
 * <p>Arguments: directory, {@code wait}, {@code retry} or {@code merge}, {@code DURABLE} or {@code
 * LAZY}, sessions, milliseconds to warm up, milliseconds to measure.
 */
public final class HotRowFork {
  private static final byte[] KEY = {1};
  private static final int WARM_STEPS = 5_000;

  private HotRowFork() {}

  /**
   * Prints {@code = counts} a second.
   *
   * @param arguments see the class
   * @throws Exception if something cannot be measured
   */
  public static void main(String[] arguments) throws Exception {
    TransactionOptions options = TransactionOptions.of(Durability.valueOf(arguments[2]));
    Sessions.Times times =
        new Sessions.Times(Long.parseLong(arguments[4]), Long.parseLong(arguments[5]), WARM_STEPS);
    try (Database database = Database.open(Path.of(arguments[0]).resolve("database"))) {
      Sessions.Session step =
          switch (arguments[1]) {
            case "merge" -> merge(database, options);
            case "wait" -> lock(database, options.withLockTimeout(Duration.ofMinutes(1)));
            case "retry" -> lock(database, options);
            default -> throw new IllegalArgumentException(arguments[1]);
          };
      Sessions.Result result = Sessions.run(Integer.parseInt(arguments[3]), times, _ -> step);
      Told.tell("counts", result.perSecond());
      Told.tell("count_cpu_us", result.processorMicros());
    }
  }

  private static Sessions.Session merge(Database database, TransactionOptions options) {
    Merger<Long, Long> merger =
        TypedTable.open(database, "counters", Keys.longs(), Codecs.longs())
            .merger(options, Long::sum);
    return () -> {
      Long _ = merger.merge(1L, 1L);
    };
  }

  private static Sessions.Session lock(Database database, TransactionOptions options) {
    Table table = database.getOrCreateTable("counters");
    database.run(transaction -> transaction.put(table, KEY, new byte[Long.BYTES]));
    return () ->
        database.run(
            options,
            transaction -> {
              ByteBuffer counter =
                  ByteBuffer.wrap(Objects.requireNonNull(transaction.lockForUpdate(table, KEY)));
              counter.putLong(0, counter.getLong(0) + 1);
              transaction.put(table, KEY, counter.array());
            });
  }
}
