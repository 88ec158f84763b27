package org.revenantdb.engine.space;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.revenantdb.latch.Tally;

/**
 * A set of page ids, one bit each, in chunks that are made at their first use. Its size is
 * proportional to the highest page that was ever in it. Thread-safe, lock-free.
 */
public final class PageBitmap {
  /*
   * Growth      a directory is never changed: a thread that needs another chunk replaces it by a longer or fuller
   *             copy, by compare-and-set. All copies share the chunks, so a bit that is set through an old copy is
   *             not lost.
   */
  private static final int CHUNK_SHIFT = 18;
  private static final int CHUNK_BITS = 1 << CHUNK_SHIFT;

  /** Indexed by the upper bits of a page's id; pages behind its end are not in the set. */
  private final AtomicReference<@Nullable AtomicLongArray[]> directory =
      new AtomicReference<>(new AtomicLongArray[0]);

  /** Counted after the bit is changed. */
  private final Tally count = new Tally();

  /** An empty set. */
  public PageBitmap() {}

  /** Adds a page; returns whether it is new. */
  public boolean set(int pageId) {
    AtomicLongArray words = chunk(pageId >>> CHUNK_SHIFT);
    long bit = 1L << pageId;
    boolean isNew = (words.getAndAccumulate(word(pageId), bit, (old, add) -> old | add) & bit) == 0;
    if (isNew) {
      count.increment();
    }
    return isNew;
  }

  /** Makes sure that {@link #set} of a page allocates nothing. */
  void makeRoom(int pageId) {
    chunk(pageId >>> CHUNK_SHIFT);
  }

  /** Removes a page; returns whether it was in the set. */
  public boolean clear(int pageId) {
    AtomicLongArray words = existing(pageId >>> CHUNK_SHIFT);
    if (words == null) {
      return false;
    }
    long bit = 1L << pageId;
    boolean wasThere =
        (words.getAndAccumulate(word(pageId), bit, (old, remove) -> old & ~remove) & bit) != 0;
    if (wasThere) {
      count.decrement();
    }
    return wasThere;
  }

  /** Whether the page is in the set. */
  public boolean contains(int pageId) {
    AtomicLongArray words = existing(pageId >>> CHUNK_SHIFT);
    return words != null && (words.get(word(pageId)) & (1L << pageId)) != 0;
  }

  /**
   * The first page at or after this one that is in the set, or -1; pages that others add meanwhile
   * may be missed.
   */
  public int next(int from) {
    @Nullable AtomicLongArray[] chunks = directory.get();
    for (int c = from >>> CHUNK_SHIFT; c < chunks.length; c++) {
      AtomicLongArray words = chunks[c];
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

  /** Whether nothing is in the set. */
  public boolean isEmpty() {
    return next(0) < 0;
  }

  /** The number of pages in the set, without a scan; approximate while others change it. */
  public int count() {
    return (int) Math.max(0, count.sum());
  }

  /** How many pages are in the set. */
  public int size() {
    int size = 0;
    for (AtomicLongArray words : directory.get()) {
      for (int w = 0; words != null && w < words.length(); w++) {
        size += Long.bitCount(words.get(w));
      }
    }
    return size;
  }

  private @Nullable AtomicLongArray existing(int index) {
    @Nullable AtomicLongArray[] chunks = directory.get();
    return index < chunks.length ? chunks[index] : null;
  }

  private AtomicLongArray chunk(int index) {
    AtomicLongArray words = existing(index);
    while (words == null) {
      @Nullable AtomicLongArray[] chunks = directory.get();
      @Nullable AtomicLongArray[] more = Arrays.copyOf(chunks, Math.max(chunks.length, index + 1));
      if (more[index] == null) {
        more[index] = new AtomicLongArray(CHUNK_BITS / 64);
        directory.compareAndSet(chunks, more);
      }
      words = existing(index);
    }
    return words;
  }

  private static int word(int pageId) {
    return (pageId & (CHUNK_BITS - 1)) >>> 6;
  }
}
