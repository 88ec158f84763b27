package org.revenantdb.engine.page;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Leaf and inner pages: slots in key order at the front, cells in a heap that grows from the end.
 *
 * <pre>
 *   18 u16 slots   20 u16 heap top   22 u16 garbage   24 u32 table   28 u8 level
 *   32 u16 lower fence offset  34 u16 length (0: minus infinity)
 *   36 u16 upper fence offset  38 u16 length (0xFFFF: plus infinity)
 *   40 u64 highest writer (leaf)   48 u32 left-most child (inner)   64 u16 slots ...   cells ... 8192
 * </pre>
 *
 * <p>Free room is what lies between slots and heap top, and the garbage that a compaction gives
 * back. The reading methods are pure; the changing ones are for {@link PageOps} and {@link
 * SlottedBuilder} alone.
 */
public final class Slotted {
  /** Offset of the number of slots. */
  static final int COUNT = 18;

  static final int HEAP_TOP = 20;
  static final int GARBAGE = 22;
  static final int TABLE = 24;
  static final int LEVEL = 28;
  static final int LOWER_OFFSET = 32;
  static final int LOWER_LENGTH = 34;
  static final int UPPER_OFFSET = 36;
  static final int UPPER_LENGTH = 38;
  static final int MAX_WRITER = 40;

  /** Offset of the left-most child of an inner page. */
  public static final int LEFTMOST_CHILD = 48;

  static final int SLOTS = 64;
  static final int INFINITE = 0xFFFF;

  /** Bytes that a slot takes beside its cell. */
  public static final int SLOT = 2;

  private Slotted() {}

  /** Number of slots. */
  public static int count(MemorySegment page) {
    return Page.getShort(page, COUNT);
  }

  /** Table that the page belongs to. */
  public static int table(MemorySegment page) {
    return Page.getInt(page, TABLE);
  }

  /** Level, 0 for a leaf. */
  public static int level(MemorySegment page) {
    return Page.getByte(page, LEVEL);
  }

  /** Highest writer id that ever was on the leaf. */
  public static long maxWriter(MemorySegment page) {
    return Page.getLong(page, MAX_WRITER);
  }

  /** Offset of the cell of a slot. */
  public static int cell(MemorySegment page, int slot) {
    return Page.getShort(page, SLOTS + SLOT * slot);
  }

  /** Room for cells and slots, with what a compaction gives back. */
  public static int free(MemorySegment page) {
    return contiguous(page) + Page.getShort(page, GARBAGE);
  }

  private static int contiguous(MemorySegment page) {
    return Page.getShort(page, HEAP_TOP) - SLOTS - SLOT * count(page);
  }

  /** Bytes that cells take on the page, their slots included. */
  public static int used(MemorySegment page) {
    int fences =
        Page.getShort(page, LOWER_LENGTH)
            + (hasUpperFence(page) ? Page.getShort(page, UPPER_LENGTH) : 0);
    return Page.SIZE - SLOTS - fences - free(page);
  }

  /** The lower fence, empty for minus infinity. */
  public static byte[] lowerFence(MemorySegment page) {
    return Page.bytes(page, Page.getShort(page, LOWER_OFFSET), Page.getShort(page, LOWER_LENGTH));
  }

  /** Whether the page ends below plus infinity. */
  public static boolean hasUpperFence(MemorySegment page) {
    return Page.getShort(page, UPPER_LENGTH) != INFINITE;
  }

  /** The upper fence; only with {@link #hasUpperFence}. */
  public static byte[] upperFence(MemorySegment page) {
    return Page.bytes(page, Page.getShort(page, UPPER_OFFSET), Page.getShort(page, UPPER_LENGTH));
  }

  /** Whether a key lies between the fences. */
  public static boolean covers(MemorySegment page, byte[] key) {
    return Page.compareKey(
                page, Page.getShort(page, LOWER_OFFSET), Page.getShort(page, LOWER_LENGTH), key)
            <= 0
        && (!hasUpperFence(page)
            || Page.compareKey(
                    page, Page.getShort(page, UPPER_OFFSET), Page.getShort(page, UPPER_LENGTH), key)
                > 0);
  }

  /** The slot of a key, or {@code -(slot where it belongs) - 1}. */
  public static int search(MemorySegment page, byte[] key) {
    boolean leaf = level(page) == 0;
    int low = 0;
    int high = count(page) - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      int cell = cell(page, middle);
      int order =
          leaf
              ? Page.compareKey(
                  page, LeafCell.keyOffset(page, cell), LeafCell.keyLength(page, cell), key)
              : Page.compareKey(
                  page, InnerCell.keyOffset(cell), InnerCell.keyLength(page, cell), key);
      if (order < 0) {
        low = middle + 1;
      } else if (order > 0) {
        high = middle - 1;
      } else {
        return middle;
      }
    }
    return -low - 1;
  }

  /** Position of the child that holds a key: -1 is the left-most child, else the slot. */
  public static int childPosition(MemorySegment page, byte[] key) {
    int slot = search(page, key);
    return slot >= 0 ? slot : -slot - 2;
  }

  /** The child at a position of {@link #childPosition}. */
  public static int child(MemorySegment page, int position) {
    return position < 0
        ? Page.getInt(page, LEFTMOST_CHILD)
        : InnerCell.child(page, cell(page, position));
  }

  /** Length of the cell in a slot. */
  public static int cellLength(MemorySegment page, int slot) {
    int cell = cell(page, slot);
    return level(page) == 0 ? LeafCell.length(page, cell) : InnerCell.length(page, cell);
  }

  /** A copy of the key in a slot. */
  public static byte[] key(MemorySegment page, int slot) {
    int cell = cell(page, slot);
    return level(page) == 0 ? LeafCell.key(page, cell) : InnerCell.key(page, cell);
  }

  /**
   * Makes a page of zeros the only leaf of an empty tree; used for the catalogue of a new database.
   */
  public static void formatEmptyLeaf(MemorySegment page, int table) {
    Page.putByte(page, Page.TYPE, Page.LEAF);
    Page.putInt(page, TABLE, table);
    Page.putShort(page, HEAP_TOP, Page.SIZE);
    Page.putShort(page, UPPER_LENGTH, INFINITE);
  }

  // Changing a page. There must be room: that was checked before the record was published (R18).

  static void insert(
      MemorySegment page, int slot, byte[] source, int offset, int length, MemorySegment scratch) {
    if (contiguous(page) < length + SLOT) {
      compact(page, scratch);
    }
    int count = count(page);
    int at = SLOTS + SLOT * slot;
    MemorySegment.copy(page, at, page, at + SLOT, (long) SLOT * (count - slot));
    Page.putShort(page, COUNT, count + 1);
    place(page, slot, source, offset, length);
  }

  static void replace(
      MemorySegment page, int slot, byte[] source, int offset, int length, MemorySegment scratch) {
    int old = cellLength(page, slot);
    if (length <= old) {
      int cell = cell(page, slot);
      MemorySegment.copy(source, offset, page, ValueLayout.JAVA_BYTE, cell, length);
      Page.putShort(page, GARBAGE, Page.getShort(page, GARBAGE) + old - length);
      raiseMaxWriter(page, cell);
      return;
    }
    Page.putShort(page, GARBAGE, Page.getShort(page, GARBAGE) + old);
    if (contiguous(page) < length) {
      Page.putShort(page, SLOTS + SLOT * slot, 0);
      compact(page, scratch);
    }
    place(page, slot, source, offset, length);
  }

  private static void place(MemorySegment page, int slot, byte[] source, int offset, int length) {
    int cell = Page.getShort(page, HEAP_TOP) - length;
    MemorySegment.copy(source, offset, page, ValueLayout.JAVA_BYTE, cell, length);
    Page.putShort(page, HEAP_TOP, cell);
    Page.putShort(page, SLOTS + SLOT * slot, cell);
    raiseMaxWriter(page, cell);
  }

  private static void raiseMaxWriter(MemorySegment page, int cell) {
    if (level(page) == 0) {
      long writer = LeafCell.writer(page, cell);
      if (writer > maxWriter(page)) {
        Page.putLong(page, MAX_WRITER, writer);
      }
    }
  }

  static void remove(MemorySegment page, int slot) {
    Page.putShort(page, GARBAGE, Page.getShort(page, GARBAGE) + cellLength(page, slot));
    int count = count(page);
    int at = SLOTS + SLOT * slot;
    MemorySegment.copy(page, at + SLOT, page, at, (long) SLOT * (count - slot - 1));
    Page.putShort(page, COUNT, count - 1);
  }

  static void keepLeft(
      MemorySegment page,
      int count,
      byte[] source,
      int fenceOffset,
      int fenceLength,
      MemorySegment scratch) {
    Page.putShort(page, COUNT, count);
    Page.putShort(page, UPPER_LENGTH, INFINITE);
    compact(page, scratch);
    int at = Page.getShort(page, HEAP_TOP) - fenceLength;
    MemorySegment.copy(source, fenceOffset, page, ValueLayout.JAVA_BYTE, at, fenceLength);
    Page.putShort(page, HEAP_TOP, at);
    Page.putShort(page, UPPER_OFFSET, at);
    Page.putShort(page, UPPER_LENGTH, fenceLength);
  }

  /**
   * Moves all cells and fences to the end of the page; a slot with offset 0 keeps it, its cell is
   * being replaced.
   */
  private static void compact(MemorySegment page, MemorySegment scratch) {
    MemorySegment copy = scratch;
    MemorySegment.copy(page, 0, copy, 0, Page.SIZE);
    int top = Page.SIZE;
    int lower = Page.getShort(copy, LOWER_LENGTH);
    if (lower > 0) {
      top -= lower;
      MemorySegment.copy(copy, Page.getShort(copy, LOWER_OFFSET), page, top, lower);
      Page.putShort(page, LOWER_OFFSET, top);
    }
    int upper = Page.getShort(copy, UPPER_LENGTH);
    if (upper != INFINITE && upper > 0) {
      top -= upper;
      MemorySegment.copy(copy, Page.getShort(copy, UPPER_OFFSET), page, top, upper);
      Page.putShort(page, UPPER_OFFSET, top);
    }
    int count = count(copy);
    for (int slot = 0; slot < count; slot++) {
      if (cell(copy, slot) != 0) {
        int length = cellLength(copy, slot);
        top -= length;
        MemorySegment.copy(copy, cell(copy, slot), page, top, length);
        Page.putShort(page, SLOTS + SLOT * slot, top);
      }
    }
    Page.putShort(page, HEAP_TOP, top);
    Page.putShort(page, GARBAGE, 0);
  }
}
