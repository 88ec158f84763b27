package org.revenantdb.latch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** R22: a holder runs what waiters ask it for, exactly once, whatever times out or throws. */
@ExtendWith(NobodyTakesOver.class)
class CombiningTest {
  private final HybridLatch latch = new HybridLatch();
  private int counter; // guarded by the latch

  @AfterEach
  void leftFree() {
    assertEquals(LatchWord.FREE, latch.wordOpaque(), latch::toString);
    assertEquals(0, waiters());
    assertTrue(latch.validate(latch.readOptimistic()), latch::toString);
  }

  @Test
  void request_ofTheOnlyThreadRunsAtOnceUnderTheLatch() {
    long before = latch.readOptimistic();
    latch.runExclusive(() -> {
      assertTrue(latch.isExclusivelyHeld());
      assertEquals(HybridLatch.INVALID_STAMP, latch.readOptimistic());
      counter++;
    });
    assertEquals(1, counter);
    assertFalse(latch.validate(before));
  }

  @Test
  void request_thatThrowsReachesItsOwnerAndLeavesTheLatch() {
    IllegalArgumentException thrown = new IllegalArgumentException();
    Runnable bad =
        () -> {
          throw thrown;
        };
    assertSame(thrown, assertThrows(IllegalArgumentException.class, () -> latch.runExclusive(bad)));
  }

  @Test
  void R22_holderRunsTheRequestsOfThoseWhoWaitBeforeItLeaves() throws InterruptedException {
    latch.acquireExclusive();
    ConcurrentLinkedQueue<String> events = new ConcurrentLinkedQueue<>();
    List<Thread> owners = new ArrayList<>();
    Thread holder = Thread.currentThread();
    for (int i = 0; i < 5; i++) {
      int id = i;
      owners.add(
          queued(
              () -> {
                latch.runExclusive(() -> {
                  assertSame(holder, Thread.currentThread());
                  assertEquals(HybridLatch.INVALID_STAMP, latch.readOptimistic());
                  events.add("r" + id);
                  counter++;
                });
                assertTrue(counter > id, "its effect is visible to its owner");
              },
              i + 1));
    }
    long before = latch.version();
    latch.releaseExclusive();
    assertEquals(List.of("r0", "r1", "r2", "r3", "r4"), List.copyOf(events), "in their order");
    assertTrue(latch.version() > before);
    for (Thread owner : owners) {
      owner.join();
    }
    assertEquals(5, counter);
  }

  /** No thread overtakes an earlier writer, which may be a combiner itself. */
  @Test
  void R22_requestsBehindAWriterWaitForIt() throws InterruptedException {
    latch.acquireExclusive();
    ConcurrentLinkedQueue<String> events = new ConcurrentLinkedQueue<>();
    Thread first = queued(() -> latch.runExclusive(() -> events.add("a")), 1);
    Thread writer =
        queued(
            () -> {
              latch.acquireExclusive();
              events.add("w");
              latch.releaseExclusive();
            },
            2);
    Thread last = queued(() -> latch.runExclusive(() -> events.add("b")), 3);
    latch.releaseExclusive();
    first.join();
    writer.join();
    last.join();
    assertEquals(List.of("a", "w", "b"), List.copyOf(events));
  }

  @Test
  void R22_unmodifiedReleaseCountsAsModifiedIfARequestRan() throws InterruptedException {
    long stamp = latch.readOptimistic();
    latch.acquireExclusive();
    Thread owner = queued(() -> latch.runExclusive(() -> counter++));
    latch.releaseExclusiveUnmodified();
    owner.join();
    assertFalse(latch.validate(stamp));
    assertEquals(1, counter);
  }

  @Test
  void R22_batchIsBoundedAndTheRestIsServedAllTheSame() throws InterruptedException {
    latch.acquireExclusive();
    int crowd = 2 * Requests.BATCH + 3;
    List<Thread> owners = new ArrayList<>();
    AtomicInteger byHolder = new AtomicInteger();
    Thread holder = Thread.currentThread();
    for (int i = 0; i < crowd; i++) {
      owners.add(
          Thread.startVirtualThread(() ->
              latch.runExclusive(() -> {
                counter++;
                if (Thread.currentThread() == holder) {
                  byHolder.incrementAndGet();
                }
              })));
    }
    Await.until(() -> waiters() == crowd);
    latch.releaseExclusive();
    assertEquals(Requests.BATCH, byHolder.get());
    for (Thread owner : owners) {
      owner.join();
    }
    assertEquals(crowd, counter);
  }

  @Test
  void R22_failureOfOneReachesItsOwnerAloneAndTheOthersRun() throws InterruptedException {
    latch.acquireExclusive();
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    Thread good = queued(() -> latch.runExclusive(() -> counter++), 1);
    Thread bad =
        queued(
            () ->
                thrown.set(
                    assertThrows(
                        StackOverflowError.class,
                        () ->
                            latch.runExclusive(() -> {
                              throw new StackOverflowError("of the request");
                            }))),
            2);
    Thread better = queued(() -> latch.runExclusive(() -> counter++), 3);
    latch.releaseExclusive();
    assertEquals(2, counter, "the holder has not noticed");
    good.join();
    bad.join();
    better.join();
    assertEquals("of the request", thrown.get().getMessage());
  }

  @Test
  void R22_whoHasGivenUpIsNotServed() throws InterruptedException {
    latch.acquireExclusive();
    AtomicReference<Acquisition> outcome = new AtomicReference<>();
    Thread owner =
        new Thread(() ->
            outcome.set(
                latch.runExclusive(
                    () -> counter++, WaitTerms.endless().atMost(Duration.ofNanos(1_000)))));
    owner.start();
    owner.join();
    latch.releaseExclusive();
    assertEquals(Acquisition.TIMED_OUT, outcome.get());
    assertEquals(0, counter);
  }

  /** The schedule of the rule: claimed, and only then does its owner want to leave. */
  @Test
  void R22_whoIsBeingServedCannotLeave() throws InterruptedException {
    latch.acquireExclusive();
    AtomicReference<Object> seen = new AtomicReference<>();
    AtomicReference<Thread> owner = new AtomicReference<>();
    AtomicBoolean wanted = new AtomicBoolean(true);
    AtomicInteger asked = new AtomicInteger();
    WaitTerms impatient =
        WaitTerms.endless()
            .interruptible()
            .asLongAs(
                Duration.ofNanos(1_000),
                () -> {
                  asked.incrementAndGet();
                  return wanted.get();
                });
    owner.set(
        queued(() -> {
          Acquisition outcome =
              latch.runExclusive(
                  () -> {
                    wanted.set(false);
                    owner.get().interrupt();
                    // It looks at its state again, sees the interrupt, and goes on waiting.
                    Await.until(() -> !owner.get().isInterrupted());
                    counter++;
                  },
                  impatient);
          seen.set(outcome + " " + Thread.currentThread().isInterrupted());
        }));
    latch.releaseExclusive();
    owner.get().join();
    assertEquals("ACQUIRED true", seen.get());
    assertEquals(1, counter);
  }

  @Test
  void R22_requestThatWantsALatchOrGivesOneUpIsRefused() throws InterruptedException {
    HybridLatch other = new HybridLatch();
    List<Runnable> wishes =
        List.of(
            other::acquireExclusive,
            other::acquireShared,
            other::tryAcquireShared,
            () -> other.tryAcquireExclusive(1),
            () -> other.runExclusive(() -> {}),
            () -> latch.runExclusive(() -> {}),
            latch::releaseExclusive, // the hold of somebody who counts on it
            latch::releaseExclusiveUnmodified,
            latch::releaseShared,
            latch::downgrade);
    for (Runnable wish : wishes) {
      assertThrows(IllegalStateException.class, () -> latch.runExclusive(wish));
      latch.acquireExclusive();
      Thread owner =
          queued(() -> assertThrows(IllegalStateException.class, () -> latch.runExclusive(wish)));
      latch.releaseExclusive();
      owner.join();
      assertEquals(LatchWord.FREE, other.wordOpaque());
    }
    latch.acquireExclusive(); // afterwards the thread may again
    latch.releaseExclusive();
  }

  /** Random times out, interrupts and failures against holders of all kinds. */
  @Test
  void R22_exactlyOnceWhateverHappens() throws InterruptedException {
    long seed = Long.getLong("revenant.seed", System.nanoTime());
    System.out.println("CombiningTest seed " + seed);
    int threads = 12;
    int rounds = 3_000;
    int[] ran = new int[threads * rounds]; // guarded by the latch
    boolean[] told = new boolean[threads * rounds];
    List<Thread> all = new ArrayList<>();
    for (int t = 0; t < threads; t++) {
      int first = t * rounds;
      SplittableRandom random = new SplittableRandom(seed + t);
      Runnable body =
          () -> {
            for (int i = first; i < first + rounds; i++) {
              told[i] = once(random, ran, i);
            }
          };
      all.add(t % 2 == 0 ? new Thread(body) : Thread.ofVirtual().unstarted(body));
    }
    all.forEach(Thread::start);
    for (Thread thread : all) {
      thread.join();
    }
    for (int i = 0; i < ran.length; i++) {
      assertEquals(told[i] ? 1 : 0, ran[i], "request " + i + ", seed " + seed);
    }
  }

  private boolean once(SplittableRandom random, int[] ran, int i) {
    boolean fails = random.nextInt(8) == 0;
    Runnable request =
        () -> {
          ran[i]++;
          if (fails) {
            throw new ArithmeticException();
          }
        };
    switch (random.nextInt(6)) {
      case 0 -> {
        latch.acquireExclusive();
        Thread.yield(); // so that requests queue
        latch.releaseExclusive();
        return false;
      }
      case 1 -> {
        latch.acquireShared();
        Thread.yield();
        latch.releaseShared();
        return false;
      }
      default -> {}
    }
    WaitTerms terms =
        switch (random.nextInt(4)) {
          case 0 -> WaitTerms.endless().atMost(Duration.ofNanos(random.nextInt(50_000)));
          case 1 -> {
            int patience = random.nextInt(1, 4);
            AtomicInteger asked = new AtomicInteger();
            yield WaitTerms.endless()
                .asLongAs(Duration.ofNanos(2_000), () -> asked.incrementAndGet() < patience);
          }
          case 2 -> {
            if (random.nextBoolean()) {
              Thread.currentThread().interrupt();
            }
            yield WaitTerms.endless().interruptible();
          }
          default -> WaitTerms.endless();
        };
    try {
      return latch.runExclusive(request, terms) == Acquisition.ACQUIRED;
    } catch (ArithmeticException e) {
      return true;
    } finally {
      Thread.interrupted();
    }
  }

  private Thread queued(Runnable body) {
    return awaitQueued(new Thread(body), 1);
  }

  /** Virtual threads all wait in one queue, however many cache nodes the machine has. */
  private Thread queued(Runnable body, int n) {
    return awaitQueued(Thread.ofVirtual().unstarted(body), n);
  }

  private Thread awaitQueued(Thread thread, int n) {
    thread.start();
    Await.until(() -> waiters() == n);
    return thread;
  }

  private int waiters() {
    return ParkingLot.global().queuedNear(latch, 0);
  }
}
