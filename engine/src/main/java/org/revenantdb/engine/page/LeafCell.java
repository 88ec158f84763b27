package org.revenantdb.engine.page;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;
import org.revenantdb.gc.VersionFlags;
import org.revenantdb.recovery.format.LittleEndian;

/**
 * A row with its version, as stored in a leaf.
 *
 * <pre>
 *   0 u16 key length   2 u8 flags   3 u8 0   4 u16 value length   6 u16 predecessor's length
 *   8 u64 writer       16 u64 predecessor's writer (with PREDECESSOR, without PREDECESSOR_FOR_ALL)
 *   then key, value, predecessor's value, or with PREDECESSOR_DIFF
 *   u16 begin, u16 end, bytes: between the first and the last so many bytes of the value
 * </pre>
 *
 * <p>On a page the cell does not contain the first bytes of the key, which all keys between the
 * fences share ({@link Slotted#keyOf} adds them), and the key's length is that of the rest.
 *
 * <p>The predecessor is the last committed version under the current one (rule R14). It is the only
 * older version that must survive a crash.
 */
public final class LeafCell {
  /** The current version is a delete mark. */
  public static final int DELETED = VersionFlags.DELETED;

  /** The current value is a reference to overflow pages. */
  public static final int OVERFLOW = VersionFlags.OVERFLOW;

  /** A predecessor follows. */
  public static final int PREDECESSOR = 4;

  /** The predecessor is a delete mark. */
  public static final int PREDECESSOR_DELETED = 8;

  /** The predecessor is a reference to overflow pages. */
  public static final int PREDECESSOR_OVERFLOW = 16;

  /** The predecessor follows as its difference from the current value. */
  public static final int PREDECESSOR_DIFF = 32;

  /** The predecessor's writer is committed for all, and not in the cell. */
  public static final int PREDECESSOR_FOR_ALL = 64;

  /**
   * If one of these is set, only the cleaner can remove a part of the row, now or after a rollback.
   */
  static final int GHOSTS = DELETED | OVERFLOW | PREDECESSOR_DELETED | PREDECESSOR_OVERFLOW;

  /** Longest key. */
  public static final int MAX_KEY = 1024;

  /** Longest cell; two of them, two fences and the header fit in a page. */
  public static final int MAX_CELL = 2900;

  /** Length of a {@link ValueReference}. */
  public static final int REFERENCE = 12;

  private static final int PREDECESSOR_GHOSTS = PREDECESSOR_DELETED | PREDECESSOR_OVERFLOW;

  /**
   * The distance from a cell that is being built to the scratch space for a value: more than the
   * size of a cell.
   */
  private static final int SPARE = Page.SIZE / 2;

  /** The shift from a flag of the current version to that of the predecessor. */
  private static final int PREDECESSOR_SHIFT = 3;

  static final int KEY_LENGTH = 0;
  private static final int FLAGS = 2;
  private static final int VALUE_LENGTH = 4;
  private static final int PREDECESSOR_LENGTH = 6;
  static final int WRITER = 8;
  private static final int PREDECESSOR_WRITER = 16;
  private static final int HEADER = 16;
  private static final int HEADER_WITH_PREDECESSOR = 24;

  private LeafCell() {}

  /**
   * The longest value that stays in a cell beside a key of this length, so that two versions of it
   * fit.
   */
  public static int maxInlineValue(int keyLength) {
    return (MAX_CELL - HEADER_WITH_PREDECESSOR - keyLength) / 2;
  }

  private static int header(int flags) {
    return (flags & (PREDECESSOR | PREDECESSOR_FOR_ALL)) == PREDECESSOR
        ? HEADER_WITH_PREDECESSOR
        : HEADER;
  }

  /** Header size of a cell that had these flags, with a new current version. */
  private static int headerAfter(int before, int keep) {
    return switch (keep) {
      case PageOps.REPLACE -> header(before);
      case PageOps.KEEP -> HEADER_WITH_PREDECESSOR;
      default -> HEADER;
    };
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

  /** Offset of that part of the key from the beginning of the cell. */
  public static int keyOffset(long shape) {
    return header(flags(shape));
  }

  /** Length of the current value in the cell. */
  public static int valueLength(long shape) {
    return (int) (shape >>> (8 * VALUE_LENGTH)) & 0xFFFF;
  }

  /** Offset of the current value from the beginning of the cell. */
  public static int valueOffset(long shape) {
    return keyOffset(shape) + keyLength(shape);
  }

  /** Length of the cell. */
  public static int length(long shape) {
    return header(flags(shape))
        + keyLength(shape)
        + valueLength(shape)
        + ((int) (shape >>> (8 * PREDECESSOR_LENGTH)) & 0xFFFF);
  }

  /** Length of the cell at an offset of a page. */
  public static int length(MemorySegment page, int cell) {
    return length(shape(page, cell));
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

  /** Offset of the key, from the beginning of a cell that is on no page. */
  static int keyOffset(byte[] source, int cell) {
    return header(source[cell + FLAGS]);
  }

  /** Offset of the part of the key that is in the cell. */
  public static int keyOffset(MemorySegment page, int cell) {
    return cell + header(flags(page, cell));
  }

  /** Length of the current value in the cell. */
  public static int valueLength(MemorySegment page, int cell) {
    return Page.getShort(page, cell + VALUE_LENGTH);
  }

  /** Offset of the current value. */
  public static int valueOffset(MemorySegment page, int cell) {
    return keyOffset(page, cell) + keyLength(page, cell);
  }

  /** Bytes that the cell has of the predecessor: its value, or the difference. */
  public static int predecessorLength(MemorySegment page, int cell) {
    return Page.getShort(page, cell + PREDECESSOR_LENGTH);
  }

  /** Bytes of the row that its current value does not need. */
  public static int versionBytes(MemorySegment page, int cell) {
    return header(flags(page, cell)) - HEADER + predecessorLength(page, cell);
  }

  /** Offset of the predecessor's value, or of the difference. */
  public static int predecessorOffset(MemorySegment page, int cell) {
    return valueOffset(page, cell) + valueLength(page, cell);
  }

  /** Transaction that wrote the current version. */
  public static long writer(MemorySegment page, long cell) {
    return Page.getLong(page, cell + WRITER);
  }

  /** Transaction that wrote the predecessor, 0 if all see it; only with {@link #PREDECESSOR}. */
  public static long predecessorWriter(MemorySegment page, int cell) {
    return predecessorWriter(page, cell, shape(page, cell));
  }

  /**
   * The same, if the shape is known.
   *
   * @param memory the memory of the page
   * @param cell the offset of the cell in the memory
   * @param shape the shape of the cell
   */
  public static long predecessorWriter(MemorySegment memory, long cell, long shape) {
    return (flags(shape) & PREDECESSOR_FOR_ALL) == PREDECESSOR_FOR_ALL
        ? 0
        : Page.getLong(memory, cell + PREDECESSOR_WRITER);
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
    int begin = Page.getShort(page, from);
    int end = Page.getShort(page, from + 2);
    int between = length - ValueDiff.HEADER;
    byte[] value = new byte[begin + between + end];
    copy(page, valueOffset(page, cell), value, 0, begin);
    copy(page, from + ValueDiff.HEADER, value, begin, between);
    copy(page, from - end, value, begin + between, end);
    return value;
  }

  private static void copy(MemorySegment page, int from, byte[] target, int to, int length) {
    MemorySegment.copy(page, ValueLayout.JAVA_BYTE, from, target, to, length);
  }

  /** Copies the predecessor's value; returns its length. */
  private static int predecessorTo(MemorySegment page, int cell, MemorySegment target, int to) {
    int from = predecessorOffset(page, cell);
    int length = predecessorLength(page, cell);
    if (!is(page, cell, PREDECESSOR_DIFF)) {
      MemorySegment.copy(page, from, target, to, length);
      return length;
    }
    int begin = Page.getShort(page, from);
    int end = Page.getShort(page, from + 2);
    int between = length - ValueDiff.HEADER;
    MemorySegment.copy(page, valueOffset(page, cell), target, to, begin);
    MemorySegment.copy(page, from + ValueDiff.HEADER, target, to + begin, between);
    MemorySegment.copy(page, from - end, target, to + begin + between, end);
    return begin + between + end;
  }

  /** What is wrong with the versions of a row, or null. */
  public static @Nullable String problemOf(MemorySegment page, int cell) {
    int flags = flags(page, cell);
    if ((flags & PREDECESSOR) == 0) {
      return (flags & ~(DELETED | OVERFLOW)) == 0 && predecessorLength(page, cell) == 0
          ? null
          : "has flags "
              + flags
              + " and "
              + predecessorLength(page, cell)
              + " bytes of a predecessor, which do not fit together";
    }
    if ((flags & PREDECESSOR_FOR_ALL) != 0 && (flags & PREDECESSOR_OVERFLOW) != 0) {
      return "has a former version in overflow pages, but not its writer";
    }
    if ((flags & PREDECESSOR_DIFF) == 0) {
      return null;
    }
    int diff = predecessorOffset(page, cell);
    int length = predecessorLength(page, cell);
    return (flags & GHOSTS) != 0
            || length < ValueDiff.HEADER
            || Page.getShort(page, diff) + Page.getShort(page, diff + 2) > valueLength(page, cell)
        ? "has a former version that is stored as a difference, but the difference is invalid"
        : null;
  }

  /**
   * Builds a cell without a predecessor.
   *
   * @param flags {@link #DELETED}, {@link #OVERFLOW} or 0
   */
  public static byte[] build(byte[] key, int flags, long writer, byte[] value) {
    byte[] cell = new byte[HEADER + key.length + value.length];
    putHeader(cell, key, flags, writer, value);
    return cell;
  }

  /**
   * Builds a cell with a predecessor.
   *
   * @param flags those of the current version, {@link #DELETED}, {@link #OVERFLOW} or 0
   * @param predecessorFlags those of the predecessor, likewise
   */
  public static byte[] build(
      byte[] key,
      int flags,
      long writer,
      byte[] value,
      int predecessorFlags,
      long predecessorWriter,
      byte[] predecessor) {
    byte[] cell =
        new byte[HEADER_WITH_PREDECESSOR + key.length + value.length + predecessor.length];
    int all = flags | PREDECESSOR;
    if ((predecessorFlags & DELETED) != 0) {
      all |= PREDECESSOR_DELETED;
    }
    if ((predecessorFlags & OVERFLOW) != 0) {
      all |= PREDECESSOR_OVERFLOW;
    }
    putHeader(cell, key, all, writer, value);
    LittleEndian.putShort(cell, PREDECESSOR_LENGTH, predecessor.length);
    LittleEndian.putLong(cell, PREDECESSOR_WRITER, predecessorWriter);
    System.arraycopy(predecessor, 0, cell, cell.length - predecessor.length, predecessor.length);
    return cell;
  }

  private static void putHeader(byte[] cell, byte[] key, int flags, long writer, byte[] value) {
    LittleEndian.putShort(cell, KEY_LENGTH, key.length);
    cell[FLAGS] = (byte) flags;
    LittleEndian.putShort(cell, VALUE_LENGTH, value.length);
    LittleEndian.putLong(cell, WRITER, writer);
    int at = header(flags);
    System.arraycopy(key, 0, cell, at, key.length);
    System.arraycopy(value, 0, cell, at + key.length, value.length);
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
   * Length of a cell with a new current version.
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
      predecessor = ValueDiff.stored(diff, valueLength(page, cell));
    } else if ((before & PREDECESSOR) != 0) {
      int length = predecessorTo(page, cell, scratch, 0);
      boolean asDiff = ((flags & GHOSTS) | (before & PREDECESSOR_GHOSTS)) == 0;
      int common = asDiff ? ValueDiff.of(scratch, 0, length, value) : ValueDiff.NONE;
      predecessor = ValueDiff.stored(common, length);
    }
    return headerAfter(before, keep) + keyLength(page, cell) + value.length + predecessor;
  }

  /**
   * Builds a cell with a new current version.
   *
   * @param source has the bytes of a ROW_UPDATE
   * @param target receives the cell at {@code to}; half a page behind it there is room for a value
   * @return the length of the new cell
   */
  static int update(
      MemorySegment page,
      int cell,
      byte[] source,
      int offset,
      int length,
      MemorySegment target,
      int to) {
    int keep = source[offset + 1];
    int value = length - PageOps.UPDATE_HEADER;
    int at = copyKey(page, cell, keep, target, to);
    MemorySegment.copy(
        source, offset + PageOps.UPDATE_HEADER, target, ValueLayout.JAVA_BYTE, at, value);
    Page.putLong(target, to + WRITER, LittleEndian.getLong(source, offset + 2));
    return finish(page, cell, source[offset], keep, ValueDiff.NONE, target, to, at, value);
  }

  /** As {@link #update}, for the bytes of a ROW_CHANGE. */
  static int change(
      MemorySegment page,
      int cell,
      byte[] source,
      int offset,
      int length,
      MemorySegment target,
      int to) {
    int keep = source[offset];
    int diff = changeDiff(source, offset);
    int begin = ValueDiff.begin(diff);
    int end = ValueDiff.end(diff);
    int between = length - PageOps.CHANGE_HEADER;
    int at = copyKey(page, cell, keep, target, to);
    int former = valueOffset(page, cell);
    MemorySegment.copy(page, former, target, at, begin);
    MemorySegment.copy(
        source, offset + PageOps.CHANGE_HEADER, target, ValueLayout.JAVA_BYTE, at + begin, between);
    MemorySegment.copy(
        page, former + valueLength(page, cell) - end, target, at + begin + between, end);
    Page.putLong(target, to + WRITER, LittleEndian.getLong(source, offset + 1));
    return finish(page, cell, 0, keep, diff, target, to, at, begin + between + end);
  }

  private static int changeDiff(byte[] source, int offset) {
    return LittleEndian.getShort(source, offset + 9) << Short.SIZE
        | LittleEndian.getShort(source, offset + 11);
  }

  /** Whether the bytes of a ROW_CHANGE can be those of a change to this row. */
  static boolean canChange(MemorySegment page, int cell, byte[] source, int offset) {
    int diff = changeDiff(source, offset);
    return currentFlags(page, cell) == 0 && ValueDiff.between(diff, valueLength(page, cell)) >= 0;
  }

  /** Copies the key to its place in the new cell; returns the offset for the value. */
  private static int copyKey(MemorySegment page, int cell, int keep, MemorySegment target, int to) {
    int key = keyLength(page, cell);
    int header = headerAfter(flags(page, cell), keep);
    MemorySegment.copy(page, keyOffset(page, cell), target, to + header, key);
    return to + header + key;
  }

  /**
   * Adds the predecessor, and the header except the writer.
   *
   * @param diff the difference between the former current value and the new one, if it should be
   *     used
   * @param at the offset of the new value
   * @return the length of the new cell
   */
  private static int finish(
      MemorySegment page,
      int cell,
      int newFlags,
      int keep,
      int diff,
      MemorySegment target,
      int to,
      int at,
      int value) {
    int former = flags(page, cell);
    int flags = newFlags;
    int end = at + value;
    int predecessor = 0;
    if (keep != PageOps.REPLACE) {
      flags |= PREDECESSOR | (former & (DELETED | OVERFLOW)) << PREDECESSOR_SHIFT;
      if (keep == PageOps.KEEP) {
        Page.putLong(target, to + PREDECESSOR_WRITER, writer(page, cell));
      } else {
        flags |= PREDECESSOR_FOR_ALL;
      }
      flags |= diff == ValueDiff.NONE ? 0 : PREDECESSOR_DIFF;
      int from = valueOffset(page, cell);
      predecessor = store(page, from, valueLength(page, cell), diff, target, end);
    } else if ((former & PREDECESSOR) != 0) {
      flags |= former & (PREDECESSOR | PREDECESSOR_GHOSTS | PREDECESSOR_FOR_ALL);
      if ((former & PREDECESSOR_FOR_ALL) == 0) {
        Page.putLong(target, to + PREDECESSOR_WRITER, predecessorWriter(page, cell));
      }
      // Its difference from the new value is not the same as that from the former one.
      int spare = to + SPARE;
      int length = predecessorTo(page, cell, target, spare);
      int common =
          (flags & GHOSTS) != 0
              ? ValueDiff.NONE
              : ValueDiff.of(target, spare, length, target, at, value);
      flags |= common == ValueDiff.NONE ? 0 : PREDECESSOR_DIFF;
      predecessor = store(target, spare, length, common, target, end);
    }
    Page.putShort(target, to + KEY_LENGTH, keyLength(page, cell));
    Page.putByte(target, to + FLAGS, flags);
    Page.putByte(target, to + FLAGS + 1, 0);
    Page.putShort(target, to + VALUE_LENGTH, value);
    Page.putShort(target, to + PREDECESSOR_LENGTH, predecessor);
    return end + predecessor - to;
  }

  /** Stores a value as it is, or as its difference from another; returns the bytes it takes. */
  private static int store(
      MemorySegment source, int from, int length, int diff, MemorySegment target, int to) {
    if (diff == ValueDiff.NONE) {
      MemorySegment.copy(source, from, target, to, length);
      return length;
    }
    int begin = ValueDiff.begin(diff);
    int between = ValueDiff.between(diff, length);
    Page.putShort(target, to, begin);
    Page.putShort(target, to + 2, ValueDiff.end(diff));
    MemorySegment.copy(source, from + begin, target, to + ValueDiff.HEADER, between);
    return ValueDiff.HEADER + between;
  }

  /** Removes the predecessor, in place; returns how many bytes shorter the cell is. */
  static int settle(MemorySegment page, int cell) {
    int flags = flags(page, cell);
    if ((flags & PREDECESSOR) == 0) {
      return 0;
    }
    int former = length(page, cell);
    int key = keyOffset(page, cell);
    int kept = keyLength(page, cell) + valueLength(page, cell);
    Page.putByte(page, cell + FLAGS, flags & (DELETED | OVERFLOW));
    Page.putShort(page, cell + PREDECESSOR_LENGTH, 0);
    MemorySegment.copy(page, key, page, cell + HEADER, kept);
    return former - HEADER - kept;
  }

  /**
   * Replaces the current version by the predecessor; returns how many bytes shorter the cell is.
   *
   * @param scratch room for a value
   * @throws IllegalStateException if there is no predecessor: the page is not the expected one
   */
  static int revert(MemorySegment page, int cell, MemorySegment scratch) {
    int flags = flags(page, cell);
    if ((flags & PREDECESSOR) == 0) {
      throw new IllegalStateException("a row without a predecessor cannot be reverted");
    }
    int former = length(page, cell);
    int key = keyLength(page, cell);
    int value = predecessorTo(page, cell, scratch, 0);
    int from = keyOffset(page, cell);
    Page.putLong(page, cell + WRITER, predecessorWriter(page, cell));
    Page.putByte(page, cell + FLAGS, predecessorFlags(page, cell));
    Page.putShort(page, cell + VALUE_LENGTH, value);
    Page.putShort(page, cell + PREDECESSOR_LENGTH, 0);
    MemorySegment.copy(page, from, page, cell + HEADER, key);
    MemorySegment.copy(scratch, 0, page, cell + HEADER + key, value);
    return former - HEADER - key - value;
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
