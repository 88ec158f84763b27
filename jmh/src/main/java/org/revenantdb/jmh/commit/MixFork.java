package org.revenantdb.jmh.commit;

import java.nio.file.Path;
import java.util.Random;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Table;

/**
 * A JVM in which sessions read and update rows of the whole table, durably, in transactions of one
 * operation each.
 *
 * <p>Arguments: directory, sessions, how many of a hundred transactions read, milliseconds to warm
 * up, milliseconds to measure, seed.
 */
public final class MixFork {
  private static final int ROWS = 20_000;

  private MixFork() {}

  /**
   * Prints {@code = transactions} a second.
   *
   * @param arguments see the class
   * @throws Exception if something cannot be measured
   */
  public static void main(String[] arguments) throws Exception {
    int sessions = Integer.parseInt(arguments[1]);
    int readPercent = Integer.parseInt(arguments[2]);
    Sessions.Times times =
        new Sessions.Times(Long.parseLong(arguments[3]), Long.parseLong(arguments[4]));
    long seed = Long.parseLong(arguments[5]);
    try (Database database = Database.open(Path.of(arguments[0]).resolve("database"))) {
      Table table = database.table("rows");
      Random content = new Random(seed);
      for (int first = 0; first < ROWS; first += 1000) {
        int from = first;
        database.run(transaction -> {
          for (int row = from; row < from + 1000; row++) {
            transaction.put(table, Rows.key(row), Rows.value(content));
          }
        });
      }
      Sessions.Result result =
          Sessions.run(
              sessions,
              times,
              number -> {
                Random random = new Random(seed + number);
                return () -> {
                  byte[] key = Rows.key(random.nextInt(ROWS));
                  if (random.nextInt(100) < readPercent) {
                    database.call(transaction -> transaction.get(table, key));
                  } else {
                    database.run(transaction -> transaction.put(table, key, Rows.value(random)));
                  }
                };
              });
      CommitsFork.tell("transactions", result.perSecond());
      CommitsFork.tell("cpu_us", result.processorMicros());
      CommitsFork.tell("reads_that_waited", database.statistics().durableReadWaits());
    }
  }
}
