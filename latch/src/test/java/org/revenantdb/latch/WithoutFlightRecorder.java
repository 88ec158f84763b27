package org.revenantdb.latch;

/**
 * A program that makes a thread wait for a latch: run by {@link LatchWaitEventsTest} without
 * jdk.jfr.
 */
final class WithoutFlightRecorder {
  private WithoutFlightRecorder() {}

  public static void main(String[] args) throws InterruptedException {
    if (ModuleLayer.boot().findModule("jdk.jfr").isPresent()) {
      throw new AssertionError("jdk.jfr is there: this shows nothing");
    }
    WaitStatistics statistics = new WaitStatistics("leaf");
    HybridLatch latch = new HybridLatch();
    latch.acquireExclusive();
    Thread waiter =
        Thread.ofPlatform()
            .start(() -> {
              Object event = LatchWaitEvents.begin();
              latch.acquireShared(statistics);
              LatchWaitEvents.end(event, statistics.latchClass(), true, Acquisition.ACQUIRED);
              latch.releaseShared();
            });
    Await.until(() -> LatchWord.isParked(latch.wordOpaque()));
    latch.releaseExclusive();
    waiter.join();
    System.out.println("available " + LatchWaitEvents.AVAILABLE + ", waits " + statistics.waits());
  }
}
