package org.revenantdb.latch;

/** A program that waits for a latch once, in vain: run by {@link LatchWaitEventsTest}. */
final class FirstWait {
  private FirstWait() {}

  public static void main(String[] args) throws InterruptedException {
    HybridLatch latch = new HybridLatch();
    latch.acquireExclusive();
    Thread waiter =
        Thread.ofPlatform()
            .start(() -> {
              if (!latch.tryAcquireShared(/* nanos= */ 1_000)) {
                System.out.println("the time was out");
              }
            });
    waiter.join();
    latch.releaseExclusive();
  }
}
