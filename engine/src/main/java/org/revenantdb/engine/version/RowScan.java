package org.revenantdb.engine.version;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.btree.Descent;
import org.revenantdb.engine.btree.ReadAhead;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.page.SlottedSearch;
import org.revenantdb.gc.version.DepartedRows;

/**
 * Scans a range of a tree, leaf by leaf.
 *
 * <p>A batch is copied under the leaf's shared latch. The next one continues by key: after the last
 * row taken, or from the leaf's fence. So nothing is held between batches, and splits and merges
 * meanwhile do no harm. For one thread at a time.
 */
public final class RowScan implements RowSource {
  /**
   * The most rows of a leaf in a batch, and the most that have left it; a batch never crosses a
   * leaf.
   */
  static final int BATCH = 128;

  private static final byte[] NO_BYTES = {};

  private final BufferPool pool;
  private final RowReader reader;
  private final Tree tree;
  private final Reading reading;

  /** Its own descent, so that it continues from its end, whatever else the transaction reads. */
  private final Descent descent = new Descent();

  private final ReadAhead ahead;
  private final boolean descending;

  /**
   * Ascending: the next row is at or after this. Descending: it is below this, null for plus
   * infinity.
   */
  private byte @Nullable [] position;

  /** The other end: ascending exclusive, descending inclusive; null for none. */
  private final byte @Nullable [] end;

  /** Whether the position is the upper fence of the leaf that the last descent found. */
  private boolean fromFence;

  private boolean done;

  /** Receives rows. */
  @FunctionalInterface
  public interface RowAction {
    /** A row whose value lies in its leaf. */
    void accept(byte[] key, byte[] value);
  }

  /**
   * Visits all rows of a range in key order, each as it is when it is reached.
   *
   * @param from first key, inclusive, or null for the first
   * @param to last key, exclusive, or null for after the last
   */
  public static void forEach(
      Storage storage,
      RowReader reader,
      Tree tree,
      byte @Nullable [] from,
      byte @Nullable [] to,
      RowAction action) {
    Reading newest = new Reading(Long.MAX_VALUE);
    RowScan scan = new RowScan(storage, reader, tree, newest, /* descending= */ false, from, to);
    RowBatch batch = new RowBatch();
    for (scan.fill(batch); !batch.isEmpty(); scan.fill(batch)) {
      for (int row = 0; row < batch.size(); row++) {
        action.accept(batch.key(row), batch.value(row).bytes());
      }
    }
  }

  /**
   * Makes a scan.
   *
   * @param reading the reading of the transaction
   * @param from first key, inclusive, or null for the first
   * @param to last key, exclusive, or null for after the last
   */
  public RowScan(
      Storage storage,
      RowReader reader,
      Tree tree,
      Reading reading,
      boolean descending,
      byte @Nullable [] from,
      byte @Nullable [] to) {
    this.pool = storage.pool();
    this.reader = reader;
    this.ahead = new ReadAhead(pool, tree, to);
    this.tree = tree;
    this.reading = reading;
    this.descending = descending;
    this.position = descending ? to : from == null ? new byte[0] : from;
    this.end = descending ? from : to;
  }

  @Override
  public long fill(RowBatch batch, long writes) {
    fill(batch);
    return writes;
  }

  /** Fills a batch with the next rows; with none only at the end. */
  public void fill(RowBatch batch) {
    fill(batch, BATCH);
  }

  /**
   * Fills a batch with the next rows; with none only at the end.
   *
   * @param most how many rows of a leaf it reads
   */
  void fill(RowBatch batch, int most) {
    batch.clear();
    while (!done && batch.isEmpty()) {
      batch.clear(); // it may have the prefix of the leaf before
      byte[] before = position;
      if (descending) {
        fillBackwards(batch, most);
      } else {
        fillForwards(batch, most);
      }
      addDeparted(before, batch, most); // after the leaf was read
      reader.findOlder(tree.table(), reading, batch); // nothing is latched
    }
  }

  /**
   * Adds rows that the snapshot may see and that have left the leaf, from the range that was just
   * read. If there are too many for a batch, the range ends with the last one of them.
   *
   * @param before the position before that
   */
  private void addDeparted(byte @Nullable [] before, RowBatch batch, int most) {
    byte[] from = descending ? (done ? end : position) : before;
    byte[] to = descending ? before : (done ? end : position);
    DepartedRows.Found found =
        reader.departed(
            tree.table(), from == null ? NO_BYTES : from, to, reading, most, descending);
    if (found.isNothing()) {
      return;
    }
    byte[] last = found.end();
    batch.merge(found.keys(), descending, /* endsThere= */ last != null);
    if (last != null) {
      position = descending ? last : RowRange.following(last);
      fromFence = false;
      done = false;
    }
  }

  private void fillForwards(RowBatch batch, int most) {
    byte[] from = position == null ? new byte[0] : position;
    int frame = fromFence ? tree.nextLeafShared(descent) : -1;
    boolean isFound = frame >= 0;
    fromFence = false;
    if (!isFound) {
      frame = ahead.leafShared(from, descent);
    }
    try {
      if (isFound) {
        ahead.cameTo(from, pool.pageIdOf(frame));
      }
      MemorySegment page = pool.page(frame);
      tree.demandCovers(page, from);
      tree.fetchNextLeaf(descent);
      boolean last =
          end == null ? !Slotted.hasUpperFence(page) : SlottedSearch.endsBehind(page, end);
      int count =
          last && end != null ? SlottedSearch.slotAtOrAfter(page, end) : Slotted.count(page);
      int first = SlottedSearch.slotAtOrAfter(page, from);
      int to = Math.min(first + most, count);
      hold(page, first, to, batch);
      boolean seesAll = reader.seesAll(page, reading);
      for (int slot = first; slot < to; slot++) {
        take(page, Slotted.cell(page, slot), seesAll, batch);
      }
      if (to < count) {
        position = Slotted.key(page, to);
      } else if (last) {
        done = true;
      } else {
        position = Slotted.upperFence(page);
        fromFence = true;
      }
    } finally {
      pool.unfixShared(frame);
    }
  }

  private void fillBackwards(RowBatch batch, int most) {
    byte[] bound = position;
    if (bound != null && bound.length == 0) {
      done = true; // nothing is below the empty key
      return;
    }
    int frame = tree.leafBelow(bound);
    try {
      MemorySegment page = pool.page(frame);
      if (!isBelow(page, bound)) {
        throw tree.misplaced(page);
      }
      int behind = bound == null ? Slotted.count(page) : SlottedSearch.slotAtOrAfter(page, bound);
      byte[] fence = Slotted.lowerFence(page);
      boolean last = fence.length == 0 || (end != null && Arrays.compareUnsigned(fence, end) <= 0);
      int first = end == null ? 0 : SlottedSearch.slotAtOrAfter(page, end);
      int from = Math.max(first, behind - most);
      hold(page, from, behind, batch);
      boolean seesAll = reader.seesAll(page, reading);
      for (int slot = behind - 1; slot >= from; slot--) {
        take(page, Slotted.cell(page, slot), seesAll, batch);
      }
      if (from > first) {
        position = Slotted.key(page, from);
      } else if (last) {
        done = true;
      } else {
        position = fence;
      }
    } finally {
      pool.unfixShared(frame);
    }
  }

  private void take(MemorySegment page, int cell, boolean seesAll, RowBatch batch) {
    if (seesAll) {
      batch.addCurrent(cell, LeafCell.shape(page, cell));
    } else {
      reader.take(page, cell, reading, batch);
    }
  }

  /** Copies the cells of some slots of a leaf to the batch. */
  private static void hold(MemorySegment page, int from, int to, RowBatch batch) {
    int low = Page.SIZE;
    int end = 0;
    for (int slot = from; slot < to; slot++) {
      int cell = Slotted.cell(page, slot);
      low = Math.min(low, cell);
      end = Math.max(end, cell + LeafCell.cellLength(page, cell));
    }
    if (from < to) {
      batch.hold(page, low, end);
    }
  }

  /** Whether this leaf has the largest keys below a bound (null: of all keys). */
  private static boolean isBelow(MemorySegment page, byte @Nullable [] bound) {
    if (bound == null) {
      return !Slotted.hasUpperFence(page);
    }
    return Arrays.compareUnsigned(Slotted.lowerFence(page), bound) < 0
        && (!Slotted.hasUpperFence(page)
            || Arrays.compareUnsigned(Slotted.upperFence(page), bound) >= 0);
  }
}
