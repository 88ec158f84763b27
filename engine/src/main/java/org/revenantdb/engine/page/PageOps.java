package org.revenantdb.engine.page;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.revenantdb.recovery.format.LittleEndian;
import org.revenantdb.recovery.log.RecordBuilder;

/**
 * The operations that change pages. This class writes them into a log record, and carries them out,
 * both in normal operation and in redo. No other code changes a page.
 *
 * <pre>
 *   1 IMAGE         u16 h, u16 t, h bytes, t bytes     bytes 16 to 16+h and the last t bytes; zeros between
 *   2 CELL_INSERT   u16 slot, u16 n, n bytes
 *   3 CELL_REPLACE  u16 slot, u16 n, n bytes
 *   4 CELL_REMOVE   u16 slot
 *   5 KEEP_LEFT     u16 count, u16 n, n bytes          only the first slots stay; the bytes are the upper fence
 *   6 BYTES         u16 offset, u16 n, n bytes
 *   7 ROW_UPDATE    u16 slot, u16 n, n bytes           u8 flags, u8 keep, u64 writer, value: a new current version;
 *                                                      keep 1, 2: the former one becomes the predecessor, 0: it goes
 *   8 ROW_SETTLE    u16 slot                           the row's predecessor goes
 *   9 ROW_REVERT    u16 slot                           the current version goes, its predecessor takes its place
 *  10 BITS          u16 offset, u16 n = 2, u8 mask, u8 value   the masked bits of a byte
 *  11 VALUE_PUT     u16 slot, u16 n, n bytes           u64 writer, u64 superseder, value
 *  12 VALUE_TAKE    u16 slot
 *  13 ROW_CHANGE    u16 slot, u16 n, n bytes           u8 keep, u64 writer, u16 begin, u16 end, bytes: as ROW_UPDATE, with
 *                                                      begin bytes of the former value, these, and its last end bytes
 * </pre>
 *
 * <p>Cells in a record have their whole keys, whatever prefix the page omits; an image has the
 * bytes of the page.
 *
 * <p>An instance holds the scratch space of one thread. So carrying out an operation allocates
 * nothing and cannot fail on the page for which it was made (R18). The result depends only on the
 * page and the operations (R13).
 */
public final class PageOps {
  private static final int IMAGE = 1;
  private static final int CELL_INSERT = 2;
  private static final int CELL_REPLACE = 3;
  private static final int CELL_REMOVE = 4;
  private static final int KEEP_LEFT = 5;
  private static final int BYTES = 6;
  private static final int ROW_UPDATE = 7;
  private static final int ROW_SETTLE = 8;
  private static final int ROW_REVERT = 9;

  /** Some bits of a byte; the number stands first in the operation. */
  public static final int BITS = 10;

  private static final int VALUE_PUT = 11;
  private static final int VALUE_TAKE = 12;
  private static final int ROW_CHANGE = 13;

  /** The former version is dropped; a predecessor stays. */
  public static final int REPLACE = 0;

  /** The former version becomes the predecessor. */
  public static final int KEEP = 1;

  /** As {@link #KEEP}, and its writer is committed for all, so that it need not be known. */
  public static final int KEEP_FOR_ALL = 2;

  /** Bytes of a ROW_UPDATE before the value. */
  static final int UPDATE_HEADER = 10;

  /** Bytes of a ROW_CHANGE before the new bytes. */
  static final int CHANGE_HEADER = 13;

  private static final byte[] ZEROS = new byte[Page.SIZE];

  /**
   * Room for a copy of the page, and behind it for a cell. It is off heap like the pages: with one
   * kind of memory the compiler makes one kind of code.
   */
  private final MemorySegment scratch = Arena.ofAuto().allocate(2 * Page.SIZE, Long.BYTES);

  private final RowEdit rows = new RowEdit(scratch);

  /** An interpreter with its own scratch space. */
  public PageOps() {}

  /** Writes the operation that gives a page the content of the builder. */
  public static void image(RecordBuilder record, SlottedBuilder source) {
    image(record, source.page(), source.headLength(), source.tailLength());
  }

  /**
   * Writes the operation that gives a page the content of {@code source}.
   *
   * @param head the number of used bytes from {@link Page#BODY} on
   * @param tail the number of used bytes at the end
   */
  public static void image(RecordBuilder record, MemorySegment source, int head, int tail) {
    record.putByte(IMAGE);
    record.putShort(head);
    record.putShort(tail);
    record.putSegment(source, Page.BODY, head);
    record.putSegment(source, Page.SIZE - tail, tail);
  }

  /** Writes the operation that inserts a cell at a slot. */
  public static void insert(RecordBuilder record, int slot, byte[] cell) {
    withBytes(record, CELL_INSERT, slot, cell);
  }

  /** Writes the operation that replaces the cell of a slot. */
  public static void replace(RecordBuilder record, int slot, byte[] cell) {
    withBytes(record, CELL_REPLACE, slot, cell);
  }

  /**
   * Writes the operation that gives the row of a slot a new current version.
   *
   * @param flags {@link LeafCell#DELETED}, {@link LeafCell#OVERFLOW} or 0
   * @param keep {@link #REPLACE}, {@link #KEEP} or {@link #KEEP_FOR_ALL}
   */
  public static void update(
      RecordBuilder record, int slot, int flags, int keep, long writer, byte[] value) {
    record.putByte(ROW_UPDATE);
    record.putShort(slot);
    record.putShort(UPDATE_HEADER + value.length);
    record.putByte(flags);
    record.putByte(keep);
    record.putLong(writer);
    record.putBytes(value, 0, value.length);
  }

  /**
   * Writes the operation that gives the row of a slot a new current version, as the difference from
   * the former one.
   *
   * @param keep as for {@link #update}
   * @param diff from {@link LeafCell#diff}
   */
  public static void change(
      RecordBuilder record, int slot, int keep, long writer, byte[] value, int diff) {
    int between = ValueDiff.between(diff, value.length);
    record.putByte(ROW_CHANGE);
    record.putShort(slot);
    record.putShort(CHANGE_HEADER + between);
    record.putByte(keep);
    record.putLong(writer);
    record.putShort(ValueDiff.begin(diff));
    record.putShort(ValueDiff.end(diff));
    record.putBytes(value, ValueDiff.begin(diff), between);
  }

  /** Writes the operation that removes the predecessor of a slot's row. */
  public static void settle(RecordBuilder record, int slot) {
    record.putByte(ROW_SETTLE);
    record.putShort(slot);
  }

  /** Writes the operation that replaces the current version of a slot's row by its predecessor. */
  public static void revert(RecordBuilder record, int slot) {
    record.putByte(ROW_REVERT);
    record.putShort(slot);
  }

  /** Writes the operation that removes a slot. */
  public static void remove(RecordBuilder record, int slot) {
    record.putByte(CELL_REMOVE);
    record.putShort(slot);
  }

  /** Writes the operation that puts a value into a slot of {@link SharedValues}. */
  public static void putValue(
      RecordBuilder record, int slot, long writer, long superseder, byte[] value) {
    record.putByte(VALUE_PUT);
    record.putShort(slot);
    record.putShort(2 * Long.BYTES + value.length);
    record.putLong(writer);
    record.putLong(superseder);
    record.putBytes(value, 0, value.length);
  }

  /** Writes the operation that removes the value of a slot of {@link SharedValues}. */
  public static void takeValue(RecordBuilder record, int slot) {
    record.putByte(VALUE_TAKE);
    record.putShort(slot);
  }

  /** Writes the operation that keeps the first slots of a page that is being split. */
  public static void keepLeft(RecordBuilder record, int count, byte[] upperFence) {
    withBytes(record, KEEP_LEFT, count, upperFence);
  }

  /** Writes the operation that stores a byte. */
  public static void setByte(RecordBuilder record, int offset, int value) {
    record.putByte(BYTES);
    record.putShort(offset);
    record.putShort(1);
    record.putByte(value);
  }

  /** Writes the operation that stores the masked bits of a byte. */
  public static void setBits(RecordBuilder record, int offset, int mask, int value) {
    record.putByte(BITS);
    record.putShort(offset);
    record.putShort(2);
    record.putByte(mask);
    record.putByte(value);
  }

  /** Writes the operation that stores a 16-bit number. */
  public static void setShort(RecordBuilder record, int offset, int value) {
    record.putByte(BYTES);
    record.putShort(offset);
    record.putShort(2);
    record.putShort(value);
  }

  /** Writes the operation that stores a 32-bit number. */
  public static void setInt(RecordBuilder record, int offset, int value) {
    record.putByte(BYTES);
    record.putShort(offset);
    record.putShort(4);
    record.putInt(value);
  }

  /** Writes the operation that stores a 64-bit number. */
  public static void setLong(RecordBuilder record, int offset, long value) {
    record.putByte(BYTES);
    record.putShort(offset);
    record.putShort(8);
    record.putLong(value);
  }

  /** Writes the operation that stores bytes. */
  public static void setBytes(RecordBuilder record, int offset, byte[] bytes) {
    withBytes(record, BYTES, offset, bytes);
  }

  private static void withBytes(RecordBuilder record, int operation, int number, byte[] bytes) {
    record.putByte(operation);
    record.putShort(number);
    record.putShort(bytes.length);
    record.putBytes(bytes, 0, bytes.length);
  }

  /**
   * Carries out the operations of one part of a record on its page.
   *
   * @param page latched exclusively
   * @param record bytes of the record
   * @param offset the offset of the operations
   * @param length the number of their bytes
   * @throws IllegalStateException if the bytes are no operations (the record is not of this format
   *     although its CRC is correct), or are those of another page; the page may be partly changed
   */
  public void apply(MemorySegment page, byte[] record, int offset, int length) {
    int at = offset;
    int end = offset + length;
    while (at < end) {
      int operation = record[at];
      int first = LittleEndian.getShort(record, at + 1);
      if (operation == VALUE_TAKE) {
        demandShared(page, operation, SharedValues.canTake(page, first));
        SharedValues.take(page, first);
        at += 3;
        continue;
      }
      if (operation != IMAGE && operation != BYTES && operation != BITS && operation != VALUE_PUT) {
        demandSlot(page, operation, first);
      }
      if (operation == CELL_REMOVE || operation == ROW_SETTLE || operation == ROW_REVERT) {
        switch (operation) {
          case CELL_REMOVE -> SlottedEdit.remove(page, first);
          case ROW_SETTLE -> RowEdit.settle(page, Slotted.cell(page, first));
          default -> rows.revert(page, first);
        }
        at += 3;
        continue;
      }
      int n = LittleEndian.getShort(record, at + 3);
      int bytes = at + 5;
      if ((operation == CELL_INSERT || operation == CELL_REPLACE)
          && !SlottedSearch.beginsWithPrefix(page, record, bytes)) {
        throw new IllegalStateException(
            "operation " + operation + " brings a key that does not belong to the page");
      }
      if ((operation == CELL_INSERT || operation == CELL_REPLACE)
          && Page.type(page) == Page.LEAF
          && !LeafCell.isAlone(record, bytes)) {
        throw new IllegalStateException(
            "operation " + operation + " brings a row with a former version");
      }
      if (operation == KEEP_LEFT && !SlottedSearch.canEndAt(page, record, bytes, n)) {
        throw new IllegalStateException(
            "operation " + operation + " brings a fence that does not belong to the page");
      }
      switch (operation) {
        case IMAGE -> {
          copy(ZEROS, 0, page, Page.BODY, Page.SIZE - Page.BODY);
          copy(record, bytes, page, Page.BODY, first);
          copy(record, bytes + first, page, Page.SIZE - n, n);
          bytes += first;
        }
        case CELL_INSERT -> SlottedEdit.insert(page, first, record, bytes, n, scratch);
        case CELL_REPLACE -> SlottedEdit.replace(page, first, record, bytes, n, scratch);
        case KEEP_LEFT -> SlottedEdit.keepLeft(page, first, record, bytes, n, scratch);
        case ROW_UPDATE -> rows.update(page, first, record, bytes, n);
        case ROW_CHANGE -> {
          if (!RowEdit.canChange(page, Slotted.cell(page, first), record, bytes)) {
            throw new IllegalStateException(
                "operation " + operation + " on slot " + first + " is one on a longer value");
          }
          rows.change(page, first, record, bytes, n);
        }
        case BYTES -> copy(record, bytes, page, first, n);
        case VALUE_PUT -> {
          demandShared(page, operation, SharedValues.canPut(page, first, n));
          SharedValues.put(page, first, record, bytes, n);
        }
        case BITS -> {
          int mask = record[bytes];
          Page.putByte(
              page, first, (Page.getByte(page, first) & ~mask) | (record[bytes + 1] & mask));
        }
        default ->
            throw new IllegalStateException(
                "unknown page operation " + operation + " in a log record");
      }
      at = bytes + n;
    }
  }

  /**
   * Carries out the operations of one part of a record on a space map that other threads change at
   * the same time: they change other bytes and bits, never these (R5).
   *
   * @param page latched shared
   * @param record bytes of the record
   * @param offset the offset of the operations
   * @param length the number of their bytes
   * @throws IllegalStateException if an operation does more than store bytes or bits
   */
  public static void applyShared(MemorySegment page, byte[] record, int offset, int length) {
    int at = offset;
    int end = offset + length;
    while (at < end) {
      int operation = record[at];
      int first = LittleEndian.getShort(record, at + 1);
      int n = LittleEndian.getShort(record, at + 3);
      at += 5;
      switch (operation) {
        case BYTES -> {
          for (int i = 0; i < n; i++) {
            Page.putBitsShared(page, first + i, 0xFF, record[at + i]);
          }
        }
        case BITS -> Page.putBitsShared(page, first, record[at], record[at + 1]);
        default ->
            throw new IllegalStateException(
                "page operation " + operation + " cannot be carried out under a shared latch");
      }
      at += n;
    }
  }

  /**
   * Demands that the slot exists: redo may meet a page that is not the one to which the change was
   * made.
   */
  private static void demandSlot(MemorySegment page, int operation, int slot) {
    int type = Page.type(page);
    int count = Slotted.count(page);
    boolean mayBeBehind = operation == CELL_INSERT || operation == KEEP_LEFT;
    boolean ofRow =
        operation == ROW_UPDATE
            || operation == ROW_SETTLE
            || operation == ROW_REVERT
            || operation == ROW_CHANGE;
    if (!ofRow && (operation < CELL_INSERT || operation > KEEP_LEFT)) {
      throw new IllegalStateException("unknown page operation " + operation + " in a log record");
    }
    if ((ofRow && type != Page.LEAF)
        || (type != Page.LEAF && type != Page.INNER)
        || slot >= (mayBeBehind ? count + 1 : count)) {
      throw new IllegalStateException(
          "operation "
              + operation
              + " on slot "
              + slot
              + " of a page of type "
              + type
              + " with "
              + count);
    }
  }

  private static void demandShared(MemorySegment page, int operation, boolean fits) {
    if (!fits) {
      throw new IllegalStateException(
          "operation " + operation + " does not fit the page, of type " + Page.type(page));
    }
  }

  /** Copies bytes without a view of the array: carrying out must not allocate. */
  private static void copy(byte[] source, int from, MemorySegment page, int to, int length) {
    MemorySegment.copy(source, from, page, ValueLayout.JAVA_BYTE, to, length);
  }
}
