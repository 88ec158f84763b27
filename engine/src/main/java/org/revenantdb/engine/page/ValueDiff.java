package org.revenantdb.engine.page;

import java.lang.foreign.MemorySegment;
import org.revenantdb.recovery.format.LittleEndian;

/**
 * The common beginning and end of two values. With it one value can be stored as its difference
 * from the other: the two lengths, and the bytes between.
 *
 * <p>Source: "Constant Time Recovery in Azure SQL Database" (VLDB 2019) §3.2.1.
 */
public final class ValueDiff {
  /** Values that share fewer bytes are stored as they are. */
  static final int WORTH = 16;

  /** Bytes of a difference in a row before those between: two lengths of 16 bits. */
  static final int HEADER = 4;

  /** The values share too few bytes to store a difference. */
  public static final int NONE = 0;

  private ValueDiff() {}

  /**
   * Compares a value in a page with another one.
   *
   * @return the argument for {@link #begin} and {@link #end}, or {@link #NONE}
   */
  public static int of(MemorySegment page, int at, int length, byte[] value) {
    int limit = Math.min(length, value.length);
    int begin = 0;
    while (begin + Long.BYTES <= limit) {
      long differ = Page.getLong(page, at + begin) ^ LittleEndian.getLong(value, begin);
      if (differ != 0) {
        begin += Long.numberOfTrailingZeros(differ) / Byte.SIZE;
        limit = begin;
        break;
      }
      begin += Long.BYTES;
    }
    while (begin < limit && (byte) Page.getByte(page, at + begin) == value[begin]) {
      begin++;
    }
    limit = Math.min(length, value.length) - begin;
    int last = at + length;
    int end = 0;
    while (end + Long.BYTES <= limit) {
      long differ =
          Page.getLong(page, last - end - Long.BYTES)
              ^ LittleEndian.getLong(value, value.length - end - Long.BYTES);
      if (differ != 0) {
        end += Long.numberOfLeadingZeros(differ) / Byte.SIZE;
        limit = end;
        break;
      }
      end += Long.BYTES;
    }
    while (end < limit
        && (byte) Page.getByte(page, last - end - 1) == value[value.length - end - 1]) {
      end++;
    }
    return of(begin, end);
  }

  /** As {@link #of(MemorySegment, int, int, byte[])}, for two values in pages. */
  static int of(
      MemorySegment one, int at, int length, MemorySegment other, int otherAt, int otherLength) {
    int limit = Math.min(length, otherLength);
    long differ =
        MemorySegment.mismatch(one, at, (long) at + limit, other, otherAt, (long) otherAt + limit);
    int begin = differ < 0 ? limit : (int) differ;
    limit -= begin;
    int last = at + length;
    int otherLast = otherAt + otherLength;
    int end = 0;
    while (end + Long.BYTES <= limit
        && Page.getLong(one, last - end - Long.BYTES)
            == Page.getLong(other, otherLast - end - Long.BYTES)) {
      end += Long.BYTES;
    }
    while (end < limit
        && Page.getByte(one, last - end - 1) == Page.getByte(other, otherLast - end - 1)) {
      end++;
    }
    return of(begin, end);
  }

  private static int of(int begin, int end) {
    return begin + end < WORTH ? NONE : begin << Short.SIZE | end;
  }

  /** How many bytes the values share at their beginning. */
  static int begin(int diff) {
    return diff >>> Short.SIZE;
  }

  /** How many bytes they share at their end, none of those at the beginning. */
  static int end(int diff) {
    return diff & 0xFFFF;
  }

  /** How many bytes of a value are between. */
  static int between(int diff, int length) {
    return length - begin(diff) - end(diff);
  }

  /**
   * Bytes that a value takes in a row together with the other one: as the difference, or as a
   * whole.
   */
  static int stored(int diff, int length) {
    return diff == NONE ? length : HEADER + between(diff, length);
  }
}
