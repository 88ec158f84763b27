package org.revenantdb.engine.page;

import java.lang.foreign.MemorySegment;
import org.revenantdb.recovery.format.LittleEndian;

/**
 * The common beginning and end of two values. With it one value can be stored as its difference
 * from the other: their lengths, one if the values have the same length, and the bytes between.
 *
 * <p>Source: "Constant Time Recovery in Azure SQL Database" (VLDB 2019) §3.2.1.
 */
public final class ValueDiff {
  /** Values that share fewer bytes are stored as they are. */
  static final int WORTH = 16;

  /** In the first two bytes of a difference: the number of the common bytes at the end follows. */
  static final int END_FOLLOWS = 0x8000;

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

  /** Bytes of a difference before those between. */
  static int header(boolean endFollows) {
    return endFollows ? 2 * Short.BYTES : Short.BYTES;
  }

  /**
   * Bytes that a value takes beside another one: as the difference, or as a whole.
   *
   * @param length of the value
   * @param other length of the other one
   */
  static int stored(int diff, int length, int other) {
    return diff == NONE ? length : header(length != other) + between(diff, length);
  }

  /** Whether a stored difference has the number of the common bytes at the end. */
  static boolean endFollows(MemorySegment page, int at) {
    return (Page.getShort(page, at) & END_FOLLOWS) != 0;
  }

  /** How many bytes the values of a stored difference share at their beginning. */
  static int begin(MemorySegment page, int at) {
    return Page.getShort(page, at) & ~END_FOLLOWS;
  }

  /** How many bytes they share at their end, if {@link #endFollows}. */
  static int end(MemorySegment page, int at) {
    return Page.getShort(page, at + Short.BYTES);
  }

  /**
   * Stores a value as it is, or as its difference from another.
   *
   * @param other length of the other value
   * @return the bytes it takes
   */
  static int store(
      int diff,
      MemorySegment source,
      int from,
      int length,
      int other,
      MemorySegment target,
      int to) {
    if (diff == NONE) {
      MemorySegment.copy(source, from, target, to, length);
      return length;
    }
    boolean endFollows = length != other;
    int header = header(endFollows);
    int between = between(diff, length);
    Page.putShort(target, to, endFollows ? begin(diff) | END_FOLLOWS : begin(diff));
    if (endFollows) {
      Page.putShort(target, to + Short.BYTES, end(diff));
    }
    MemorySegment.copy(source, from + begin(diff), target, to + header, between);
    return header + between;
  }

  /**
   * Whether bytes are the difference of a value from another one.
   *
   * @param length the number of the bytes
   * @param other length of the other value
   */
  static boolean isLegal(MemorySegment page, int at, int length, int other) {
    if (length < Short.BYTES) {
      return false;
    }
    boolean endFollows = endFollows(page, at);
    int between = length - header(endFollows);
    return between >= 0 && begin(page, at) + (endFollows ? end(page, at) : between) <= other;
  }
}
