package org.revenantdb.engine.space;

import java.util.concurrent.atomic.AtomicLong;

/**
 * A place from which on a search can begin: nothing below it was free when a thread searched. It is
 * never too high for places that were freed before a search began.
 *
 * <p>Thread-safe, lock-free.
 */
public final class Hint {
  /**
   * The place, and in the upper half a turn. A thread that frees something begins another turn. So
   * a search that has not seen it does not raise the hint above it.
   */
  private final AtomicLong word = new AtomicLong();

  /** Starts at the beginning. */
  public Hint() {}

  /** The argument for {@link #raise}; read it before the search. */
  public long seen() {
    return word.get();
  }

  /** The place in a result of {@link #seen}. */
  public static int place(long seen) {
    return (int) seen;
  }

  /** Records that nothing below a place was free in the search that began with {@code seen}. */
  public void raise(long seen, int place) {
    if (place > place(seen)) {
      word.compareAndSet(seen, seen - place(seen) + place);
    }
  }

  /** Records that a place is free. Called after it is free, even if the hint is low enough. */
  public void lower(int place) {
    word.getAndAccumulate(
        place,
        (seen, free) ->
            (((seen >>> Integer.SIZE) + 1) << Integer.SIZE) | Math.min(place(seen), (int) free));
  }
}
