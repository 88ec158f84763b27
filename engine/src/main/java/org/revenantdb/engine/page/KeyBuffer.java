package org.revenantdb.engine.page;

import java.util.Arrays;

/**
 * Keys that are read together, one behind the other in one array, and their ascending order.
 * Reusable; for one thread at a time.
 */
public final class KeyBuffer {
  /*
   * Key i       bytes[starts[i]] .. bytes[starts[i + 1]]     heads[i]: its first eight bytes as a number
   * Order       Keys that were added in ascending order need none. Otherwise indexes of keys are merged: keys are mostly
   *             ascending in pieces. Numbers are compared, the bytes only if these are equal. If the heads share many
   *             bytes, the numbers begin behind the bytes that all keys share.
   */
  private static final int FIRST_KEYS = 16;
  private static final int FIRST_BYTES = 256;

  /** Heads that share so many bytes leave too few for the order. */
  private static final int MOST_SHARED = 4;

  private byte[] bytes = new byte[FIRST_BYTES];
  private int[] starts = new int[FIRST_KEYS + 1];
  private long[] heads = new long[FIRST_KEYS];
  private int size;
  private boolean isAscending = true;

  /** The indexes of the keys in ascending order; used if they were added in another one. */
  private int[] order = {};

  /** What is compared first of each key while they are sorted. */
  private long[] numbers = {};

  private int[] merged = {};
  private int[] runs = {};

  /** Makes a buffer without keys. */
  public KeyBuffer() {}

  /** Removes the keys. */
  public void clear() {
    size = 0;
    isAscending = true;
  }

  /** The number of keys. */
  public int size() {
    return size;
  }

  /** The number of bytes of all keys. */
  public int bytesUsed() {
    return starts[size];
  }

  /**
   * Adds a copy of a key. All keys have at most 1 GiB together.
   *
   * @param key the array with the key
   * @param offset of its first byte
   * @param length how many bytes it has, at least one
   */
  public void add(byte[] key, int offset, int length) {
    int start = starts[size];
    int end = start + length;
    if (end > bytes.length - Long.BYTES || size == heads.length) {
      grow(end);
    }
    System.arraycopy(key, offset, bytes, start, length);
    starts[size + 1] = end;
    size++;
  }

  private void grow(int end) {
    if (end > bytes.length - Long.BYTES) {
      bytes = Arrays.copyOf(bytes, (int) Math.min(Integer.MAX_VALUE - 8L, 2L * (end + Long.BYTES)));
    }
    if (size == heads.length) {
      heads = Arrays.copyOf(heads, 2 * size);
      starts = Arrays.copyOf(starts, 2 * size + 1);
    }
  }

  /** The array with the keys. */
  public byte[] bytes() {
    return bytes;
  }

  /** Where a key begins in the array. */
  public int start(int index) {
    return starts[index];
  }

  /** Where a key ends in the array. */
  public int end(int index) {
    return starts[index + 1];
  }

  /** The first eight bytes of a key as a number; missing bytes count as zero. */
  long head(int index) {
    return heads[index];
  }

  /** A copy of a key. */
  public byte[] key(int index) {
    return Arrays.copyOfRange(bytes, starts[index], starts[index + 1]);
  }

  /** The index of the key that is at a place in ascending order; after {@link #sort}. */
  public int at(int place) {
    return isAscending ? place : order[place];
  }

  private int compareBytes(int one, int other) {
    return Arrays.compareUnsigned(
        bytes, starts[one], starts[one + 1], bytes, starts[other], starts[other + 1]);
  }

  /** Sorts the keys; called when all have been added. */
  public void sort() {
    makeHeads();
    if (isAscending) {
      return;
    }
    if (order.length < size) {
      order = new int[heads.length];
      merged = new int[heads.length];
      runs = new int[heads.length + 1];
      numbers = new long[heads.length];
    }
    makeNumbers();
    int count = findRuns();
    while (count > 1) {
      count = mergeRuns(count);
    }
  }

  // Not when a key is added: its bytes were only just written, and a read of eight bytes would have
  // to wait until they have left the processor.
  private void makeHeads() {
    isAscending = true;
    for (int i = 0; i < size; i++) {
      heads[i] = head(starts[i], starts[i + 1]);
      if (isAscending && i > 0) {
        int order = Long.compareUnsigned(heads[i - 1], heads[i]);
        isAscending = order < 0 || (order == 0 && compareBytes(i - 1, i) <= 0);
      }
    }
  }

  /** The first eight bytes of a part of a key as a number; missing bytes count as zero. */
  private long head(int start, int end) {
    int length = end - start;
    long head = BigEndian.headLong(bytes, start); // there is room behind the last key
    return length >= Long.BYTES
        ? head
        : length == 0 ? 0 : head & (-1L << (Long.SIZE - Byte.SIZE * length));
  }

  private void makeNumbers() {
    long differing = 0;
    for (int i = 1; i < size; i++) {
      differing |= heads[i] ^ heads[0];
    }
    int shared = Long.numberOfLeadingZeros(differing) / Byte.SIZE;
    if (shared < MOST_SHARED) {
      System.arraycopy(heads, 0, numbers, 0, size);
      return;
    }
    if (shared == Long.BYTES) {
      shared = shared();
    }
    for (int i = 0; i < size; i++) {
      numbers[i] = head(Math.min(starts[i] + shared, starts[i + 1]), starts[i + 1]);
    }
  }

  /** How many bytes all keys share, or fewer. */
  private int shared() {
    int shared = starts[1];
    for (int i = 1; i < size; i++) {
      int differs =
          Arrays.mismatch(
              bytes, 0, shared, bytes, starts[i], Math.min(starts[i] + shared, starts[i + 1]));
      shared = differs < 0 ? shared : differs;
    }
    return shared;
  }

  /** Finds the pieces that ascend. */
  private int findRuns() {
    int count = 0;
    for (int i = 0; i < size; i++) {
      order[i] = i;
      if (i == 0 || compare(i - 1, i) > 0) {
        runs[count++] = i;
      }
    }
    runs[count] = size;
    return count;
  }

  private int mergeRuns(int count) {
    int left = 0;
    for (int run = 0; run < count; run += 2) {
      int from = runs[run];
      int middle = runs[Math.min(run + 1, count)];
      int to = runs[Math.min(run + 2, count)];
      merge(from, middle, to);
      runs[left++] = from;
    }
    runs[left] = size;
    int[] sorted = merged;
    merged = order;
    order = sorted;
    return left;
  }

  private void merge(int from, int middle, int to) {
    if (middle == to || compare(order[middle - 1], order[middle]) <= 0) {
      System.arraycopy(order, from, merged, from, to - from);
      return;
    }
    if (compare(order[from], order[to - 1]) > 0) { // pieces that do not overlap
      System.arraycopy(order, middle, merged, from, to - middle);
      System.arraycopy(order, from, merged, from + to - middle, middle - from);
      return;
    }
    int one = from;
    int other = middle;
    for (int i = from; i < to; i++) {
      boolean takesOne = one < middle && (other == to || compare(order[one], order[other]) <= 0);
      merged[i] = takesOne ? order[one++] : order[other++];
    }
  }

  private int compare(int one, int other) {
    int order = Long.compareUnsigned(numbers[one], numbers[other]);
    return order != 0 ? order : compareBytes(one, other);
  }
}
