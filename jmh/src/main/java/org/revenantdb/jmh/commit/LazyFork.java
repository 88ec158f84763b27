package org.revenantdb.jmh.commit;

import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.jmh.fork.Sessions;
import org.revenantdb.jmh.fork.Told;

/**
 * A JVM in which sessions update rows lazily, one a transaction, with default options. The table is
 * small, so the log is a large part of the work.
 *
 * <p>Arguments: directory, milliseconds to warm up, milliseconds to measure, seed.
 */
public final class LazyFork {
  private static final int ROWS = 20_000;
  private static final List<Integer> SESSIONS = List.of(1, 2);

  private LazyFork() {}

  /**
   * Returns the points that it reports.
   *
   * @return a name for each, in their order
   */
  public static List<String> points() {
    return SESSIONS.stream().map(sessions -> "lazy_commits,sessions=" + sessions).toList();
  }

  /**
   * Prints {@code = lazy_commits,sessions=N} a second.
   *
   * @param arguments see the class
   * @throws Exception if something cannot be measured
   */
  public static void main(String[] arguments) throws Exception {
    Sessions.Times times =
        new Sessions.Times(Long.parseLong(arguments[1]), Long.parseLong(arguments[2]));
    long seed = Long.parseLong(arguments[3]);
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
      for (int i = 0; i < SESSIONS.size(); i++) {
        Sessions.Result result =
            Sessions.run(
                SESSIONS.get(i),
                times,
                number -> session(database, table, new Random(seed + number)));
        Told.tell(points().get(i), result.perSecond());
      }
    }
  }

  private static Sessions.Session session(Database database, Table table, Random random) {
    TransactionOptions lazy = TransactionOptions.lazy();
    return () -> {
      byte[] key = Rows.key(random.nextInt(ROWS));
      byte[] value = Rows.value(random);
      database.run(lazy, transaction -> transaction.put(table, key, value));
    };
  }
}
