package org.revenantdb.history;

import java.util.Arrays;

/** A list of numbers without boxes. */
final class IntList {

  private int[] array;
  private int size;

  IntList() {
    this(10);
  }

  IntList(int capacity) {
    array = new int[capacity];
  }

  void add(int value) {
    if (size == array.length) {
      array = Arrays.copyOf(array, 2 * size);
    }
    array[size++] = value;
  }

  int get(int index) {
    return array[index];
  }

  void set(int index, int value) {
    array[index] = value;
  }

  /** Removes and returns the last number. */
  int pop() {
    return array[--size];
  }

  int size() {
    return size;
  }

  boolean isEmpty() {
    return size == 0;
  }

  void clear() {
    size = 0;
  }

  int[] toArray() {
    return Arrays.copyOf(array, size);
  }
}
