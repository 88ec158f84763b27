package org.revenantdb.latch;

import org.jspecify.annotations.Nullable;

/**
 * Where the waits of one class are told, by the thread that waits: before and after.
 *
 * <p>It is asked only where somebody really waits; what is served at once costs nothing. So it may
 * take the time, and a little memory.
 *
 * <p>Threads: any, many at once. The caller may hold latches, and at the end holds what it waited
 * for.
 *
 * <p>Failure: neither method may throw, whatever happens: who has just got a latch would lose it.
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
  /** Tells nobody. */
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
   * The class of waits that are told here.
   *
   * @return its name
   */
  String waitClass();

  /**
   * The calling thread is going to wait.
   *
   * @return what {@link #end} is given, null if there is nothing to remember
   */
  @Nullable Object begin();

  /**
   * The calling thread waits no longer, whether it has got what it waited for or not.
   *
   * @param begun what {@link #begin} returned
   */
  void end(@Nullable Object begun);
}
