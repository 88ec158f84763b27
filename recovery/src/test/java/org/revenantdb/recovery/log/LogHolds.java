package org.revenantdb.recovery.log;

import java.util.concurrent.CountDownLatch;

/** Holds a publication between its reservation and the copy into the ring. */
public final class LogHolds {
  private LogHolds() {}

  /** Publishes a record; says when its place is reserved, and goes on when it is told. */
  public static long publish(
      Log log, RecordBuilder record, CountDownLatch reserved, CountDownLatch goOn) {
    return publish(log, record, reserved, goOn, LogSteps.NONE);
  }

  /** The same; other places are those of a test. */
  static long publish(
      Log log,
      RecordBuilder record,
      CountDownLatch reserved,
      CountDownLatch goOn,
      LogSteps others) {
    Thread holder = Thread.currentThread();
    log.steps =
        step -> {
          others.at(step);
          if (step == LogSteps.Step.RESERVED && Thread.currentThread() == holder) {
            reserved.countDown();
            try {
              goOn.await();
            } catch (InterruptedException never) {
              throw new IllegalStateException(never);
            }
          }
        };
    return log.publish(record);
  }
}
