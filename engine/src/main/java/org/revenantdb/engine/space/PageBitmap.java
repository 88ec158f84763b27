package org.revenantdb.engine.space;

import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * A set of page ids, one bit each, in chunks that come into being when first used. Thread-safe,
 * lock-free.
 */
public final class PageBitmap {
  private static final int CHUNK_SHIFT = 18;
  private static final int CHUNK_BITS = 1 << CHUNK_SHIFT;
  private static final int CHUNKS = 1 << (32 - CHUNK_SHIFT);

  private final AtomicReferenceArray<AtomicLongArray> chunks = new AtomicReferenceArray<>(CHUNKS);

  /** An empty set. */
  public PageBitmap() {}

  /** Adds a page; says whether it is new. */
  public boolean set(int pageId) {
    AtomicLongArray words = chunk(pageId >>> CHUNK_SHIFT);
    long bit = 1L << pageId;
    return (words.getAndAccumulate(word(pageId), bit, (old, add) -> old | add) & bit) == 0;
  }

  /** Removes a page; says whether it was there. */
  public boolean clear(int pageId) {
    AtomicLongArray words = chunks.get(pageId >>> CHUNK_SHIFT);
    if (words == null) {
      return false;
    }
    long bit = 1L << pageId;
    return (words.getAndAccumulate(word(pageId), bit, (old, remove) -> old & ~remove) & bit) != 0;
  }

  /** Whether the page is in the set. */
  public boolean contains(int pageId) {
    AtomicLongArray words = chunks.get(pageId >>> CHUNK_SHIFT);
    return words != null && (words.get(word(pageId)) & (1L << pageId)) != 0;
  }

  /**
   * The first page at or after this one that is in the set, or -1; what others add meanwhile may be
   * missed.
   */
  public int next(int from) {
    for (int c = from >>> CHUNK_SHIFT; c < CHUNKS; c++) {
      AtomicLongArray words = chunks.get(c);
      if (words == null) {
        continue;
      }
      int start = c == from >>> CHUNK_SHIFT ? word(from) : 0;
      for (int w = start; w < words.length(); w++) {
        long bits = words.get(w);
        if (w == start && c == from >>> CHUNK_SHIFT) {
          bits &= -1L << from;
        }
        if (bits != 0) {
          return (c << CHUNK_SHIFT) + (w << 6) + Long.numberOfTrailingZeros(bits);
        }
      }
    }
    return -1;
  }

  /** Adds all pages of another set to this one and empties the other. */
  public void takeAll(PageBitmap other) {
    for (int page = other.next(1); page > 0; page = other.next(page + 1)) {
      if (other.clear(page)) {
        set(page);
      }
    }
  }

  /** Whether nothing is in the set. */
  public boolean isEmpty() {
    return next(0) < 0;
  }

  /** How many pages are in the set. */
  public int size() {
    int size = 0;
    for (int c = 0; c < CHUNKS; c++) {
      AtomicLongArray words = chunks.get(c);
      for (int w = 0; words != null && w < words.length(); w++) {
        size += Long.bitCount(words.get(w));
      }
    }
    return size;
  }

  private AtomicLongArray chunk(int index) {
    AtomicLongArray words = chunks.get(index);
    while (words == null) {
      chunks.compareAndSet(index, null, new AtomicLongArray(CHUNK_BITS / 64));
      words = chunks.get(index);
    }
    return words;
  }

  private static int word(int pageId) {
    return (pageId & (CHUNK_BITS - 1)) >>> 6;
  }
}
