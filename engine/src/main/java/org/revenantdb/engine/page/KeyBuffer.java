package org.revenantdb.engine.page;

import java.util.Arrays;

/**
 * Keys that are read together, one behind the other in one array, and their ascending order.
 * Reusable; for one thread at a time.
 */
public final class KeyBuffer {
  /*
   * Key i       bytes[starts[i]] .. bytes[starts[i + 1]]     heads[i]: its first eight bytes as a number
   * Order       Keys that were added in ascending order need none. Otherwise indexes of keys are sorted: keys are mostly
   *             ascending in pieces. A few pieces are merged all at once, more of them two by two. Numbers are compared,
   *             the bytes only if these are equal. If the heads share many bytes, the numbers begin behind the bytes
   *             that all keys share.
   */
  private static final int FIRST_KEYS = 16;
  private static final int FIRST_BYTES = 256;

  /** The most pieces that are merged at once: a key may be compared with each of them. */
  private static final int FEW_RUNS = 16;

  /** Heads that share so many bytes leave too few for the order. */
  private static final int MOST_SHARED = 4;

  private byte[] bytes = new byte[FIRST_BYTES];
  private int[] starts = new int[FIRST_KEYS + 1];
  private long[] heads = new long[FIRST_KEYS];
  private int size;
  private boolean isAscending = true;

  /** The indexes of the keys in ascending order; used if they were added in another one. */
  private int[] order = {};

  /** What is compared first of each key while they are sorted: the heads, or others. */
  private long[] numbers = {};

  /** Eight bytes of each key from where the keys may differ. */
  private long[] behindShared = {};

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
    if (length <= Long.BYTES && offset <= key.length - Long.BYTES) {
      BigEndian.putLong(bytes, start, BigEndian.getLong(key, offset)); // with bytes behind the key
    } else {
      System.arraycopy(key, offset, bytes, start, length);
    }
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
    if (runs.length <= size) {
      runs = new int[heads.length + 1];
    }
    int count = makeHeads();
    isAscending = count <= 1;
    if (isAscending) {
      return;
    }
    if (order.length < size) {
      order = new int[heads.length];
    }
    makeNumbers();
    if (count <= FEW_RUNS) {
      mergeFew(count);
    } else {
      mergeMany(count);
    }
  }

  /**
   * Reads the first bytes of all keys, and finds the pieces that ascend.
   *
   * @return how many pieces there are
   */
  // Not when a key is added: its bytes were only just written, and a read of eight bytes would have
  // to wait until they have left the processor.
  private int makeHeads() {
    int count = 0;
    long before = 0;
    for (int i = 0; i < size; i++) {
      long head = head(starts[i], starts[i + 1]);
      heads[i] = head;
      int order = i == 0 ? 1 : Long.compareUnsigned(before, head);
      if (order > 0 || (order == 0 && compareBytes(i - 1, i) > 0)) {
        runs[count++] = i;
      }
      before = head;
    }
    runs[count] = size;
    return count;
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
      numbers = heads;
      return;
    }
    if (shared == Long.BYTES) {
      shared = shared();
    }
    if (behindShared.length < size) {
      behindShared = new long[heads.length];
    }
    numbers = behindShared;
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

  /**
   * Merges a few pieces at once. The keys of a piece that come before the next piece are taken
   * together; then the rest of it is put where it belongs among the others. So groups of neighbours
   * are not compared one by one with the keys of all pieces.
   */
  private void mergeFew(int count) {
    int[] firsts = new int[count];
    int[] ends = new int[count];
    for (int run = 0; run < count; run++) {
      int first = runs[run];
      int at = run;
      for (; at > 0 && compare(firsts[at - 1], first) > 0; at--) {
        firsts[at] = firsts[at - 1];
        ends[at] = ends[at - 1];
      }
      firsts[at] = first;
      ends[at] = runs[run + 1];
    }
    int last = count - 1;
    int next = 0;
    for (int run = 0; run < last; ) {
      int key = firsts[run];
      int end = ends[run];
      int limit = firsts[run + 1];
      do {
        order[next++] = key++;
      } while (key < end && compare(key, limit) <= 0);
      if (key == end) {
        run++;
        continue;
      }
      int at = run;
      for (; at < last && compare(firsts[at + 1], key) < 0; at++) {
        firsts[at] = firsts[at + 1];
        ends[at] = ends[at + 1];
      }
      firsts[at] = key;
      ends[at] = end;
    }
    for (int key = firsts[last]; key < ends[last]; key++) {
      order[next++] = key;
    }
  }

  private void mergeMany(int count) {
    if (merged.length < size) {
      merged = new int[order.length];
    }
    for (int i = 0; i < size; i++) {
      order[i] = i;
    }
    for (int left = count; left > 1; ) {
      left = mergeRuns(left);
    }
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
