package org.revenantdb.engine.page;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Leaf and inner pages: slots in key order at the front, cells in a heap that grows from the end.
 *
 * <pre>
 *   18 u16 slots   20 u16 heap top   22 u16 garbage in bits 0 to 14, bit 15: the heap begins with a record
 *   24 u32 table   28 u8 level   29 u8 prefix   30 u16 skip
 *   32 u16 lower fence offset  34 u16 length (0: minus infinity)
 *   36 u16 upper fence offset  38 u16 length (0xFFFF: plus infinity)
 *   40 u64 highest writer (leaf)   48 u32 left-most child (inner)   52 common bytes
 *   of a root: first IAM page, u32, at 48 (leaf), at 40 (inner)
 *   64 slots ...   cells ... 8192
 *   slot: u32 head, u16 cell offset, of an inner page also u32 child
 * </pre>
 *
 * <p>All keys between the fences begin with the bytes that the fences have in common. The first
 * {@code prefix} of these bytes, at most 255, are not stored in the cells: a cell has only the rest
 * of its key, and the lower fence has the prefix once. If the fences change, the prefix changes,
 * and with it all cells. A cell that is on no page (in a log record, or just built) has its whole
 * key.
 *
 * <p>All keys of the page begin with the same {@code skip} bytes, among them the prefix. The head
 * of a slot is the next four bytes of its key, as a big-endian number; missing bytes count as zero.
 * So most comparisons of a search need no cell. The first twelve of the common bytes are also in
 * the header. Skip is as large as the keys that came to the page allowed. A key that shares fewer
 * bytes makes it smaller, and then all heads are recomputed.
 *
 * <p>The heap of a leaf also has the records of predecessors ({@link Predecessors}).
 *
 * <p>The free space consists of the bytes between slots and heap top, and of the garbage that a
 * compaction frees.
 *
 * <p>This class has the layout; {@link SlottedSearch} finds keys, {@link SlottedEdit} changes
 * pages. All methods are pure. They may be called on a page that is being changed (an optimistic
 * read): they end, and throw an {@link IndexOutOfBoundsException} or return a meaningless result.
 */
public final class Slotted {
  /** Offset of the number of slots. */
  static final int COUNT = 18;

  static final int HEAP_TOP = 20;
  private static final int GARBAGE = 22;

  /** In the field of the garbage: the heap begins with a record of {@link Predecessors}. */
  static final int ON_TOP = 0x8000;

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

  /** Offset of the tree's first IAM page in a root that is a leaf; in an inner root it is at 40. */
  private static final int LEAF_IAM = LEFTMOST_CHILD;

  private static final int INNER_IAM = MAX_WRITER;

  /** Offset of the bytes that all keys have in common, or of as many as fit. */
  static final int COMMON = 52;

  static final int SLOTS = 64;
  static final int MAX_COMMON = SLOTS - COMMON;
  static final int INFINITE = 0xFFFF;

  /** Bytes of a slot of a leaf, without its cell. */
  public static final int LEAF_SLOT = 6;

  /**
   * Bytes of a slot of an inner page, without its cell. The slot also has the cell's child:
   * otherwise a descent would have to wait for the memory of the cell, which it needs for nothing
   * else.
   */
  public static final int INNER_SLOT = 10;

  /** The offset in a slot whose cell is being replaced. */
  static final int NOWHERE = 0;

  /** Offset in a slot of the offset of its cell. */
  static final int SLOT_CELL = 4;

  /** Offset of the child in a slot of an inner page. */
  static final int SLOT_CHILD = 6;

  /** Longest prefix that is not stored. */
  public static final int MAX_PREFIX = 255;

  /** Bytes of a key that are in its slot. */
  public static final int HEAD = 4;

  private Slotted() {}

  /**
   * Whether one of these slots of a leaf has, or may get back, a deleted row or a large value.
   *
   * @param from the first slot
   * @param to the end, exclusive
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

  /** The {@link #kind(MemorySegment)} of a page of a tree. */
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

  /** Whether a page has neither a lower nor an upper fence; only roots have none. */
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
  static int slotAt(MemorySegment page, int slot) {
    return SLOTS + slotSize(page) * slot;
  }

  /** Offset of the cell of a slot. */
  public static int cell(MemorySegment page, int slot) {
    return Page.getShort(page, slotAt(page, slot) + SLOT_CELL);
  }

  /** The number of bytes at the beginning of all keys that are not in the cells. */
  public static int prefix(MemorySegment page) {
    return Page.getByte(page, PREFIX);
  }

  /** The number of bytes at the beginning that all keys of the page share. */
  public static int skip(MemorySegment page) {
    return Page.getShort(page, SKIP);
  }

  /** The head of a slot; heads are in the order of {@link Integer#compareUnsigned}. */
  public static int head(MemorySegment page, int slot) {
    return Page.getInt(page, slotAt(page, slot));
  }

  static int keyOffset(boolean leaf, int cell) {
    return leaf ? LeafCell.keyOffset(cell) : InnerCell.keyOffset(cell);
  }

  static int keyLength(MemorySegment page, boolean leaf, int cell) {
    return leaf ? LeafCell.keyLength(page, cell) : InnerCell.keyLength(page, cell);
  }

  /** The space for cells and slots, including what a compaction frees. */
  public static int free(MemorySegment page) {
    return contiguous(page) + garbage(page);
  }

  /** Dead bytes in the heap, which a compaction frees. */
  public static int garbage(MemorySegment page) {
    return Page.getShort(page, GARBAGE) & ~ON_TOP;
  }

  static void addGarbage(MemorySegment page, int bytes) {
    Page.putShort(page, GARBAGE, Page.getShort(page, GARBAGE) + bytes);
  }

  /** Offset of the lowest byte of the heap. */
  public static int heapTop(MemorySegment page) {
    return Page.getShort(page, HEAP_TOP);
  }

  /** Whether the heap of a leaf begins with a record of {@link Predecessors}. */
  static boolean isRecordOnTop(MemorySegment page) {
    return (Page.getShort(page, GARBAGE) & ON_TOP) != 0;
  }

  static void recordOnTop(MemorySegment page, boolean isRecord) {
    int field = Page.getShort(page, GARBAGE);
    Page.putShort(page, GARBAGE, isRecord ? field | ON_TOP : field & ~ON_TOP);
  }

  /** Makes the heap so many bytes larger, for something else than a record; returns its top. */
  static int takeTop(MemorySegment page, int bytes) {
    int top = heapTop(page) - bytes;
    Page.putShort(page, HEAP_TOP, top);
    recordOnTop(page, /* isRecord= */ false);
    return top;
  }

  /** The heap is compact from an offset on. */
  static void compactFrom(MemorySegment page, int top) {
    Page.putShort(page, HEAP_TOP, top);
    Page.putShort(page, GARBAGE, 0);
  }

  /**
   * Lets a slot lead to a cell, or to {@link #NOWHERE}. Of an inner page it also has the child of
   * the cell ({@link SlottedEdit#setCell}).
   */
  static void leadTo(MemorySegment page, int slot, int cell) {
    Page.putShort(page, slotAt(page, slot) + SLOT_CELL, cell);
  }

  static int contiguous(MemorySegment page) {
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

  /** Level of a page in a larger memory, 0 for a leaf. */
  public static int level(MemorySegment memory, long base) {
    return Page.getByte(memory, base + LEVEL);
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

  /** As {@link #prefix(MemorySegment)}, of a page in a larger memory. */
  public static int prefix(MemorySegment memory, long base) {
    return Page.getByte(memory, base + PREFIX);
  }

  /** As {@link #skip(MemorySegment)}, of a page in a larger memory. */
  public static int skip(MemorySegment memory, long base) {
    return Page.getShort(memory, base + SKIP);
  }

  /** Offset in a larger memory of the cell of a slot of a leaf. */
  public static long cellOf(MemorySegment memory, long base, int slot) {
    return base + Page.getShort(memory, base + SLOTS + (long) LEAF_SLOT * slot + SLOT_CELL);
  }

  /** The child at a position of {@link SlottedSearch#childPosition}. */
  public static int child(MemorySegment page, int position) {
    return position < 0
        ? Page.getInt(page, LEFTMOST_CHILD)
        : Page.getInt(page, slotAt(page, position) + SLOT_CHILD);
  }

  /** Bytes of what is in a slot: of a row with its predecessor, or of an inner cell. */
  public static int length(MemorySegment page, int slot) {
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
    MemorySegment.copy(page, ValueLayout.JAVA_BYTE, keyOffset(leaf, cell), key, prefix, length);
    return key;
  }

  /** Copies the prefix that cells do not have to the beginning of an array; returns its length. */
  public static int copyPrefix(MemorySegment page, byte[] into) {
    int prefix = prefix(page);
    if (prefix > 0) {
      MemorySegment.copy(
          page, ValueLayout.JAVA_BYTE, Page.getShort(page, LOWER_OFFSET), into, 0, prefix);
    }
    return prefix;
  }
}
