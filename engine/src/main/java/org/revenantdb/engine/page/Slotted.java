package org.revenantdb.engine.page;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/**
 * Leaf and inner pages: slots in key order at the front, cells in a heap that grows from the end.
 *
 * <pre>
 *   18 u16 slots   20 u16 heap top   22 u16 garbage   24 u32 table   28 u8 level   29 u8 prefix
 *   30 u16 skip
 *   32 u16 lower fence offset  34 u16 length (0: minus infinity)
 *   36 u16 upper fence offset  38 u16 length (0xFFFF: plus infinity)
 *   40 u64 highest writer (leaf)   48 u32 left-most child (inner)   52 common bytes
 *   of a root: first IAM page, u32, at 48 (leaf), at 40 (inner)
 *   64 slots ...   cells ... 8192
 *   slot: u32 head, u16 cell offset, of an inner page also u32 child
 * </pre>
 *
 * <p>All keys between the fences begin with the bytes that the fences have in common. So many of
 * them, {@code prefix}, 255 at the most, are not stored: a cell has what follows of its key, the
 * lower fence has them once. With the fences the prefix changes, and with it all cells. A cell that
 * is on no page (in a log record, or just built) has its whole key.
 *
 * <p>All keys of the page begin with the same {@code skip} bytes, among them the prefix. The head
 * of a slot is the four bytes of its key after those, as a big-endian number, zeros where the key
 * is shorter; so most comparisons of a search need no cell. The first twelve of the common bytes
 * are in the header, too. Skip is as large as the keys that came to the page allowed; a key that
 * shares less makes it smaller, and all heads are made anew.
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
  static final int PREFIX = 29;
  static final int SKIP = 30;
  static final int LOWER_OFFSET = 32;
  static final int LOWER_LENGTH = 34;
  static final int UPPER_OFFSET = 36;
  static final int UPPER_LENGTH = 38;
  static final int MAX_WRITER = 40;

  /** Offset of the left-most child of an inner page. */
  public static final int LEFTMOST_CHILD = 48;

  /** Where a root that is a leaf names the tree's first IAM page; an inner one at 40. */
  private static final int LEAF_IAM = LEFTMOST_CHILD;

  private static final int INNER_IAM = MAX_WRITER;

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

  /** Longest prefix that is not stored. */
  public static final int MAX_PREFIX = 255;

  /** Bytes of a key that are in its slot. */
  private static final int HEAD = 4;

  private Slotted() {}

  /**
   * Whether one of these slots of a leaf has, or may get back, a deleted row or a large value.
   *
   * @param from the first slot
   * @param to behind the last one
   */
  public static boolean hasGhosts(MemorySegment page, int from, int to) {
    for (int slot = from; slot < to; slot++) {
      if ((LeafCell.flags(page, cell(page, slot)) & LeafCell.GHOSTS) != 0) {
        return true;
      }
    }
    return false;
  }

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

  /** Type, level and table of a page in one number, to be compared with {@link #kindOf}. */
  public static long kind(MemorySegment page) {
    return kind(page, 0);
  }

  /** As {@link #kind(MemorySegment)}, in a larger memory. */
  public static long kind(MemorySegment memory, long base) {
    return kindOf(
        Page.getByte(memory, base + Page.TYPE),
        Page.getInt(memory, base + TABLE),
        Page.getByte(memory, base + LEVEL));
  }

  /** What {@link #kind(MemorySegment)} is of a page of a tree. */
  public static long kindOf(int table, int level) {
    return kindOf(level == 0 ? Page.LEAF : Page.INNER, table, level);
  }

  private static long kindOf(int type, int table, int level) {
    return (long) type << 40 | (long) level << Integer.SIZE | Integer.toUnsignedLong(table);
  }

  /** The type in a {@link #kind(MemorySegment)}. */
  public static int typeOf(long kind) {
    return (int) (kind >>> 40);
  }

  /** The level in a {@link #kind(MemorySegment)}. */
  public static int levelOf(long kind) {
    return (int) (kind >>> Integer.SIZE) & 0xFF;
  }

  /** Whether a page has neither a lower nor an upper fence, as only roots have none. */
  public static boolean isWithoutFences(MemorySegment page) {
    return Page.getShort(page, LOWER_LENGTH) == 0 && !hasUpperFence(page);
  }

  /** Offset of the first IAM page in a root of this level. */
  public static int iamOffset(int level) {
    return level == 0 ? LEAF_IAM : INNER_IAM;
  }

  /** The tree's first IAM page, of a root; 0 if there is none. */
  public static int iam(MemorySegment root) {
    return Page.getInt(root, iamOffset(level(root)));
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

  /** Bytes at the beginning of all keys that the cells do not have. */
  public static int prefix(MemorySegment page) {
    return Page.getByte(page, PREFIX);
  }

  /** How many bytes a lower fence and an upper one, in an array, have in common. */
  private static int prefixBetween(
      MemorySegment page, int lower, int lowerLength, byte[] upper, int from, int upperLength) {
    int limit = Math.min(MAX_PREFIX, Math.min(lowerLength, upperLength));
    int i = 0;
    while (i < limit && Page.getByte(page, lower + i) == (upper[from + i] & 0xFF)) {
      i++;
    }
    return i;
  }

  /** The prefix that goes with the fences. */
  static int prefixOfFences(MemorySegment page) {
    return prefixOfBoth(page, page);
  }

  /** The prefix that goes with the lower fence of one page and the upper one of another. */
  public static int prefixOfBoth(MemorySegment left, MemorySegment right) {
    return hasUpperFence(right) ? prefixBetween(left, upperFence(right)) : 0;
  }

  private static int prefixBetween(MemorySegment page, byte[] upper) {
    return prefixBetween(
        page,
        Page.getShort(page, LOWER_OFFSET),
        Page.getShort(page, LOWER_LENGTH),
        upper,
        0,
        upper.length);
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
    int prefix = Page.getByte(memory, base + PREFIX);
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
        int order =
            leaf
                ? compareLeafKey(memory, cell, key, prefix)
                : compareInnerKey(memory, cell, key, prefix);
        if (order == 0) {
          return prefix == 0 || compareCommon(memory, base, prefix, key) == 0
              ? middle
              : notFound(memory, base, count, skip, key, low);
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

  private static int compareLeafKey(MemorySegment memory, long cell, byte[] key, int prefix) {
    long shape = LeafCell.shape(memory, cell);
    return Page.compareKey(
        memory,
        cell + LeafCell.keyOffset(shape),
        LeafCell.keyLength(shape),
        key,
        prefix,
        key.length);
  }

  private static int compareInnerKey(MemorySegment memory, long cell, byte[] key, int prefix) {
    return Page.compareKey(
        memory,
        InnerCell.keyOffset(cell),
        InnerCell.keyLength(memory, cell),
        key,
        prefix,
        key.length);
  }

  /** Heads tell where a key belongs only if it begins as all keys of the page do. */
  private static int notFound(
      MemorySegment memory, long base, int count, int skip, byte[] key, int low) {
    int order = compareCommon(memory, base, skip, key);
    return order == 0 ? -low - 1 : order > 0 ? -1 : -count - 1;
  }

  /**
   * Compares what all keys of a page that has some begin with, or the first bytes of that, with as
   * much of a key.
   *
   * @param length skip, or less
   */
  private static int compareCommon(MemorySegment memory, long base, int length, byte[] key) {
    int order =
        Page.compareKey(
            memory,
            base + COMMON,
            Math.min(length, MAX_COMMON),
            key,
            0,
            Math.min(length, MAX_COMMON));
    if (order != 0 || length <= MAX_COMMON) {
      return order;
    }
    int prefix = Page.getByte(memory, base + PREFIX);
    int from = MAX_COMMON;
    int to = Math.min(length, prefix);
    if (from < to) {
      long fence = base + Page.getShort(memory, base + LOWER_OFFSET);
      order = Page.compareKey(memory, fence + from, to - from, key, from, to);
      from = to;
    }
    if (order != 0 || from == length) {
      return order;
    }
    long any = base + Page.getShort(memory, base + SLOTS + SLOT_CELL);
    long suffix =
        level(memory, base) == 0
            ? any + LeafCell.keyOffset(LeafCell.shape(memory, any))
            : InnerCell.keyOffset(any);
    return Page.compareKey(memory, suffix + from - prefix, length - from, key, from, length);
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
    int prefix = Page.getByte(memory, base + PREFIX);
    int length = LeafCell.keyLength(shape);
    return prefix + length == key.length
        && Page.compareKey(
                memory, cell + LeafCell.keyOffset(shape), length, key, prefix, key.length)
            == 0
        && (prefix == 0 || compareCommon(memory, base, prefix, key) == 0);
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
    return keyOf(page, cell(page, slot));
  }

  /** A copy of the key that a cell of a page is for. */
  public static byte[] keyOf(MemorySegment page, int cell) {
    boolean leaf = level(page) == 0;
    int prefix = prefix(page);
    int length = keyLength(page, leaf, cell);
    byte[] key = new byte[prefix + length];
    copyPrefix(page, key);
    MemorySegment.copy(
        page, ValueLayout.JAVA_BYTE, keyOffset(page, leaf, cell), key, prefix, length);
    return key;
  }

  /** Copies the bytes that cells do not have to the beginning of an array; returns how many. */
  public static int copyPrefix(MemorySegment page, byte[] into) {
    int prefix = prefix(page);
    if (prefix > 0) {
      MemorySegment.copy(
          page, ValueLayout.JAVA_BYTE, Page.getShort(page, LOWER_OFFSET), into, 0, prefix);
    }
    return prefix;
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
    if (contiguous(page) < length - prefix(page) + size) {
      compact(page, scratch, prefix(page));
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
    int made = length - prefix(page);
    if (made <= old) {
      int cell = cell(page, slot);
      putCell(page, cell, source, offset, length);
      Page.putShort(page, GARBAGE, Page.getShort(page, GARBAGE) + old - made);
      setCell(page, slot, cell);
      raiseMaxWriter(page, cell);
      return;
    }
    Page.putShort(page, GARBAGE, Page.getShort(page, GARBAGE) + old);
    if (contiguous(page) < made) {
      Page.putShort(page, slotAt(page, slot) + SLOT_CELL, 0);
      compact(page, scratch, prefix(page));
    }
    place(page, slot, source, offset, length);
  }

  private static void place(MemorySegment page, int slot, byte[] source, int offset, int length) {
    int cell = Page.getShort(page, HEAP_TOP) - length + prefix(page);
    putCell(page, cell, source, offset, length);
    Page.putShort(page, HEAP_TOP, cell);
    setCell(page, slot, cell);
    raiseMaxWriter(page, cell);
  }

  /** Stores a cell with its whole key, without the prefix. */
  static void putCell(MemorySegment page, int cell, byte[] source, int offset, int length) {
    int prefix = prefix(page);
    if (prefix == 0) {
      MemorySegment.copy(source, offset, page, ValueLayout.JAVA_BYTE, cell, length);
      return;
    }
    boolean leaf = level(page) == 0;
    int key = leaf ? LeafCell.keyOffset(source, offset) : InnerCell.keyOffset(0);
    int kept = key + prefix;
    MemorySegment.copy(source, offset, page, ValueLayout.JAVA_BYTE, cell, key);
    MemorySegment.copy(
        source, offset + kept, page, ValueLayout.JAVA_BYTE, cell + key, length - kept);
    putKeyLength(page, leaf, cell, keyLength(page, leaf, cell) - prefix);
  }

  /** Whether a page may be cut at a fence: it lies behind the lower one, and shares the prefix. */
  static boolean canEndAt(MemorySegment page, byte[] source, int offset, int length) {
    int lower = Page.getShort(page, LOWER_OFFSET);
    int lowerLength = Page.getShort(page, LOWER_LENGTH);
    return Page.compareKey(page, lower, lowerLength, source, offset, offset + length) < 0
        && prefixBetween(page, lower, lowerLength, source, offset, length) >= prefix(page);
  }

  private static void putKeyLength(MemorySegment page, boolean leaf, int cell, int length) {
    Page.putShort(page, cell + (leaf ? LeafCell.KEY_LENGTH : InnerCell.KEY_LENGTH), length);
  }

  /**
   * Whether a cell with its whole key can belong to the page: redo may meet a page that is not the
   * one that the change was made to.
   */
  static boolean beginsWithPrefix(MemorySegment page, byte[] source, int offset) {
    int prefix = prefix(page);
    if (prefix == 0) {
      return true;
    }
    boolean leaf = level(page) == 0;
    int key = offset + (leaf ? LeafCell.keyOffset(source, offset) : InnerCell.keyOffset(0));
    int length =
        LittleEndian.getShort(source, offset + (leaf ? LeafCell.KEY_LENGTH : InnerCell.KEY_LENGTH));
    return length >= prefix
        && Page.compareKey(
                page, Page.getShort(page, LOWER_OFFSET), prefix, source, key, key + prefix)
            == 0;
  }

  /** A key has come to a slot: its head, and those of the others if it shares less with them. */
  private static void headOfNew(MemorySegment page, int slot) {
    int count = count(page);
    boolean leaf = level(page) == 0;
    if (count == 1) {
      // A guess that costs nothing: the next key may share all but the last bytes.
      setSkip(page, leaf, skipOfOne(page, leaf));
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
        count == 0 ? 0 : count == 1 ? skipOfOne(page, leaf) : common(page, leaf, 0, count - 1);
    setSkip(page, leaf, skip);
    putHeads(page, leaf);
  }

  /** Skip of a page with one key. */
  private static int skipOfOne(MemorySegment page, boolean leaf) {
    return prefix(page) + Math.max(0, keyLength(page, leaf, cell(page, 0)) - HEAD);
  }

  private static void setSkip(MemorySegment page, boolean leaf, int skip) {
    Page.putShort(page, SKIP, skip);
    int inHeader = Math.min(skip, MAX_COMMON);
    int ofFence = Math.min(inHeader, prefix(page));
    if (ofFence > 0) {
      MemorySegment.copy(page, Page.getShort(page, LOWER_OFFSET), page, COMMON, ofFence);
    }
    if (inHeader > ofFence) {
      int key = keyOffset(page, leaf, cell(page, 0));
      MemorySegment.copy(page, key, page, COMMON + ofFence, inHeader - ofFence);
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
    int skip = skip(page) - prefix(page);
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
    return prefix(page) + i;
  }

  /** What is wrong with prefix, skip or the heads, or null. */
  public static @Nullable String problemOfHeads(MemorySegment page) {
    int count = count(page);
    boolean leaf = level(page) == 0;
    int prefix = prefix(page);
    if (prefix != prefixOfFences(page)) {
      return "its cells lack the first "
          + prefix
          + " bytes of their keys, its fences share "
          + prefixOfFences(page);
    }
    if (count > 0 && skip(page) < prefix) {
      return "its heads begin at " + skip(page) + ", its keys at " + prefix;
    }
    for (int slot = 0; slot < count; slot++) {
      int inHeader = Math.min(skip(page), MAX_COMMON);
      MemorySegment key = MemorySegment.ofArray(keyOf(page, cell(page, slot)));
      if (key.byteSize() < inHeader
          || MemorySegment.mismatch(key, 0, inHeader, page, COMMON, COMMON + inHeader) >= 0) {
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
    int made = LeafCell.update(page, cell, source, offset, length, scratch, Page.SIZE);
    putUpdated(page, slot, cell, made, scratch);
  }

  /** A new current version of a row: PageOps ROW_CHANGE. */
  static void change(
      MemorySegment page, int slot, byte[] source, int offset, int length, MemorySegment scratch) {
    int cell = cell(page, slot);
    int made = LeafCell.change(page, cell, source, offset, length, scratch, Page.SIZE);
    putUpdated(page, slot, cell, made, scratch);
  }

  /** The new cell lies in the second half of the scratch space. */
  private static void putUpdated(
      MemorySegment page, int slot, int cell, int made, MemorySegment scratch) {
    int old = LeafCell.length(page, cell);
    int to = cell;
    if (made <= old) {
      Page.putShort(page, GARBAGE, Page.getShort(page, GARBAGE) + old - made);
    } else {
      Page.putShort(page, GARBAGE, Page.getShort(page, GARBAGE) + old);
      if (contiguous(page) < made) {
        Page.putShort(page, slotAt(page, slot) + SLOT_CELL, 0);
        compact(page, scratch, prefix(page));
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

  /** Puts the predecessor of a row in the place of its current version: PageOps ROW_REVERT. */
  static void revert(MemorySegment page, int slot, MemorySegment scratch) {
    int cell = cell(page, slot);
    int less = LeafCell.revert(page, cell, scratch);
    Page.putShort(page, GARBAGE, Page.getShort(page, GARBAGE) + less);
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
    // The new fence is nearer to the lower one, so the prefix does not become shorter.
    int lower = Page.getShort(page, LOWER_OFFSET);
    int prefix =
        prefixBetween(
            page, lower, Page.getShort(page, LOWER_LENGTH), source, fenceOffset, fenceLength);
    compact(page, scratch, prefix);
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
   *
   * @param prefix what the keys shall lack, not less than they do now
   */
  private static void compact(MemorySegment page, MemorySegment scratch, int prefix) {
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
    int less = prefix - prefix(copy);
    Page.putByte(page, PREFIX, prefix);
    int step = leaf ? LEAF_SLOT : INNER_SLOT;
    int end = SLOTS + step * count(copy);
    for (int at = SLOTS + SLOT_CELL; at < end; at += step) {
      int cell = Page.getShort(copy, at);
      if (cell != 0) {
        int length =
            leaf ? LeafCell.length(LeafCell.shape(copy, cell)) : InnerCell.length(copy, cell);
        top -= length - less;
        if (less == 0) {
          MemorySegment.copy(copy, cell, page, top, length);
        } else {
          copyShorter(copy, leaf, cell, length, less, page, top);
        }
        Page.putShort(page, at, top);
      }
    }
    Page.putShort(page, HEAP_TOP, top);
    Page.putShort(page, GARBAGE, 0);
  }

  /** Copies a cell to another page without the first bytes that it has of its key. */
  private static void copyShorter(
      MemorySegment source,
      boolean leaf,
      int cell,
      int length,
      int less,
      MemorySegment page,
      int to) {
    int key = keyOffset(source, leaf, cell) - cell;
    MemorySegment.copy(source, cell + key + less, page, to + key, length - key - less);
    if (leaf) {
      for (int at = 0; at < key; at += Long.BYTES) { // a call for so few bytes costs more
        Page.putLong(page, to + at, Page.getLong(source, cell + at));
      }
    } else {
      MemorySegment.copy(source, cell, page, to, key);
    }
    putKeyLength(page, leaf, to, keyLength(source, leaf, cell) - less);
  }

  /**
   * Copies a cell of another page in front of the heap of one that lacks another number of bytes of
   * its keys.
   *
   * @return where it is
   */
  static int copyCell(MemorySegment source, int slot, MemorySegment page) {
    int cell = cell(source, slot);
    int length = cellLength(source, slot);
    int less = prefix(page) - prefix(source);
    int top = Page.getShort(page, HEAP_TOP) - length + less;
    boolean leaf = level(source) == 0;
    if (less == 0) {
      MemorySegment.copy(source, cell, page, top, length);
    } else if (less > 0) {
      copyShorter(source, leaf, cell, length, less, page, top);
    } else {
      int key = keyOffset(source, leaf, cell) - cell;
      int fence = Page.getShort(source, LOWER_OFFSET) + prefix(page);
      MemorySegment.copy(source, cell, page, top, key);
      MemorySegment.copy(source, fence, page, top + key, -less);
      MemorySegment.copy(source, cell + key, page, top + key - less, length - key);
      putKeyLength(page, leaf, top, keyLength(source, leaf, cell) - less);
    }
    return top;
  }
}
