package org.revenantdb.chaos.crash;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Notices that nothing has happened for too long.
 *
 * <p>Threads: {@link #alive} and {@link #close} may be called by any thread. The action runs once,
 * in the watchdog's own thread. It is a guard against hanging for ever, never a measure of speed:
 * its limit is far above what a slow machine needs.
 */
public final class Watchdog implements AutoCloseable {

  private final CountDownLatch closed = new CountDownLatch(1);
  private final long limit;
  private volatile long last = System.nanoTime();

  private Watchdog(Duration limit) {
    this.limit = limit.toNanos();
  }

  /**
   * Starts to watch.
   *
   * @param name of the thread
   * @param limit how long nothing may happen
   * @param action what is done then
   * @return the watchdog
   */
  public static Watchdog start(String name, Duration limit, Runnable action) {
    Watchdog watchdog = new Watchdog(limit);
    Thread.ofPlatform().daemon().name("watchdog of " + name).start(() -> watchdog.watch(action));
    return watchdog;
  }

  /** Says that something has happened. */
  public void alive() {
    last = System.nanoTime();
  }

  /** Ends the watch. */
  @Override
  public void close() {
    closed.countDown();
  }

  private void watch(Runnable action) {
    try {
      while (true) {
        long left = limit - (System.nanoTime() - last);
        if (left <= 0) {
          action.run();
          return;
        }
        if (closed.await(left, TimeUnit.NANOSECONDS)) {
          return;
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
