package org.revenantdb.latch;

import org.jspecify.annotations.Nullable;

/**
 * Receives the waits of one class from the waiting threads, before and after each wait.
 *
 * <p>It is called only for real waits; an acquisition that needs no wait costs nothing. So it may
 * read the clock and use a little memory.
 *
 * <p>Threads: any, many at once. The caller may hold latches. At the end it usually holds what it
 * waited for.
 *
 * <p>Failure: neither method may throw, whatever happens: a thread that has just acquired a latch
 * would lose it.
 *
 * {@snippet :
 * Object begun = meter.begin();
 * try {
 *   waitForIt();
 * } finally {
 *   meter.end(begun);
 * }
 * }
 */
public interface WaitMeter {
  /** A meter that ignores all waits. */
  WaitMeter NONE =
      new WaitMeter() {
        @Override
        public String waitClass() {
          return "unnamed";
        }

        @Override
        public @Nullable Object begin() {
          return null;
        }

        @Override
        public void end(@Nullable Object begun) {}
      };

  /**
   * The class of the waits that this meter receives.
   *
   * @return its name
   */
  String waitClass();

  /**
   * Called before the calling thread waits.
   *
   * @return the argument for {@link #end}; null if there is nothing to remember
   */
  @Nullable Object begin();

  /**
   * Called after the wait, whether or not the thread has got what it waited for.
   *
   * @param begun what {@link #begin} returned
   */
  void end(@Nullable Object begun);
}
