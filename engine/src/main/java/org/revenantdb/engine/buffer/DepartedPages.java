package org.revenantdb.engine.buffer;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * A memory of pages that left after probation: one that comes again soon was worth keeping.
 *
 * <p>Each page has one of a few places, which it shares with others; where all are taken, one that
 * is drawn by lot is forgotten. So the memory goes back about as many departures as it has places,
 * and no two pages that come in turn for ever displace each other for ever.
 *
 * <p>Threads: any, without care: what is lost is a hint.
 */
final class DepartedPages {
  /** Page 0, which never comes into the pool, marks an empty place. */
  private static final int NOBODY = 0;

  private static final int WAYS = 4;
  private static final int SPREAD = 0x9E3779B9;

  private final AtomicIntegerArray places;
  private final int groups;
  private final AtomicInteger lots = new AtomicInteger();

  DepartedPages(int size) {
    groups = Math.max(size / WAYS, 1);
    places = new AtomicIntegerArray(groups * WAYS);
  }

  void put(int pageId) {
    int first = firstOf(pageId);
    int place = find(first, NOBODY);
    if (place < 0) {
      place = first + ((lots.getAndIncrement() * SPREAD) >>> 30);
    }
    places.setOpaque(place, pageId);
  }

  /** Whether a page left not long ago; forgets it. */
  boolean take(int pageId) {
    int place = find(firstOf(pageId), pageId);
    if (place < 0) {
      return false;
    }
    places.setOpaque(place, NOBODY);
    return true;
  }

  private int find(int first, int pageId) {
    for (int place = first; place < first + WAYS; place++) {
      if (places.getOpaque(place) == pageId) {
        return place;
      }
    }
    return -1;
  }

  private int firstOf(int pageId) {
    int hash = pageId * SPREAD;
    return (int) (((hash & 0xFFFF_FFFFL) * groups) >>> 32) * WAYS;
  }
}
