package org.revenantdb.chaos.crash;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A thread that acts when something stalls; {@link StallWatch} defines a stall.
 *
 * <p>Threads: {@link #alive}, {@link #rest} and {@link #close} may be called by any thread. The
 * action runs once, in the watchdog's own thread.
 */
public final class Watchdog implements AutoCloseable {

  private final CountDownLatch closed = new CountDownLatch(1);
  private final StallWatch watch;

  private Watchdog(StallWatch watch) {
    this.watch = watch;
  }

  /**
   * Starts to watch threads of this process.
   *
   * @param name of what is watched
   * @param limit how long there may be no sign of life
   * @param action the action after a stall
   * @return the watchdog
   */
  public static Watchdog start(String name, Duration limit, Runnable action) {
    return start(name, new StallWatch(limit), action);
  }

  /**
   * Starts to watch a process.
   *
   * @param process its id
   * @param limit how long it may give no sign of life
   * @param action the action after a stall
   * @return the watchdog
   */
  public static Watchdog start(long process, Duration limit, Runnable action) {
    return start("child " + process, new StallWatch(limit, process), action);
  }

  private static Watchdog start(String name, StallWatch watch, Runnable action) {
    Watchdog watchdog = new Watchdog(watch);
    Thread.ofPlatform().daemon().name("watchdog of " + name).start(() -> watchdog.watch(action));
    return watchdog;
  }

  /**
   * Notes a sign of life.
   *
   * @return false if a stall was found before: the action runs, or has run
   */
  public boolean alive() {
    return watch.alive();
  }

  /**
   * Changes the limit, which is a sign of life.
   *
   * @param other how long there may be no sign of life from now on
   */
  public void limit(Duration other) {
    watch.limit(other);
  }

  /**
   * Notes whether the watcher has stopped the process.
   *
   * @param now true when it is stopped, false when it continues
   * @return false if a stall was found before: the action runs, or has run
   */
  public boolean rest(boolean now) {
    return watch.rest(now);
  }

  /** Ends the watch. */
  @Override
  public void close() {
    closed.countDown();
  }

  private void watch(Runnable action) {
    try {
      if (!watch.await(time -> closed.await(time.toNanos(), TimeUnit.NANOSECONDS))) {
        action.run();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
