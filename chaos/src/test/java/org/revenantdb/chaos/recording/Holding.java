package org.revenantdb.chaos.recording;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.revenantdb.chaos.fault.Fault;
import org.revenantdb.chaos.fault.FaultInjector;
import org.revenantdb.chaos.fault.FileOperation;

/** Delays operations of one kind, so that a test can act meanwhile. */
final class Holding implements FaultInjector {

  private final FileOperation.Kind kind;
  private final CountDownLatch inside = new CountDownLatch(1);
  private final CountDownLatch released = new CountDownLatch(1);

  Holding(FileOperation.Kind kind) {
    this.kind = kind;
  }

  @Override
  public Fault before(FileOperation operation) {
    if (operation.kind() == kind) {
      inside.countDown();
      try {
        released.await();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }
    return Fault.NONE;
  }

  /** Returns when an operation is delayed. */
  void awaitInside() throws InterruptedException {
    inside.await();
  }

  /** Lets it and all later ones continue. */
  void release() {
    released.countDown();
  }

  /** Returns when a thread waits for a lock, or has ended without waiting. */
  static void awaitWaiting(Thread thread) {
    while (thread.getState() != Thread.State.WAITING && thread.isAlive()) {
      LockSupport.parkNanos(20_000);
    }
  }
}
