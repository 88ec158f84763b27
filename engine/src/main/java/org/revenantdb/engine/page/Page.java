package org.revenantdb.engine.page;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * The header that every page has, and little-endian access to any byte of it.
 *
 * <pre>
 *   0 u32 crc   4 u32 page id   8 u64 page LSN   16 u8 type   17 u8 flags   18 ... by type
 * </pre>
 *
 * <p>All methods are static and only access the given bytes; the caller holds the latch.
 */
public final class Page {
  /** Bytes of a page. */
  public static final int SIZE = 8192;

  /**
   * Offset of the first byte that page operations may change. The bytes before belong to the page
   * writer and the log.
   */
  public static final int BODY = 16;

  /** Type: never written. */
  public static final int NEVER_WRITTEN = 0;

  /** Type: space map. */
  public static final int SPACE_MAP = 2;

  /** Type: leaf of a tree. */
  public static final int LEAF = 3;

  /** Type: inner page of a tree. */
  public static final int INNER = 4;

  /** Type: first page of a large value. */
  public static final int OVERFLOW_HEAD = 5;

  /** Type: more page ids of a large value. */
  public static final int OVERFLOW_INDEX = 6;

  /** Type: data of a large value. */
  public static final int OVERFLOW_DATA = 7;

  /** Type: map of the extents that are not free. */
  public static final int GAM = 8;

  /** Type: list of a tree's extents. */
  public static final int IAM = 9;

  /** Type: values that are too large for a row and smaller than a page. */
  public static final int SHARED_VALUES = 10;

  /** Flag of leaf pages and of those of large values: mirrors the version bit of the space map. */
  public static final int FLAG_VERSIONS = 1;

  /** Flag that is set only with {@link #FLAG_VERSIONS}: mirrors the ghost bit of the space map. */
  public static final int FLAG_GHOST = 2;

  static final int ID = 4;
  static final int LSN = 8;

  /** Offset of the page's type. */
  public static final int TYPE = 16;

  /** Offset of the page's flags. */
  public static final int FLAGS = 17;

  private static final ValueLayout.OfShort U16 =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt U32 =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong U64 =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong U64_BIG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  /** For aligned words, as in pages in frames, that several threads change at once. */
  private static final VarHandle WORD =
      ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();

  private static final VarHandle BYTE = ValueLayout.JAVA_BYTE.varHandle();

  private static final VarHandle LSN_WORD =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();

  private Page() {}

  /** Unsigned byte at an offset. */
  public static int getByte(MemorySegment page, long offset) {
    return page.get(ValueLayout.JAVA_BYTE, offset) & 0xFF;
  }

  /** Stores a byte. */
  public static void putByte(MemorySegment page, int offset, int value) {
    page.set(ValueLayout.JAVA_BYTE, offset, (byte) value);
  }

  /** Unsigned 16-bit number at an offset. */
  public static int getShort(MemorySegment page, long offset) {
    return page.get(U16, offset) & 0xFFFF;
  }

  /** Stores a 16-bit number. */
  public static void putShort(MemorySegment page, int offset, int value) {
    page.set(U16, offset, (short) value);
  }

  /** 32-bit number at an offset. */
  public static int getInt(MemorySegment page, long offset) {
    return page.get(U32, offset);
  }

  /** Stores a 32-bit number. */
  public static void putInt(MemorySegment page, int offset, int value) {
    page.set(U32, offset, value);
  }

  /** 64-bit number at an offset. */
  public static long getLong(MemorySegment page, long offset) {
    return page.get(U64, offset);
  }

  /** Stores a 64-bit number. */
  public static void putLong(MemorySegment page, int offset, long value) {
    page.set(U64, offset, value);
  }

  /** Eight bytes as a big-endian number, for comparing keys. */
  static long getLongBig(MemorySegment page, long offset) {
    return page.get(U64_BIG, offset);
  }

  /** The id in the page. */
  public static int id(MemorySegment page) {
    return getInt(page, ID);
  }

  /** Stamps the page's id. */
  public static void setId(MemorySegment page, int id) {
    putInt(page, ID, id);
  }

  /** End LSN of the last record that changed the page. */
  public static long lsn(MemorySegment page) {
    return getLong(page, LSN);
  }

  /** Sets the page LSN. */
  public static void setLsn(MemorySegment page, long lsn) {
    putLong(page, LSN, lsn);
  }

  /**
   * Stores bits of a byte of a page in a frame that other threads change at the same time. They may
   * change other bits of the same word, but never these.
   *
   * @param mask the bits that are stored
   */
  public static void putBitsShared(MemorySegment page, int offset, int mask, int value) {
    int at = offset & ~3;
    int shift = Byte.SIZE * (offset & 3);
    int word;
    int changed;
    do {
      word = (int) WORD.getVolatile(page, (long) at);
      changed = (word & ~((mask & 0xFF) << shift)) | ((value & mask & 0xFF) << shift);
    } while (!WORD.compareAndSet(page, (long) at, word, changed));
  }

  /** A byte of a page that other threads change at the same time; a volatile read. */
  public static int getByteShared(MemorySegment page, int offset) {
    return (byte) BYTE.getVolatile(page, (long) offset) & 0xFF;
  }

  /** Whether several threads change pages of a type at once, under shared latches. */
  public static boolean isChangedShared(int type) {
    return type == SPACE_MAP || type == GAM || type == IAM;
  }

  /**
   * Raises the LSN of a page in a frame that other threads change at the same time, unless it is
   * higher already. It is one aligned word; the paper needs Figures 5 to 7 for its ten bytes.
   */
  public static void raiseLsn(MemorySegment page, long lsn) {
    long now;
    do {
      now = (long) LSN_WORD.getVolatile(page, (long) LSN);
    } while (now < lsn && !LSN_WORD.compareAndSet(page, (long) LSN, now, lsn));
  }

  /** The page's type. */
  public static int type(MemorySegment page) {
    return getByte(page, TYPE);
  }

  /** Whether the page mirrors a set version bit. */
  public static boolean hasVersions(MemorySegment page) {
    return (getByte(page, FLAGS) & FLAG_VERSIONS) != 0;
  }

  /** Its flags. */
  public static int flags(MemorySegment page) {
    return getByte(page, FLAGS);
  }

  /** A copy of bytes of the page. */
  public static byte[] bytes(MemorySegment page, int offset, int length) {
    byte[] copy = new byte[length];
    MemorySegment.copy(page, ValueLayout.JAVA_BYTE, offset, copy, 0, length);
    return copy;
  }

  /**
   * Compares a key on the page with one in an array, as unsigned bytes; sign as in {@link
   * Integer#compare}.
   */
  public static int compareKey(MemorySegment page, long offset, int length, byte[] key) {
    return compareKey(page, offset, length, key, 0, key.length);
  }

  /**
   * As {@link #compareKey}, with a part of a key only: the bytes from {@code from} to {@code to},
   * fewer if it is shorter.
   */
  static int compareKey(MemorySegment page, long offset, int length, byte[] key, int from, int to) {
    int keyLength = Math.max(0, Math.min(key.length, to) - from);
    int common = Math.min(length, keyLength);
    int i = 0;
    for (; i + 8 <= common; i += 8) {
      long mine = getLongBig(page, offset + i);
      long theirs = BigEndian.getLong(key, from + i);
      if (mine != theirs) {
        return Long.compareUnsigned(mine, theirs);
      }
    }
    for (; i < common; i++) {
      int difference = getByte(page, offset + i) - (key[from + i] & 0xFF);
      if (difference != 0) {
        return difference;
      }
    }
    return length - keyLength;
  }
}
