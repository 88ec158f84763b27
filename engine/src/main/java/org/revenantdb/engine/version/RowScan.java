package org.revenantdb.engine.version;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.page.Slotted;

/**
 * Goes through a range of a tree, leaf by leaf.
 *
 * <p>A batch is copied under the leaf's shared latch; the next one goes on by key: after the last
 * row taken, or from the leaf's fence. So nothing is held between batches, and splits and merges
 * meanwhile do no harm. One thread at a time.
 */
public final class RowScan {
  /** Rows of a batch at the most; a batch never crosses a leaf. */
  private static final int BATCH = 128;

  /**
   * A row that the snapshot sees.
   *
   * @param key its key
   * @param value its value
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  public record Row(byte[] key, StoredValue value) {}

  /**
   * Who reads, which may change while the scan is open: a transaction gets its id with its first
   * write.
   */
  @FunctionalInterface
  public interface Self {
    /** Id of the reading transaction, 0 if it has not written. */
    long id();
  }

  private final BufferPool pool;
  private final RowReader reader;
  private final Tree tree;
  private final long snapshot;
  private final Self self;
  private final Witness witness;
  private final boolean descending;

  /**
   * Ascending: the next row is at or after this. Descending: it is below this, null for plus
   * infinity.
   */
  private byte @Nullable [] position;

  /** The other end: ascending exclusive, descending inclusive; null for none. */
  private final byte @Nullable [] end;

  private boolean done;

  /**
   * A scan.
   *
   * @param witness told of every version that is returned or is absent
   * @param from first key, inclusive, or null for the first
   * @param to last key, exclusive, or null for after the last
   */
  public RowScan(
      Storage storage,
      RowReader reader,
      Tree tree,
      long snapshot,
      Self self,
      Witness witness,
      boolean descending,
      byte @Nullable [] from,
      byte @Nullable [] to) {
    this.pool = storage.pool();
    this.reader = reader;
    this.tree = tree;
    this.snapshot = snapshot;
    this.self = self;
    this.witness = witness;
    this.descending = descending;
    this.position = descending ? to : from == null ? new byte[0] : from;
    this.end = descending ? from : to;
  }

  /** Appends the next rows; appends none only at the end. */
  public void fill(List<Row> batch) {
    while (!done && batch.isEmpty()) {
      if (descending) {
        fillBackwards(batch);
      } else {
        fillForwards(batch);
      }
    }
  }

  private void fillForwards(List<Row> batch) {
    byte[] from = position == null ? new byte[0] : position;
    int frame = tree.leafShared(from);
    try {
      MemorySegment page = pool.page(frame);
      if (!Slotted.covers(page, from)) {
        throw tree.misplaced(page);
      }
      int slot = Slotted.search(page, from);
      int count = Slotted.count(page);
      for (int i = slot >= 0 ? slot : -slot - 1; i < count; i++) {
        int cell = Slotted.cell(page, i);
        byte[] key = LeafCell.key(page, cell);
        if (end != null && Arrays.compareUnsigned(key, end) >= 0) {
          done = true;
          return;
        }
        if (batch.size() == BATCH) {
          position = key;
          return;
        }
        take(batch, page, cell, key);
      }
      if (Slotted.hasUpperFence(page)) {
        position = Slotted.upperFence(page);
      } else {
        done = true;
      }
    } finally {
      pool.unfixShared(frame);
    }
  }

  private void fillBackwards(List<Row> batch) {
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
      int first = Slotted.count(page);
      if (position != null) {
        int slot = Slotted.search(page, position);
        first = slot >= 0 ? slot : -slot - 1;
      }
      for (int i = first - 1; i >= 0; i--) {
        int cell = Slotted.cell(page, i);
        byte[] key = LeafCell.key(page, cell);
        if (end != null && Arrays.compareUnsigned(key, end) < 0) {
          done = true;
          return;
        }
        if (batch.size() == BATCH) {
          return;
        }
        take(batch, page, cell, key);
        position = key;
      }
      byte[] fence = Slotted.lowerFence(page);
      if (fence.length == 0) {
        done = true;
      } else {
        position = fence;
      }
    } finally {
      pool.unfixShared(frame);
    }
  }

  /** Whether the largest keys below a bound (null: of all) are those of this leaf. */
  private static boolean isBelow(MemorySegment page, byte @Nullable [] bound) {
    if (bound == null) {
      return !Slotted.hasUpperFence(page);
    }
    return Arrays.compareUnsigned(Slotted.lowerFence(page), bound) < 0
        && (!Slotted.hasUpperFence(page)
            || Arrays.compareUnsigned(Slotted.upperFence(page), bound) >= 0);
  }

  private void take(List<Row> batch, MemorySegment page, int cell, byte[] key) {
    StoredValue value = reader.visible(tree.table(), page, cell, snapshot, self.id(), key, witness);
    if (value != null) {
      batch.add(new Row(key, value));
    }
  }
}
