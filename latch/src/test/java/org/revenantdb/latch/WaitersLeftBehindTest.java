package org.revenantdb.latch;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Ways to leave waiters behind, or to lose the latch, that a review of the protocol found.
 *
 * <p>Each is a schedule that is played step by step; before its repair the last thread that is
 * joined hung, unless it says otherwise.
 */
@ExtendWith(NobodyTakesOver.class)
class WaitersLeftBehindTest {
  private static final long LONG = TimeUnit.HOURS.toNanos(1);

  /** The test whose latch the initialisers of classes want. */
  private static volatile @Nullable WaitersLeftBehindTest pinnedUnder;

  private final HybridLatch latch = new HybridLatch();
  private final ParkingLot lot = ParkingLot.global();

  @AfterEach
  void leftFree() {
    lot.allocationFault = null;
    lot.setFairTime(latch, 0, System.nanoTime());
    assertEquals(LatchWord.FREE, latch.wordOpaque(), latch::toString);
    assertEquals(0, waiters());
    assertFalse(Thread.interrupted());
  }

  /**
   * A and B are queued. A is woken and is responsible for B, because PARKED is clear now. Another
   * thread barges, A loses, and has no memory to queue again. A then forgot B: it entered without
   * PARKED, and its release did not look at the queue.
   */
  @Test
  void one_that_was_woken_and_finds_no_memory_to_queue_again_still_answers_for_those_behind_it()
      throws InterruptedException {
    AtomicBoolean barged = new AtomicBoolean();
    AtomicBoolean starved = new AtomicBoolean();
    WaitTerms terms =
        WaitTerms.endless()
            .asLongAs(() -> {
              Await.until(barged::get); // on its way, if slowly
              return true;
            });
    latch.acquireExclusive();
    Thread first =
        queued(
            () -> {
              latch.acquireExclusive(terms);
              latch.releaseExclusive();
            },
            1);
    Thread second =
        queued(
            () -> {
              latch.acquireExclusive();
              latch.releaseExclusive();
            },
            2);
    Await.until(() -> isIn(first, "stillWanted"));
    lot.setFairTime(latch, 0, System.nanoTime() + LONG);
    latch.releaseExclusive();
    assertEquals(1, waiters(), "the first is woken");
    assertTrue(latch.tryAcquireExclusive(), "and passed by");
    lot.allocationFault =
        () -> {
          if (Thread.currentThread() == first) {
            starved.set(true);
            throw new OutOfMemoryError("injected");
          }
        };
    lot.setFairTime(latch, 0, System.nanoTime()); // or it would nap instead of queueing
    barged.set(true);
    Await.until(starved::get);
    assertEquals(LatchWord.EXCLUSIVE, latch.wordOpaque(), "PARKED is hidden");
    latch.releaseExclusive();
    first.join();
    second.join();
  }

  /**
   * The leaving thread has never checked whether it runs a request; to run those of others it needs
   * its own object. Without memory for that it threw out of the release, with the latch held and
   * the requests claimed, for ever.
   */
  @Test
  void holder_without_memory_to_run_requests_leaves_them_to_their_owners()
      throws InterruptedException {
    AtomicInteger ran = new AtomicInteger();
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    latch.acquireExclusive();
    Thread owner = queued(() -> latch.runExclusive(ran::incrementAndGet), 1);
    Thread leaver =
        new Thread(() -> {
          lot.allocationFault =
              () -> {
                throw new OutOfMemoryError("injected");
              };
          try {
            latch.releaseExclusive();
          } catch (Throwable t) {
            thrown.set(t);
          } finally {
            lot.allocationFault = null;
          }
        });
    leaver.start();
    leaver.join();
    assertNull(thrown.get());
    owner.join();
    assertEquals(1, ran.get());
  }

  /** What a waiter needs only to wait must not fail it, if it can do without. */
  @Test
  void acquisition_without_memory_to_see_whether_it_is_in_a_request_still_waits()
      throws InterruptedException {
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    AtomicInteger faults = new AtomicInteger();
    latch.acquireExclusive();
    lot.allocationFault =
        () -> {
          faults.incrementAndGet();
          throw new OutOfMemoryError("injected");
        };
    Thread waiter =
        new Thread(() -> {
          try {
            latch.acquireExclusive();
            latch.releaseExclusive();
          } catch (Throwable t) {
            thrown.set(t);
          }
        });
    waiter.start();
    Await.until(() -> faults.get() > 10 || !waiter.isAlive());
    lot.allocationFault = null;
    latch.releaseExclusive();
    waiter.join();
    assertNull(thrown.get());
  }

  /**
   * A request releases a latch that was handed to it, and so runs the requests that wait there;
   * afterwards it still is a request, and must not wait.
   */
  @Test
  void request_that_ran_the_requests_of_another_latch_is_still_refused_a_latch()
      throws InterruptedException {
    latch.acquireExclusive();
    Thread other = queued(() -> latch.runExclusive(() -> {}), 1);
    assertThrows(
        IllegalStateException.class,
        () ->
            new HybridLatch()
                .runExclusive(() -> {
                  latch.releaseExclusive();
                  Requests.refuseInside();
                }));
    other.join();
  }

  /**
   * The holder has claimed and run the request when its owner's question throws. The owner could
   * not know then that the request had been run; the terms say that nothing ends the wait any more.
   */
  @Test
  void request_that_was_run_is_reported_as_run_though_the_callback_throws_afterwards()
      throws InterruptedException {
    AtomicInteger ran = new AtomicInteger();
    AtomicReference<Object> outcome = new AtomicReference<>();
    AtomicBoolean asking = new AtomicBoolean();
    WaitTerms terms =
        WaitTerms.endless()
            .asLongAs(
                Duration.ofNanos(1),
                () -> {
                  asking.set(true);
                  Await.until(() -> ran.get() > 0);
                  throw new ArithmeticException();
                });
    latch.acquireExclusive();
    Thread owner =
        queued(
            () -> {
              try {
                outcome.set(latch.runExclusive(ran::incrementAndGet, terms));
              } catch (ArithmeticException e) {
                outcome.set(e);
              }
            },
            1);
    Await.until(asking::get);
    latch.releaseExclusive();
    owner.join();
    assertEquals(Acquisition.ACQUIRED, outcome.get());
    assertEquals(1, ran.get());
  }

  /**
   * Two latches in one bucket: a thread on its way to one of them does not matter for the other.
   */
  @Test
  void a_woken_waiter_of_another_latch_of_the_bucket_keeps_no_thread_waiting()
      throws InterruptedException {
    Await.assumeSeveralCarriers();
    HybridLatch neighbour = neighbour();
    AtomicBoolean mayGo = new AtomicBoolean();
    WaitTerms slow =
        WaitTerms.endless()
            .asLongAs(() -> {
              Await.until(mayGo::get);
              return true;
            });
    latch.acquireExclusive();
    neighbour.acquireExclusive();
    Thread first =
        queued(
            () -> {
              latch.acquireExclusive(slow);
              latch.releaseExclusive();
            },
            1);
    Await.until(() -> isIn(first, "stillWanted"));
    Thread second =
        queued(
            () -> {
              neighbour.acquireExclusive();
              neighbour.releaseExclusive();
            },
            2);
    lot.setFairTime(latch, 0, System.nanoTime() + LONG);
    latch.releaseExclusive(); // wakes the first, which does not come
    neighbour.releaseExclusive();
    second.join();
    mayGo.set(true);
    first.join();
    assertEquals(LatchWord.FREE, neighbour.wordOpaque());
  }

  /**
   * A reader is woken, and another thread barges past it. A second reader queues, and is left to
   * the first, which is still on its way. The first entered, and the second waited until it left
   * again, reader behind reader without a writer between them.
   */
  @Test
  void reader_that_queues_while_a_woken_reader_is_on_its_way_is_let_in_with_it()
      throws InterruptedException {
    Await.assumeSeveralCarriers();
    AtomicBoolean mayGo = new AtomicBoolean();
    WaitTerms slow =
        WaitTerms.endless()
            .asLongAs(() -> {
              Await.until(mayGo::get);
              return true;
            });
    latch.acquireExclusive();
    Thread first = queued(() -> latch.acquireShared(slow), 1);
    Await.until(() -> isIn(first, "stillWanted"));
    lot.setFairTime(latch, 0, System.nanoTime() + LONG);
    latch.releaseExclusive();
    assertTrue(latch.tryAcquireExclusive());
    Thread second = queued(latch::acquireShared, 1);
    latch.releaseExclusive();
    assertEquals(LatchWord.FREE, latch.wordOpaque(), "the first answers for the second");
    mayGo.set(true);
    first.join();
    second.join();
    assertEquals(2, LatchWord.sharedHolders(latch.wordOpaque()));
    latch.releaseShared();
    latch.releaseShared();
  }

  /** A woken waiter is responsible for those behind it. It died, and they were never woken. */
  @Test
  void one_that_was_woken_and_never_comes_is_replaced_by_one_that_waits_behind_it()
      throws InterruptedException {
    lot.lateNanos = ParkingLot.LATE_NANOS;
    latch.acquireExclusive();
    Thread lost =
        queued(
            () -> {
              WaitNode node = lot.newNode(latch, 0, /* shared= */ false, null, null);
              LatchWaiter waiter = LatchWaiter.EXCLUSIVE;
              lot.await(node, latch, 0, waiter, WaitTerms.ENDLESS, /* timed= */ false, 0);
            },
            1);
    Thread second = queued(this::acquireAndRelease, 2);
    Thread third = queued(this::acquireAndRelease, 3);
    lot.setFairTime(latch, 0, System.nanoTime() + LONG);
    latch.releaseExclusive();
    lost.join();
    second.join();
    third.join();
  }

  /**
   * A virtual thread is woken, and all carriers are pinned, in initialisers of classes, by threads
   * that are queued behind it. The latch stayed free for ever.
   */
  @Test
  void virtual_thread_whose_carriers_all_wait_behind_it_keeps_no_thread_out() throws Exception {
    lot.lateNanos = ParkingLot.LATE_NANOS;
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    byte[] pinning;
    try (InputStream in =
        WaitersLeftBehindTest.class.getResourceAsStream("WaitersLeftBehindTest$Pinning.class")) {
      pinning = in.readAllBytes();
    }
    pinnedUnder = this;
    latch.acquireExclusive();
    List<Thread> threads = new ArrayList<>();
    threads.add(Thread.startVirtualThread(this::acquireAndRelease));
    Await.until(() -> waiters() == 1);
    int carriers =
        Integer.getInteger(
            "jdk.virtualThreadScheduler.parallelism", Runtime.getRuntime().availableProcessors());
    for (int i = 1; i <= carriers; i++) {
      int before = i;
      threads.add(
          Thread.startVirtualThread(() -> {
            try {
              MethodHandles.lookup()
                  .defineHiddenClass(
                      pinning, /* initialize= */ true, MethodHandles.Lookup.ClassOption.NESTMATE);
            } catch (Throwable t) {
              thrown.set(t);
            }
          }));
      Await.until(() -> waiters() == before + 1 || thrown.get() != null);
    }
    lot.setFairTime(latch, 0, System.nanoTime() + LONG);
    latch.releaseExclusive();
    for (Thread thread : threads) {
      thread.join();
    }
    assertNull(thrown.get());
  }

  private void acquireAndRelease() {
    latch.acquireExclusive();
    latch.releaseExclusive();
  }

  /** A class of which copies are made, to be initialised once each. */
  private static final class Pinning {
    static {
      requireNonNull(pinnedUnder).acquireAndRelease();
    }
  }

  /** Another latch whose waiters queue where ours do; there are 512 places. */
  private HybridLatch neighbour() throws InterruptedException {
    latch.acquireExclusive();
    Thread waiter =
        queued(
            () -> {
              latch.acquireExclusive();
              latch.releaseExclusive();
            },
            1);
    HybridLatch found = new HybridLatch();
    while (lot.queuedNear(found, 0) == 0) {
      found = new HybridLatch();
    }
    latch.releaseExclusive();
    waiter.join();
    return found;
  }

  /**
   * With thousands of waiters one is always on its way, and each waiter checks once a second. If
   * any were replaced, the queue would change all the time.
   */
  @Test
  void only_a_late_waiter_is_replaced() {
    long late = ParkingLot.LATE_NANOS;
    Bucket bucket = new Bucket(1, LONG, /* seed= */ 1, /* now= */ 0);
    WaitNode woken = new WaitNode(Thread.currentThread(), latch, 0, false, 0, null);
    WaitNode waiting = new WaitNode(Thread.currentThread(), latch, 0, false, 0, null);
    bucket.enqueue(woken, /* returning= */ false, 0);
    bucket.enqueue(waiting, /* returning= */ false, 0);
    assertFalse(bucket.replaceLateOnes(waiting, 10 * late, late), "nobody is on its way");
    bucket.release(latch, 0, /* everybody= */ false, new WakesAndTracks(), 10 * late);
    assertTrue(woken.onItsWay);
    assertFalse(bucket.replaceLateOnes(waiting, 11 * late - 1, late));
    assertTrue(woken.onItsWay);
    assertTrue(bucket.replaceLateOnes(waiting, 11 * late, late));
    assertFalse(woken.onItsWay);
    assertTrue(waiting.onItsWay);
    assertEquals(WaitNode.RETRY, waiting.stateAcquire());
    assertEquals(0, bucket.queued());
  }

  private record WakesAndTracks() implements TracksArrivals<HybridLatch> {
    @Override
    public ParkingLot.Wake onDeparture(HybridLatch owner, ParkingLot.Waiters head) {
      return ParkingLot.Wake.RETRY;
    }
  }

  private static boolean isIn(Thread thread, String method) {
    for (StackTraceElement frame : thread.getStackTrace()) {
      if (frame.getMethodName().equals(method)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Starts a thread and waits until it is the n-th in the queue. A virtual one, since those share
   * one queue: of several the one that is preferred would depend on what went on there before.
   */
  private Thread queued(Runnable body, int n) {
    Thread thread = Thread.startVirtualThread(body);
    Await.until(() -> waiters() == n);
    return thread;
  }

  private int waiters() {
    return lot.queuedNear(latch, 0);
  }
}
