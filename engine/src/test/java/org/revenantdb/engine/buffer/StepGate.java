package org.revenantdb.engine.buffer;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;

/** Stops the first thread that comes to a step until it is let go. */
final class StepGate implements Steps {
  private final Step where;
  private final AtomicBoolean taken = new AtomicBoolean();
  private final CountDownLatch arrived = new CountDownLatch(1);
  private final CountDownLatch open = new CountDownLatch(1);

  StepGate(Step where) {
    this.where = where;
  }

  @Override
  public void at(Step step, int frame) {
    if (step == where && taken.compareAndSet(false, true)) {
      arrived.countDown();
      uninterruptibly(open);
    }
  }

  /** Waits until somebody is stopped. */
  void awaitArrival() {
    uninterruptibly(arrived);
  }

  void letGo() {
    open.countDown();
  }

  private static void uninterruptibly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
