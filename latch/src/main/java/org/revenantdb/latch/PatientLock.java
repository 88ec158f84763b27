package org.revenantdb.latch;

import java.io.Serial;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A lock that a virtual thread can also acquire where it cannot be parked.
 *
 * <p>{@link ReentrantLock#lock} parks a thread that has to wait. On a virtual thread with thousands
 * of frames parking throws a {@link StackOverflowError} ({@link Parking}). The lock itself comes to
 * no harm: the JDK cancels the wait. But the error would occur in the middle of a protocol that has
 * found enough stack before its first latch and must not fail any more. So in this class such a
 * thread tries the lock until it is free.
 *
 * <p>If the stack is really used up, and on platform threads, the error is thrown unchanged.
 *
 * <p>Thread-safe. Conditions of this lock are for platform threads alone.
 */
public final class PatientLock extends ReentrantLock {
  @Serial private static final long serialVersionUID = 1;

  /** Makes a lock that is not held. */
  public PatientLock() {}

  @Override
  public void lock() {
    if (tryLock()) {
      return;
    }
    boolean isVirtual = Parking.begins();
    try {
      super.lock();
    } catch (OutOfMemoryError | StackOverflowError notParked) {
      if (!Thread.currentThread().isVirtual()) {
        throw notParked;
      }
      while (!tryLock()) {
        Thread.onSpinWait();
      }
    } finally {
      Parking.ends(isVirtual);
    }
  }
}
