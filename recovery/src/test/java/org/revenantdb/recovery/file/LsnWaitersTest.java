package org.revenantdb.recovery.file;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongPredicate;
import org.junit.jupiter.api.Test;
import org.revenantdb.recovery.testing.Await;

/** Schedules of waiters and wakers, played step by step. */
class LsnWaitersTest {
  private static final long LSN = 10;

  private final LsnWaiters waiters = new LsnWaiters(TimeUnit.HOURS.toNanos(1));
  private final AtomicLong position = new AtomicLong();

  private Thread waiting(long lsn) {
    return waiting(Thread.ofPlatform().daemon(), lsn);
  }

  private Thread waiting(Thread.Builder builder, long lsn) {
    int before = waiters.queued();
    Thread waiter = builder.start(() -> waiters.await(lsn, wanted -> position.get() >= wanted));
    while (waiters.queued() == before) {
      Await.pause();
    }
    return waiter;
  }

  /** The waker unparks one of them; all the others are woken by those that go on. */
  @Test
  void all_whose_position_is_reached_are_woken_by_one_wake() throws InterruptedException {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      threads.add(waiting(i % 2 == 0 ? Thread.ofVirtual() : Thread.ofPlatform(), 1 + i % LSN));
    }
    position.set(LSN / 2);
    waiters.wake(lsn -> position.get() >= lsn);
    for (int i = 0; i < threads.size(); i++) {
      if (1 + i % LSN <= LSN / 2) {
        threads.get(i).join();
      }
    }
    assertEquals(threads.size() / 2, waiters.queued());
    position.set(LSN);
    waiters.wake(lsn -> position.get() >= lsn);
    for (Thread thread : threads) {
      thread.join();
    }
  }

  /** It is still on the stack, and the first that the waker would unpark. */
  @Test
  void one_that_has_left_by_itself_does_not_keep_the_wake_up_from_the_others()
      throws InterruptedException {
    Thread first = waiting(LSN);
    Thread second = waiting(LSN);
    Thread third = waiting(LSN);
    position.set(LSN);
    LockSupport.unpark(first);
    first.join();
    assertEquals(3, waiters.queued());
    waiters.wake(lsn -> position.get() >= lsn);
    second.join();
    third.join();
  }

  /** Its predicate has become false again: it has to pass on what it was woken with. */
  @Test
  void one_that_was_woken_for_nothing_wakes_the_others_and_waits_again()
      throws InterruptedException {
    AtomicLong room = new AtomicLong();
    LongPredicate takes =
        wanted -> room.getAndUpdate(free -> free >= wanted ? free - wanted : free) >= wanted;
    Thread big = Thread.ofPlatform().daemon().start(() -> waiters.await(5, takes));
    while (waiters.queued() == 0) {
      Await.pause();
    }
    Thread small = Thread.ofPlatform().daemon().start(() -> waiters.await(1, takes));
    while (waiters.queued() == 1) {
      Await.pause();
    }
    room.set(1);
    waiters.wakeAll();
    small.join();
    while (waiters.queued() == 0) {
      Await.pause();
    }
    room.set(5);
    waiters.wakeAll();
    big.join();
  }

  /**
   * One waker holds the stack and finds the waiter's position not reached; it is reached then, and
   * a second waker finds the stack empty; the first pushes the waiter back. There is no other
   * waker: the first one has to check again, or the waiter sleeps until its slice is over.
   */
  @Test
  void a_waiter_pushed_back_after_a_second_waker_found_none_is_seen_by_the_first()
      throws InterruptedException {
    Thread waiter = waiting(LSN);
    List<Boolean> seenByTheFirst = new ArrayList<>();
    waiters.wake(lsn -> {
      boolean reached = position.get() >= lsn;
      if (seenByTheFirst.isEmpty()) {
        assertTrue(waiters.isEmpty(), "the first waker holds the stack");
        position.set(LSN);
        waiters.wake(wanted -> position.get() >= wanted); // the second one, from begin to end
      }
      seenByTheFirst.add(reached);
      return reached;
    });
    assertTrue(seenByTheFirst.getLast(), "the first left a waiter behind that could go");
    waiter.join();
  }

  /** Looking again must not become looking for ever. */
  @Test
  void a_waker_leaves_those_alone_whose_position_is_not_reached() throws InterruptedException {
    Thread waiter = waiting(LSN);
    position.set(LSN - 1);
    AtomicLong looks = new AtomicLong();
    waiters.wake(lsn -> {
      looks.incrementAndGet();
      return position.get() >= lsn;
    });
    assertEquals(2, looks.get(), "once when it takes the waiter, once when it has put it back");
    position.set(LSN);
    waiters.wakeAll();
    waiter.join();
  }
}
