package org.revenantdb.engine.space;

import java.util.concurrent.atomic.AtomicLong;

/**
 * From where on it is worth looking: nothing below it was free when somebody looked. It is never
 * too high for what was given back before a search began.
 *
 * <p>Thread-safe, lock-free.
 */
public final class Hint {
  /**
   * The place, and in the upper half a turn. Whoever gives something back begins another turn: so
   * he who has not seen it does not raise the hint over it.
   */
  private final AtomicLong word = new AtomicLong();

  /** At the beginning. */
  public Hint() {}

  /** What {@link #raise} is to be given, to be read before the search. */
  public long seen() {
    return word.get();
  }

  /** The place of what {@link #seen} has returned. */
  public static int place(long seen) {
    return (int) seen;
  }

  /** Says that nothing below a place was free in the search that began with {@code seen}. */
  public void raise(long seen, int place) {
    if (place > place(seen)) {
      word.compareAndSet(seen, seen - place(seen) + place);
    }
  }

  /** Says that a place is free, after it is, even if the hint is low enough. */
  public void lower(int place) {
    word.getAndAccumulate(
        place,
        (seen, free) ->
            (((seen >>> Integer.SIZE) + 1) << Integer.SIZE) | Math.min(place(seen), (int) free));
  }
}
