package org.revenantdb.engine.version;

import java.util.Arrays;
import java.util.List;
import org.revenantdb.engine.page.Page;

/**
 * Scans the same range of several trees without common keys, and returns their rows in one order.
 *
 * <p>Nothing is held between batches. Splits and merges meanwhile do no harm, as for the {@link
 * RowScan} of each tree.
 */
public final class MergedScan implements RowSource {
  /*
   * Protocol    docs/protocols.md §22, with the argument why the order holds.
   *
   * heap[0 .. size)   trees that have not ended, by the key of the row that comes next; the first of all at 0
   * at[t]             that row in batches[t]
   * rows[t]           how many rows the next batch of tree t is to have at the most
   * taken[t]          how often the transaction had written when batches[t] was taken, or found empty
   *
   * Invariant   Between two calls, and before each row is returned, every tree that has not ended is in the heap: its
   *             next batch is taken as soon as the last row of the former one has been returned.
   */
  /** The greatest number of rows of a returned batch; its bytes may fill it earlier. */
  private static final int BATCH = 128;

  /**
   * The number of rows of the first batch of each tree: a short scan should not copy unneeded rows.
   */
  private static final int FIRST_ROWS = 8;

  private final RowScan[] scans;
  private final RowBatch[] batches;
  private final boolean descending;
  private final int[] at;
  private final int[] rows;
  private final long[] taken;
  private final int[] heap;
  private int size;
  private boolean begun;

  /**
   * Makes a scan.
   *
   * @param scans scans of the same range and in the same direction, not begun
   * @param batches one for each, from {@link #batches}; they may come from another merged scan of
   *     the same thread, which cannot be used any more
   */
  public MergedScan(List<RowScan> scans, RowBatch[] batches, boolean descending) {
    this.scans = scans.toArray(new RowScan[0]);
    this.batches = batches;
    this.descending = descending;
    this.at = new int[batches.length];
    this.rows = new int[batches.length];
    this.taken = new long[batches.length];
    this.heap = new int[batches.length];
    Arrays.fill(rows, FIRST_ROWS);
  }

  /** Empty batches for a number of trees. */
  public static RowBatch[] batches(int trees) {
    RowBatch[] batches = new RowBatch[trees];
    Arrays.setAll(batches, tree -> new RowBatch());
    return batches;
  }

  @Override
  public long fill(RowBatch batch, long writes) {
    batch.clear();
    if (!begun) {
      begin(writes);
    }
    long oldest = writes;
    for (long each : taken) {
      oldest = Math.min(oldest, each);
    }
    while (size > 0 && batch.size() < BATCH && batch.bytesUsed() < Page.SIZE) {
      int tree = heap[0];
      batch.add(batches[tree], at[tree]);
      at[tree]++;
      if (at[tree] < batches[tree].size() || take(tree, writes)) {
        sink(0);
      } else {
        size--;
        heap[0] = heap[size];
        sink(0);
      }
    }
    return oldest;
  }

  private void begin(long writes) {
    for (int tree = 0; tree < scans.length; tree++) {
      if (take(tree, writes)) {
        heap[size] = tree;
        size++;
      }
    }
    for (int place = size / 2 - 1; place >= 0; place--) {
      sink(place);
    }
    begun = true;
  }

  /** Takes the next batch of a tree; false if it has no more rows. */
  private boolean take(int tree, long writes) {
    taken[tree] = writes;
    at[tree] = 0;
    scans[tree].fill(batches[tree], rows[tree]);
    rows[tree] = Math.min(2 * rows[tree], RowScan.BATCH);
    return !batches[tree].isEmpty();
  }

  /** Moves the tree at a place of the heap to where it belongs; the places below are in order. */
  private void sink(int place) {
    int tree = heap[place];
    int hole = place;
    while (2 * hole + 1 < size) {
      int child = 2 * hole + 1;
      if (child + 1 < size && comesBefore(heap[child + 1], heap[child])) {
        child++;
      }
      if (!comesBefore(heap[child], tree)) {
        break;
      }
      heap[hole] = heap[child];
      hole = child;
    }
    heap[hole] = tree;
  }

  private boolean comesBefore(int one, int other) {
    int order = batches[one].compareKeys(at[one], batches[other], at[other]);
    return descending ? order > 0 : order < 0;
  }
}
