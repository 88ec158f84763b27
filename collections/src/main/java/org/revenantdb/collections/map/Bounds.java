package org.revenantdb.collections.map;

import java.util.Comparator;
import org.jspecify.annotations.Nullable;
import org.revenantdb.collections.Scan;

/**
 * Which keys a map has, in the order of the table.
 *
 * @param order of the table
 * @param low lower bound, or null if there is none
 * @param hasLow whether that belongs to the map
 * @param high upper bound, or null if there is none
 * @param hasHigh whether that belongs to the map
 * @param <K> type of the keys
 */
record Bounds<K>(
    Comparator<? super K> order,
    @Nullable K low,
    boolean hasLow,
    @Nullable K high,
    boolean hasHigh) {

  boolean isWhole() {
    return low == null && high == null;
  }

  private boolean isBelow(K key) {
    if (low == null) {
      return false;
    }
    int compared = order.compare(key, low);
    return compared < 0 || (compared == 0 && !hasLow);
  }

  private boolean isAbove(K key) {
    if (high == null) {
      return false;
    }
    int compared = order.compare(key, high);
    return compared > 0 || (compared == 0 && !hasHigh);
  }

  boolean contains(K key) {
    return !isBelow(key) && !isAbove(key);
  }

  /** Whether a bound of a part of this may be at a key that does not belong to it. */
  private boolean touches(K key) {
    return (low == null || order.compare(key, low) >= 0)
        && (high == null || order.compare(key, high) <= 0);
  }

  /** Those of a part of this. */
  Bounds<K> part(@Nullable K from, boolean hasFrom, @Nullable K to, boolean hasTo) {
    if (from != null && to != null && order.compare(from, to) > 0) {
      throw new IllegalArgumentException("the first key is behind the last one");
    }
    demand(from, hasFrom);
    demand(to, hasTo);
    return new Bounds<>(
        order,
        from == null ? low : from,
        from == null ? hasLow : hasFrom,
        to == null ? high : to,
        to == null ? hasHigh : hasTo);
  }

  private void demand(@Nullable K bound, boolean belongs) {
    if (bound != null && !(belongs ? contains(bound) : touches(bound))) {
      throw new IllegalArgumentException("key out of range: " + bound + " is not of this map");
    }
  }

  <V> Scan<K, V> of(Scan<K, V> all) {
    Scan<K, V> scan = all;
    if (low != null) {
      scan = hasLow ? scan.atLeast(low) : scan.greaterThan(low);
    }
    if (high != null) {
      scan = hasHigh ? scan.atMost(high) : scan.lessThan(high);
    }
    return scan;
  }
}
