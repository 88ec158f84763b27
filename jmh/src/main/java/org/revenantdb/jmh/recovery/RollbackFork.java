package org.revenantdb.jmh.recovery;

import java.nio.file.Path;
import java.util.Arrays;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.jmh.fork.Told;

/**
 * A JVM in which transactions of two sizes, neither of them short, update rows and are rolled back,
 * in turn. What counts is the call of {@code rollback}, which waits for no force.
 *
 * <p>Arguments: directory, rows of the small one, rows of the large one, how often.
 */
public final class RollbackFork {
  private RollbackFork() {}

  /**
   * Prints medians: {@code = rollback_ms}, of the large one, {@code = rollback_small_ms}.
   *
   * @param arguments see the class
   */
  public static void main(String[] arguments) {
    int small = Integer.parseInt(arguments[1]);
    int large = Integer.parseInt(arguments[2]);
    int times = Integer.parseInt(arguments[3]);
    DatabaseOptions options = DatabaseOptions.defaults().withPoolBytes(512L << 20);
    try (Database database = Database.open(Path.of(arguments[0]).resolve("database"), options)) {
      Table table = database.getOrCreateTable("big");
      BigRows.load(database, table, large, 0);
      double[] ofSmall = new double[times];
      double[] ofLarge = new double[times];
      for (int i = -2; i < times; i++) { // the first two warm up
        double one = millis(database, table, small, 1);
        double other = millis(database, table, i < 0 ? small : large, 1);
        if (i >= 0) {
          ofSmall[i] = one;
          ofLarge[i] = other;
        }
      }
      Told.tell("rollback_small_ms", median(ofSmall));
      Told.tell("rollback_ms", median(ofLarge));
      Told.tell("rollback_growth", median(ofLarge) / median(ofSmall));
    }
  }

  private static double millis(Database database, Table table, int rows, int number) {
    try (Transaction tx = database.begin()) {
      for (long key = 0; key < rows; key++) {
        BigRows.Operation.UPDATE.apply(tx, table, key, number);
      }
      long start = System.nanoTime();
      tx.rollback();
      double millis = (System.nanoTime() - start) / 1e6;
      database.cleanNow(); // every one finds the same
      return millis;
    }
  }

  /**
   * The median.
   *
   * @param values at least one, in any order
   * @return the middle one, or the mean of the middle two
   */
  public static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
  }
}
