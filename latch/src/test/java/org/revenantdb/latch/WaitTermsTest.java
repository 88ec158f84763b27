package org.revenantdb.latch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What ends a wait for the latch: time, interrupts, and the question whether it is wanted. */
@ExtendWith(NobodyTakesOver.class)
class WaitTermsTest {
  private static final Duration AT_ONCE = Duration.ofNanos(1);

  private final HybridLatch latch = new HybridLatch();

  @AfterEach
  void leftFree() {
    assertEquals(LatchWord.FREE, latch.wordOpaque(), latch::toString);
    assertEquals(0, waiters());
    assertFalse(Thread.interrupted());
  }

  private Acquisition acquire(boolean shared, WaitTerms terms) {
    return shared ? latch.acquireShared(terms) : latch.acquireExclusive(terms);
  }

  private void release(boolean shared) {
    if (shared) {
      latch.releaseShared();
    } else {
      latch.releaseExclusive();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void free_isAcquiredOnWhateverTerms(boolean shared) {
    WaitTerms none =
        WaitTerms.endless().atMost(Duration.ZERO).interruptible().asLongAs(() -> false);
    Thread.currentThread().interrupt();
    assertEquals(Acquisition.ACQUIRED, acquire(shared, none));
    assertTrue(Thread.interrupted(), "kept");
    release(shared);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void time_isOverForWhoeverHasNone(boolean shared) {
    latch.acquireExclusive();
    for (Duration time : new Duration[] {Duration.ZERO, Duration.ofDays(-400_000), AT_ONCE}) {
      assertEquals(Acquisition.TIMED_OUT, acquire(shared, WaitTerms.endless().atMost(time)));
    }
    latch.releaseExclusive();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void time_beyondAllMeasureIsEndless(boolean shared) throws InterruptedException {
    latch.acquireExclusive();
    WaitTerms terms = WaitTerms.endless().atMost(Duration.ofDays(400_000));
    Thread waiter =
        queued(() -> {
          assertEquals(Acquisition.ACQUIRED, acquire(shared, terms));
          release(shared);
        });
    latch.releaseExclusive();
    waiter.join();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void interrupt_endsAnInterruptibleWaitAndIsKept(boolean shared) throws InterruptedException {
    latch.acquireExclusive();
    AtomicReference<Object> seen = new AtomicReference<>();
    Thread waiter =
        queued(() -> {
          Acquisition outcome = acquire(shared, WaitTerms.endless().interruptible());
          seen.set(outcome + " " + Thread.currentThread().isInterrupted());
        });
    waiter.interrupt();
    waiter.join();
    assertEquals("INTERRUPTED true", seen.get());
    assertEquals(LatchWord.EXCLUSIVE, latch.wordOpaque(), "nobody is queued any more");
    latch.releaseExclusive();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void interrupt_isThrownAsTheJdkDoes(boolean shared) throws InterruptedException {
    latch.acquireExclusive();
    AtomicBoolean status = new AtomicBoolean(true);
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    Thread waiter =
        queued(() -> {
          thrown.set(assertThrows(InterruptedException.class, () -> interruptibly(shared)));
          status.set(Thread.currentThread().isInterrupted());
        });
    waiter.interrupt();
    waiter.join();
    assertTrue(thrown.get() instanceof InterruptedException);
    assertFalse(status.get(), "cleared");
    latch.releaseExclusive();
    Thread.currentThread().interrupt();
    assertThrows(InterruptedException.class, () -> interruptibly(shared), "before it waits, too");
    assertFalse(Thread.interrupted());
    assertEquals(LatchWord.FREE, latch.wordOpaque());
  }

  private void interruptibly(boolean shared) throws InterruptedException {
    if (shared) {
      latch.acquireSharedInterruptibly();
    } else {
      latch.acquireExclusiveInterruptibly();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void question_isAskedUntilTheAnswerIsNo(boolean shared) throws InterruptedException {
    latch.acquireExclusive();
    AtomicInteger asked = new AtomicInteger();
    AtomicReference<Acquisition> outcome = new AtomicReference<>();
    WaitTerms terms =
        WaitTerms.endless().asLongAs(Duration.ofNanos(1_000), () -> asked.incrementAndGet() < 5);
    Thread waiter = new Thread(() -> outcome.set(acquire(shared, terms)));
    waiter.start();
    waiter.join();
    assertEquals(Acquisition.GIVEN_UP, outcome.get());
    assertEquals(5, asked.get());
    assertEquals(LatchWord.EXCLUSIVE, latch.wordOpaque());
    latch.releaseExclusive();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void question_thatThrowsEndsTheWaitAndReachesTheCaller(boolean shared)
      throws InterruptedException {
    latch.acquireExclusive();
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    WaitTerms terms =
        WaitTerms.endless()
            .asLongAs(
                AT_ONCE,
                () -> {
                  throw new ArithmeticException("of the question");
                });
    Thread waiter =
        new Thread(() ->
            thrown.set(assertThrows(ArithmeticException.class, () -> acquire(shared, terms))));
    waiter.start();
    waiter.join();
    assertEquals("of the question", thrown.get().getMessage());
    latch.releaseExclusive();
  }

  /** A question that says when it is being answered, and throws when something has happened. */
  private static WaitTerms throwing(AtomicBoolean asking, AtomicBoolean happened) {
    return WaitTerms.endless()
        .asLongAs(
            AT_ONCE,
            () -> {
              asking.set(true);
              Await.until(happened::get);
              throw new ArithmeticException();
            });
  }

  /** The grant comes while the question is being answered: it must not be lost with the answer. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void question_thatThrowsGivesBackWhatWasGrantedMeanwhile(boolean shared)
      throws InterruptedException {
    latch.acquireExclusive();
    AtomicBoolean asking = new AtomicBoolean();
    AtomicBoolean granted = new AtomicBoolean();
    WaitTerms terms = throwing(asking, granted);
    Thread waiter =
        new Thread(() -> assertThrows(ArithmeticException.class, () -> acquire(shared, terms)));
    waiter.start();
    Await.until(asking::get);
    ParkingLot.global().setFairTime(latch, 0, System.nanoTime());
    latch.releaseExclusive();
    assertFalse(latch.tryAcquireExclusive(), "handed over");
    granted.set(true);
    waiter.join();
  }

  /** The same with a wake-up: waiters behind must not wait for a thread that has gone. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void question_thatThrowsPassesOnAWakeUp(boolean shared) throws InterruptedException {
    Await.assumeSeveralCarriers();
    latch.acquireExclusive();
    AtomicBoolean asking = new AtomicBoolean();
    AtomicBoolean woken = new AtomicBoolean();
    WaitTerms terms = throwing(asking, woken);
    // Virtual threads share one queue; else the second might be preferred, for its cache node.
    Thread first =
        Thread.startVirtualThread(
            () -> assertThrows(ArithmeticException.class, () -> acquire(shared, terms)));
    Await.until(asking::get);
    Thread second =
        Thread.startVirtualThread(() -> {
          latch.acquireExclusive();
          latch.releaseExclusive();
        });
    Await.until(() -> waiters() == 2);
    ParkingLot.global().setFairTime(latch, 0, System.nanoTime() + Duration.ofHours(1).toNanos());
    latch.releaseExclusive();
    assertEquals(1, waiters(), "the second waits on");
    assertEquals(LatchWord.FREE, latch.wordOpaque(), "the first answers for it");
    woken.set(true);
    first.join();
    second.join();
    ParkingLot.global().setFairTime(latch, 0, System.nanoTime());
  }

  @Test
  void terms_refuseNonsense() {
    assertThrows(
        IllegalArgumentException.class,
        () -> WaitTerms.endless().asLongAs(Duration.ZERO, () -> true));
    Supplier<WaitTerms> nobodyAsked = () -> WaitTerms.endless().asLongAs(null);
    assertThrows(NullPointerException.class, nobodyAsked::get);
  }

  @Test
  void terms_describeThemselves() {
    assertEquals("endless", WaitTerms.endless().toString());
    assertEquals(
        "for 1 ns, interruptible, asking every 10000000 ns, counted in leaf",
        WaitTerms.endless()
            .atMost(AT_ONCE)
            .interruptible()
            .asLongAs(() -> true)
            .countedIn(new WaitStatistics("leaf"))
            .toString());
  }

  private Thread queued(Runnable body) {
    Thread thread = new Thread(body);
    thread.start();
    Await.until(() -> waiters() == 1);
    return thread;
  }

  private int waiters() {
    return ParkingLot.global().queuedNear(latch, 0);
  }
}
