package org.revenantdb.engine.page;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Changes pages of {@link Slotted}'s layout. {@link #formatEmptyLeaf} is for the creation of a
 * database; all other methods are only for {@link PageOps} and {@link SlottedBuilder}.
 *
 * <p>There must be room, which was checked before the record was published (R18). A change of the
 * page for which the record was made does not fail, and allocates nothing: the caller passes the
 * scratch space. The page is latched exclusively, or no other thread knows it.
 *
 * <p>After an insert, a removal, a change of a cell and a new fence the heads, skip and the
 * children in the slots fit the cells, and no cell has a higher writer than the header. A
 * compaction may shorten all keys, if a new fence has made the prefix longer. {@link
 * SlottedBuilder} appends cells with the single steps of a change, and makes the heads at the end.
 */
public final class SlottedEdit {
  private SlottedEdit() {}

  /**
   * Makes a page of zeros the only leaf of an empty tree; used for the catalogue of a new database.
   */
  public static void formatEmptyLeaf(MemorySegment page, int table) {
    Page.putByte(page, Page.TYPE, Page.LEAF);
    Page.putInt(page, Slotted.TABLE, table);
    Page.putShort(page, Slotted.HEAP_TOP, Page.SIZE);
    Page.putShort(page, Slotted.UPPER_LENGTH, Slotted.INFINITE);
  }

  static void insert(
      MemorySegment page, int slot, byte[] source, int offset, int length, MemorySegment scratch) {
    int size = Slotted.slotSize(page);
    if (Slotted.contiguous(page) < length - Slotted.prefix(page) + size) {
      compact(page, scratch);
    }
    int count = Slotted.count(page);
    int at = Slotted.SLOTS + size * slot;
    MemorySegment.copy(page, at, page, at + size, (long) size * (count - slot));
    Page.putShort(page, Slotted.COUNT, count + 1);
    place(page, slot, source, offset, length);
    headOfNew(page, slot);
  }

  static void replace(
      MemorySegment page, int slot, byte[] source, int offset, int length, MemorySegment scratch) {
    int old = dropVersions(page, slot);
    int made = length - Slotted.prefix(page);
    if (made <= old) {
      int cell = Slotted.cell(page, slot);
      putCell(page, cell, source, offset, length);
      Slotted.addGarbage(page, old - made);
      setCell(page, slot, cell);
      raiseMaxWriter(page, cell);
      return;
    }
    Slotted.addGarbage(page, old);
    if (Slotted.contiguous(page) < made) {
      Slotted.leadTo(page, slot, Slotted.NOWHERE);
      compact(page, scratch);
    }
    place(page, slot, source, offset, length);
  }

  static void remove(MemorySegment page, int slot) {
    Slotted.addGarbage(page, dropVersions(page, slot));
    int count = Slotted.count(page);
    int size = Slotted.slotSize(page);
    int at = Slotted.SLOTS + size * slot;
    MemorySegment.copy(page, at + size, page, at, (long) size * (count - slot - 1));
    Page.putShort(page, Slotted.COUNT, count - 1);
  }

  /** Leaves only the cell of what is in a slot; returns its length. */
  private static int dropVersions(MemorySegment page, int slot) {
    int cell = Slotted.cell(page, slot);
    if (Slotted.level(page) != 0) {
      return InnerCell.length(page, cell);
    }
    RowEdit.settle(page, cell);
    return LeafCell.cellLength(page, cell);
  }

  static void keepLeft(
      MemorySegment page,
      int count,
      byte[] source,
      int fenceOffset,
      int fenceLength,
      MemorySegment scratch) {
    Page.putShort(page, Slotted.COUNT, count);
    Page.putShort(page, Slotted.UPPER_LENGTH, Slotted.INFINITE);
    // The new fence is closer to the lower one, so the prefix does not become shorter.
    int lower = Page.getShort(page, Slotted.LOWER_OFFSET);
    int prefix =
        SlottedSearch.prefixBetween(
            page,
            lower,
            Page.getShort(page, Slotted.LOWER_LENGTH),
            source,
            fenceOffset,
            fenceLength);
    MemorySegment.copy(page, 0, scratch, 0, Page.SIZE);
    compactCells(page, scratch, prefix);
    int at = Slotted.takeTop(page, fenceLength);
    MemorySegment.copy(source, fenceOffset, page, ValueLayout.JAVA_BYTE, at, fenceLength);
    Page.putShort(page, Slotted.UPPER_OFFSET, at);
    Page.putShort(page, Slotted.UPPER_LENGTH, fenceLength);
    moveRecords(page, 0, scratch);
    makeHeads(page);
  }

  /**
   * Moves all cells, fences and records to the end of the page. A slot that leads nowhere does so
   * afterwards.
   */
  static void compact(MemorySegment page, MemorySegment scratch) {
    MemorySegment.copy(page, 0, scratch, 0, Page.SIZE);
    compactCells(page, scratch, Slotted.prefix(page));
    moveRecords(page, 0, scratch);
  }

  /**
   * Moves the cells and fences.
   *
   * @param copy the page as it is
   * @param prefix the new length of the omitted prefix, not less than the present one
   */
  private static void compactCells(MemorySegment page, MemorySegment copy, int prefix) {
    int top = Page.SIZE;
    int lower = Page.getShort(copy, Slotted.LOWER_LENGTH);
    if (lower > 0) {
      top -= lower;
      MemorySegment.copy(copy, Page.getShort(copy, Slotted.LOWER_OFFSET), page, top, lower);
      Page.putShort(page, Slotted.LOWER_OFFSET, top);
    }
    int upper = Page.getShort(page, Slotted.UPPER_LENGTH);
    if (upper != Slotted.INFINITE && upper > 0) {
      top -= upper;
      MemorySegment.copy(copy, Page.getShort(copy, Slotted.UPPER_OFFSET), page, top, upper);
      Page.putShort(page, Slotted.UPPER_OFFSET, top);
    }
    boolean leaf = Slotted.level(copy) == 0;
    int less = prefix - Slotted.prefix(copy);
    Page.putByte(page, Slotted.PREFIX, prefix);
    int step = leaf ? Slotted.LEAF_SLOT : Slotted.INNER_SLOT;
    int end = Slotted.SLOTS + step * Slotted.count(copy);
    for (int at = Slotted.SLOTS + Slotted.SLOT_CELL; at < end; at += step) {
      int cell = Page.getShort(copy, at);
      if (cell != Slotted.NOWHERE) {
        int length = leaf ? LeafCell.cellLength(copy, cell) : InnerCell.length(copy, cell);
        top -= length - less;
        if (less == 0) {
          MemorySegment.copy(copy, cell, page, top, length);
        } else {
          copyShorter(copy, leaf, cell, length, less, page, top);
        }
        Page.putShort(page, at, top);
      }
    }
    Slotted.compactFrom(page, top);
  }

  /**
   * Places the records of predecessors in front of the heap of a leaf. Does nothing on an inner
   * page.
   *
   * @param from the first of the slots whose cells lead to where the records were
   * @param former has the records in their places
   */
  static void moveRecords(MemorySegment page, int from, MemorySegment former) {
    int count = Slotted.level(page) == 0 ? Slotted.count(page) : 0;
    for (int slot = from; slot < count; slot++) {
      int cell = Slotted.cell(page, slot);
      if (cell != Slotted.NOWHERE) {
        Predecessors.moveTo(page, cell, former);
      }
    }
  }

  /**
   * Copies a cell of another page to the front of the heap of a page with another prefix length.
   *
   * @return its offset
   */
  static int copyCell(MemorySegment source, int slot, MemorySegment page) {
    int cell = Slotted.cell(source, slot);
    boolean leaf = Slotted.level(source) == 0;
    int length = leaf ? LeafCell.cellLength(source, cell) : InnerCell.length(source, cell);
    int less = Slotted.prefix(page) - Slotted.prefix(source);
    int top = Slotted.takeTop(page, length - less);
    if (less == 0) {
      MemorySegment.copy(source, cell, page, top, length);
    } else if (less > 0) {
      copyShorter(source, leaf, cell, length, less, page, top);
    } else {
      int key = Slotted.keyOffset(leaf, cell) - cell;
      int fence = Page.getShort(source, Slotted.LOWER_OFFSET) + Slotted.prefix(page);
      MemorySegment.copy(source, cell, page, top, key);
      MemorySegment.copy(source, fence, page, top + key, -less);
      MemorySegment.copy(source, cell + key, page, top + key - less, length - key);
      putKeyLength(page, leaf, top, Slotted.keyLength(source, leaf, cell) - less);
    }
    return top;
  }

  /** Copies a cell to another page without the first bytes of its part of the key. */
  private static void copyShorter(
      MemorySegment source,
      boolean leaf,
      int cell,
      int length,
      int less,
      MemorySegment page,
      int to) {
    int key = Slotted.keyOffset(leaf, cell) - cell;
    MemorySegment.copy(source, cell + key + less, page, to + key, length - key - less);
    if (leaf) {
      for (int at = 0; at < key; at += Long.BYTES) { // a call costs more for so few bytes
        Page.putLong(page, to + at, Page.getLong(source, cell + at));
      }
    } else {
      MemorySegment.copy(source, cell, page, to, key);
    }
    putKeyLength(page, leaf, to, Slotted.keyLength(source, leaf, cell) - less);
  }

  private static void place(MemorySegment page, int slot, byte[] source, int offset, int length) {
    int cell = Slotted.takeTop(page, length - Slotted.prefix(page));
    putCell(page, cell, source, offset, length);
    setCell(page, slot, cell);
    raiseMaxWriter(page, cell);
  }

  /** Stores a cell with its whole key, without the prefix. */
  static void putCell(MemorySegment page, int cell, byte[] source, int offset, int length) {
    int prefix = Slotted.prefix(page);
    if (prefix == 0) {
      MemorySegment.copy(source, offset, page, ValueLayout.JAVA_BYTE, cell, length);
      return;
    }
    boolean leaf = Slotted.level(page) == 0;
    int key = keyAt(leaf);
    int kept = key + prefix;
    MemorySegment.copy(source, offset, page, ValueLayout.JAVA_BYTE, cell, key);
    MemorySegment.copy(
        source, offset + kept, page, ValueLayout.JAVA_BYTE, cell + key, length - kept);
    putKeyLength(page, leaf, cell, Slotted.keyLength(page, leaf, cell) - prefix);
  }

  /** Offset of the key in a cell. */
  private static int keyAt(boolean leaf) {
    return Slotted.keyOffset(leaf, 0);
  }

  private static void putKeyLength(MemorySegment page, boolean leaf, int cell, int length) {
    Page.putShort(page, cell + (leaf ? LeafCell.KEY_LENGTH : InnerCell.KEY_LENGTH), length);
  }

  /** Makes a slot refer to a cell that is in its place. */
  static void setCell(MemorySegment page, int slot, int cell) {
    Slotted.leadTo(page, slot, cell);
    if (Slotted.level(page) != 0) {
      Page.putInt(
          page, Slotted.slotAt(page, slot) + Slotted.SLOT_CHILD, InnerCell.child(page, cell));
    }
  }

  static void raiseMaxWriter(MemorySegment page, int cell) {
    if (Slotted.level(page) == 0) {
      long writer = LeafCell.writer(page, cell);
      if (writer > Slotted.maxWriter(page)) {
        Page.putLong(page, Slotted.MAX_WRITER, writer);
      }
    }
  }

  /**
   * Called after a key was added at a slot: makes its head, and all others if it shares fewer bytes
   * with them.
   */
  private static void headOfNew(MemorySegment page, int slot) {
    int count = Slotted.count(page);
    boolean leaf = Slotted.level(page) == 0;
    if (count == 1) {
      // A guess that costs nothing: the next key may share all but the last bytes.
      setSkip(page, leaf, skipOfOne(page, leaf));
      putHead(page, leaf, 0);
      return;
    }
    int common = SlottedSearch.common(page, leaf, slot, slot == 0 ? 1 : 0);
    if (common < Slotted.skip(page)) {
      setSkip(page, leaf, common);
      putHeads(page, leaf);
    } else {
      putHead(page, leaf, slot);
    }
  }

  /** Makes skip as large as possible, and computes all heads. */
  static void makeHeads(MemorySegment page) {
    int count = Slotted.count(page);
    boolean leaf = Slotted.level(page) == 0;
    int skip =
        count == 0
            ? 0
            : count == 1 ? skipOfOne(page, leaf) : SlottedSearch.common(page, leaf, 0, count - 1);
    setSkip(page, leaf, skip);
    putHeads(page, leaf);
  }

  /** Skip of a page with one key. */
  private static int skipOfOne(MemorySegment page, boolean leaf) {
    return Slotted.prefix(page)
        + Math.max(0, Slotted.keyLength(page, leaf, Slotted.cell(page, 0)) - Slotted.HEAD);
  }

  private static void setSkip(MemorySegment page, boolean leaf, int skip) {
    Page.putShort(page, Slotted.SKIP, skip);
    int inHeader = Math.min(skip, Slotted.MAX_COMMON);
    int ofFence = Math.min(inHeader, Slotted.prefix(page));
    if (ofFence > 0) {
      MemorySegment.copy(
          page, Page.getShort(page, Slotted.LOWER_OFFSET), page, Slotted.COMMON, ofFence);
    }
    if (inHeader > ofFence) {
      int key = Slotted.keyOffset(leaf, Slotted.cell(page, 0));
      MemorySegment.copy(page, key, page, Slotted.COMMON + ofFence, inHeader - ofFence);
    }
    for (int at = Slotted.COMMON + inHeader; at < Slotted.SLOTS; at++) {
      Page.putByte(page, at, 0);
    }
  }

  private static void putHeads(MemorySegment page, boolean leaf) {
    int count = Slotted.count(page);
    for (int slot = 0; slot < count; slot++) {
      putHead(page, leaf, slot);
    }
  }

  private static void putHead(MemorySegment page, boolean leaf, int slot) {
    Page.putInt(page, Slotted.slotAt(page, slot), SlottedSearch.headOf(page, leaf, slot));
  }
}
