package org.revenantdb.latch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.revenantdb.latch.ParkingLot.Outcome;
import org.revenantdb.latch.ParkingLot.Protocol;
import org.revenantdb.latch.ParkingLot.Waiters;
import org.revenantdb.latch.ParkingLot.Wake;

/**
 * The parking lot by itself, with one bucket, so that all keys share a queue, and a clock that the
 * test turns.
 */
class ParkingLotTest {
  private static final long FAIRNESS = 1_000;
  private static final long ENDLESS = TimeUnit.HOURS.toNanos(1);

  private final AtomicLong now = new AtomicLong(-5);
  private final AtomicInteger clockReads = new AtomicInteger();
  private final ParkingLot lot = new ParkingLot(1, FAIRNESS, this::readClock);
  private final Object owner = new Object();
  private final ConcurrentLinkedQueue<String> events = new ConcurrentLinkedQueue<>();

  /** A waiter of either kind, that remembers whom it was shown when it gave up. */
  private final class Kind implements Protocol<Object> {
    final boolean shared;
    final boolean returning;

    Kind(boolean shared, boolean returning) {
      this.shared = shared;
      this.returning = returning;
    }

    @Override
    public boolean mustWait(Object key) {
      return true;
    }

    @Override
    public Wake onDeparture(Object key, Waiters remaining) {
      events.add("gave up before " + remaining.count() + (remaining.shared() ? " readers" : ""));
      return Wake.NONE;
    }

    @Override
    public boolean shared() {
      return shared;
    }

    @Override
    public boolean returning() {
      return returning;
    }
  }

  private final Kind writer = new Kind(/* shared= */ false, /* returning= */ false);
  private final Kind reader = new Kind(/* shared= */ true, /* returning= */ false);
  private final Kind returningWriter = new Kind(/* shared= */ false, /* returning= */ true);

  private final Protocol<Object> silent = key -> true;

  @AfterEach
  void leftEmpty() {
    assertEquals(0, lot.queuedNear(owner, 0));
  }

  /** Without assertions it hangs, and with it every thread that uses that bucket. */
  @Test
  void callbackThatUsesTheLot_throwsRatherThanHang() {
    ParkingLot global = ParkingLot.global();
    Object key = new Object();
    AssertionError told =
        assertThrows(
            AssertionError.class, () -> global.park(key, 1, () -> global.unparkAll(key, 1) < 0));
    assertTrue(String.valueOf(told.getMessage()).contains("callback"), told.toString());
    assertEquals(0, global.unparkAll(key, 1), "its bucket is free again");
  }

  @Test
  void park_notIfThereIsNothingToWaitFor() {
    assertEquals(Outcome.NOT_PARKED, lot.park(owner, 0, () -> false));
    assertEquals(Outcome.NOT_PARKED, lot.park(owner, 0, () -> false, now.get() - 1));
  }

  @Test
  void park_aThrowingConditionReachesTheCallerAndQueuesNoThread() {
    assertThrows(
        ArithmeticException.class,
        () ->
            lot.park(
                owner,
                0,
                () -> {
                  throw new ArithmeticException();
                }));
    assertEquals(0, lot.unparkAll(owner, 0), "and the bucket is not locked");
  }

  @Test
  void park_refusesNulls() {
    Object nobody = null;
    assertThrows(NullPointerException.class, () -> lot.park(owner, 0, (BooleanSupplier) null));
    assertThrows(NullPointerException.class, () -> lot.park(nobody, 0, () -> false));
  }

  @Test
  void deadline_inThePastTimesOutWithoutSleeping() {
    assertEquals(Outcome.TIMED_OUT, lot.park(owner, 0, () -> true, now.get()));
    assertEquals(Outcome.TIMED_OUT, lot.park(owner, 0, writer, now.get() - 1));
    assertEquals(List.of("gave up before 0"), List.copyOf(events));
  }

  @Test
  void deadline_isSeenWhenTheClockReachesIt() throws InterruptedException {
    Thread waiter = start("w", 1, () -> lot.park(owner, 0, writer, 100));
    now.set(100);
    LockSupport.unpark(waiter);
    waiter.join();
    assertEquals(List.of("gave up before 0", "w TIMED_OUT"), List.copyOf(events));
  }

  @Test
  void wake_isFirstInFirstOut() throws InterruptedException {
    List<Thread> waiters = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      waiters.add(start("w" + i, i + 1, () -> lot.park(owner, 0, writer)));
    }
    for (int i = 0; i < 5; i++) {
      assertEquals(1, lot.unparkOne(owner, 0));
      waiters.get(i).join();
    }
    assertEquals(0, lot.unparkOne(owner, 0));
    assertEquals(
        List.of("w0 RETRY", "w1 RETRY", "w2 RETRY", "w3 RETRY", "w4 RETRY"), List.copyOf(events));
  }

  @Test
  void wake_aReturningWaiterIsFirst() throws InterruptedException {
    Thread fresh = start("fresh", 1, () -> lot.park(owner, 0, writer));
    Thread back = start("back", 2, () -> lot.park(owner, 0, returningWriter));
    lot.unparkOne(owner, 0);
    back.join();
    lot.unparkOne(owner, 0);
    fresh.join();
    assertEquals(List.of("back RETRY", "fresh RETRY"), List.copyOf(events));
  }

  @Test
  void wake_takesReadersThatStandTogetherAsOne() throws InterruptedException {
    List<Thread> all = new ArrayList<>();
    all.add(start("r0", 1, () -> lot.park(owner, 0, reader)));
    all.add(start("r1", 2, () -> lot.park(owner, 0, reader)));
    all.add(start("w", 3, () -> lot.park(owner, 0, writer)));
    all.add(start("r2", 4, () -> lot.park(owner, 0, reader)));
    List<String> groups = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      lot.unpark(
          owner,
          0,
          (key, head) -> {
            groups.add(head.count() + " " + head.shared() + " " + head.othersWait());
            return Wake.RETRY;
          });
    }
    assertEquals(List.of("2 true true", "1 false true", "1 true false", "0 false false"), groups);
    for (Thread thread : all) {
      thread.join();
    }
  }

  @Test
  void wake_ofOneKeyLeavesTheOthers() throws InterruptedException {
    Object other = new Object();
    Thread a = start("a", 1, () -> lot.park(owner, 1, writer));
    Thread b = start("b", 2, () -> lot.park(owner, 2, writer));
    Thread c = start("c", 3, () -> lot.park(other, 1, writer));
    assertEquals(0, lot.unparkAll(owner, 0));
    assertEquals(0, lot.unparkAll(other, 2));
    assertEquals(1, lot.unparkAll(owner, 2));
    b.join();
    assertEquals(1, lot.unparkAll(other, 1));
    c.join();
    assertEquals(1, lot.unparkAll(owner, 1));
    a.join();
  }

  @Test
  void wake_allOfAKeyMixedWithAnother() throws InterruptedException {
    List<Thread> mine = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      int n = i;
      mine.add(start("t" + n, n + 1, () -> lot.park(owner, n % 2, n % 3 == 0 ? reader : writer)));
    }
    assertEquals(3, lot.unparkAll(owner, 1));
    assertEquals(3, lot.queuedNear(owner, 0));
    assertEquals(3, lot.unparkAll(owner, 0));
    for (Thread thread : mine) {
      thread.join();
    }
  }

  @Test
  void departure_mayWakeNone() throws InterruptedException {
    Thread waiter = start("w", 1, () -> lot.park(owner, 0, writer));
    assertEquals(0, lot.unpark(owner, 0, (key, head) -> Wake.NONE));
    assertEquals(1, lot.queuedNear(owner, 0));
    assertEquals(1, lot.unpark(owner, 0, (key, head) -> Wake.GRANT));
    waiter.join();
    assertEquals(List.of("w GRANTED"), List.copyOf(events));
  }

  @Test
  void departure_thatThrowsWakesNoneAndUnlocks() throws InterruptedException {
    Thread waiter = start("w", 1, () -> lot.park(owner, 0, writer));
    assertThrows(
        ArithmeticException.class,
        () ->
            lot.unpark(
                owner,
                0,
                (key, head) -> {
                  throw new ArithmeticException();
                }));
    assertEquals(1, lot.queuedNear(owner, 0));
    assertEquals(1, lot.unparkOne(owner, 0));
    waiter.join();
  }

  @Test
  void giveUp_isShownTheReadersThatStoodBehind() throws InterruptedException {
    Thread first = start("w", 1, () -> lot.park(owner, 0, writer, 100));
    Thread second = start("r", 2, () -> lot.park(owner, 0, reader));
    now.set(100);
    LockSupport.unpark(first);
    first.join();
    lot.unparkOne(owner, 0);
    second.join();
    assertEquals(
        List.of("gave up before 1 readers", "w TIMED_OUT", "r RETRY"), List.copyOf(events));
  }

  /** llvm-project#201937: the waiter has decided to give up, but the grant comes first. */
  @Test
  void giveUp_afterAGrantTakesTheGrant() throws InterruptedException {
    Thread waiter = start("w", 1, () -> lot.park(owner, 0, writer, 100));
    lot.unpark(
        owner,
        0,
        (key, head) -> {
          int before = clockReads.get();
          now.set(100);
          LockSupport.unpark(waiter);
          // Once to see that its time is over, once to give up;
          // then it waits for the bucket, our bucket.
          Await.until(() -> clockReads.get() >= before + 2);
          return Wake.GRANT;
        });
    waiter.join();
    assertEquals(List.of("w GRANTED"), List.copyOf(events));
  }

  @Test
  void fairness_dueOneFairnessTimeAfterTheFirstCame() throws InterruptedException {
    Thread first = start("a", 1, () -> lot.park(owner, 0, writer));
    assertFalse(dueAfter(0), "it has only just come");
    assertFalse(dueAfter(FAIRNESS / 2 - 1));
    Thread second = start("b", 2, () -> lot.park(owner, 0, writer));
    assertTrue(dueAfter(FAIRNESS + 1), "a later one does not reset the time");
    assertEquals(1, lot.unpark(owner, 0, (key, head) -> Wake.GRANT));
    first.join();
    assertFalse(dueAfter(0), "one hand-over in a fairness time");
    assertTrue(dueAfter(2 * FAIRNESS));
    lot.unparkAll(owner, 0);
    second.join();
  }

  @Test
  void fairness_notResetByOneWhoWasWokenAndLost() throws InterruptedException {
    Thread waiter =
        start(
            "w",
            1,
            () -> {
              lot.park(owner, 0, writer);
              return lot.park(owner, 0, returningWriter);
            });
    now.addAndGet(FAIRNESS / 2 - 1);
    lot.unparkOne(owner, 0);
    Await.until(() -> lot.queuedNear(owner, 0) == 1);
    assertTrue(dueAfter(FAIRNESS + 1));
    lot.unparkOne(owner, 0);
    waiter.join();
  }

  /**
   * While the only waiter is on its way the queue is empty, and a newcomer set the fairness time
   * anew. One that barges each time, and newcomers that come each time, kept the waiter out for
   * ever.
   */
  @Test
  void fairness_notResetByANewcomerWhileOneThatWasWokenIsOnItsWay() throws InterruptedException {
    AtomicBoolean mayReturn = new AtomicBoolean();
    Thread waiter =
        start(
            "w",
            1,
            () -> {
              WaitNode first = lot.newNode(owner, 0, /* shared= */ false, null, null);
              lot.await(first, owner, 0, writer, WaitTerms.ENDLESS, /* timed= */ false, 0);
              Await.until(mayReturn::get);
              WaitNode again = lot.newNode(owner, 0, /* shared= */ false, null, first);
              return lot.await(
                  again, owner, 0, returningWriter, WaitTerms.ENDLESS, /* timed= */ false, 0);
            });
    lot.unparkOne(owner, 0);
    now.addAndGet(2 * FAIRNESS);
    Thread newcomer = start("n", 1, () -> lot.park(owner, 0, writer));
    assertFalse(dueAfter(0), "to the newcomer nothing was unfair yet");
    mayReturn.set(true);
    Await.until(() -> lot.queuedNear(owner, 0) == 2);
    assertTrue(dueAfter(0));
    assertEquals(1, lot.unpark(owner, 0, (key, head) -> Wake.GRANT));
    waiter.join();
    assertFalse(dueAfter(0), "one hand-over in a fairness time");
    lot.unparkAll(owner, 0);
    newcomer.join();
  }

  /**
   * Two keys share a bucket, and its fairness time. The one that is released more often took every
   * hand-over as soon as it was due, and no release of the other ever found one due.
   */
  @Test
  void fairness_ofOneKeyDoesNotUseUpThatOfAnother() throws InterruptedException {
    Thread rare = start("rare", 1, () -> lot.park(owner, 1, writer));
    Thread often = start("often", 2, () -> lot.park(owner, 2, writer));
    Thread later = start("later", 3, () -> lot.park(owner, 1, writer));
    now.addAndGet(2 * FAIRNESS);
    assertEquals(1, lot.unpark(owner, 2, (key, head) -> grantIfDue(head)));
    assertEquals(1, lot.unpark(owner, 1, (key, head) -> grantIfDue(head)), "it had come before");
    assertEquals(0, lot.unpark(owner, 1, (key, head) -> grantIfDue(head)), "this one had not");
    now.addAndGet(2 * FAIRNESS);
    assertEquals(1, lot.unpark(owner, 1, (key, head) -> grantIfDue(head)));
    rare.join();
    often.join();
    later.join();
  }

  private static Wake grantIfDue(Waiters head) {
    return head.handOverDue() ? Wake.GRANT : Wake.NONE;
  }

  /**
   * The question eats the permit of a wake-up that comes while it is asked (it parks itself). The
   * waiter went to sleep again then, for as long as it had until the next question.
   */
  @Test
  void question_thatConsumesThePermitOfAWakeUpDoesNotDelayIt() throws InterruptedException {
    AtomicInteger readsAtTheAnswer = new AtomicInteger();
    WaitTerms terms =
        WaitTerms.endless()
            .asLongAs(
                Duration.ofNanos(100),
                () -> {
                  lot.unparkOne(owner, 0);
                  LockSupport.park();
                  readsAtTheAnswer.set(clockReads.get());
                  return true;
                });
    Thread waiter = start("w", 1, () -> lot.park(owner, 0, () -> true, terms));
    Await.until(() -> {
      now.addAndGet(100);
      LockSupport.unpark(waiter);
      return !waiter.isAlive();
    });
    assertEquals(List.of("w RETRY"), List.copyOf(events));
    assertEquals(1, clockReads.get() - readsAtTheAnswer.get(), "when the next question is due");
  }

  @Test
  void interrupt_isKeptByTheUninterruptible() throws InterruptedException {
    AtomicBoolean kept = new AtomicBoolean();
    Thread waiter =
        start(
            "w",
            1,
            () -> {
              Outcome outcome = lot.park(owner, 0, writer);
              kept.set(Thread.currentThread().isInterrupted());
              return outcome;
            });
    waiter.interrupt();
    Await.until(() -> !waiter.isInterrupted());
    assertEquals(1, lot.unparkOne(owner, 0));
    waiter.join();
    assertTrue(kept.get());
  }

  @Test
  void interrupt_endsTheInterruptible() throws InterruptedException {
    AtomicInteger kept = new AtomicInteger();
    Thread endless =
        start("a", 1, () -> counted(lot.parkInterruptibly(owner, 0, () -> true), kept));
    Thread timed =
        start("b", 2, () -> counted(lot.parkInterruptibly(owner, 0, () -> true, ENDLESS), kept));
    endless.interrupt();
    endless.join();
    timed.interrupt();
    timed.join();
    assertEquals(List.of("a INTERRUPTED", "b INTERRUPTED"), List.copyOf(events));
    assertEquals(2, kept.get(), "both still have their status");
  }

  @Test
  void interrupt_beforehandCountsToo() {
    Thread.currentThread().interrupt();
    assertEquals(Outcome.INTERRUPTED, lot.parkInterruptibly(owner, 0, () -> true));
    assertTrue(Thread.interrupted());
  }

  @Test
  void permit_strayOnesChangeNothing() throws InterruptedException {
    Thread waiter = start("w", 1, () -> lot.park(owner, 0, writer));
    for (int i = 0; i < 1_000; i++) {
      LockSupport.unpark(waiter);
    }
    assertEquals(1, lot.queuedNear(owner, 0));
    lot.unparkOne(owner, 0);
    waiter.join();
    assertEquals(List.of("w RETRY"), List.copyOf(events));
  }

  @Test
  void outOfMemory_becomesATryAgainThatMindsTheDeadline() {
    lot.allocationFault =
        () -> {
          throw new OutOfMemoryError("injected");
        };
    assertEquals(Outcome.RETRY, lot.park(owner, 0, writer));
    assertEquals(Outcome.RETRY, lot.park(owner, 0, writer, now.get() + 1));
    assertEquals(Outcome.TIMED_OUT, lot.park(owner, 0, writer, now.get()));
    assertEquals(List.of("gave up before 0"), List.copyOf(events));
    Thread.currentThread().interrupt();
    assertEquals(Outcome.RETRY, lot.park(owner, 0, writer));
    assertEquals(Outcome.INTERRUPTED, lot.parkInterruptibly(owner, 0, () -> true));
    assertTrue(Thread.interrupted());
  }

  /** Wherever the stack ends, no bucket stays locked and no dead thread stays queued. */
  @Test
  void stackOverflow_atAnyDepthLeavesTheLotUsable() throws InterruptedException {
    AtomicInteger overflows = new AtomicInteger();
    Thread diver =
        new Thread(
            null,
            () -> {
              for (int padding = 0; padding < 400; padding++) {
                pad(padding % 100, overflows);
              }
            },
            "diver",
            256 << 10);
    diver.start();
    diver.join();
    assertEquals(400, overflows.get());
    events.clear();
    assertEquals(0, lot.queuedNear(owner, 0));
    Thread waiter = start("w", 1, () -> lot.park(owner, 0, writer));
    assertEquals(1, lot.unparkOne(owner, 0));
    waiter.join();
  }

  /** Moves the place where the stack will end by a frame at a time. */
  private void pad(int frames, AtomicInteger overflows) {
    if (frames == 0) {
      dive(overflows);
    } else {
      pad(frames - 1, overflows);
    }
  }

  private void dive(AtomicInteger overflows) {
    try {
      lot.park(owner, 0, silent, now.get() - 1);
      lot.unparkOne(owner, 0);
      dive(overflows);
    } catch (StackOverflowError e) {
      overflows.incrementAndGet();
    }
  }

  private long readClock() {
    clockReads.incrementAndGet();
    return now.get();
  }

  private boolean dueAfter(long nanos) {
    now.addAndGet(nanos);
    AtomicBoolean due = new AtomicBoolean();
    lot.unpark(
        owner,
        0,
        (key, head) -> {
          due.set(head.handOverDue());
          return Wake.NONE;
        });
    return due.get();
  }

  private static Outcome counted(Outcome outcome, AtomicInteger interrupted) {
    if (Thread.currentThread().isInterrupted()) {
      interrupted.incrementAndGet();
    }
    return outcome;
  }

  /**
   * Starts a thread that parks, waits until it is the n-th in the queue, and records its outcome.
   */
  private Thread start(String name, int n, Supplier<Outcome> parking) {
    Thread thread = new Thread(() -> events.add(name + " " + parking.get()), name);
    thread.start();
    Await.until(() -> lot.queuedNear(owner, 0) == n);
    return thread;
  }
}
