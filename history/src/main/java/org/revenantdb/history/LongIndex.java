package org.revenantdb.history;

import java.util.Arrays;

/** A map from longs to numbers of 0 or more: open addressing, at most half full, never shrinks. */
final class LongIndex {

  /** The number of a long that has none. */
  static final int NONE = -1;

  /** An odd number whose bits look random: products with it differ in their upper half. */
  private static final long SPREAD = 0x9e37_79b9_7f4a_7c15L;

  private long[] names;
  private int[] numbers;
  private int size;

  LongIndex() {
    this(8);
  }

  /**
   * Creates an index.
   *
   * @param expected the number of longs for which it need not grow
   */
  LongIndex(int expected) {
    int capacity = Integer.highestOneBit(Math.max(8, expected)) * 4;
    names = new long[capacity];
    numbers = new int[capacity];
    Arrays.fill(numbers, NONE);
  }

  int size() {
    return size;
  }

  int get(long name) {
    return numbers[slot(name)];
  }

  /** Returns the number that the long had before, or {@link #NONE}: then it has the given one. */
  int putIfAbsent(long name, int number) {
    int slot = slot(name);
    int former = numbers[slot];
    if (former == NONE) {
      names[slot] = name;
      numbers[slot] = number;
      if (++size > names.length / 2) {
        grow();
      }
    }
    return former;
  }

  private int slot(long name) {
    int mask = names.length - 1;
    long spread = (name ^ (name >>> 32)) * SPREAD;
    int slot = (int) (spread >>> 32) & mask;
    while (numbers[slot] != NONE && names[slot] != name) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  private void grow() {
    long[] formerNames = names;
    int[] formerNumbers = numbers;
    names = new long[2 * formerNames.length];
    numbers = new int[2 * formerNames.length];
    Arrays.fill(numbers, NONE);
    for (int i = 0; i < formerNames.length; i++) {
      if (formerNumbers[i] != NONE) {
        int slot = slot(formerNames[i]);
        names[slot] = formerNames[i];
        numbers[slot] = formerNumbers[i];
      }
    }
  }
}
