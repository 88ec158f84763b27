package org.revenantdb.engine.version;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.NavigableSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.page.SlottedSearch;
import org.revenantdb.engine.txn.TransactionTable;
import org.revenantdb.gc.version.DepartedRows;

/**
 * The rows of a range, leaf by leaf, for callers that do not need their values: no value is copied,
 * and keys are copied only on request.
 *
 * <p>A leaf is read under its shared latch. The next one is found by the fence, as in a {@link
 * RowScan}, so splits and merges meanwhile do no harm. For one use and one thread at a time.
 */
public final class RowRange implements RowConflict {
  private static final @Nullable StoredValue[] NO_VALUES = {};

  /** The most keys of departed rows that are looked at together. */
  private static final int DEPARTED = 1024;

  private final BufferPool pool;
  private final Storage storage;
  private final RowReader reader;
  private final Tree tree;
  private final Reading reading;
  private final byte @Nullable [] end;

  /** Rows of the last leaf of which the snapshot sees an older version, if any. */
  private final List<byte[]> older = new ArrayList<>(0);

  /** The next leaf is the one that covers this key. */
  private byte[] position;

  private boolean done;
  private long conflictingWriter;
  private long conflictLsn;
  private byte[] conflictKey = new byte[0];

  /**
   * Makes a range.
   *
   * @param reading the reading of the transaction
   * @param from first key, inclusive, or null for the first
   * @param to last key, exclusive, or null for after the last
   */
  public RowRange(
      Storage storage,
      RowReader reader,
      Tree tree,
      Reading reading,
      byte @Nullable [] from,
      byte @Nullable [] to) {
    this.pool = storage.pool();
    this.storage = storage;
    this.reader = reader;
    this.tree = tree;
    this.reading = reading;
    this.position = from == null ? new byte[0] : from;
    this.end = to;
    this.done = to != null && Arrays.compareUnsigned(position, to) >= 0;
  }

  /** The tree that the rows are in. */
  public Tree tree() {
    return tree;
  }

  /** Whether there may be more leaves. */
  public boolean hasMore() {
    return !done;
  }

  /** How many rows of the next leaf, or of a part of it, the snapshot sees. */
  public int count() {
    byte[] before = position;
    int[] count = {0};
    slots((page, from, to) -> {
      if (reader.seesAll(page, reading)) {
        count[0] += Math.max(0, to - from);
        return;
      }
      rows(
          page,
          from,
          to,
          (cell, isOlder) -> {
            if (isOlder) {
              older.add(Slotted.keyOf(page, cell));
            } else {
              count[0]++;
            }
          });
    });
    if (!departed(before).isNothing()) { // after the leaf was read
      position = before;
      done = false;
      return keys().size(); // a row that has left meanwhile must not be counted twice
    }
    for (StoredValue value : findOlder()) {
      count[0] += value == null ? 0 : 1;
    }
    return count[0];
  }

  /** The keys of the next leaf's rows, or of a part of it, that the snapshot sees. */
  public List<byte[]> keys() {
    byte[] before = position;
    List<byte[]> keys = keysOfLeaf();
    DepartedRows.Found departed = departed(before); // after the leaf was read
    return departed.isNothing() ? keys : merged(keys, departed);
  }

  /**
   * Adds the keys of rows that have left the leaf. If they are many, the range that was just read
   * ends with the last one of them.
   */
  private List<byte[]> merged(List<byte[]> keys, DepartedRows.Found departed) {
    NavigableSet<byte[]> seen = new TreeSet<>(Arrays::compareUnsigned);
    seen.addAll(keys);
    byte[] last = departed.end();
    if (last != null) {
      position = following(last);
      done = false;
      seen = seen.headSet(position, /* inclusive= */ false);
    }
    @Nullable StoredValue[] values = reader.findOlder(tree.table(), departed.keys(), reading);
    for (int i = 0; i < values.length; i++) {
      if (values[i] != null) {
        seen.add(departed.keys().get(i));
      }
    }
    return List.copyOf(seen);
  }

  /** Keys of rows that have left the leaf, from a position up to where the leaf was read. */
  private DepartedRows.Found departed(byte[] from) {
    byte[] to = done ? end : position;
    return reader.departed(tree.table(), from, to, reading, DEPARTED, /* descending= */ false);
  }

  /** The next possible key. */
  static byte[] following(byte[] key) {
    return Arrays.copyOf(key, key.length + 1);
  }

  private List<byte[]> keysOfLeaf() {
    List<byte[]> keys = new ArrayList<>();
    BitSet uncertain = new BitSet();
    slots((page, from, to) ->
        rows(
            page,
            from,
            to,
            (cell, isOlder) -> {
              byte[] key = Slotted.keyOf(page, cell);
              if (isOlder) {
                uncertain.set(keys.size());
                older.add(key);
              }
              keys.add(key);
            }));
    @Nullable StoredValue[] values = findOlder();
    if (values.length == 0) {
      return keys;
    }
    List<byte[]> seen = new ArrayList<>();
    int next = 0;
    for (int row = 0; row < keys.size(); row++) {
      boolean isSeen = true;
      if (uncertain.get(row)) {
        isSeen = values[next] != null;
        next++;
      }
      if (isSeen) {
        seen.add(keys.get(row));
      }
    }
    return seen;
  }

  /**
   * Whether a conflict with another transaction prevents a write to a row of the next leaf (first
   * updater wins). Then that leaf is the next one again. The answer may be out of date at once.
   */
  public boolean findConflict() {
    return findConflict(/* ofCommitted= */ true);
  }

  /**
   * The same.
   *
   * @param ofCommitted whether transactions that have committed since count
   */
  public boolean findConflict(boolean ofCommitted) {
    conflictingWriter = 0;
    byte[] before = position;
    boolean wasDone = done;
    List<Conflict> conflicts =
        new ArrayList<>(0); // for rows of which an older version may be visible
    slots((page, from, to) -> {
      if (reader.seesAll(page, reading)) {
        return; // all writers have committed, at or below the snapshot
      }
      rows(
          page,
          from,
          to,
          (cell, isOlder) -> {
            if (conflictingWriter == 0) {
              lookForConflict(page, cell, ofCommitted);
              if (isOlder && conflictingWriter != 0) {
                older.add(Slotted.keyOf(page, cell));
                conflicts.add(new Conflict(conflictingWriter, conflictLsn));
                conflictingWriter = 0;
              }
            }
          });
    });
    if (conflictingWriter == 0) {
      @Nullable StoredValue[] values = findOlder();
      for (int i = 0; i < values.length && conflictingWriter == 0; i++) {
        if (values[i] != null) {
          conflictingWriter = conflicts.get(i).writer();
          conflictLsn = conflicts.get(i).lsn();
          conflictKey = older.get(i);
        }
      }
    }
    if (conflictingWriter == 0 && !(ofCommitted && findDepartedConflict(before))) {
      return false;
    }
    position = before;
    done = wasDone;
    return true;
  }

  /** Whether a row has left the leaf that the snapshot sees: another transaction has deleted it. */
  private boolean findDepartedConflict(byte[] before) {
    DepartedRows.Found found = departed(before); // after the leaf was read
    while (!found.isNothing()) {
      List<byte[]> keys = found.keys();
      @Nullable StoredValue[] values = reader.findOlder(tree.table(), keys, reading);
      for (int i = 0; i < values.length; i++) {
        long deletedAt = values[i] == null ? 0 : deletedAt(keys.get(i));
        if (deletedAt != 0) {
          conflictLsn = deletedAt;
          conflictKey = keys.get(i);
          return true;
        }
      }
      byte[] last = found.end();
      found = last == null ? DepartedRows.Found.NOTHING : departed(following(last));
    }
    return false;
  }

  private long deletedAt(byte[] key) {
    return storage.versions().unseenDeletes().after(tree.table(), key, reading.snapshot);
  }

  /**
   * Whether another transaction that has committed, or is prepared, has changed a row of the next
   * leaf since the snapshot. Inserted and deleted rows count, too.
   */
  public boolean findChange() {
    byte[] before = position;
    boolean[] found = {false};
    slots((page, from, to) -> {
      if (reader.seesAll(page, reading)) {
        return; // nothing on it has been changed since
      }
      for (int slot = from; slot < to && !found[0]; slot++) {
        found[0] = isChanged(page, Slotted.cell(page, slot));
      }
    });
    return found[0] || !departed(before).isNothing(); // after the leaf was read
  }

  private boolean isChanged(MemorySegment page, int cell) {
    TransactionTable transactions = storage.transactions();
    long writer = LeafCell.writer(page, cell);
    if (writer == reading.self) {
      return false;
    }
    long outcome = transactions.outcome(writer);
    if (TransactionTable.isCommitted(outcome)) {
      return outcome > reading.snapshot;
    }
    if (outcome == TransactionTable.ACTIVE && transactions.ofPrepared(writer) != null) {
      return true;
    }
    return LeafCell.is(page, cell, LeafCell.PREDECESSOR)
        && transactions.outcome(LeafCell.predecessorWriter(page, cell)) > reading.snapshot;
  }

  /** Called with no latch. */
  private @Nullable StoredValue[] findOlder() {
    return older.isEmpty() ? NO_VALUES : reader.findOlder(tree.table(), older, reading);
  }

  /** After {@link #findConflict}: the other transaction. */
  @Override
  public long conflictingWriter() {
    return conflictingWriter;
  }

  /** After {@link #findConflict}: the LSN of its commit, 0 if it has not ended. */
  @Override
  public long conflictLsn() {
    return conflictLsn;
  }

  @Override
  public int conflictTree() {
    return tree.table();
  }

  @Override
  public byte[] conflictKey() {
    return conflictKey;
  }

  private void lookForConflict(MemorySegment page, int cell, boolean ofCommitted) {
    long writer = LeafCell.writer(page, cell);
    if (writer == reading.self) {
      return;
    }
    long outcome = storage.transactions().outcome(writer);
    if (outcome == TransactionTable.ABORTED && LeafCell.is(page, cell, LeafCell.PREDECESSOR)) {
      writer = LeafCell.predecessorWriter(page, cell);
      outcome = storage.transactions().outcome(writer);
    }
    if (outcome == TransactionTable.ACTIVE) {
      conflictingWriter = writer;
      conflictLsn = 0;
      conflictKey = Slotted.keyOf(page, cell);
    } else if (ofCommitted && TransactionTable.isCommitted(outcome) && outcome > reading.snapshot) {
      conflictingWriter = writer;
      conflictLsn = outcome;
      conflictKey = Slotted.keyOf(page, cell);
    }
  }

  /**
   * Receives a latched leaf, and its slots that belong to the range; none if not {@code from < to}.
   */
  @FunctionalInterface
  private interface LeafVisitor {
    void slots(MemorySegment page, int from, int to);
  }

  /**
   * Receives each row that the snapshot sees, or may see. In the latter case an older version must
   * be looked for after the leaf was unlatched.
   */
  @FunctionalInterface
  private interface RowVisitor {
    void row(int cell, boolean isOlder);
  }

  private record Conflict(long writer, long lsn) {}

  private void rows(MemorySegment page, int from, int to, RowVisitor visitor) {
    for (int slot = from; slot < to; slot++) {
      int cell = Slotted.cell(page, slot);
      RowReader.Seen seen = reader.seen(page, cell, reading);
      if (seen != RowReader.Seen.NONE) {
        visitor.row(cell, seen == RowReader.Seen.OLDER);
      }
    }
  }

  /** Visits the next leaf. */
  private void slots(LeafVisitor visitor) {
    older.clear();
    int frame = tree.leafShared(position, reading.descent);
    try {
      MemorySegment page = pool.page(frame);
      tree.demandCovers(page, position);
      boolean last = !Slotted.hasUpperFence(page);
      byte[] fence = last ? null : Slotted.upperFence(page);
      int to = Slotted.count(page);
      if (end != null && (fence == null || Arrays.compareUnsigned(fence, end) >= 0)) {
        to = SlottedSearch.slotAtOrAfter(page, end);
        last = true;
      }
      visitor.slots(page, SlottedSearch.slotAtOrAfter(page, position), to);
      if (last || fence == null) {
        done = true;
      } else {
        position = fence;
      }
    } finally {
      pool.unfixShared(frame);
    }
  }
}
