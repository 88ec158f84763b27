package org.revenantdb.engine.version;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.btree.Descent;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.page.SlottedSearch;
import org.revenantdb.engine.txn.TransactionTable;
import org.revenantdb.gc.version.DepartedRows;
import org.revenantdb.gc.version.VolatileStore;

/**
 * Finds the version of a row that a snapshot sees.
 *
 * <p>Most reads are optimistic and write no shared memory: the snapshot sees the current version in
 * the leaf, or one that is no longer in the leaf. Other cases, and reads that are disturbed too
 * often, use the leaf's shared latch. Thread-safe.
 */
public final class RowReader {
  /*
   * R1          The writer of a version is looked up while its page is latched; in an optimistic read, before the
   *             leaf's stamp is validated.
   *
   * Optimistic  1 descent: leaf and stamp   2 slot, cell, flags, writer, place of the value   3 what became of the writer
   *             4 copy   5 the stamp validates; only then is a result reported to the caller or the witness
   *             Not seen at 3: the same of the predecessor, instead of 4; behind 5 the store, as without the latch that a
   *             reader under it has given back by then.
   *             Before 5 everything may be torn. Lengths and offsets have two bytes, so an allocation is small. An
   *             offset that leads out of the page causes an exception, which counts as a disturbance.
   */
  /** The result of {@link #read(Tree, byte[], Reading, byte[], int)} if there is no row. */
  public static final int NO_ROW = -1;

  /** The result if the value has to be found by {@link #read(Tree, byte[], Reading)}. */
  public static final int LATCHED = -2;

  static final int OPTIMISTIC_TRIES = 3;

  // The results of locate() and placeOf() other than the place of a value.
  static final long PLACE_NO_ROW = -1;
  static final long PLACE_LATCHED = -2;
  private static final long PLACE_DISTURBED = -3;
  static final long PLACE_OLDER = -4;

  /** The leaf does not cover the key. */
  private static final long PLACE_ELSEWHERE = -5;

  private final Storage storage;

  /** Makes a reader of this database's rows. */
  public RowReader(Storage storage) {
    this.storage = storage;
  }

  /**
   * Copies the value of a key to an array of the caller, if that can be done without a latch.
   *
   * @param into receives the value, as much as fits; bytes behind it may be overwritten, too
   * @param at index of its first byte
   * @return the length of the value, {@link #NO_ROW} or {@link #LATCHED}
   */
  public int read(Tree tree, byte[] key, Reading reading, byte[] into, int at) {
    for (int tries = 0; tries < OPTIMISTIC_TRIES; tries++) {
      long place = locate(tree, key, reading);
      if (place >= 0) {
        int length = (int) place;
        int offset = (int) (place >>> Integer.SIZE);
        int count = Math.min(length, into.length - at);
        if (offset + count <= Page.SIZE) {
          Descent leaf = reading.descent;
          MemorySegment.copy(
              leaf.memory(), ValueLayout.JAVA_BYTE, leaf.base() + offset, into, at, count);
          if (isRight(reading)) {
            return length;
          }
        }
      } else if (place == PLACE_NO_ROW) {
        return NO_ROW;
      } else if (place != PLACE_DISTURBED) {
        return LATCHED;
      }
    }
    return LATCHED;
  }

  /** The value of a key. */
  public @Nullable StoredValue read(Tree tree, byte[] key, Reading reading) {
    for (int tries = 0; tries < OPTIMISTIC_TRIES; tries++) {
      long place = locate(tree, key, reading);
      if (place >= 0) {
        int length = (int) place;
        int offset = (int) (place >>> Integer.SIZE);
        if (offset + length <= Page.SIZE) {
          byte[] value = Page.bytes(reading.descent.leaf().page(), offset, length);
          if (isRight(reading)) {
            return new StoredValue(0, value);
          }
        }
      } else if (place == PLACE_NO_ROW) {
        return null;
      } else if (place == PLACE_OLDER) {
        countHit(reading);
        return older(tree.table(), key, reading);
      } else if (place == PLACE_LATCHED) {
        break;
      }
    }
    return readLatched(tree, key, reading);
  }

  /** Called after everything else was read: whether the read was undisturbed. */
  boolean isRight(Reading reading) {
    if (!reading.descent.isUndisturbed()) {
      return false;
    }
    reading.witness.saw(reading.status);
    countHit(reading);
    return true;
  }

  private void countHit(Reading reading) {
    storage.pool().hit(reading.descent.leaf(), reading.descent.levels());
  }

  /** Length and offset of the value in the leaf, in one number; or one of the PLACE constants. */
  private long locate(Tree tree, byte[] key, Reading reading) {
    Descent descent = reading.descent;
    if (!tree.descend(key, descent)) {
      return PLACE_LATCHED;
    }
    long place;
    try {
      MemorySegment memory = descent.memory();
      long base = descent.base();
      int slot = descent.search(memory, base, key);
      place =
          slot < 0
              ? placeWithoutSlot(tree.table(), key, reading)
              : placeOf(memory, base, slot, reading);
    } catch (IndexOutOfBoundsException torn) {
      return PLACE_DISTURBED; // if it was not a disturbance, the read under the latch meets it
    }
    if (place == PLACE_NO_ROW) {
      reading.status = TransactionTable.COMMITTED_FOR_ALL;
      return isRight(reading) ? PLACE_NO_ROW : PLACE_DISTURBED;
    }
    if (place == PLACE_OLDER || place == PLACE_ELSEWHERE) {
      return !descent.isUndisturbed()
          ? PLACE_DISTURBED
          : place == PLACE_OLDER ? PLACE_OLDER : PLACE_LATCHED;
    }
    return place;
  }

  /**
   * The place of a key that has no slot in the leaf of the last descent. The result is right only
   * if the stamp validates.
   */
  private long placeWithoutSlot(int table, byte[] key, Reading reading) {
    if (!SlottedSearch.covers(reading.descent.leaf().page(), key)) {
      return PLACE_ELSEWHERE;
    }
    return mayHaveDeparted(table, reading) ? PLACE_OLDER : PLACE_NO_ROW; // after the leaf was read
  }

  /**
   * The place of the value of a slot. The result is right only if the stamp of the leaf validates.
   * The outcome of a visible writer is in {@code reading.status}.
   */
  private long placeOf(MemorySegment memory, long base, int slot, Reading reading) {
    long cell = Slotted.cellOf(memory, base, slot);
    long shape = LeafCell.shape(memory, cell);
    long status = statusOf(LeafCell.writer(memory, cell), reading);
    return placeOf(memory, base, cell, shape, status, reading);
  }

  /**
   * As {@link #placeOf(MemorySegment, long, int, Reading)}.
   *
   * @param cell the cell of the slot
   * @param shape its {@link LeafCell#shape(MemorySegment, long)}
   * @param status what became of its writer
   */
  long placeOf(
      MemorySegment memory, long base, long cell, long shape, long status, Reading reading) {
    if (!isSeen(status, reading)) {
      return placeOfOlder(memory, base, shape, status, reading);
    }
    if ((LeafCell.flags(shape) & (LeafCell.DELETED | LeafCell.OVERFLOW)) != 0) {
      return PLACE_LATCHED;
    }
    reading.status = status;
    long offset = cell - base + LeafCell.valueOffset(shape);
    return (offset << Integer.SIZE) | LeafCell.valueLength(shape);
  }

  /**
   * Called if the current version is not visible: finds out if an older version outside the leaf
   * is. The read under the latch waits for committing writers, and records the skipped ones.
   */
  private long placeOfOlder(
      MemorySegment memory, long base, long shape, long status, Reading reading) {
    if (status == TransactionTable.COMMITTING || reading.notesPrepared()) {
      return PLACE_LATCHED;
    }
    if ((LeafCell.flags(shape) & LeafCell.PREDECESSOR) != 0) {
      long before = statusOf(LeafCell.predecessorWriter(memory, base, shape), reading);
      if (before == TransactionTable.COMMITTING || isSeen(before, reading)) {
        return PLACE_LATCHED;
      }
    }
    return mayHaveOlder() ? PLACE_OLDER : PLACE_NO_ROW;
  }

  /** What became of a writer, for a transaction that sees its own versions. */
  long statusOf(long writer, Reading reading) {
    return writer == reading.self
        ? TransactionTable.COMMITTED_FOR_ALL
        : storage.transactions().status(writer);
  }

  private static boolean isSeen(long status, Reading reading) {
    return TransactionTable.isCommitted(status) && status <= reading.snapshot;
  }

  /** The value of a key, read under the latch of its leaf. */
  @Nullable StoredValue readLatched(Tree tree, byte[] key, Reading reading) {
    int frame = tree.leafShared(key, reading.descent);
    try {
      MemorySegment page = storage.pool().page(frame);
      int slot = SlottedSearch.search(page, key);
      if (slot < 0) {
        tree.demandCovers(page, key);
        if (!mayHaveDeparted(tree.table(), reading)) {
          return null;
        }
      } else {
        int cell = Slotted.cell(page, slot);
        Seen seen = seen(page, cell, reading);
        if (seen != Seen.OLDER) {
          return value(page, cell, seen);
        }
      }
    } finally {
      storage.pool().unfixShared(frame);
    }
    return older(tree.table(), key, reading);
  }

  /** The version of a row that a snapshot sees, as far as its leaf shows. */
  enum Seen {
    /** The current one. */
    CURRENT,
    /** The predecessor, which is also in the leaf. */
    PREDECESSOR,
    /** None: for the snapshot the row is deleted, or was never there. */
    NONE,
    /** None in the leaf; perhaps an older one, if {@link #mayHaveOlder}. */
    OLDER
  }

  /**
   * Which version of the row in a cell a snapshot sees.
   *
   * @param page its leaf, latched
   */
  Seen seen(MemorySegment page, int cell, Reading reading) {
    if (sees(LeafCell.writer(page, cell), reading)) {
      return LeafCell.is(page, cell, LeafCell.DELETED) ? Seen.NONE : Seen.CURRENT;
    }
    return seenBefore(page, cell, reading);
  }

  /** As {@link #seen}, if it is not the current version. */
  private Seen seenBefore(MemorySegment page, int cell, Reading reading) {
    // Else it is an insert that this snapshot does not see, or a row whose former versions it does
    // not need.
    if (LeafCell.is(page, cell, LeafCell.PREDECESSOR)
        && sees(LeafCell.predecessorWriter(page, cell), reading)) {
      return LeafCell.is(page, cell, LeafCell.PREDECESSOR_DELETED) ? Seen.NONE : Seen.PREDECESSOR;
    }
    return mayHaveOlder() ? Seen.OLDER : Seen.NONE;
  }

  /**
   * Whether there is an older version of any row. If not, there is none of a row whose leaf is
   * latched now, because a version is in the store before it leaves its page (R27).
   */
  private boolean mayHaveOlder() {
    return !storage.versions().isEmpty();
  }

  /**
   * Whether a snapshot may see a row that is not in its leaf. Asked after the leaf was read: the
   * key of a row is there before the row leaves it.
   */
  boolean mayHaveDeparted(int table, Reading reading) {
    return storage.versions().departed().anyAfter(table, reading.snapshot);
  }

  /**
   * Keys of departed rows in a range that a snapshot may see; called after the leaf of the range
   * was read and unlatched. Their values are found by {@link #findOlder}.
   *
   * @param from first key, inclusive
   * @param to last key, exclusive; null for after the last
   * @param most the most keys that are returned
   */
  DepartedRows.Found departed(
      int table, byte[] from, byte @Nullable [] to, Reading reading, int most, boolean descending) {
    return storage.versions().departed().keys(table, from, to, reading.snapshot, most, descending);
  }

  static @Nullable StoredValue value(MemorySegment page, int cell, Seen seen) {
    return switch (seen) {
      case CURRENT ->
          new StoredValue(LeafCell.currentFlags(page, cell), LeafCell.value(page, cell));
      case PREDECESSOR ->
          new StoredValue(LeafCell.predecessorFlags(page, cell), LeafCell.predecessor(page, cell));
      case NONE, OLDER -> null;
    };
  }

  /**
   * Whether a snapshot sees the current version of each row of a leaf, and all of these are
   * durable: then no writer has to be looked up.
   *
   * @param page the leaf, latched
   */
  boolean seesAll(MemorySegment page, Reading reading) {
    // Without the version bit all writers have committed and nothing is deleted, and the record
    // that cleared the bit comes after their commits in the log (protocols.md §39).
    long lsn = Page.lsn(page);
    return !Page.hasVersions(page) && lsn <= reading.snapshot && lsn <= storage.log().durableLsn();
  }

  /**
   * Adds the row in a cell to a batch if the snapshot sees it. If it sees an older version, adds
   * the row without a value, for {@link #findOlder}.
   *
   * @param page its leaf, latched
   * @param batch which holds the cell
   */
  void take(MemorySegment page, int cell, Reading reading, RowBatch batch) {
    if (sees(LeafCell.writer(page, cell), reading)) {
      long shape = LeafCell.shape(page, cell);
      if ((LeafCell.flags(shape) & LeafCell.DELETED) == 0) {
        batch.addCurrent(cell, shape);
      } else if (reading.self != 0 && LeafCell.writer(page, cell) == reading.self) {
        batch.leaveOut(Slotted.keyOf(page, cell)); // the snapshot of a cursor may see it in memory
      }
      return;
    }
    Seen seen = seenBefore(page, cell, reading);
    if (seen == Seen.OLDER) {
      batch.addWithoutValue(cell, LeafCell.shape(page, cell));
    } else {
      StoredValue value = value(page, cell, seen);
      if (value != null) {
        batch.add(Slotted.keyOf(page, cell), value);
      }
    }
  }

  /**
   * Finds the values of the rows of a batch that have none. Called with no latch, since it may take
   * long.
   */
  void findOlder(int table, Reading reading, RowBatch batch) {
    List<byte[]> keys = batch.keysWithoutValue();
    if (!keys.isEmpty()) {
      batch.addValues(keys, findOlder(table, keys, reading));
    }
  }

  /**
   * The older versions of rows that a snapshot sees; null for a row of which it sees none. Called
   * with no latch.
   *
   * @param keys the keys of the rows, each {@link Seen#OLDER}
   */
  @Nullable StoredValue[] findOlder(int table, List<byte[]> keys, Reading reading) {
    // The result is the same without the leaf's latch as with it: the version that the snapshot
    // sees is in the store by now and stays there while the snapshot is open, and versions that
    // arrive meanwhile are not visible to it.
    VolatileStore.@Nullable Version[] versions =
        storage.versions().findAll(table, keys, reading.snapshot);
    @Nullable StoredValue[] values = new StoredValue[versions.length];
    for (int i = 0; i < versions.length; i++) {
      values[i] = value(versions[i], reading);
    }
    return values;
  }

  private @Nullable StoredValue older(int table, byte[] key, Reading reading) {
    return value(storage.versions().find(table, key, reading.snapshot), reading);
  }

  private static @Nullable StoredValue value(
      VolatileStore.@Nullable Version version, Reading reading) {
    if (version == null) {
      return null; // the row was never there, or its delete was durable before the row was removed
    }
    reading.witness.saw(version.committedAt());
    return (version.flags() & LeafCell.DELETED) != 0
        ? null
        : new StoredValue(version.flags(), version.value().clone());
  }

  private boolean sees(long writer, Reading reading) {
    return sees(writer, reading, storage.transactions());
  }

  /** Whether a snapshot sees the versions of a writer; called with the row latched (R1). */
  static boolean sees(long writer, Reading reading, TransactionTable transactions) {
    if (writer == 0 || writer == reading.self) {
      return true;
    }
    long status = transactions.outcome(writer);
    if (!isSeen(status, reading)) {
      reading.passedOver(writer, transactions);
      return false;
    }
    reading.witness.saw(status);
    return true;
  }
}
