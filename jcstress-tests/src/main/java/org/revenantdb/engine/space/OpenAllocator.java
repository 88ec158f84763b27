package org.revenantdb.engine.space;

import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.NullUnmarked;

/**
 * The very allocator over a file of one group whose map has been read, for the jcstress tests: it
 * claims and is given back, and needs neither pool nor log for that, so it has none.
 */
@NullUnmarked
public final class OpenAllocator {
  /** How many pages the file has; it does not grow. */
  public static final int PAGES = 128;

  private final Allocator allocator;

  /** All pages are in use but this one. */
  public OpenAllocator(int free) {
    allocator = new Allocator(null, null, PAGES, allButOne(free));
  }

  /** The bits of {@link #PAGES} pages, all set but one. */
  public static AtomicLongArray allButOne(int free) {
    AtomicLongArray words = new AtomicLongArray(new long[] {-1, -1});
    words.set(free >>> 6, ~(1L << free));
    return words;
  }

  /** A page, or -1 if there is none. */
  public int claim() {
    return allocator.claimBelow(PAGES);
  }

  /** Gives a page back. */
  public void release(int page) {
    allocator.release(page);
  }
}
