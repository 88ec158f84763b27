package org.revenantdb.gc.spill;

import java.util.Arrays;

/**
 * Finds the part of a run that can contain a row. It has sorted names, each with the position from
 * which on rows are at or above it. Its size is bounded: if there are too many fences, every second
 * one is removed, and the parts grow.
 *
 * <p>Threads: one thread fills it; afterwards any number of threads query it.
 */
final class Fences {
  /*
   * Fence i     names[ends[i - 1] .. ends[i])   no longer than it takes to tell the rows before from those behind
   *             positions[i]   of the first block behind it; the part ends where the next one begins
   * A fence stands only between two rows, never between two versions of one: a row is in one part.
   */
  private static final int FIRST_FENCES = 16;
  private static final int PER_FENCE = Integer.BYTES + Long.BYTES;

  private final int limit;
  private byte[] names = new byte[0];
  private int[] ends = new int[FIRST_FENCES];
  private long[] positions = new long[FIRST_FENCES + 1];
  private int count;

  /**
   * Makes an object without fences.
   *
   * @param limit the greatest number of bytes
   */
  Fences(int limit) {
    this.limit = limit;
  }

  /**
   * A block begins with a new row.
   *
   * @param last the row before it, empty if there is none
   * @param first the first row in it
   */
  void add(byte[] last, byte[] first, long position) {
    int length = last.length == 0 ? 0 : Arrays.mismatch(last, first) + 1;
    if (count > 1 && (long) bytes() + length + PER_FENCE > limit) {
      thinOut();
    }
    int from = end(count - 1);
    if (from + length > names.length) {
      names = Arrays.copyOf(names, Math.max(from + length, 2 * names.length));
    }
    if (count == ends.length) {
      ends = Arrays.copyOf(ends, 2 * count);
      positions = Arrays.copyOf(positions, 2 * count + 1);
    }
    System.arraycopy(first, 0, names, from, length);
    ends[count] = from + length;
    positions[count] = position;
    count++;
  }

  private void thinOut() {
    int kept = 0;
    int used = 0;
    for (int i = 0; i < count; i += 2) {
      int from = end(i - 1);
      int length = ends[i] - from;
      System.arraycopy(names, from, names, used, length);
      used += length;
      ends[kept] = used;
      positions[kept] = positions[i];
      kept++;
    }
    count = kept;
  }

  private int end(int fence) {
    return fence < 0 ? 0 : ends[fence];
  }

  /** No more fences: the last part ends here. */
  void finish(long position) {
    names = Arrays.copyOf(names, end(count - 1));
    ends = Arrays.copyOf(ends, count);
    positions = Arrays.copyOf(positions, count + 1);
    positions[count] = position;
  }

  /** How many parts there are. */
  int count() {
    return count;
  }

  /** Where a part begins; that of number {@link #count} is where the last one ends. */
  long position(int part) {
    return positions[part];
  }

  /** The only part in which a row can be. */
  int partOf(byte[] row) {
    int low = 0; // the name of fence `low` is at or below the row
    int high = count; // the name of fence `high` is above the row
    while (high - low > 1) {
      int middle = (low + high) >>> 1;
      int order = Arrays.compareUnsigned(names, end(middle - 1), ends[middle], row, 0, row.length);
      if (order <= 0) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /** The size in bytes. */
  int bytes() {
    return end(count - 1) + count * PER_FENCE;
  }
}
