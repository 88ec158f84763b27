package org.revenantdb.engine.page;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A row with its version, as it stands in a leaf.
 *
 * <pre>
 *   0 u16 key length   2 u8 flags   3 u8 0   4 u16 value length   6 u16 predecessor's length
 *   8 u64 writer       16 u64 predecessor's writer (only with PREDECESSOR)
 *   then key, value, predecessor's value
 * </pre>
 *
 * <p>On a page the first bytes of the key are missing, those that all keys between its fences begin
 * with ({@link Slotted#keyOf} puts them in front), and the key's length is that of the rest.
 *
 * <p>The predecessor is the last committed version under the current one (design §8): the one thing
 * about versions that has to survive a crash.
 */
public final class LeafCell {
  /** The current version is a delete mark. */
  public static final int DELETED = 1;

  /** The current value is a reference to overflow pages. */
  public static final int OVERFLOW = 2;

  /** A predecessor follows. */
  public static final int PREDECESSOR = 4;

  /** The predecessor is a delete mark. */
  public static final int PREDECESSOR_DELETED = 8;

  /** The predecessor is a reference to overflow pages. */
  public static final int PREDECESSOR_OVERFLOW = 16;

  /** One of these: something of the row is left for the cleaner alone, now or after a rollback. */
  static final int GHOSTS = DELETED | OVERFLOW | PREDECESSOR_DELETED | PREDECESSOR_OVERFLOW;

  /** Longest key. */
  public static final int MAX_KEY = 1024;

  /** Longest cell; two of them, two fences and the header fit in a page. */
  public static final int MAX_CELL = 2900;

  /** Length of a {@link ValueReference}. */
  public static final int REFERENCE = 12;

  /** From a flag of the current version to that of the predecessor. */
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
    return (flags & PREDECESSOR) != 0 ? HEADER_WITH_PREDECESSOR : HEADER;
  }

  /**
   * The first eight bytes of a cell, from which the static methods with a {@code shape} tell what
   * they tell: one access instead of many.
   *
   * @param memory where the page is
   * @param cell where in the memory the cell is
   */
  public static long shape(MemorySegment memory, long cell) {
    return Page.getLong(memory, cell);
  }

  /** Flags of the cell. */
  public static int flags(long shape) {
    return (int) (shape >>> (8 * FLAGS)) & 0xFF;
  }

  /** Length of what the cell has of the key: without the page's prefix. */
  public static int keyLength(long shape) {
    return (int) shape & 0xFFFF;
  }

  /** Where what it has of the key is, from the beginning of the cell. */
  public static int keyOffset(long shape) {
    return header(flags(shape));
  }

  /** Length of the current value in the cell. */
  public static int valueLength(long shape) {
    return (int) (shape >>> (8 * VALUE_LENGTH)) & 0xFFFF;
  }

  /** Where the current value is, from the beginning of the cell. */
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

  /** Offset of what the cell has of the key. */
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

  /** Length of the predecessor's value in the cell. */
  public static int predecessorLength(MemorySegment page, int cell) {
    return Page.getShort(page, cell + PREDECESSOR_LENGTH);
  }

  /** Offset of the predecessor's value. */
  public static int predecessorOffset(MemorySegment page, int cell) {
    return valueOffset(page, cell) + valueLength(page, cell);
  }

  /** Transaction that wrote the current version. */
  public static long writer(MemorySegment page, long cell) {
    return Page.getLong(page, cell + WRITER);
  }

  /** Transaction that wrote the predecessor; only with {@link #PREDECESSOR}. */
  public static long predecessorWriter(MemorySegment page, int cell) {
    return Page.getLong(page, cell + PREDECESSOR_WRITER);
  }

  /** A copy of the current value's bytes in the cell. */
  public static byte[] value(MemorySegment page, int cell) {
    return Page.bytes(page, valueOffset(page, cell), valueLength(page, cell));
  }

  /** A copy of the predecessor's bytes in the cell. */
  public static byte[] predecessor(MemorySegment page, int cell) {
    return Page.bytes(page, predecessorOffset(page, cell), predecessorLength(page, cell));
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

  /** Length of a cell with a new current version, as {@link PageOps#update} makes it. */
  public static int updatedLength(MemorySegment page, int cell, boolean keep, int value) {
    boolean predecessor = keep || is(page, cell, PREDECESSOR);
    return header(predecessor ? PREDECESSOR : 0)
        + keyLength(page, cell)
        + value
        + (keep ? valueLength(page, cell) : predecessorLength(page, cell));
  }

  /**
   * Builds a cell with a new current version.
   *
   * @param source of the bytes of a ROW_UPDATE
   * @param target where to, at {@code to}
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
    int former = flags(page, cell);
    int key = keyLength(page, cell);
    int value = length - PageOps.UPDATE_HEADER;
    boolean keep = source[offset + 1] != 0;
    int flags = source[offset];
    int predecessor = 0;
    int predecessorAt = 0;
    long predecessorWriter = 0;
    if (keep) {
      flags |= PREDECESSOR | (former & (DELETED | OVERFLOW)) << PREDECESSOR_SHIFT;
      predecessor = valueLength(page, cell);
      predecessorAt = valueOffset(page, cell);
      predecessorWriter = writer(page, cell);
    } else if ((former & PREDECESSOR) != 0) {
      flags |= former & (PREDECESSOR | PREDECESSOR_DELETED | PREDECESSOR_OVERFLOW);
      predecessor = predecessorLength(page, cell);
      predecessorAt = predecessorOffset(page, cell);
      predecessorWriter = predecessorWriter(page, cell);
    }
    Page.putShort(target, to + KEY_LENGTH, key);
    Page.putByte(target, to + FLAGS, flags);
    Page.putByte(target, to + FLAGS + 1, 0);
    Page.putShort(target, to + VALUE_LENGTH, value);
    Page.putShort(target, to + PREDECESSOR_LENGTH, predecessor);
    Page.putLong(target, to + WRITER, LittleEndian.getLong(source, offset + 2));
    if ((flags & PREDECESSOR) != 0) {
      Page.putLong(target, to + PREDECESSOR_WRITER, predecessorWriter);
    }
    int at = to + header(flags);
    MemorySegment.copy(page, keyOffset(page, cell), target, at, key);
    at += key;
    MemorySegment.copy(
        source, offset + PageOps.UPDATE_HEADER, target, ValueLayout.JAVA_BYTE, at, value);
    at += value;
    MemorySegment.copy(page, predecessorAt, target, at, predecessor);
    return at + predecessor - to;
  }

  /** Takes the predecessor away, in place; returns how many bytes shorter the cell is. */
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
   * Puts the predecessor in the current version's place; returns how many bytes shorter the cell
   * is.
   *
   * @throws IllegalStateException if there is none: the page is not the one that was meant
   */
  static int revert(MemorySegment page, int cell) {
    int flags = flags(page, cell);
    if ((flags & PREDECESSOR) == 0) {
      throw new IllegalStateException("a row without a predecessor cannot be reverted");
    }
    int former = length(page, cell);
    int from = keyOffset(page, cell);
    int key = keyLength(page, cell);
    int value = predecessorLength(page, cell);
    int valueFrom = predecessorOffset(page, cell);
    Page.putLong(page, cell + WRITER, predecessorWriter(page, cell));
    Page.putByte(page, cell + FLAGS, predecessorFlags(page, cell));
    Page.putShort(page, cell + VALUE_LENGTH, value);
    Page.putShort(page, cell + PREDECESSOR_LENGTH, 0);
    MemorySegment.copy(page, from, page, cell + HEADER, key);
    MemorySegment.copy(page, valueFrom, page, cell + HEADER + key, value);
    return former - HEADER - key - value;
  }

  /** Flags of the current version alone. */
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
