package org.revenantdb.jmh.coupling;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.revenantdb.jmh.tree.TreeRows;
import org.revenantdb.latch.HybridLatch;

/**
 * A node and its latch, one object, as a stay of the engine is: a page of 8 KiB off heap with keys
 * in order. Once the tree is built only values and counts of changes do change: those may be torn
 * where they are read under no latch.
 */
final class Node extends HybridLatch {
  /*
   *   leaf    0  level, 0           inner   0  level, 1 at least
   *           4  entries                    4  entries
   *           8  upper fence: the first key of the next leaf, all ones in the last one
   *          24  64 keys                   24  256 keys; the first is the lower fence
   *        1048  64 values               4120  256 numbers of nodes
   *        7448  64 counts of changes
   */
  static final int SIZE = 8192;
  static final int LEAF_ENTRIES = 64;
  static final int INNER_ENTRIES = 256;

  private static final int LEVEL = 0;
  private static final int ENTRIES = 4;
  private static final int FENCE = 8;
  private static final int KEYS = FENCE + TreeRows.KEY;
  private static final int VALUES = KEYS + LEAF_ENTRIES * TreeRows.KEY;
  private static final int CHANGES = VALUES + LEAF_ENTRIES * TreeRows.VALUE;
  private static final int CHILDREN = KEYS + INNER_ENTRIES * TreeRows.KEY;

  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
  private static final ValueLayout.OfLong WORD =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  private final MemorySegment page;

  Node(MemorySegment page, int level) {
    this.page = page;
    page.set(INT, LEVEL, level);
    fence(-1, -1);
  }

  int level() {
    return page.get(INT, LEVEL);
  }

  int entries() {
    return page.get(INT, ENTRIES);
  }

  void fence(long high, long low) {
    page.set(WORD, FENCE, high);
    page.set(WORD, FENCE + Long.BYTES, low);
  }

  long fenceHigh() {
    return page.get(WORD, FENCE);
  }

  long fenceLow() {
    return page.get(WORD, FENCE + Long.BYTES);
  }

  long keyHigh(int entry) {
    return page.get(WORD, KEYS + (long) entry * TreeRows.KEY);
  }

  long keyLow(int entry) {
    return page.get(WORD, KEYS + (long) entry * TreeRows.KEY + Long.BYTES);
  }

  /** How many keys are below this one. */
  int lowerBound(long high, long low) {
    int from = 0;
    int to = entries();
    while (from < to) {
      int middle = (from + to) >>> 1;
      if (compare(middle, high, low) < 0) {
        from = middle + 1;
      } else {
        to = middle;
      }
    }
    return from;
  }

  /** Which entry of an inner node leads to a key. */
  int towards(long high, long low) {
    int at = lowerBound(high, low);
    return at < entries() && compare(at, high, low) == 0 ? at : Math.max(0, at - 1);
  }

  /** Where a key is in a leaf, or -1. */
  int find(long high, long low) {
    int at = lowerBound(high, low);
    return at < entries() && compare(at, high, low) == 0 ? at : -1;
  }

  private int compare(int entry, long high, long low) {
    long own = keyHigh(entry);
    return own != high ? Long.compareUnsigned(own, high) : Long.compareUnsigned(keyLow(entry), low);
  }

  /** The number of a child. */
  int child(int entry) {
    return page.get(INT, CHILDREN + (long) entry * Integer.BYTES);
  }

  void copyValue(int entry, byte[] to) {
    MemorySegment.copy(page, ValueLayout.JAVA_BYTE, valueAt(entry), to, 0, TreeRows.VALUE);
  }

  /** Replaces a value and counts the change, under the exclusive latch. */
  void change(int entry, byte[] value) {
    MemorySegment.copy(value, 0, page, ValueLayout.JAVA_BYTE, valueAt(entry), TreeRows.VALUE);
    page.set(LONG, changesAt(entry), changes(entry) + 1);
  }

  /** How often an entry was changed. */
  long changes(int entry) {
    return page.get(LONG, changesAt(entry));
  }

  /** Adds a row after all others, while the tree is built. */
  void append(long high, long low, byte[] value) {
    int entry = appendKey(high, low);
    MemorySegment.copy(value, 0, page, ValueLayout.JAVA_BYTE, valueAt(entry), TreeRows.VALUE);
    page.set(LONG, changesAt(entry), 0);
  }

  /** Adds a child after all others, while the tree is built. */
  void append(long high, long low, int child) {
    int entry = appendKey(high, low);
    page.set(INT, CHILDREN + (long) entry * Integer.BYTES, child);
  }

  private int appendKey(long high, long low) {
    int entry = entries();
    page.set(WORD, KEYS + (long) entry * TreeRows.KEY, high);
    page.set(WORD, KEYS + (long) entry * TreeRows.KEY + Long.BYTES, low);
    page.set(INT, ENTRIES, entry + 1);
    return entry;
  }

  private static long valueAt(int entry) {
    return VALUES + (long) entry * TreeRows.VALUE;
  }

  private static long changesAt(int entry) {
    return CHANGES + (long) entry * Long.BYTES;
  }
}
