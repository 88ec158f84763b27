package org.revenantdb.jmh.recovery;

import java.nio.file.Path;
import java.util.Locale;
import org.revenantdb.engine.BulkLoad;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.jmh.fork.Told;
import org.revenantdb.jmh.insert.RowNumbers;

/**
 * A JVM in which a transaction is rolled back and repeated at once, over the remains of the first
 * (Table 3 of the paper): how much longer does the second try take? Both are lazy, because
 * otherwise the second would wait for its force at the end, and the first has none.
 *
 * <p>A transaction right after a large one shares processors and disk with the writing of its pages
 * and the clean-up of its rows, in whatever table. So the first try also comes right after one that
 * is rolled back, in another table. Then only the content of the table differs. It also reports how
 * much longer the first try takes than that transaction, which finds a store at rest.
 *
 * <p>Arguments: directory, rows, how often.
 */
public final class RetryFork {
  /** Tries that do not count, until the code is compiled. */
  private static final int WARM_UPS = 5;

  private RetryFork() {}

  /** One try; whether it is to stay. */
  @FunctionalInterface
  private interface Try {
    void run(Database database, Table table, int rows, boolean stays);
  }

  /**
   * Prints {@code = retry_insert_growth} and so on, medians of the second time by the first, and
   * {@code = after_insert_growth}, medians of the first time by that of a store at rest.
   *
   * @param arguments see the class
   */
  public static void main(String[] arguments) {
    int rows = Integer.parseInt(arguments[1]);
    int times = Integer.parseInt(arguments[2]);
    DatabaseOptions options = DatabaseOptions.defaults().withPoolBytes(256L << 20);
    try (Database database = Database.open(Path.of(arguments[0]).resolve("database"), options)) {
      for (BigRows.Operation operation : BigRows.Operation.values()) {
        growth(
            database,
            operation.name().toLowerCase(Locale.ROOT) + "_growth",
            operation.needsRows(),
            rows,
            times,
            (db, table, count, stays) -> transaction(db, table, operation, count, stays));
      }
      growth(database, "bulk_growth", false, rows, times, RetryFork::bulk);
    }
  }

  private static void growth(
      Database database, String name, boolean needsRows, int rows, int times, Try one) {
    double[] retry = new double[times];
    double[] after = new double[times];
    for (int i = -WARM_UPS; i < times; i++) {
      Table other = table(database, "other_" + name + i, needsRows, rows);
      Table table = table(database, name + i, needsRows, rows);
      database.cleanNow();
      database.checkpoint();
      double atRest = nanos(database, other, rows, one, /* stays= */ false);
      double first = nanos(database, table, rows, one, /* stays= */ false);
      double second = nanos(database, table, rows, one, /* stays= */ true);
      if (i >= 0) {
        retry[i] = second / first;
        after[i] = first / atRest;
      }
      database.dropTable(other.name());
      database.dropTable(table.name());
      database.cleanNow();
    }
    Told.tell("retry_" + name, RollbackFork.median(retry));
    Told.tell("after_" + name, RollbackFork.median(after));
  }

  private static Table table(Database database, String name, boolean hasRows, int rows) {
    Table table = database.getOrCreateTable(name);
    if (hasRows) {
      BigRows.load(database, table, rows, 0);
    }
    return table;
  }

  private static double nanos(Database database, Table table, int rows, Try one, boolean stays) {
    long start = System.nanoTime();
    one.run(database, table, rows, stays);
    return System.nanoTime() - start;
  }

  private static void transaction(
      Database database, Table table, BigRows.Operation operation, int rows, boolean stays) {
    try (Transaction tx = database.begin(TransactionOptions.lazy())) {
      for (long key = 0; key < rows; key++) {
        operation.apply(tx, table, key, stays ? 2 : 1);
      }
      if (stays) {
        tx.commit();
      } else {
        tx.rollback();
      }
    }
  }

  private static void bulk(Database database, Table table, int rows, boolean stays) {
    try (BulkLoad load = database.bulkLoad(table, TransactionOptions.lazy())) {
      for (long key = 0; key < rows; key++) {
        load.add(RowNumbers.key(key), BigRows.row(key, stays ? 2 : 1));
      }
      if (stays) {
        load.finish();
      }
    }
  }
}
