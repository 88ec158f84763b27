package org.revenantdb.latch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * All that can be done with a latch, on all terms, by many threads, while every fourth allocation
 * of the slow path fails: no waiter is left behind, and no two threads hold it.
 */
class WithoutMemoryStressTest {
  private static final int THREADS = 14;
  private static final int ROUNDS = 6_000;

  private final HybridLatch latch = new HybridLatch();
  private final AtomicReference<Throwable> failure = new AtomicReference<>();

  /** What the latch protects: two plain words that writers keep equal. */
  private long left;

  private long right;

  @AfterEach
  void memoryIsBack() {
    ParkingLot.global().allocationFault = null;
  }

  @Test
  void randomOperations() throws InterruptedException {
    long seed = Long.getLong("revenant.seed", System.nanoTime());
    System.out.println("WithoutMemoryStressTest seed " + seed);
    ParkingLot.global().allocationFault =
        () -> {
          if (ThreadLocalRandom.current().nextInt(4) == 0) {
            throw new OutOfMemoryError("injected");
          }
        };
    List<Thread> threads = new ArrayList<>();
    for (int t = 0; t < THREADS; t++) {
      SplittableRandom random = new SplittableRandom(seed + t);
      Runnable body = () -> run(random);
      threads.add(t % 2 == 0 ? new Thread(body) : Thread.ofVirtual().unstarted(body));
    }
    threads.forEach(Thread::start);
    for (Thread thread : threads) {
      thread.join();
    }
    assertNull(failure.get(), () -> "seed " + seed);
    assertEquals(LatchWord.FREE, latch.wordOpaque(), latch::toString);
    assertEquals(left, right);
    assertEquals(0, ParkingLot.global().queuedNear(latch, 0));
  }

  private void run(SplittableRandom random) {
    try {
      for (int i = 0; i < ROUNDS && failure.get() == null; i++) {
        step(random);
      }
    } catch (Throwable thrown) {
      failure.compareAndSet(null, thrown);
    }
  }

  private void step(SplittableRandom random) {
    WaitTerms terms = terms(random);
    int yields = random.nextInt(3);
    try {
      switch (random.nextInt(6)) {
        case 0 -> {
          if (latch.acquireExclusive(terms) == Acquisition.ACQUIRED) {
            write(yields);
            latch.releaseExclusive();
          }
        }
        case 1 -> {
          if (latch.acquireExclusive(terms) == Acquisition.ACQUIRED) {
            read(yields);
            latch.releaseExclusiveUnmodified();
          }
        }
        case 2 -> {
          if (latch.acquireShared(terms) == Acquisition.ACQUIRED) {
            read(yields);
            latch.releaseShared();
          }
        }
        case 3 -> {
          if (latch.acquireShared(terms) == Acquisition.ACQUIRED) {
            upgradeOrLeave(yields);
          }
        }
        case 4 -> {
          if (latch.acquireExclusive(terms) == Acquisition.ACQUIRED) {
            write(yields);
            latch.downgrade();
            read(yields);
            latch.releaseShared();
          }
        }
        default -> latch.runExclusive(() -> write(yields), terms);
      }
    } catch (ArithmeticException e) {
      // Of the question: not acquired.
    } catch (OutOfMemoryError e) {
      // Nor was its request run: there was no memory for what marks it.
    } finally {
      Thread.interrupted();
    }
  }

  private void upgradeOrLeave(int yields) {
    if (latch.tryUpgrade()) {
      write(yields);
      latch.releaseExclusive();
    } else {
      latch.releaseShared();
    }
  }

  private static WaitTerms terms(SplittableRandom random) {
    switch (random.nextInt(4)) {
      case 0 -> {
        return WaitTerms.endless().atMost(Duration.ofNanos(random.nextInt(50_000)));
      }
      case 1 -> {
        boolean throwing = random.nextBoolean();
        int[] patience = {random.nextInt(1, 4)};
        return WaitTerms.endless()
            .asLongAs(
                Duration.ofNanos(2_000),
                () -> {
                  if (patience[0]-- == 0 && throwing) {
                    throw new ArithmeticException();
                  }
                  return patience[0] >= 0;
                });
      }
      case 2 -> {
        if (random.nextBoolean()) {
          Thread.currentThread().interrupt();
        }
        return WaitTerms.endless().interruptible();
      }
      default -> {
        return WaitTerms.endless();
      }
    }
  }

  private void write(int yields) {
    left++;
    giveWay(yields);
    right++;
  }

  private void read(int yields) {
    long seen = left;
    giveWay(yields);
    assertEquals(seen, right);
  }

  private static void giveWay(int times) {
    for (int i = 0; i < times; i++) {
      Thread.yield();
    }
  }
}
