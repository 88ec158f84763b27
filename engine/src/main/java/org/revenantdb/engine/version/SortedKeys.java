package org.revenantdb.engine.version;

import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.page.BigEndian;

/** The keys of a caller in ascending order, and where he has each of them. */
@SuppressWarnings("ArrayRecordComponent") // never compared
record SortedKeys(byte[][] keys, int @Nullable [] positions) {
  /*
   * Sorting objects by a comparison of arrays takes longer than reading a row. So numbers are sorted: the bits of a key
   * behind the bytes that all keys share, and below them the position. Keys that differ have mostly different bits; if
   * two of them do not, all keys are sorted by comparison.
   */

  /**
   * Sorts keys.
   *
   * @param keys in any order, the same one perhaps several times; not changed
   */
  static SortedKeys of(byte[][] keys) {
    if (isAscending(keys)) {
      return new SortedKeys(keys, null);
    }
    SortedKeys byNumber = byNumber(keys);
    return isAscending(byNumber.keys) ? byNumber : byComparison(keys);
  }

  /** Where the caller has the key at an index. */
  int position(int index) {
    return positions == null ? index : positions[index];
  }

  private static boolean isAscending(byte[][] keys) {
    for (int i = 1; i < keys.length; i++) {
      if (Arrays.compareUnsigned(keys[i - 1], keys[i]) > 0) {
        return false;
      }
    }
    return true;
  }

  private static SortedKeys byNumber(byte[][] keys) {
    int common = keys[0].length;
    for (int i = 1; i < keys.length && common > 0; i++) {
      int differs =
          Arrays.mismatch(keys[0], 0, common, keys[i], 0, Math.min(common, keys[i].length));
      common = differs < 0 ? Math.min(common, keys[i].length) : differs;
    }
    long positionBits = (Integer.highestOneBit(keys.length) << 1) - 1L;
    long[] numbers = new long[keys.length];
    for (int i = 0; i < keys.length; i++) {
      long head = BigEndian.headLong(keys[i], common) ^ Long.MIN_VALUE;
      numbers[i] = (head & ~positionBits) | i;
    }
    Arrays.sort(numbers);
    int[] positions = new int[keys.length];
    for (int i = 0; i < keys.length; i++) {
      positions[i] = (int) (numbers[i] & positionBits);
    }
    return at(keys, positions);
  }

  private static SortedKeys byComparison(byte[][] keys) {
    Comparator<Integer> order = (one, other) -> Arrays.compareUnsigned(keys[one], keys[other]);
    return at(
        keys,
        IntStream.range(0, keys.length)
            .boxed()
            .sorted(order)
            .mapToInt(Integer::intValue)
            .toArray());
  }

  private static SortedKeys at(byte[][] keys, int[] positions) {
    byte[][] sorted = new byte[keys.length][];
    for (int i = 0; i < sorted.length; i++) {
      sorted[i] = keys[positions[i]];
    }
    return new SortedKeys(sorted, positions);
  }
}
