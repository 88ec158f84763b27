package org.revenantdb.chaos.history;

import java.util.Arrays;
import org.revenantdb.chaos.crash.Seeds;

/** Numbers of things by a long each: open addressing, never shrinks. */
final class LongIndex {

  /** What an absent thing has for a number. */
  static final int NONE = -1;

  private long[] names;
  private int[] numbers;
  private int size;

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

  /** The number that it has from now on: the given one if it had none. */
  int putIfAbsent(long name, int number) {
    int slot = slot(name);
    if (numbers[slot] != NONE) {
      return numbers[slot];
    }
    names[slot] = name;
    numbers[slot] = number;
    if (++size > names.length / 2) {
      grow();
    }
    return number;
  }

  private int slot(long name) {
    int mask = names.length - 1;
    int slot = (int) Seeds.of(name, 0) & mask;
    while (numbers[slot] != NONE && names[slot] != name) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  private void grow() {
    long[] oldNames = names;
    int[] oldNumbers = numbers;
    names = new long[2 * oldNames.length];
    numbers = new int[2 * oldNames.length];
    Arrays.fill(numbers, NONE);
    for (int i = 0; i < oldNames.length; i++) {
      if (oldNumbers[i] != NONE) {
        int slot = slot(oldNames[i]);
        names[slot] = oldNames[i];
        numbers[slot] = oldNumbers[i];
      }
    }
  }
}
