package org.revenantdb.recovery.testing;

import java.util.concurrent.locks.LockSupport;

/** For a test that looks again and again whether another thread has come to a state. */
public final class Await {
  private static final long PAUSE_NANOS = 20_000;

  private Await() {}

  /**
   * Lets others run between two looks. One that spins instead keeps the only processor from the
   * thread that it waits for, for a whole time slice each time.
   */
  public static void pause() {
    LockSupport.parkNanos(PAUSE_NANOS);
  }
}
