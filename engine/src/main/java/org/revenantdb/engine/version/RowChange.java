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
 * The change of one row: what it takes on its leaf, and its record. One thread at a time; used
 * again for the next row.
 *
 * <p>The record has the transaction's id, and holds the row; the version bit and its mirror if the
 * page has none; pages of large values: the new one is adopted (superseder 0), the one replaced
 * gets this transaction as superseder, in the order of page ids.
 */
final class RowChange {
  private static final byte[] NO_BYTES = new byte[0];

  private final Storage storage;
  private final BufferPool pool;
  private final MiniTransaction mini;
  private final MapChanges maps;
  private final ValuePages valuePages;

  /** Room for a former value, while the length of its difference is counted. */
  private final MemorySegment scratch = Arena.ofAuto().allocate(LeafCell.MAX_CELL, Long.BYTES);

  private int flags;
  private byte[] value = NO_BYTES;

  /** The value in overflow pages that the row gets. */
  private @Nullable ValueReference adopted;

  /** Of a new row. */
  private byte[] newCell = NO_BYTES;

  /** Of a row that is there: what becomes of its current version, as {@link PageOps} has it. */
  private int keep;

  /** What its value shares with the new one. */
  private int diff;

  /** The value in overflow pages that the row loses, and who wrote it. */
  private @Nullable ValueReference superseded;

  private long supersededWriter;

  /** Bytes of the new cell, and how many more than now the row takes. */
  private int newLength;

  private int room;

  /** Bytes that have to stay free beside. */
  private int reserved;

  /** Changes that are made by this mini-transaction. */
  RowChange(Storage storage, MiniTransaction mini, MapChanges maps, ValuePages valuePages) {
    this.storage = storage;
    this.pool = storage.pool();
    this.mini = mini;
    this.maps = maps;
    this.valuePages = valuePages;
  }

  /**
   * Begins anew.
   *
   * @param flags of the new version
   * @param value of it
   * @param adopted the same, if it is in overflow pages
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

  /** The row is new. */
  void insert(MemorySegment page, byte[] key, long id) {
    newCell = LeafCell.build(key, flags, id, value);
    newLength = newCell.length;
    room = newLength + Slotted.LEAF_SLOT - Slotted.prefix(page);
  }

  /** The current version goes, and so does its large value. */
  void replaceOwn(MemorySegment page, int cell, long id) {
    supersedeCurrent(page, cell, id);
    replace(page, cell, PageOps.REPLACE);
  }

  /** The current version goes; what stood before it loses its large value. */
  void replaceAborted(MemorySegment page, int cell) {
    if (LeafCell.is(page, cell, LeafCell.PREDECESSOR)
        && LeafCell.is(page, cell, LeafCell.PREDECESSOR_OVERFLOW)) {
      supersede(
          page, LeafCell.predecessorOffset(page, cell), LeafCell.predecessorWriter(page, cell));
    }
    replace(page, cell, PageOps.REPLACE);
  }

  /**
   * The current version becomes the predecessor.
   *
   * @param writer who wrote it
   * @param isForAll whether everybody sees it
   */
  void keep(MemorySegment page, int cell, long writer, boolean isForAll) {
    supersedeCurrent(page, cell, writer);
    // An id that nobody needs any more takes no room; a large value is known by it.
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

  /** Bytes that the row, its slot and what has to stay free take on a leaf. */
  int need() {
    return newLength + Slotted.LEAF_SLOT + reserved;
  }

  /**
   * Makes the change.
   *
   * @param leaf frame, latched exclusively
   * @param slot of the row, or where it goes, as from a search
   * @param id of the transaction
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

  /** Sets the version bit of the leaf, or the ghost bit as well; whether that was news. */
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
