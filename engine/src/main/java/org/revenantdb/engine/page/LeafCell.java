package org.revenantdb.engine.page;

import java.lang.foreign.MemorySegment;

/**
 * A row with its version, as it stands in a leaf.
 *
 * <pre>
 *   0 u16 key length   2 u8 flags   3 u8 0   4 u16 value length   6 u16 predecessor's length
 *   8 u64 writer       16 u64 predecessor's writer (only with PREDECESSOR)
 *   then key, value, predecessor's value
 * </pre>
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

  /** Longest key. */
  public static final int MAX_KEY = 1024;

  /** Longest cell; two of them, two fences and the header fit in a page. */
  public static final int MAX_CELL = 2900;

  /** Length of a reference to overflow pages: u32 head page, u64 length. */
  public static final int REFERENCE = 12;

  private static final int KEY_LENGTH = 0;
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

  /** Length of the cell at an offset of a page. */
  public static int length(MemorySegment page, int cell) {
    return header(flags(page, cell))
        + keyLength(page, cell)
        + valueLength(page, cell)
        + predecessorLength(page, cell);
  }

  /** Flags of the cell. */
  public static int flags(MemorySegment page, int cell) {
    return Page.getByte(page, cell + FLAGS);
  }

  /** Whether all of these flags are set. */
  public static boolean is(MemorySegment page, int cell, int flag) {
    return (flags(page, cell) & flag) == flag;
  }

  /** Length of the key. */
  public static int keyLength(MemorySegment page, int cell) {
    return Page.getShort(page, cell + KEY_LENGTH);
  }

  /** Offset of the key. */
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
  public static long writer(MemorySegment page, int cell) {
    return Page.getLong(page, cell + WRITER);
  }

  /** Transaction that wrote the predecessor; only with {@link #PREDECESSOR}. */
  public static long predecessorWriter(MemorySegment page, int cell) {
    return Page.getLong(page, cell + PREDECESSOR_WRITER);
  }

  /** A copy of the key. */
  public static byte[] key(MemorySegment page, int cell) {
    return Page.bytes(page, keyOffset(page, cell), keyLength(page, cell));
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

  /** Head page of a reference at an offset of a page. */
  public static int referenceHead(MemorySegment page, int offset) {
    return Page.getInt(page, offset);
  }

  /** Length of the value that a reference at an offset leads to. */
  public static long referenceLength(MemorySegment page, int offset) {
    return Page.getLong(page, offset + 4);
  }

  /** Builds a reference to overflow pages. */
  public static byte[] reference(int head, long length) {
    byte[] reference = new byte[REFERENCE];
    LittleEndian.putInt(reference, 0, head);
    LittleEndian.putLong(reference, 4, length);
    return reference;
  }
}
