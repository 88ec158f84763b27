package org.revenantdb.engine.sort;

import java.util.Arrays;
import java.util.List;
import org.revenantdb.recovery.format.LittleEndian;

/**
 * Changes of rows in the order of their keys, and of each key only the last one. There is a current
 * change after {@link #next} has returned true.
 *
 * <p>Threads: one at a time.
 */
public abstract class SortedChanges {
  /*
   * A change is, in memory and in a file (docs/format.md §8)
   *
   *   length of the key, u16 | length of the value, i32, or what it is instead | key | value
   *
   * DELETED    there is no value: the row is deleted
   * BESIDE     the value is in a file of its own: instead of it the change has its position and its length there
   *
   * The first eight bytes of its key, as a number, decide most comparisons.
   */
  static final int HEADER = Short.BYTES + Integer.BYTES;
  static final int DELETED = -1;
  static final int BESIDE = -2;

  /** Bytes of the place of a value in the other file. */
  static final int PLACE = 2 * Long.BYTES;

  /** What the current change is in. */
  byte[] bytes = {};

  /** Where it begins. */
  int start;

  int keyLength;

  /** Or {@link #DELETED}, or {@link #BESIDE}. */
  int valueLength;

  /** The beginning of its key. */
  long beginning;

  /** Goes to the next change; false if there is none. */
  public abstract boolean next();

  /** The current change is here. */
  final void at(byte[] in, int offset, long keyBeginning) {
    bytes = in;
    start = offset;
    keyLength = keyLength(in, offset);
    valueLength = valueLength(in, offset);
    beginning = keyBeginning;
  }

  /** Whether the current change deletes its row. */
  public final boolean isDeletion() {
    return valueLength == DELETED;
  }

  /** Whether the value of the current change is in the file for large values. */
  public final boolean isBeside() {
    return valueLength == BESIDE;
  }

  final int keyStart() {
    return start + HEADER;
  }

  final int valueStart() {
    return start + HEADER + keyLength;
  }

  /** Bytes of the current change, with its header. */
  final int length() {
    return length(keyLength, valueLength);
  }

  /**
   * The key of the current change.
   *
   * @param room is used if it has the right length
   */
  public final byte[] key(byte[] room) {
    byte[] key = room.length == keyLength ? room : new byte[keyLength];
    System.arraycopy(bytes, keyStart(), key, 0, keyLength);
    return key;
  }

  /**
   * The value of the current change, which has one that is not {@linkplain #isBeside elsewhere}.
   *
   * @param room is used if it has the right length
   */
  public final byte[] value(byte[] room) {
    byte[] value = room.length == valueLength ? room : new byte[valueLength];
    System.arraycopy(bytes, valueStart(), value, 0, valueLength);
    return value;
  }

  /** Where the value of the current change is in the file for large values. */
  final long placeOfValue() {
    return LittleEndian.getLong(bytes, valueStart());
  }

  /** The length of the value that is in the file for large values. */
  public final long lengthBeside() {
    return LittleEndian.getLong(bytes, valueStart() + Long.BYTES);
  }

  private int compareKeys(SortedChanges other) {
    return beginning != other.beginning
        ? Long.compareUnsigned(beginning, other.beginning)
        : Arrays.compareUnsigned(
            bytes,
            keyStart(),
            keyStart() + keyLength,
            other.bytes,
            other.keyStart(),
            other.keyStart() + other.keyLength);
  }

  /** The number of the first eight bytes of a key, which is shorter or not. */
  static long beginning(byte[] in, int from, int keyLength) {
    long beginning = 0;
    int length = Math.min(keyLength, Long.BYTES);
    for (int i = 0; i < length; i++) {
      beginning = beginning << Byte.SIZE | (in[from + i] & 0xFF);
    }
    return length == 0 ? 0 : beginning << ((Long.BYTES - length) * Byte.SIZE);
  }

  static int length(int keyLength, int valueLength) {
    return HEADER + keyLength + (valueLength == BESIDE ? PLACE : Math.max(valueLength, 0));
  }

  static void putHeader(byte[] to, int at, int keyLength, int valueLength) {
    LittleEndian.putShort(to, at, keyLength);
    LittleEndian.putInt(to, at + Short.BYTES, valueLength);
  }

  static void putPlace(byte[] to, int at, long position, long length) {
    LittleEndian.putLong(to, at, position);
    LittleEndian.putLong(to, at + Long.BYTES, length);
  }

  static int keyLength(byte[] in, int at) {
    return LittleEndian.getShort(in, at);
  }

  static int valueLength(byte[] in, int at) {
    return LittleEndian.getInt(in, at + Short.BYTES);
  }

  /**
   * The changes of several, merged.
   *
   * @param oldest of equal keys the one in the last element counts
   */
  static SortedChanges merged(List<? extends SortedChanges> oldest) {
    return oldest.size() == 1 ? oldest.getFirst() : new Merged(oldest);
  }

  private static final class Merged extends SortedChanges {
    /** By their current changes; of equal keys the latest is first. */
    private final SortedChanges[] order;

    /** How late each is, at the same place. */
    private final int[] lateness;

    private int left;

    /** Whether the first one has the current change. */
    private boolean hasCurrent;

    Merged(List<? extends SortedChanges> oldest) {
      order = new SortedChanges[oldest.size()];
      lateness = new int[oldest.size()];
      for (int late = 0; late < oldest.size(); late++) {
        SortedChanges added = oldest.get(late);
        if (added.next()) {
          put(place(added, late, 0), left, added, late);
          left++;
        }
      }
    }

    @Override
    public boolean next() {
      if (hasCurrent) {
        SortedChanges current = order[0];
        while (left > 1 && order[1].compareKeys(current) == 0) {
          advance(1); // an older change of the same key
        }
        advance(0);
      }
      hasCurrent = left > 0;
      if (hasCurrent) {
        SortedChanges first = order[0];
        at(first.bytes, first.start, first.beginning);
      }
      return hasCurrent;
    }

    /** Goes on with one of them, and puts it where it belongs now. */
    private void advance(int index) {
      SortedChanges advanced = order[index];
      int late = lateness[index];
      if (advanced.next()) {
        int place = place(advanced, late, index + 1) - 1;
        move(index + 1, index, place - index);
        order[place] = advanced;
        lateness[place] = late;
      } else {
        move(index + 1, index, left - index - 1);
        left--;
      }
    }

    /** How many are before it, if those before an index are. */
    private int place(SortedChanges placed, int late, int from) {
      int low = from;
      int high = left;
      while (low < high) {
        int middle = (low + high) >>> 1;
        int compared = order[middle].compareKeys(placed);
        if (compared < 0 || (compared == 0 && lateness[middle] > late)) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      return low;
    }

    private void put(int place, int end, SortedChanges added, int late) {
      move(place, place + 1, end - place);
      order[place] = added;
      lateness[place] = late;
    }

    private void move(int from, int to, int count) {
      System.arraycopy(order, from, order, to, count);
      System.arraycopy(lateness, from, lateness, to, count);
    }
  }
}
