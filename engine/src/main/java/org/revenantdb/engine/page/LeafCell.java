package org.revenantdb.engine.page;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import org.revenantdb.gc.VersionFlags;
import org.revenantdb.recovery.format.LittleEndian;

/**
 * A row with its version, as stored in a leaf.
 *
 * <pre>
 *   0 u16 key length   2 u8 flags   3 u8 0   4 u16 value length   6 u16 offset of the predecessor's record, 0: none
 *   8 u64 writer       16 key, value
 * </pre>
 *
 * <p>On a page the cell does not contain the first bytes of the key, which all keys between the
 * fences share ({@link Slotted#keyOf} adds them), and the key's length is that of the rest.
 *
 * <p>The predecessor is the last committed version under the current one (rule R14). It is the only
 * older version that must survive a crash. It is not in the cell, but in a record of its own in the
 * heap of the same page ({@link Predecessors}). So an update does not move the cell, unless the
 * value becomes longer, and a predecessor that is no longer needed leaves no hole in the cell. Only
 * cells on pages have predecessors.
 *
 * <p>This class reads cells; {@link RowEdit} changes them.
 */
public final class LeafCell {
  /** The current version is a delete mark. */
  public static final int DELETED = VersionFlags.DELETED;

  /** The current value is a reference to overflow pages. */
  public static final int OVERFLOW = VersionFlags.OVERFLOW;

  /** There is a predecessor. */
  public static final int PREDECESSOR = 4;

  /** The predecessor is a delete mark. */
  public static final int PREDECESSOR_DELETED = 8;

  /** The predecessor is a reference to overflow pages. */
  public static final int PREDECESSOR_OVERFLOW = 16;

  /** The predecessor is stored as its difference from the current value. */
  public static final int PREDECESSOR_DIFF = 32;

  /** The predecessor's writer is committed for all, and not stored. */
  public static final int PREDECESSOR_FOR_ALL = 64;

  /**
   * If one of these is set, only the cleaner can remove a part of the row, now or after a rollback.
   */
  static final int GHOSTS = DELETED | OVERFLOW | PREDECESSOR_DELETED | PREDECESSOR_OVERFLOW;

  /** Longest key. */
  public static final int MAX_KEY = 1024;

  /** Longest cell with its predecessor; two of them, two fences and the header fit in a page. */
  public static final int MAX_CELL = 2900;

  /** Length of a {@link ValueReference}. */
  public static final int REFERENCE = 12;

  static final int PREDECESSOR_GHOSTS = PREDECESSOR_DELETED | PREDECESSOR_OVERFLOW;

  /** The shift from a flag of the current version to that of the predecessor. */
  static final int PREDECESSOR_SHIFT = 3;

  static final int KEY_LENGTH = 0;
  static final int FLAGS = 2;
  static final int VALUE_LENGTH = 4;

  /** Offset of the field that leads to the predecessor's record. */
  static final int RECORD = 6;

  /** Offset of the writer. */
  public static final int WRITER = 8;

  /** Offset of the key; bytes of a cell without key and value. */
  public static final int KEY = 16;

  private LeafCell() {}

  /**
   * The longest value that stays in a leaf beside a key of this length, so that two versions of it
   * fit.
   */
  public static int maxInlineValue(int keyLength) {
    return (MAX_CELL - KEY - Predecessors.WITH_WRITER - keyLength) / 2;
  }

  /**
   * The first eight bytes of a cell, from which the static methods with a {@code shape} compute
   * their results: one access instead of many.
   *
   * @param memory the memory of the page
   * @param cell the offset of the cell in the memory
   */
  public static long shape(MemorySegment memory, long cell) {
    return Page.getLong(memory, cell);
  }

  /** Flags of the cell. */
  public static int flags(long shape) {
    return (int) (shape >>> (8 * FLAGS)) & 0xFF;
  }

  /** Length of the part of the key that is in the cell: without the page's prefix. */
  public static int keyLength(long shape) {
    return (int) shape & 0xFFFF;
  }

  /** Length of the current value in the cell. */
  public static int valueLength(long shape) {
    return (int) (shape >>> (8 * VALUE_LENGTH)) & 0xFFFF;
  }

  /** Offset of the current value from the beginning of the cell. */
  public static int valueOffset(long shape) {
    return KEY + keyLength(shape);
  }

  /** Offset in its page of the predecessor's record; 0 if there is none. */
  static int record(long shape) {
    return (int) (shape >>> (8 * RECORD));
  }

  /** Bytes of the cell, without the predecessor. */
  public static int cellLength(long shape) {
    return KEY + keyLength(shape) + valueLength(shape);
  }

  /** Bytes of the cell at an offset of a page, without the predecessor. */
  public static int cellLength(MemorySegment page, int cell) {
    return cellLength(shape(page, cell));
  }

  /** Bytes of the row at an offset of a page: of its cell and of its predecessor. */
  public static int length(MemorySegment page, int cell) {
    long shape = shape(page, cell);
    return cellLength(shape) + versionBytes(page, shape);
  }

  /** Flags of the cell. */
  public static int flags(MemorySegment page, int cell) {
    return Page.getByte(page, cell + FLAGS);
  }

  /** Whether all of these flags are set. */
  public static boolean is(MemorySegment page, int cell, int flag) {
    return (flags(page, cell) & flag) == flag;
  }

  /** Length of what the cell has of the key. */
  public static int keyLength(MemorySegment page, int cell) {
    return Page.getShort(page, cell + KEY_LENGTH);
  }

  /** Offset of the part of the key that is in the cell. */
  public static int keyOffset(int cell) {
    return cell + KEY;
  }

  /** Length of the current value in the cell. */
  public static int valueLength(MemorySegment page, int cell) {
    return Page.getShort(page, cell + VALUE_LENGTH);
  }

  /** Offset of the current value. */
  public static int valueOffset(MemorySegment page, int cell) {
    return cell + KEY + keyLength(page, cell);
  }

  /** Bytes that are stored of the predecessor: its value, or the difference. */
  public static int predecessorLength(MemorySegment page, int cell) {
    long shape = shape(page, cell);
    return record(shape) == 0 ? 0 : versionBytes(page, shape) - Predecessors.header(flags(shape));
  }

  /** Bytes of the row that its current value does not need. */
  public static int versionBytes(MemorySegment page, int cell) {
    return versionBytes(page, shape(page, cell));
  }

  private static int versionBytes(MemorySegment page, long shape) {
    int record = record(shape);
    return record == 0 ? 0 : Predecessors.size(page, record);
  }

  /** Offset of the predecessor's value, or of the difference; only with {@link #PREDECESSOR}. */
  public static int predecessorOffset(MemorySegment page, int cell) {
    long shape = shape(page, cell);
    return record(shape) + Predecessors.header(flags(shape));
  }

  /** Transaction that wrote the current version. */
  public static long writer(MemorySegment page, long cell) {
    return Page.getLong(page, cell + WRITER);
  }

  /** Transaction that wrote the predecessor, 0 if all see it; only with {@link #PREDECESSOR}. */
  public static long predecessorWriter(MemorySegment page, int cell) {
    return predecessorWriter(page, 0, shape(page, cell));
  }

  /**
   * The same, if the shape is known.
   *
   * @param memory the memory of the page
   * @param base the offset of the page in the memory
   * @param shape the shape of the cell
   */
  public static long predecessorWriter(MemorySegment memory, long base, long shape) {
    return (flags(shape) & PREDECESSOR_FOR_ALL) == PREDECESSOR_FOR_ALL
        ? 0
        : Page.getLong(memory, base + record(shape) + Predecessors.WRITER);
  }

  /** A copy of the current value's bytes in the cell. */
  public static byte[] value(MemorySegment page, int cell) {
    return Page.bytes(page, valueOffset(page, cell), valueLength(page, cell));
  }

  /** A copy of the predecessor's value. */
  public static byte[] predecessor(MemorySegment page, int cell) {
    int from = predecessorOffset(page, cell);
    int length = predecessorLength(page, cell);
    if (!is(page, cell, PREDECESSOR_DIFF)) {
      return Page.bytes(page, from, length);
    }
    boolean endFollows = ValueDiff.endFollows(page, from);
    byte[] value =
        new byte
            [endFollows
                ? length
                    - ValueDiff.header(endFollows)
                    + ValueDiff.begin(page, from)
                    + ValueDiff.end(page, from)
                : valueLength(page, cell)];
    predecessorTo(page, cell, MemorySegment.ofArray(value), 0);
    return value;
  }

  /** Copies the predecessor's value; returns its length. */
  static int predecessorTo(MemorySegment page, int cell, MemorySegment target, int to) {
    int from = predecessorOffset(page, cell);
    int length = predecessorLength(page, cell);
    if (!is(page, cell, PREDECESSOR_DIFF)) {
      MemorySegment.copy(page, from, target, to, length);
      return length;
    }
    boolean endFollows = ValueDiff.endFollows(page, from);
    int header = ValueDiff.header(endFollows);
    int begin = ValueDiff.begin(page, from);
    int between = length - header;
    int current = valueOffset(page, cell);
    int currentLength = valueLength(page, cell);
    int end = endFollows ? ValueDiff.end(page, from) : currentLength - begin - between;
    MemorySegment.copy(page, current, target, to, begin);
    MemorySegment.copy(page, from + header, target, to + begin, between);
    MemorySegment.copy(page, current + currentLength - end, target, to + begin + between, end);
    return begin + between + end;
  }

  /** What is wrong with the versions of a row whose lengths are legal, or null. */
  public static @Nullable String problemOf(MemorySegment page, int cell) {
    int flags = flags(page, cell);
    if ((flags & PREDECESSOR) == 0) {
      return (flags & ~(DELETED | OVERFLOW)) == 0
          ? null
          : "has flags " + flags + ", which do not fit together";
    }
    if ((flags & PREDECESSOR_FOR_ALL) != 0 && (flags & PREDECESSOR_OVERFLOW) != 0) {
      return "has a former version in overflow pages, but not its writer";
    }
    if ((flags & PREDECESSOR_DIFF) == 0) {
      return null;
    }
    int diff = predecessorOffset(page, cell);
    int length = predecessorLength(page, cell);
    return (flags & GHOSTS) != 0 || !ValueDiff.isLegal(page, diff, length, valueLength(page, cell))
        ? "has a former version that is stored as a difference, but the difference is invalid"
        : null;
  }

  /**
   * Builds the cell of a row without a predecessor.
   *
   * @param flags {@link #DELETED}, {@link #OVERFLOW} or 0
   */
  public static byte[] build(byte[] key, int flags, long writer, byte[] value) {
    byte[] cell = new byte[KEY + key.length + value.length];
    LittleEndian.putShort(cell, KEY_LENGTH, key.length);
    cell[FLAGS] = (byte) flags;
    LittleEndian.putShort(cell, VALUE_LENGTH, value.length);
    LittleEndian.putLong(cell, WRITER, writer);
    System.arraycopy(key, 0, cell, KEY, key.length);
    System.arraycopy(value, 0, cell, KEY + key.length, value.length);
    return cell;
  }

  /** Whether a cell that is on no page leads to no predecessor. */
  static boolean isAlone(byte[] source, int cell) {
    return (source[cell + FLAGS] & ~(DELETED | OVERFLOW)) == 0
        && LittleEndian.getShort(source, cell + RECORD) == 0;
  }

  /**
   * The difference between the current value and its successor, as {@link PageOps#change} takes it.
   *
   * @param flags of the new version
   * @return the argument for {@link #updatedLength}; {@link ValueDiff#NONE} if {@link
   *     PageOps#update} should be used
   */
  public static int diff(MemorySegment page, int cell, int flags, byte[] value) {
    return flags != 0 || currentFlags(page, cell) != 0
        ? ValueDiff.NONE
        : ValueDiff.of(page, valueOffset(page, cell), valueLength(page, cell), value);
  }

  /**
   * Bytes of a row with a new current version: of its cell and of its predecessor.
   *
   * @param keep as for {@link PageOps#update}
   * @param flags of the new version
   * @param diff from {@link #diff}
   * @param scratch room for a value, in the kind of memory that pages are in
   */
  public static int updatedLength(
      MemorySegment page,
      int cell,
      int keep,
      int flags,
      byte[] value,
      int diff,
      MemorySegment scratch) {
    int before = flags(page, cell);
    int predecessor = 0;
    if (keep != PageOps.REPLACE) {
      predecessor =
          Predecessors.headerToKeep(keep)
              + ValueDiff.stored(diff, valueLength(page, cell), value.length);
    } else if ((before & PREDECESSOR) != 0) {
      int length = predecessorTo(page, cell, scratch, 0);
      boolean asDiff = ((flags & GHOSTS) | (before & PREDECESSOR_GHOSTS)) == 0;
      int common = asDiff ? ValueDiff.of(scratch, 0, length, value) : ValueDiff.NONE;
      predecessor = Predecessors.header(before) + ValueDiff.stored(common, length, value.length);
    }
    return KEY + keyLength(page, cell) + value.length + predecessor;
  }

  /** Only the flags of the current version. */
  public static int currentFlags(MemorySegment page, int cell) {
    return flags(page, cell) & (DELETED | OVERFLOW);
  }

  /** Flags of the predecessor, in the bits of a current version. */
  public static int predecessorFlags(MemorySegment page, int cell) {
    int flags = flags(page, cell);
    return ((flags & PREDECESSOR_DELETED) != 0 ? DELETED : 0)
        | ((flags & PREDECESSOR_OVERFLOW) != 0 ? OVERFLOW : 0);
  }
}
