package org.revenantdb.jmh.tree;

import java.util.function.IntSupplier;
import org.revenantdb.jmh.fork.Told;

/**
 * A JVM with plenty of memory that loads the rows of an engine in key order, or updates as many
 * random ones, and leaves the files to other JVMs.
 *
 * <p>Arguments: class of the engine, directory, rows, bytes of its cache, {@code load} or {@code
 * update}, seed.
 */
public final class LoadFork {
  private LoadFork() {}

  /**
   * Prints {@code = load} or {@code = random_updates}, rows a second.
   *
   * @param arguments see the class
   * @throws Exception if something cannot be measured
   */
  public static void main(String[] arguments) throws Exception {
    int rows = Integer.parseInt(arguments[2]);
    long seed = Long.parseLong(arguments[5]);
    try (TreeStore store = TreeFork.open(arguments[0], arguments[1], arguments[3])) {
      if (arguments[4].equals("load")) {
        TreeFork.load(store, rows);
      } else {
        update(store, rows, seed);
      }
    }
  }

  private static void update(TreeStore store, int rows, long seed) throws Exception {
    IntSupplier choice = RowChoice.uniform(rows, seed);
    long start = System.nanoTime();
    TreeWork.update(store.session(), choice, rows, seed);
    Told.tell("random_updates", rows * 1e9 / (System.nanoTime() - start));
    store.settle();
  }
}
