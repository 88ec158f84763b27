package org.revenantdb.engine.serial;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The keys that were read, as disjoint intervals. When they take too much memory, neighbours are
 * joined, and the keys between them also count as read. For one thread at a time.
 */
final class KeyIntervals {
  /** Heap size of an interval without its keys: the record, two arrays, an entry of the map. */
  private static final int BYTES = 104;

  private static final Comparator<byte[]> ORDER = Arrays::compareUnsigned;

  /**
   * An interval.
   *
   * @param from the first key
   * @param to the end, exclusive; null for all keys from the first on
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Interval(byte[] from, byte @Nullable [] to) {
    private boolean reaches(byte[] key) {
      return to == null || ORDER.compare(key, to) <= 0;
    }

    private boolean has(byte[] key) {
      return to == null || ORDER.compare(key, to) < 0;
    }

    private int bytes() {
      return BYTES + from.length + (to == null ? 0 : to.length);
    }
  }

  /** By their first keys. */
  private final TreeMap<byte[], Interval> intervals = new TreeMap<>(ORDER);

  private long bytes;

  /** Makes an object without intervals. */
  KeyIntervals() {}

  /** Adds a key that was read, or found to be absent. */
  void add(byte[] key) {
    if (!contains(key)) {
      add(key.clone(), SerialReads.behind(key));
    }
  }

  /**
   * Adds a range that was read. The arrays are kept.
   *
   * @param from the first key
   * @param to the end, exclusive; null for all keys from the first on
   */
  void add(byte[] from, byte @Nullable [] to) {
    if (to != null && ORDER.compare(from, to) >= 0) {
      return;
    }
    Interval joined = new Interval(from, to);
    Map.Entry<byte[], Interval> before = intervals.floorEntry(from);
    if (before != null && before.getValue().reaches(from)) {
      joined = join(before.getValue(), joined);
    }
    for (Map.Entry<byte[], Interval> next = intervals.ceilingEntry(joined.from());
        next != null && joined.reaches(next.getKey());
        next = intervals.ceilingEntry(joined.from())) {
      remove(next.getValue());
      joined = join(joined, next.getValue());
    }
    put(joined);
  }

  private void remove(Interval interval) {
    intervals.remove(interval.from());
    bytes -= interval.bytes();
  }

  private void put(Interval interval) {
    intervals.put(interval.from(), interval);
    bytes += interval.bytes();
  }

  /** Joins two intervals that overlap or touch; the first one begins first. */
  private static Interval join(Interval first, Interval second) {
    byte[] one = first.to();
    byte[] other = second.to();
    byte[] to = one == null || other == null ? null : ORDER.compare(one, other) < 0 ? other : one;
    return new Interval(first.from(), to);
  }

  /** Joins neighbours, two by two. */
  void coarsen() {
    List<Interval> all = new ArrayList<>(intervals.values());
    for (int i = 0; i + 1 < all.size(); i += 2) {
      remove(all.get(i));
      remove(all.get(i + 1));
      put(new Interval(all.get(i).from(), all.get(i + 1).to()));
    }
  }

  /** Whether a key was read, or counts as read. */
  boolean contains(byte[] key) {
    Map.Entry<byte[], Interval> before = intervals.floorEntry(key);
    return before != null && before.getValue().has(key);
  }

  /** All of them, in order. */
  Iterable<Interval> all() {
    return intervals.values();
  }

  int size() {
    return intervals.size();
  }

  /** Their heap size. */
  long bytes() {
    return bytes;
  }
}
