package org.revenantdb.engine.buffer;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * A memory of pages evicted after probation: a page that returns soon was worth keeping.
 *
 * <p>Each page has a few places, which it shares with others. If all are taken, a random one is
 * forgotten. So the memory covers about as many evictions as it has places, and two pages that
 * return in turn do not displace each other forever.
 *
 * <p>Threads: any, without synchronisation: only a hint can be lost.
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

  /** Whether a page was evicted recently; forgets it. */
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
