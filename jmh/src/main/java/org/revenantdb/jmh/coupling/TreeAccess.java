package org.revenantdb.jmh.coupling;

import org.revenantdb.jmh.tree.TreeRows;

/**
 * A way to use a {@link NodeTree}: which latches are taken and in which mode. One thread uses it;
 * it allocates nothing.
 *
 * <p>A scan reaches each leaf through the root: it copies its rows from a leaf and continues with
 * the leaf's upper fence, like the engine's scans.
 */
abstract class TreeAccess {
  /** The most rows that a scan asks for. */
  static final int MOST_ROWS = 100;

  /** The tree. */
  final NodeTree tree;

  private final byte[][] batch = new byte[MOST_ROWS][TreeRows.VALUE];
  private long nextHigh;
  private long nextLow;

  TreeAccess(NodeTree tree) {
    this.tree = tree;
  }

  /** Copies the value of a row; false if there is none. */
  abstract boolean read(long high, long low, byte[] value);

  /** Replaces the value of a row; false if there is none. */
  abstract boolean update(long high, long low, byte[] value);

  /** Reads what {@link #take} takes of the leaf that has a key, as it was at one moment. */
  abstract int readLeaf(long high, long low, int already, int wanted);

  /**
   * Copies values of rows, in key order.
   *
   * @param wanted {@link #MOST_ROWS} at most
   * @return how many there were
   */
  final int scan(long high, long low, int wanted) {
    int found = 0;
    nextHigh = high;
    nextLow = low;
    do {
      found += readLeaf(nextHigh, nextLow, found, wanted);
    } while (found < wanted && (nextHigh & nextLow) != -1);
    return found;
  }

  /** A value that the last scan found. */
  final byte[] scanned(int row) {
    return batch[row];
  }

  /**
   * Copies rows of one leaf, from a key on, into the batch, and notes where to continue. It may be
   * repeated for the same leaf if its reads do not count.
   *
   * @param already how many the batch has
   * @return how many came to it
   */
  final int take(Node leaf, long high, long low, int already, int wanted) {
    int from = leaf.lowerBound(high, low);
    int count = Math.min(wanted - already, leaf.entries() - from);
    for (int i = 0; i < count; i++) {
      leaf.copyValue(from + i, batch[already + i]);
    }
    nextHigh = leaf.fenceHigh();
    nextLow = leaf.fenceLow();
    return count;
  }
}
