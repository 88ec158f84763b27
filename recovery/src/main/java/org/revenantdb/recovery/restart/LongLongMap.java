package org.revenantdb.recovery.restart;

import java.util.Arrays;

/**
 * A map of numbers to numbers that allocates nothing for an entry. The key {@link Long#MIN_VALUE}
 * is not possible.
 *
 * <p>Threads: one.
 */
final class LongLongMap {
  /*
   * Open addressing, at most half full. Removal moves the entries behind into the gap, so that there are no graves
   * and a walk ends at the first free slot.
   */

  private static final long FREE = Long.MIN_VALUE;
  private static final int SMALLEST = 64;

  private long[] keys = new long[SMALLEST];
  private long[] values = new long[SMALLEST];
  private int size;

  LongLongMap() {
    Arrays.fill(keys, FREE);
  }

  int size() {
    return size;
  }

  void put(long key, long value) {
    if ((size + 1) * 2 > keys.length) {
      grow();
    }
    int slot = find(key);
    if (keys[slot] == FREE) {
      keys[slot] = key;
      size++;
    }
    values[slot] = value;
  }

  long getOrDefault(long key, long otherwise) {
    int slot = find(key);
    return keys[slot] == FREE ? otherwise : values[slot];
  }

  boolean contains(long key) {
    return keys[find(key)] != FREE;
  }

  void remove(long key) {
    int gap = find(key);
    if (keys[gap] == FREE) {
      return;
    }
    size--;
    int mask = keys.length - 1;
    int slot = gap;
    while (true) {
      keys[gap] = FREE;
      do {
        slot = (slot + 1) & mask;
        if (keys[slot] == FREE) {
          return;
        }
      } while (((slot - first(keys[slot])) & mask) < ((slot - gap) & mask));
      keys[gap] = keys[slot];
      values[gap] = values[slot];
      gap = slot;
    }
  }

  /** All keys, in no order. They are copied, so the map may be changed meanwhile. */
  long[] keys() {
    long[] all = new long[size];
    int count = 0;
    for (long key : keys) {
      if (key != FREE) {
        all[count++] = key;
      }
    }
    return all;
  }

  /** All keys in ascending order. */
  long[] sortedKeys() {
    long[] all = keys();
    if (all.length > 1) { // the first sort of a JVM takes a millisecond
      Arrays.sort(all);
    }
    return all;
  }

  void clear() {
    Arrays.fill(keys, FREE);
    size = 0;
  }

  private int find(long key) {
    int mask = keys.length - 1;
    int slot = first(key);
    while (keys[slot] != FREE && keys[slot] != key) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  private int first(long key) {
    return (int) ((key * 0x9E3779B97F4A7C15L) >>> 32) & (keys.length - 1);
  }

  private void grow() {
    long[] oldKeys = keys;
    long[] oldValues = values;
    keys = new long[oldKeys.length * 2];
    values = new long[keys.length];
    Arrays.fill(keys, FREE);
    size = 0;
    for (int i = 0; i < oldKeys.length; i++) {
      if (oldKeys[i] != FREE) {
        put(oldKeys[i], oldValues[i]);
      }
    }
  }
}
