package org.revenantdb.engine.version;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.change.MiniTransaction;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.PageOps;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.page.ValueDiff;
import org.revenantdb.engine.page.ValueReference;
import org.revenantdb.engine.space.MapChanges;
import org.revenantdb.recovery.log.RecordBuilder;

/**
 * The change of one row: the room that it needs on its leaf, and its record. Reused for the next
 * row; for one thread at a time.
 *
 * <p>The record has the transaction's id and contains the row. If the page has no version bit, it
 * also sets the bit and its mirror. It also changes pages of large values, in the order of page
 * ids: the new value is adopted (superseder 0), and the replaced one gets this transaction as
 * superseder.
 */
final class RowChange {
  private static final byte[] NO_BYTES = new byte[0];

  private final Storage storage;
  private final BufferPool pool;
  private final MiniTransaction mini;
  private final MapChanges maps;
  private final ValuePages valuePages;

  /** Room for a former value, while the length of its difference is computed. */
  private final MemorySegment scratch = Arena.ofAuto().allocate(LeafCell.MAX_CELL, Long.BYTES);

  private int flags;
  private byte[] value = NO_BYTES;

  /** The value in overflow pages that the row gets. */
  private @Nullable ValueReference adopted;

  /** The cell of a new row. */
  private byte[] newCell = NO_BYTES;

  /** For an existing row: what happens to its current version, as a constant of {@link PageOps}. */
  private int keep;

  /** The difference between its value and the new one. */
  private int diff;

  /** The value in overflow pages that the row loses, and its writer. */
  private @Nullable ValueReference superseded;

  private long supersededWriter;

  /** Bytes of the row with its predecessor, and by how many they are more than at present. */
  private int newLength;

  private int room;

  /** The number of further bytes that must stay free. */
  private int reserved;

  /** Makes an object for changes with this mini-transaction. */
  RowChange(Storage storage, MiniTransaction mini, MapChanges maps, ValuePages valuePages) {
    this.storage = storage;
    this.pool = storage.pool();
    this.mini = mini;
    this.maps = maps;
    this.valuePages = valuePages;
  }

  /**
   * Begins another change.
   *
   * @param flags flags of the new version
   * @param value its value
   * @param adopted the reference to its value, if it is in overflow pages
   */
  void begin(int flags, byte[] value, @Nullable ValueReference adopted) {
    this.flags = flags;
    this.value = value;
    this.adopted = adopted;
    superseded = null;
  }

  boolean deletes() {
    return flags == LeafCell.DELETED;
  }

  /** Plans the insert of a new row. */
  void insert(MemorySegment page, byte[] key, long id) {
    newCell = LeafCell.build(key, flags, id, value);
    newLength = newCell.length;
    room = newLength + Slotted.LEAF_SLOT - Slotted.prefix(page);
  }

  /** Plans to drop the current version, with its large value. */
  void replaceOwn(MemorySegment page, int cell, long id) {
    supersedeCurrent(page, cell, id);
    replace(page, cell, PageOps.REPLACE);
  }

  /** Plans to drop an aborted current version; the predecessor loses its large value. */
  void replaceAborted(MemorySegment page, int cell) {
    if (LeafCell.is(page, cell, LeafCell.PREDECESSOR)
        && LeafCell.is(page, cell, LeafCell.PREDECESSOR_OVERFLOW)) {
      supersede(
          page, LeafCell.predecessorOffset(page, cell), LeafCell.predecessorWriter(page, cell));
    }
    replace(page, cell, PageOps.REPLACE);
  }

  /**
   * Plans to make the current version the predecessor.
   *
   * @param writer its writer
   * @param isForAll whether it is visible to all
   */
  void keep(MemorySegment page, int cell, long writer, boolean isForAll) {
    supersedeCurrent(page, cell, writer);
    // An id that is no longer needed takes no room; but a large value is identified by it.
    replace(page, cell, isForAll && superseded == null ? PageOps.KEEP_FOR_ALL : PageOps.KEEP);
  }

  private void supersedeCurrent(MemorySegment page, int cell, long writer) {
    if (LeafCell.is(page, cell, LeafCell.OVERFLOW)) {
      supersede(page, LeafCell.valueOffset(page, cell), writer);
    }
  }

  private void supersede(MemorySegment page, int reference, long writer) {
    superseded = ValueReference.of(page, reference);
    supersededWriter = writer;
  }

  private void replace(MemorySegment page, int cell, int keep) {
    this.keep = keep;
    diff = LeafCell.diff(page, cell, flags, value);
    newLength = LeafCell.updatedLength(page, cell, keep, flags, value, diff, scratch);
    room = newLength - LeafCell.length(page, cell);
  }

  /** Whether the leaf has room for the change. */
  boolean hasRoom(MemorySegment page, int slot) {
    reserved = LeafRoom.reserve(page, slot, newLength);
    return room + reserved <= Slotted.free(page);
  }

  /** The number of bytes on a leaf for the row, its slot, and the room that must stay free. */
  int need() {
    return newLength + Slotted.LEAF_SLOT + reserved;
  }

  /**
   * Makes the change.
   *
   * @param leaf its frame, latched exclusively
   * @param slot the slot of the row, or its place, as returned by a search
   * @param id the id of the transaction
   */
  void apply(int leaf, int slot, long id) {
    int leafId = pool.pageIdOf(leaf);
    valuePages.clear();
    if (superseded != null) {
      valuePages.add(superseded, supersededWriter, id);
    }
    if (adopted != null) {
      valuePages.add(adopted, id, 0);
    }
    try {
      valuePages.latch();
      maps.clear();
      mini.begin(id);
      RecordBuilder record = mini.change(leaf);
      boolean ghost = !valuePages.isEmpty() || deletes();
      boolean markLeaf = setBits(record, leaf, ghost);
      if (slot < 0) {
        PageOps.insert(record, -slot - 1, newCell);
      } else if (diff == ValueDiff.NONE) {
        PageOps.update(record, slot, flags, keep, id, value);
      } else {
        PageOps.change(record, slot, keep, id, value, diff);
      }
      mini.end();
      valuePages.write();
      maps.latchAndWrite(mini);
      mini.commit();
      if (ghost) {
        storage.marks().mark(leafId);
      } else if (markLeaf) {
        storage.marks().markForLater(leafId);
      }
      valuePages.mark();
    } finally {
      maps.unlatch();
      valuePages.unlatch();
    }
  }

  /** Sets the version bit of the leaf, or also the ghost bit. Returns whether a bit was changed. */
  private boolean setBits(RecordBuilder record, int leaf, boolean ghost) {
    MemorySegment page = pool.page(leaf);
    int before = Page.flags(page);
    int after = before | Page.FLAG_VERSIONS | (ghost ? Page.FLAG_GHOST : 0);
    if (after == before) {
      return false;
    }
    maps.setFlags(record, page, pool.pageIdOf(leaf), after);
    return true;
  }
}
