package org.revenantdb.jmh.commit;

import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Table;
import org.revenantdb.jmh.fork.Sessions;
import org.revenantdb.jmh.fork.Told;

/**
 * A JVM in which sessions read and update rows of the whole table, durably, in transactions of one
 * operation each. Half of the operations are reads; afterwards one session only reads.
 *
 * <p>Arguments: directory, sessions, milliseconds to warm up, milliseconds to measure, seed.
 */
public final class MixFork {
  private static final int ROWS = 20_000;
  private static final List<String> READS = List.of("50", "100");

  private MixFork() {}

  /**
   * Prints {@code = transactions,reads=N} a second, N of a hundred of them reading.
   *
   * @param arguments see the class
   * @throws Exception if something cannot be measured
   */
  public static void main(String[] arguments) throws Exception {
    int sessions = Integer.parseInt(arguments[1]);
    Sessions.Times times =
        new Sessions.Times(Long.parseLong(arguments[2]), Long.parseLong(arguments[3]));
    long seed = Long.parseLong(arguments[4]);
    try (Database database = Database.open(Path.of(arguments[0]).resolve("database"))) {
      Table table = database.getOrCreateTable("rows");
      Random content = new Random(seed);
      for (int first = 0; first < ROWS; first += 1000) {
        int from = first;
        database.run(transaction -> {
          for (int row = from; row < from + 1000; row++) {
            transaction.put(table, Rows.key(row), Rows.value(content));
          }
        });
      }
      for (String reads : READS) {
        int readPercent = Integer.parseInt(reads);
        long waits = database.statistics().commits().durableReadWaits();
        Sessions.Result result =
            Sessions.run(
                readPercent == 100 ? 1 : sessions,
                times,
                number -> session(database, table, readPercent, new Random(seed + number)));
        Told.tell("transactions,reads=" + reads, result.perSecond());
        Told.tell("cpu_us,reads=" + reads, result.processorMicros());
        Told.tell(
            "reads_that_waited,reads=" + reads,
            (double) (database.statistics().commits().durableReadWaits() - waits));
      }
    }
  }

  private static Sessions.Session session(
      Database database, Table table, int readPercent, Random random) {
    return () -> {
      byte[] key = Rows.key(random.nextInt(ROWS));
      if (random.nextInt(100) < readPercent) {
        database.call(transaction -> transaction.get(table, key));
      } else {
        database.run(transaction -> transaction.put(table, key, Rows.value(random)));
      }
    };
  }
}
