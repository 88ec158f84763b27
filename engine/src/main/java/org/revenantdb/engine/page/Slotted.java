package org.revenantdb.engine.page;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/**
 * Leaf and inner pages: slots in key order at the front, cells in a heap that grows from the end.
 *
 * <pre>
 *   18 u16 slots   20 u16 heap top   22 u16 garbage   24 u32 table   28 u8 level   30 u16 skip
 *   32 u16 lower fence offset  34 u16 length (0: minus infinity)
 *   36 u16 upper fence offset  38 u16 length (0xFFFF: plus infinity)
 *   40 u64 highest writer (leaf)   48 u32 left-most child (inner)   52 common bytes
 *   64 slots ...   cells ... 8192
 *   slot: u32 head, u16 cell offset, of an inner page also u32 child
 * </pre>
 *
 * <p>All keys of the page begin with the same {@code skip} bytes. The head of a slot is the four
 * bytes of its key after those, as a big-endian number, zeros where the key is shorter; so most
 * comparisons of a search need no cell. The first twelve of the common bytes are in the header,
 * too. Skip is as large as the keys that came to the page allowed; a key that shares less makes it
 * smaller, and all heads are made anew.
 *
 * <p>Free room is what lies between slots and heap top, and the garbage that a compaction gives
 * back. The reading methods are pure; the changing ones are for {@link PageOps} and {@link
 * SlottedBuilder} alone. The reading ones may be given a page that is being changed (an optimistic
 * read): they end, and throw an {@link IndexOutOfBoundsException} or return what means nothing.
 */
public final class Slotted {
  /** Offset of the number of slots. */
  static final int COUNT = 18;

  static final int HEAP_TOP = 20;
  static final int GARBAGE = 22;
  static final int TABLE = 24;
  static final int LEVEL = 28;
  static final int SKIP = 30;
  static final int LOWER_OFFSET = 32;
  static final int LOWER_LENGTH = 34;
  static final int UPPER_OFFSET = 36;
  static final int UPPER_LENGTH = 38;
  static final int MAX_WRITER = 40;

  /** Offset of the left-most child of an inner page. */
  public static final int LEFTMOST_CHILD = 48;

  /** Offset of the bytes that all keys have in common, or of the first of them. */
  static final int COMMON = 52;

  static final int SLOTS = 64;
  private static final int MAX_COMMON = SLOTS - COMMON;
  static final int INFINITE = 0xFFFF;

  /** Bytes that a slot of a leaf takes beside its cell. */
  public static final int LEAF_SLOT = 6;

  /**
   * Bytes that a slot of an inner page takes beside its cell. It has the cell's child as well: a
   * descent would have to wait for the cell, which it does not need for anything else.
   */
  public static final int INNER_SLOT = 10;

  /** Where in a slot the offset of its cell is. */
  static final int SLOT_CELL = 4;

  /** Where in a slot of an inner page the child is. */
  static final int SLOT_CHILD = 6;

  /** Bytes of a key that are in its slot. */
  private static final int HEAD = 4;

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

  /** Bytes of a slot of this page. */
  static int slotSize(MemorySegment page) {
    return level(page) == 0 ? LEAF_SLOT : INNER_SLOT;
  }

  /** Offset of a slot. */
  private static int slotAt(MemorySegment page, int slot) {
    return SLOTS + slotSize(page) * slot;
  }

  /** Offset of the cell of a slot. */
  public static int cell(MemorySegment page, int slot) {
    return Page.getShort(page, slotAt(page, slot) + SLOT_CELL);
  }

  /** Leads a slot to a cell that is in its place. */
  static void setCell(MemorySegment page, int slot, int cell) {
    int at = slotAt(page, slot);
    Page.putShort(page, at + SLOT_CELL, cell);
    if (level(page) != 0) {
      Page.putInt(page, at + SLOT_CHILD, InnerCell.child(page, cell));
    }
  }

  /** Bytes that all keys of the page begin with, whatever they are. */
  public static int skip(MemorySegment page) {
    return Page.getShort(page, SKIP);
  }

  /** The head of a slot; heads are in the order of {@link Integer#compareUnsigned}. */
  public static int head(MemorySegment page, int slot) {
    return Page.getInt(page, slotAt(page, slot));
  }

  private static int keyOffset(MemorySegment page, boolean leaf, int cell) {
    return leaf ? LeafCell.keyOffset(page, cell) : InnerCell.keyOffset(cell);
  }

  private static int keyLength(MemorySegment page, boolean leaf, int cell) {
    return leaf ? LeafCell.keyLength(page, cell) : InnerCell.keyLength(page, cell);
  }

  /** Room for cells and slots, with what a compaction gives back. */
  public static int free(MemorySegment page) {
    return contiguous(page) + Page.getShort(page, GARBAGE);
  }

  private static int contiguous(MemorySegment page) {
    return Page.getShort(page, HEAP_TOP) - slotAt(page, count(page));
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

  /** Whether all keys of the pages to the right are at or above a key. */
  public static boolean endsBehind(MemorySegment page, byte[] key) {
    return !hasUpperFence(page)
        || Page.compareKey(
                page, Page.getShort(page, UPPER_OFFSET), Page.getShort(page, UPPER_LENGTH), key)
            >= 0;
  }

  /** The slot of a key, or {@code -(slot where it belongs) - 1}. */
  public static int search(MemorySegment page, byte[] key) {
    return level(page) == 0 ? searchLeaf(page, 0, key) : searchInner(page, 0, key);
  }

  /** The first slot whose key is not below a key; the number of slots if there is none. */
  public static int slotAtOrAfter(MemorySegment page, byte[] key) {
    int slot = search(page, key);
    return slot >= 0 ? slot : -slot - 1;
  }

  /**
   * As {@link #search}, in a leaf.
   *
   * @param memory where the page is
   * @param base where in the memory
   */
  public static int searchLeaf(MemorySegment memory, long base, byte[] key) {
    return search(memory, base, key, /* leaf= */ true);
  }

  /** As {@link #searchLeaf}, in an inner page. */
  private static int searchInner(MemorySegment memory, long base, byte[] key) {
    return search(memory, base, key, /* leaf= */ false);
  }

  private static int search(MemorySegment memory, long base, byte[] key, boolean leaf) {
    int count = Page.getShort(memory, base + COUNT);
    int skip = Page.getShort(memory, base + SKIP);
    int wanted = BigEndian.head(key, skip) ^ Integer.MIN_VALUE;
    long slots = base + SLOTS;
    int size = leaf ? LEAF_SLOT : INNER_SLOT;
    int low = 0;
    int high = count - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      long slot = slots + (long) size * middle;
      int head = Page.getInt(memory, slot) ^ Integer.MIN_VALUE;
      if (head < wanted) {
        low = middle + 1;
      } else if (head > wanted) {
        high = middle - 1;
      } else {
        long cell = base + Page.getShort(memory, slot + SLOT_CELL);
        int order = leaf ? compareLeafKey(memory, cell, key) : compareInnerKey(memory, cell, key);
        if (order == 0) {
          return middle;
        }
        if (order < 0) {
          low = middle + 1;
        } else {
          high = middle - 1;
        }
      }
    }
    return skip == 0 || count == 0 ? -low - 1 : notFound(memory, base, count, skip, key, low);
  }

  private static int compareLeafKey(MemorySegment memory, long cell, byte[] key) {
    long shape = LeafCell.shape(memory, cell);
    return Page.compareKey(
        memory, cell + LeafCell.keyOffset(shape), LeafCell.keyLength(shape), key);
  }

  private static int compareInnerKey(MemorySegment memory, long cell, byte[] key) {
    return Page.compareKey(
        memory, InnerCell.keyOffset(cell), InnerCell.keyLength(memory, cell), key);
  }

  /** Heads tell where a key belongs only if it begins as all keys of the page do. */
  private static int notFound(
      MemorySegment memory, long base, int count, int skip, byte[] key, int low) {
    long common = base + COMMON;
    if (skip > MAX_COMMON) {
      boolean leaf = level(memory, base) == 0;
      long any = base + Page.getShort(memory, base + SLOTS + SLOT_CELL);
      common =
          leaf ? any + LeafCell.keyOffset(LeafCell.shape(memory, any)) : InnerCell.keyOffset(any);
    }
    int order = Page.compareKey(memory, common, skip, key, skip);
    return order == 0 ? -low - 1 : order > 0 ? -1 : -count - 1;
  }

  /**
   * A slot of a leaf whose head is that of a key, -1 if there is none: the first half of a search,
   * which does not look at the cell.
   */
  public static int searchHeads(MemorySegment memory, long base, byte[] key) {
    int wanted = BigEndian.head(key, Page.getShort(memory, base + SKIP)) ^ Integer.MIN_VALUE;
    long slots = base + SLOTS;
    int low = 0;
    int high = Page.getShort(memory, base + COUNT) - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      int head = Page.getInt(memory, slots + (long) LEAF_SLOT * middle) ^ Integer.MIN_VALUE;
      if (head == wanted) {
        return middle;
      }
      if (head < wanted) {
        low = middle + 1;
      } else {
        high = middle - 1;
      }
    }
    return -1;
  }

  /** Whether a slot of a leaf has this key. */
  public static boolean isKey(MemorySegment memory, long base, int slot, byte[] key) {
    long cell = cellOf(memory, base, slot);
    long shape = LeafCell.shape(memory, cell);
    return LeafCell.keyLength(shape) == key.length
        && Page.compareKey(memory, cell + LeafCell.keyOffset(shape), key.length, key) == 0;
  }

  /**
   * Reads what a search in a leaf is about to need, so that the processor fetches it all at once
   * instead of line after line.
   *
   * @return nothing of interest, to be stored somewhere
   */
  public static int touch(MemorySegment memory, long base) {
    return Page.getByte(memory, base + COUNT)
        + Page.getByte(memory, base + SLOTS)
        + Page.getByte(memory, base + SLOTS + 64)
        + Page.getByte(memory, base + SLOTS + 128)
        + Page.getByte(memory, base + SLOTS + 192);
  }

  /** As {@link #touch}, with the end of a cell that a search has found. */
  public static int touchCell(MemorySegment memory, long base, long cell) {
    long last = base + Page.SIZE - 1;
    return Page.getByte(memory, Math.min(cell + 64, last))
        + Page.getByte(memory, Math.min(cell + 128, last));
  }

  /** Level of a page in a larger memory, 0 for a leaf. */
  public static int level(MemorySegment memory, long base) {
    return Page.getByte(memory, base + LEVEL);
  }

  /** Position of the child that holds a key, in an inner page in a larger memory. */
  public static int childPosition(MemorySegment memory, long base, byte[] key) {
    int slot = searchInner(memory, base, key);
    return slot >= 0 ? slot : -slot - 2;
  }

  /** The child at a position, in an inner page in a larger memory. */
  public static int child(MemorySegment memory, long base, int position) {
    return Page.getInt(
        memory,
        base + (position < 0 ? LEFTMOST_CHILD : SLOTS + (long) INNER_SLOT * position + SLOT_CHILD));
  }

  /** Number of slots of a page in a larger memory. */
  public static int count(MemorySegment memory, long base) {
    return Page.getShort(memory, base + COUNT);
  }

  /** Offset in a larger memory of the cell of a slot of a leaf. */
  public static long cellOf(MemorySegment memory, long base, int slot) {
    return base + Page.getShort(memory, base + SLOTS + (long) LEAF_SLOT * slot + SLOT_CELL);
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
        : Page.getInt(page, slotAt(page, position) + SLOT_CHILD);
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
    int size = slotSize(page);
    if (contiguous(page) < length + size) {
      compact(page, scratch);
    }
    int count = count(page);
    int at = SLOTS + size * slot;
    MemorySegment.copy(page, at, page, at + size, (long) size * (count - slot));
    Page.putShort(page, COUNT, count + 1);
    place(page, slot, source, offset, length);
    headOfNew(page, slot);
  }

  static void replace(
      MemorySegment page, int slot, byte[] source, int offset, int length, MemorySegment scratch) {
    int old = cellLength(page, slot);
    if (length <= old) {
      int cell = cell(page, slot);
      MemorySegment.copy(source, offset, page, ValueLayout.JAVA_BYTE, cell, length);
      Page.putShort(page, GARBAGE, Page.getShort(page, GARBAGE) + old - length);
      setCell(page, slot, cell);
      raiseMaxWriter(page, cell);
      return;
    }
    Page.putShort(page, GARBAGE, Page.getShort(page, GARBAGE) + old);
    if (contiguous(page) < length) {
      Page.putShort(page, slotAt(page, slot) + SLOT_CELL, 0);
      compact(page, scratch);
    }
    place(page, slot, source, offset, length);
  }

  private static void place(MemorySegment page, int slot, byte[] source, int offset, int length) {
    int cell = Page.getShort(page, HEAP_TOP) - length;
    MemorySegment.copy(source, offset, page, ValueLayout.JAVA_BYTE, cell, length);
    Page.putShort(page, HEAP_TOP, cell);
    setCell(page, slot, cell);
    raiseMaxWriter(page, cell);
  }

  /** A key has come to a slot: its head, and those of the others if it shares less with them. */
  private static void headOfNew(MemorySegment page, int slot) {
    int count = count(page);
    boolean leaf = level(page) == 0;
    if (count == 1) {
      // A guess that costs nothing: the next key may share all but the last bytes.
      setSkip(page, leaf, Math.max(0, keyLength(page, leaf, cell(page, 0)) - HEAD));
      putHead(page, leaf, 0);
      return;
    }
    int common = common(page, leaf, slot, slot == 0 ? 1 : 0);
    if (common < skip(page)) {
      setSkip(page, leaf, common);
      putHeads(page, leaf);
    } else {
      putHead(page, leaf, slot);
    }
  }

  /** Makes skip as large as it can be, and all heads. */
  static void makeHeads(MemorySegment page) {
    int count = count(page);
    boolean leaf = level(page) == 0;
    int skip =
        count == 0
            ? 0
            : count == 1
                ? Math.max(0, keyLength(page, leaf, cell(page, 0)) - HEAD)
                : common(page, leaf, 0, count - 1);
    setSkip(page, leaf, skip);
    putHeads(page, leaf);
  }

  private static void setSkip(MemorySegment page, boolean leaf, int skip) {
    Page.putShort(page, SKIP, skip);
    int inHeader = Math.min(skip, MAX_COMMON);
    if (inHeader > 0) {
      int key = keyOffset(page, leaf, cell(page, 0));
      MemorySegment.copy(page, key, page, COMMON, inHeader);
    }
    for (int at = COMMON + inHeader; at < SLOTS; at++) {
      Page.putByte(page, at, 0);
    }
  }

  private static void putHeads(MemorySegment page, boolean leaf) {
    int count = count(page);
    for (int slot = 0; slot < count; slot++) {
      putHead(page, leaf, slot);
    }
  }

  private static void putHead(MemorySegment page, boolean leaf, int slot) {
    Page.putInt(page, slotAt(page, slot), headOf(page, leaf, slot));
  }

  /** What the head of a slot has to be. */
  private static int headOf(MemorySegment page, boolean leaf, int slot) {
    int cell = cell(page, slot);
    int offset = keyOffset(page, leaf, cell);
    int length = keyLength(page, leaf, cell);
    int head = 0;
    int skip = skip(page);
    for (int i = skip; i < skip + HEAD; i++) {
      head = head << Byte.SIZE | (i < length ? Page.getByte(page, offset + i) : 0);
    }
    return head;
  }

  /** Bytes that the keys of two slots have in common at their beginning. */
  private static int common(MemorySegment page, boolean leaf, int one, int other) {
    int cell1 = cell(page, one);
    int cell2 = cell(page, other);
    int from1 = keyOffset(page, leaf, cell1);
    int from2 = keyOffset(page, leaf, cell2);
    int limit = Math.min(keyLength(page, leaf, cell1), keyLength(page, leaf, cell2));
    int i = 0;
    while (i < limit && Page.getByte(page, from1 + i) == Page.getByte(page, from2 + i)) {
      i++;
    }
    return i;
  }

  /** What is wrong with skip or the heads, or null. */
  public static @Nullable String problemOfHeads(MemorySegment page) {
    int count = count(page);
    boolean leaf = level(page) == 0;
    for (int slot = 0; slot < count; slot++) {
      int inHeader = Math.min(skip(page), MAX_COMMON);
      int key = keyOffset(page, leaf, cell(page, slot));
      if (MemorySegment.mismatch(page, key, key + inHeader, page, COMMON, COMMON + inHeader) >= 0) {
        return "slot " + slot + " does not begin as the header says that all keys do";
      }
      if (common(page, leaf, slot, 0) < skip(page)) {
        return "slot " + slot + " does not share the first " + skip(page) + " bytes of the keys";
      }
      if (head(page, slot) != headOf(page, leaf, slot)) {
        return "slot " + slot + " has a head that is not that of its key";
      }
      if (!leaf && child(page, slot) != InnerCell.child(page, cell(page, slot))) {
        return "slot " + slot + " has another child than its cell";
      }
    }
    return null;
  }

  private static void raiseMaxWriter(MemorySegment page, int cell) {
    if (level(page) == 0) {
      long writer = LeafCell.writer(page, cell);
      if (writer > maxWriter(page)) {
        Page.putLong(page, MAX_WRITER, writer);
      }
    }
  }

  /** A new current version of a row: PageOps ROW_UPDATE. */
  static void update(
      MemorySegment page, int slot, byte[] source, int offset, int length, MemorySegment scratch) {
    int cell = cell(page, slot);
    int old = LeafCell.length(page, cell);
    int made = LeafCell.update(page, cell, source, offset, length, scratch, Page.SIZE);
    int to = cell;
    if (made <= old) {
      Page.putShort(page, GARBAGE, Page.getShort(page, GARBAGE) + old - made);
    } else {
      Page.putShort(page, GARBAGE, Page.getShort(page, GARBAGE) + old);
      if (contiguous(page) < made) {
        Page.putShort(page, slotAt(page, slot) + SLOT_CELL, 0);
        compact(page, scratch);
      }
      to = Page.getShort(page, HEAP_TOP) - made;
      Page.putShort(page, HEAP_TOP, to);
    }
    MemorySegment.copy(scratch, Page.SIZE, page, to, made);
    setCell(page, slot, to);
    raiseMaxWriter(page, to);
  }

  /** Takes the predecessor of a row away: PageOps ROW_SETTLE. */
  static void settle(MemorySegment page, int slot) {
    int cell = cell(page, slot);
    Page.putShort(page, GARBAGE, Page.getShort(page, GARBAGE) + LeafCell.settle(page, cell));
  }

  static void remove(MemorySegment page, int slot) {
    Page.putShort(page, GARBAGE, Page.getShort(page, GARBAGE) + cellLength(page, slot));
    int count = count(page);
    int size = slotSize(page);
    int at = SLOTS + size * slot;
    MemorySegment.copy(page, at + size, page, at, (long) size * (count - slot - 1));
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
    makeHeads(page);
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
    boolean leaf = level(copy) == 0;
    int step = leaf ? LEAF_SLOT : INNER_SLOT;
    int end = SLOTS + step * count(copy);
    for (int at = SLOTS + SLOT_CELL; at < end; at += step) {
      int cell = Page.getShort(copy, at);
      if (cell != 0) {
        int length =
            leaf ? LeafCell.length(LeafCell.shape(copy, cell)) : InnerCell.length(copy, cell);
        top -= length;
        MemorySegment.copy(copy, cell, page, top, length);
        Page.putShort(page, at, top);
      }
    }
    Page.putShort(page, HEAP_TOP, top);
    Page.putShort(page, GARBAGE, 0);
  }
}
