package org.revenantdb.jmh.gc;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Forces the commits of a peer ten times a second, which our engine does by itself. So a kill or a
 * power cut loses equally much in both.
 */
public final class PeriodicForce implements AutoCloseable {
  private static final long MILLIS = 100;

  private final CountDownLatch ends = new CountDownLatch(1);
  private final Thread thread;
  private volatile @Nullable Exception failure;

  /** The operation of a peer for this. */
  @FunctionalInterface
  public interface Force {
    /**
     * Forces earlier commits.
     *
     * @throws Exception whatever the engine throws
     */
    void force() throws Exception;
  }

  /**
   * Begins.
   *
   * @param force the operation, called on a separate thread
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
