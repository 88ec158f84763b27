package org.revenantdb.engine.version;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.btree.LeafRun;
import org.revenantdb.engine.btree.RunInsert;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.overflow.OverflowWriter;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.page.ValueReference;

/**
 * Stores rows that come in ascending order, for one transaction that does nothing else. Where the
 * table has no rows yet, it stores whole leaves. Between other rows it stores as many as a leaf
 * takes at once, or row by row.
 *
 * <p>After an exception, except for a row out of order, and after a conflict, the transaction must
 * be rolled back (protocols.md §17, B4). For one thread at a time.
 */
public final class RowLoader {
  private final Storage storage;
  private final Tree tree;
  private final RowWriter writer;
  private final long id;
  private final long snapshot;
  private final LeafRun run;
  private final RunInsert insert;
  private final LeafLoader between;
  private final OverflowWriter overflow;

  /** A copy of the last key; the caller keeps its own arrays. */
  private final byte[] last = new byte[LeafCell.MAX_KEY];

  private int lastLength;
  private byte @Nullable [] firstOfRun;

  /** The part of the run that has been stored row by row; none yet if the leaf is -1. */
  private int storedLeaf = -1;

  private int storedSlot;

  /** The row that did not fit in the run that is being stored. */
  private byte @Nullable [] nextKey;

  private byte @Nullable [] nextCell;
  private long pages;

  /**
   * Makes a loader.
   *
   * @param writer the transaction's writer, for rows that are stored one by one
   * @param id the id of the transaction
   * @param snapshot the snapshot of the transaction
   */
  public RowLoader(Storage storage, Tree tree, RowWriter writer, long id, long snapshot) {
    this.storage = storage;
    this.tree = tree;
    this.writer = writer;
    this.id = id;
    this.snapshot = snapshot;
    this.run = new LeafRun(tree.table(), id);
    this.insert =
        new RunInsert(
            storage.pool(),
            storage.log(),
            storage.allocator(),
            storage.marks(),
            storage.space(),
            () -> storage.versions().unseenDeletes().anyAfter(tree.table(), snapshot),
            storage.counters().splits);
    this.between = new LeafLoader(storage, tree, id, snapshot);
    this.overflow = writer.newOverflowWriter();
    writer.cannotPutBack();
  }

  /** Whether a key is above all former ones. */
  public boolean isAscending(byte[] key) {
    return Arrays.compareUnsigned(last, 0, lastLength, key, 0, key.length) < 0;
  }

  /** The number of leaves that were stored whole. */
  public long pages() {
    return pages;
  }

  /**
   * Stores a row if it needs nothing but memory: it has room in the run, and nothing is to be
   * stored before it.
   *
   * @return false if {@link #add} has to be called
   */
  public boolean addToRun(byte[] key, byte[] value) {
    if (firstOfRun == null
        || storedLeaf >= 0
        || value.length > LeafCell.maxInlineValue(key.length)
        || !isAscending(key)
        || !run.add(key, LeafCell.build(key, 0, id, value))) {
      return false;
    }
    came(key);
    return true;
  }

  /** Stores a row; the caller has checked that it is ascending. */
  public RowWriter.Outcome add(byte[] key, byte[] value) {
    if (value.length <= LeafCell.maxInlineValue(key.length)) {
      return add(key, 0, value);
    }
    overflow.writeAdopted(id, value);
    storage.counters().overflowValues.increment();
    return add(key, LeafCell.OVERFLOW, overflow.reference().bytes());
  }

  /**
   * A writer for a value that comes in pieces. The value is in no row until {@link #add} is called.
   */
  public OverflowWriter beginValue() {
    OverflowWriter written = writer.newOverflowWriter();
    written.begin(id);
    return written;
  }

  /**
   * Stores a row with a value from {@link #beginValue}; the caller has checked that it is
   * ascending.
   */
  public RowWriter.Outcome add(byte[] key, OverflowWriter written) {
    written.adopt();
    storage.counters().overflowValues.increment();
    return add(key, LeafCell.OVERFLOW, written.reference().bytes());
  }

  private RowWriter.Outcome add(byte[] key, int flags, byte[] value) {
    byte[] cell = LeafCell.build(key, flags, id, value);
    if (firstOfRun == null) {
      begin(key, insert.fenceFor(tree, key));
    }
    if (run.add(key, cell)) {
      came(key);
      return RowWriter.Outcome.DONE;
    }
    nextKey = key.clone();
    nextCell = cell;
    return resume();
  }

  private void came(byte[] key) {
    System.arraycopy(key, 0, last, 0, key.length);
    lastLength = key.length;
  }

  /** Whether a conflict has prevented a row from being stored, and {@link #resume} may succeed. */
  public boolean isHeldUp() {
    return storedLeaf >= 0;
  }

  /** Continues after a conflict, with the row that was in conflict. */
  public RowWriter.Outcome resume() {
    RowWriter.Outcome outcome = store();
    byte[] key = nextKey;
    byte[] cell = nextCell;
    if (outcome == RowWriter.Outcome.DONE && key != null && cell != null) {
      nextKey = null;
      nextCell = null;
      begin(key, RunInsert.fenceBetween(Arrays.copyOf(last, lastLength), key));
      run.add(key, cell);
      came(key);
    }
    return outcome;
  }

  private void begin(byte[] key, byte[] fence) {
    run.begin(fence);
    firstOfRun = key.clone();
  }

  /** Stores the remaining rows. */
  public RowWriter.Outcome finish() {
    return firstOfRun == null ? RowWriter.Outcome.DONE : store();
  }

  private RowWriter.Outcome store() {
    if (storedLeaf < 0) {
      byte[] first = Objects.requireNonNull(firstOfRun);
      firstOfRun = null;
      if (!run.isSmall() && insert.insert(tree, id, run, first)) {
        pages += run.size();
        return RowWriter.Outcome.DONE;
      }
      storedLeaf = 0;
      storedSlot = 0;
    }
    for (; storedLeaf < run.size(); storedLeaf++, storedSlot = 0) {
      MemorySegment leaf = run.leaf(storedLeaf).page();
      int count = Slotted.count(leaf);
      while (storedSlot < count) {
        int stored = between.store(leaf, storedSlot);
        if (stored == 0) {
          stored = 1;
          RowWriter.Outcome outcome = put(leaf, Slotted.cell(leaf, storedSlot));
          if (outcome != RowWriter.Outcome.DONE) {
            return outcome;
          }
        }
        storedSlot += stored;
      }
    }
    storedLeaf = -1;
    return RowWriter.Outcome.DONE;
  }

  private RowWriter.Outcome put(MemorySegment leaf, int cell) {
    byte[] key = Slotted.keyOf(leaf, cell);
    if (!LeafCell.is(leaf, cell, LeafCell.OVERFLOW)) {
      return writer.put(tree, id, snapshot, key, LeafCell.value(leaf, cell));
    }
    int reference = LeafCell.valueOffset(leaf, cell);
    return writer.putOverflow(tree, id, snapshot, key, ValueReference.of(leaf, reference));
  }
}
