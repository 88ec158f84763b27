package org.revenantdb.jmh.tree;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.function.IntSupplier;
import org.revenantdb.jmh.fork.Told;

/**
 * A JVM for one engine in which one transaction after the other updates many random rows, committed
 * as the engine does by itself. What counts is the time from the begin to the return of the commit.
 *
 * <p>Arguments: class of the engine, directory, rows, bytes of its cache, updates of a transaction,
 * how many transactions, seed.
 */
public final class BigUpdateFork {
  private static final int WARM_UPDATES = 150_000;
  private static final int LOOKED_AT = 1_000;

  private BigUpdateFork() {}

  /**
   * Prints {@code = big_update}, updates a second, the median of the transactions, and {@code =
   * big_update_slowest}.
   *
   * @param arguments see the class
   * @throws Exception if something cannot be measured
   */
  public static void main(String[] arguments) throws Exception {
    int rows = Integer.parseInt(arguments[2]);
    int updates = Math.max(LOOKED_AT, Integer.parseInt(arguments[4]));
    double[] rates = new double[Integer.parseInt(arguments[5])];
    long seed = Long.parseLong(arguments[6]);
    Path parent = Path.of(arguments[1]);
    warmUp(arguments[0], Files.createDirectory(parent.resolve("warm")), rows, updates);
    Path directory = Files.createDirectory(parent.resolve("measured"));
    try (TreeStore store = TreeFork.open(arguments[0], directory.toString(), arguments[3])) {
      TreeWork.load(store.session(), rows);
      for (int i = 0; i < rates.length; i++) {
        store.settle(); // what the one before has left is not measured
        long start = System.nanoTime();
        store.updateInOne(RowChoice.uniform(rows, seed + i), updates, i + 1);
        rates[i] = updates * 1e9 / (System.nanoTime() - start);
        check(store, RowChoice.uniform(rows, seed + i), i + 1);
      }
    }
    Arrays.sort(rates);
    Told.tell("big_update", rates[rates.length / 2]);
    Told.tell("big_update_slowest", rates[0]);
  }

  private static void warmUp(String engine, Path directory, int rows, int updates)
      throws Exception {
    int few = Math.min(rows, TreeFork.WARM_ROWS);
    try (TreeStore store = TreeFork.open(engine, directory.toString(), TreeFork.WARM_CACHE)) {
      TreeWork.load(store.session(), few);
      for (int i = 0; i < 3; i++) {
        store.updateInOne(RowChoice.uniform(few, i), Math.min(updates, WARM_UPDATES), i + 1);
        store.settle();
      }
    }
  }

  /** What was stored is there, or this throws an exception. */
  private static void check(TreeStore store, IntSupplier updated, int shift) throws Exception {
    TreeStore.Session session = store.session();
    for (int i = 0; i < LOOKED_AT; i++) {
      int row = updated.getAsInt();
      session.begin();
      long sum = session.read(TreeRows.key(row));
      session.end();
      if (sum != (long) row + shift) {
        throw new IllegalStateException("row " + row + " has the value of " + sum);
      }
    }
  }
}
