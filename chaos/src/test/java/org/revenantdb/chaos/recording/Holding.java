package org.revenantdb.chaos.recording;

import java.util.concurrent.CountDownLatch;
import org.revenantdb.chaos.fault.Fault;
import org.revenantdb.chaos.fault.FaultInjector;
import org.revenantdb.chaos.fault.FileOperation;

/** Holds up operations of a sort, so that a test can do something meanwhile. */
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

  /** Returns when an operation is held up. */
  void awaitInside() throws InterruptedException {
    inside.await();
  }

  /** Lets it and all later ones go on. */
  void release() {
    released.countDown();
  }

  /** Returns when a thread waits for a lock, or has ended because it need not. */
  static void awaitWaiting(Thread thread) {
    while (thread.getState() != Thread.State.WAITING && thread.isAlive()) {
      Thread.onSpinWait();
    }
  }
}
