package org.revenantdb.engine.page;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.revenantdb.recovery.format.LittleEndian;

/**
 * Changes versions of rows in leaves; only for {@link PageOps}. What {@link SlottedEdit} says of
 * room, failures and latches holds here, too.
 *
 * <p>A value that does not become longer stays in its place, and so does the cell. The predecessor
 * goes to a record at the top of the heap.
 */
final class RowEdit {
  /** Offset in the scratch space of a new cell; before it there is room for a copy of the page. */
  private static final int CELL = Page.SIZE;

  /** Offset in the scratch space of the record of its predecessor. */
  private static final int RECORD = Page.SIZE + Page.SIZE / 2;

  private final MemorySegment scratch;

  // The version that is being written: some bytes of the former value, new ones, and some more of
  // the former value.
  private int flags;
  private int keep;
  private long writer;
  private int diff;
  private byte[] source = {};
  private int from;
  private int between;

  /**
   * Makes an object that can be used for any number of changes, by one thread at a time.
   *
   * @param scratch of two pages
   */
  RowEdit(MemorySegment scratch) {
    this.scratch = scratch;
  }

  /** A new current version of a row: PageOps ROW_UPDATE. */
  void update(MemorySegment page, int slot, byte[] operation, int offset, int length) {
    flags = operation[offset];
    keep = operation[offset + 1];
    writer = LittleEndian.getLong(operation, offset + 2);
    diff = ValueDiff.NONE;
    source = operation;
    from = offset + PageOps.UPDATE_HEADER;
    between = length - PageOps.UPDATE_HEADER;
    write(page, slot);
  }

  /** A new current version of a row: PageOps ROW_CHANGE. */
  void change(MemorySegment page, int slot, byte[] operation, int offset, int length) {
    flags = 0;
    keep = operation[offset];
    writer = LittleEndian.getLong(operation, offset + 1);
    diff = changeDiff(operation, offset);
    source = operation;
    from = offset + PageOps.CHANGE_HEADER;
    between = length - PageOps.CHANGE_HEADER;
    write(page, slot);
  }

  private static int changeDiff(byte[] operation, int offset) {
    return LittleEndian.getShort(operation, offset + 9) << Short.SIZE
        | LittleEndian.getShort(operation, offset + 11);
  }

  /** Whether the bytes of a ROW_CHANGE can be those of a change to this row. */
  static boolean canChange(MemorySegment page, int cell, byte[] operation, int offset) {
    int diff = changeDiff(operation, offset);
    return LeafCell.currentFlags(page, cell) == 0
        && ValueDiff.between(diff, LeafCell.valueLength(page, cell)) >= 0;
  }

  private void write(MemorySegment page, int slot) {
    int cell = Slotted.cell(page, slot);
    int former = LeafCell.valueLength(page, cell);
    int length = ValueDiff.begin(diff) + between + ValueDiff.end(diff);
    int size = Predecessors.headerToKeep(keep) + ValueDiff.stored(diff, former, length);
    if (keep != PageOps.REPLACE
        && length <= former
        && size <= Slotted.free(page) + LeafCell.versionBytes(page, cell)) {
      writeInPlace(page, slot, former, length, size);
    } else {
      rewrite(page, slot, former, length);
    }
  }

  /**
   * The new value takes the place of the former one, which goes to a record.
   *
   * @param former length of the former value
   * @param length of the new one
   * @param size of the record
   */
  private void writeInPlace(MemorySegment page, int slot, int former, int length, int size) {
    int record = recordFor(page, slot, size);
    int cell = Slotted.cell(page, slot); // recordFor may have moved it
    int kept = flagsOfFormer(LeafCell.flags(page, cell));
    int value = LeafCell.valueOffset(page, cell);
    storeFormer(page, cell, length, page, record);
    int begin = ValueDiff.begin(diff);
    int end = ValueDiff.end(diff);
    if (length != former) {
      MemorySegment.copy(page, value + former - end, page, value + begin + between, end);
    }
    MemorySegment.copy(source, from, page, ValueLayout.JAVA_BYTE, value + begin, between);
    Slotted.addGarbage(page, former - length);
    Page.putLong(page, cell + LeafCell.WRITER, writer);
    Page.putByte(page, cell + LeafCell.FLAGS, flags | kept);
    Page.putShort(page, cell + LeafCell.VALUE_LENGTH, length);
    Page.putShort(page, cell + LeafCell.RECORD, record);
    SlottedEdit.raiseMaxWriter(page, cell);
  }

  /** A record of this size for a row, instead of the present one. */
  private int recordFor(MemorySegment page, int slot, int size) {
    int cell = Slotted.cell(page, slot);
    int present = LeafCell.record(LeafCell.shape(page, cell));
    if (present != 0 && Predecessors.size(page, present) == size) {
      return present;
    }
    settle(page, cell);
    if (Slotted.contiguous(page) < size) {
      SlottedEdit.compact(page, scratch);
    }
    return Predecessors.place(page, size);
  }

  /**
   * By way of the scratch space: the cell may move, or it keeps its predecessor under a new current
   * version.
   *
   * @param former length of the former value
   * @param length of the new one
   */
  private void rewrite(MemorySegment page, int slot, int former, int length) {
    int cell = Slotted.cell(page, slot);
    int before = LeafCell.flags(page, cell);
    int begin = ValueDiff.begin(diff);
    int end = ValueDiff.end(diff);
    int present = LeafCell.valueOffset(page, cell);
    int key = LeafCell.keyLength(page, cell);
    int value = copyKey(page, cell);
    MemorySegment.copy(page, present, scratch, value, begin);
    MemorySegment.copy(source, from, scratch, ValueLayout.JAVA_BYTE, value + begin, between);
    MemorySegment.copy(page, present + former - end, scratch, value + begin + between, end);
    putHeader(flags, key, length, writer);
    int kept = 0;
    int size = 0;
    if (keep != PageOps.REPLACE) {
      kept = flagsOfFormer(before);
      size = Predecessors.headerToKeep(keep) + storeFormer(page, cell, length, scratch, RECORD);
    } else if ((before & LeafCell.PREDECESSOR) != 0) {
      // Its difference from the new value is not the same as that from the former one.
      kept =
          before
              & (LeafCell.PREDECESSOR | LeafCell.PREDECESSOR_GHOSTS | LeafCell.PREDECESSOR_FOR_ALL);
      int old = LeafCell.predecessorTo(page, cell, scratch, 0);
      int common =
          ((flags | kept) & LeafCell.GHOSTS) != 0
              ? ValueDiff.NONE
              : ValueDiff.of(scratch, 0, old, scratch, value, length);
      kept |= common == ValueDiff.NONE ? 0 : LeafCell.PREDECESSOR_DIFF;
      size = Predecessors.header(before);
      if (size == Predecessors.WITH_WRITER) {
        Page.putLong(scratch, RECORD + Predecessors.WRITER, LeafCell.predecessorWriter(page, cell));
      }
      size += ValueDiff.store(common, scratch, 0, old, length, scratch, RECORD + size);
    }
    settle(page, cell);
    cell = replaceCell(page, slot, LeafCell.KEY + key + length, size);
    if (size > 0) {
      int record = Predecessors.place(page, size);
      MemorySegment.copy(
          scratch,
          RECORD + Predecessors.HEADER,
          page,
          record + Predecessors.HEADER,
          size - Predecessors.HEADER);
      Page.putByte(page, cell + LeafCell.FLAGS, flags | kept);
      Page.putShort(page, cell + LeafCell.RECORD, record);
    }
    SlottedEdit.raiseMaxWriter(page, cell);
  }

  /**
   * Replaces a cell without a predecessor by the one in the scratch space.
   *
   * @param length of the new cell
   * @param more bytes that must be contiguous afterwards
   * @return the offset of the cell
   */
  private int replaceCell(MemorySegment page, int slot, int length, int more) {
    int cell = Slotted.cell(page, slot);
    int present = LeafCell.cellLength(page, cell);
    boolean moves = length > present;
    Slotted.addGarbage(page, moves ? present : present - length);
    if (moves) {
      Slotted.leadTo(page, slot, Slotted.NOWHERE);
    } else {
      MemorySegment.copy(scratch, CELL, page, cell, length);
    }
    if (Slotted.contiguous(page) < (moves ? length : 0) + more) {
      SlottedEdit.compact(page, scratch);
    }
    if (!moves) {
      return Slotted.cell(page, slot);
    }
    int to = Slotted.takeTop(page, length);
    MemorySegment.copy(scratch, CELL, page, to, length);
    Slotted.leadTo(page, slot, to);
    return to;
  }

  /** Removes the predecessor of a row, if there is one: PageOps ROW_SETTLE. */
  static void settle(MemorySegment page, int cell) {
    long shape = LeafCell.shape(page, cell);
    int record = LeafCell.record(shape);
    if (record != 0) {
      Predecessors.drop(page, record);
      Page.putByte(page, cell + LeafCell.FLAGS, LeafCell.currentFlags(page, cell));
      Page.putShort(page, cell + LeafCell.RECORD, 0);
    }
  }

  /**
   * Replaces the current version of a row by its predecessor: PageOps ROW_REVERT.
   *
   * @throws IllegalStateException if there is no predecessor: the page is not the expected one
   */
  void revert(MemorySegment page, int slot) {
    int cell = Slotted.cell(page, slot);
    if (!LeafCell.is(page, cell, LeafCell.PREDECESSOR)) {
      throw new IllegalStateException("a row without a predecessor cannot be reverted");
    }
    int key = LeafCell.keyLength(page, cell);
    int length = LeafCell.predecessorTo(page, cell, scratch, copyKey(page, cell));
    putHeader(
        LeafCell.predecessorFlags(page, cell), key, length, LeafCell.predecessorWriter(page, cell));
    settle(page, cell);
    replaceCell(page, slot, LeafCell.KEY + key + length, 0);
  }

  /** Copies the key to the new cell; returns the offset for the value. */
  private int copyKey(MemorySegment page, int cell) {
    int key = LeafCell.keyLength(page, cell);
    MemorySegment.copy(page, LeafCell.keyOffset(cell), scratch, CELL + LeafCell.KEY, key);
    return CELL + LeafCell.KEY + key;
  }

  /** Writes the header of the new cell. */
  private void putHeader(int newFlags, int key, int value, long newWriter) {
    Page.putShort(scratch, CELL + LeafCell.KEY_LENGTH, key);
    Page.putByte(scratch, CELL + LeafCell.FLAGS, newFlags);
    Page.putByte(scratch, CELL + LeafCell.FLAGS + 1, 0);
    Page.putShort(scratch, CELL + LeafCell.VALUE_LENGTH, value);
    Page.putShort(scratch, CELL + LeafCell.RECORD, 0);
    Page.putLong(scratch, CELL + LeafCell.WRITER, newWriter);
  }

  /** The flags of a predecessor that was the current version of a row with these flags. */
  private int flagsOfFormer(int before) {
    return LeafCell.PREDECESSOR
        | (before & (LeafCell.DELETED | LeafCell.OVERFLOW)) << LeafCell.PREDECESSOR_SHIFT
        | (keep == PageOps.KEEP ? 0 : LeafCell.PREDECESSOR_FOR_ALL)
        | (diff == ValueDiff.NONE ? 0 : LeafCell.PREDECESSOR_DIFF);
  }

  /**
   * Stores the former version in a record.
   *
   * @param length of the new value
   * @return the bytes behind the header of the record
   */
  private int storeFormer(
      MemorySegment page, int cell, int length, MemorySegment target, int record) {
    if (keep == PageOps.KEEP) {
      Page.putLong(target, record + Predecessors.WRITER, LeafCell.writer(page, cell));
    }
    return ValueDiff.store(
        diff,
        page,
        LeafCell.valueOffset(page, cell),
        LeafCell.valueLength(page, cell),
        length,
        target,
        record + Predecessors.headerToKeep(keep));
  }
}
