package org.revenantdb.engine.buffer;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Stops the first thread that comes to a step until it is let go, at the latest with its fixture.
 */
final class StepGate implements Steps {
  private static final Queue<StepGate> ALL = new ConcurrentLinkedQueue<>();

  private final Step where;
  private final AtomicBoolean taken = new AtomicBoolean();
  private final CountDownLatch arrived = new CountDownLatch(1);
  private final CountDownLatch open = new CountDownLatch(1);

  StepGate(Step where) {
    this.where = where;
    ALL.add(this);
  }

  /** After a test that has failed half way: nobody stays behind a gate. */
  static void letAllGo() {
    ALL.forEach(StepGate::letGo);
    ALL.clear();
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
