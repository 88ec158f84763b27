package org.revenantdb.jmh.coupling;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.IntSupplier;
import org.revenantdb.jmh.tree.TreeRows;

/**
 * The tasks of a thread with a tree: reads of a row, or scans of a hundred, and one update among
 * several of them. Every value read is checked against its key.
 *
 * @param scans whether it scans
 * @param updatePercent how many operations of a hundred are updates
 */
record Workload(boolean scans, int updatePercent) {
  private static final int READS_A_STEP = 100;
  private static final int SCANS_A_STEP = 10;

  /** All that are compared. */
  static List<Workload> all() {
    List<Workload> all = new ArrayList<>();
    for (int percent : new int[] {0, 5, 20, 50}) {
      all.add(new Workload(/* scans= */ false, percent));
    }
    for (int percent : new int[] {5, 50}) {
      all.add(new Workload(/* scans= */ true, percent));
    }
    return all;
  }

  /** Operations of a step: one alone is too short to be timed. */
  int operationsAStep() {
    return scans ? SCANS_A_STEP : READS_A_STEP;
  }

  /**
   * One thread's work in one mode.
   *
   * @param choice of rows, the thread's
   */
  Step step(NodeTree tree, LatchMode mode, IntSupplier choice, long seed) {
    return new Step(this, tree, mode.access(tree), choice, seed);
  }

  @Override
  public String toString() {
    return (scans ? "scans" : "reads") + ",updates=" + updatePercent;
  }

  /** See {@link #step}. */
  static final class Step {
    private final Workload workload;
    private final NodeTree tree;
    private final TreeAccess access;
    private final IntSupplier choice;
    private final SplittableRandom random;
    private final Key key = new Key();
    private final byte[] value = new byte[TreeRows.VALUE];
    private long updates;

    private Step(
        Workload workload, NodeTree tree, TreeAccess access, IntSupplier choice, long seed) {
      this.workload = workload;
      this.tree = tree;
      this.access = access;
      this.choice = choice;
      this.random = new SplittableRandom(seed);
    }

    /**
     * Does it.
     *
     * @throws IllegalStateException if a row is wrong
     */
    void run() {
      for (int i = 0; i < workload.operationsAStep(); i++) {
        int row = choice.getAsInt();
        key.set(row);
        if (random.nextInt(100) < workload.updatePercent) {
          update(row);
        } else if (workload.scans) {
          scan(row);
        } else {
          read(row);
        }
      }
    }

    /** How many updates it has made. */
    long updates() {
      return updates;
    }

    private void update(int row) {
      TreeRows.value(row, random.nextInt(), value);
      if (!access.update(key.high(), key.low(), value)) {
        throw new IllegalStateException("row " + row + " is not there to be updated");
      }
      updates++;
    }

    private void read(int row) {
      if (!access.read(key.high(), key.low(), value)) {
        throw new IllegalStateException("row " + row + " is not there");
      }
      check(row, value);
    }

    private void scan(int row) {
      int expected = Math.min(TreeAccess.MOST_ROWS, tree.rows() - row);
      int found = access.scan(key.high(), key.low(), TreeAccess.MOST_ROWS);
      if (found != expected) {
        throw new IllegalStateException(
            "a scan from row " + row + " found " + found + " rows, not " + expected);
      }
      for (int i = 0; i < found; i++) {
        check(row + i, access.scanned(i));
      }
    }

    private static void check(int row, byte[] value) {
      long sum = TreeRows.sum(value);
      if (sum != row) {
        throw new IllegalStateException("row " + row + " has the value of " + sum);
      }
    }
  }
}
