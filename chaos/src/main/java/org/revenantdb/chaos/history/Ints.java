package org.revenantdb.chaos.history;

import java.util.Arrays;

/** Numbers in a row that grows. */
final class Ints {

  private int[] array;
  private int size;

  Ints() {
    this(16);
  }

  Ints(int capacity) {
    array = new int[capacity];
  }

  void add(int value) {
    if (size == array.length) {
      array = Arrays.copyOf(array, 2 * size);
    }
    array[size++] = value;
  }

  void add(int[] values, int from, int count) {
    if (size + count > array.length) {
      array = Arrays.copyOf(array, Math.max(2 * array.length, size + count));
    }
    System.arraycopy(values, from, array, size, count);
    size += count;
  }

  int get(int index) {
    return array[index];
  }

  void set(int index, int value) {
    array[index] = value;
  }

  int removeLast() {
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
