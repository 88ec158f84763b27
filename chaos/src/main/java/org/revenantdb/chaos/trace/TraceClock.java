package org.revenantdb.chaos.trace;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The one order of a run: file operations and promises take their places from it.
 *
 * <p>Threads: any. A place taken after an event is greater than every place taken before it.
 */
public class TraceClock {

  private final AtomicLong last = new AtomicLong();

  /** Creates a clock whose first place is 1. */
  public TraceClock() {}

  /**
   * Takes the next place.
   *
   * @return greater than all earlier places
   */
  public long next() {
    return last.incrementAndGet();
  }

  /**
   * Returns the last place that was taken.
   *
   * @return 0 if none was taken
   */
  public long now() {
    return last.get();
  }
}
