package org.revenantdb.jmh.gc;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Forces what a peer has committed, ten times a second, which ours does by itself: so a kill or a
 * power cut takes no more of the one than of the other.
 */
public final class PeriodicForce implements AutoCloseable {
  private static final long MILLIS = 100;

  private final CountDownLatch ends = new CountDownLatch(1);
  private final Thread thread;
  private volatile @Nullable Exception failure;

  /** What a peer has for that. */
  @FunctionalInterface
  public interface Force {
    /**
     * Forces what was committed before.
     *
     * @throws Exception whatever the engine throws
     */
    void force() throws Exception;
  }

  /**
   * Begins.
   *
   * @param force what is called, on a thread of its own
   */
  public PeriodicForce(Force force) {
    thread = Thread.ofPlatform().daemon().name("force").start(() -> run(force));
  }

  private void run(Force force) {
    try {
      while (!ends.await(MILLIS, TimeUnit.MILLISECONDS)) {
        force.force();
      }
    } catch (Exception e) {
      failure = e;
    }
  }

  /**
   * Ends, before the engine is closed.
   *
   * @throws IOException if something could not be forced
   */
  @Override
  public void close() throws IOException {
    ends.countDown();
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
    if (failure != null) {
      throw new IOException("what was committed could not be forced", failure);
    }
  }
}
