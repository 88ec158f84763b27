package org.revenantdb.recovery.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.revenantdb.recovery.testing.Await;

/** R17: pages that a restart may have to read are reserved, not checked. */
class PageSpaceTest {
  private static final int LIMIT = 800;
  private static final int RESERVE = 100;

  private final AtomicLong durable = new AtomicLong(1000);
  private final AtomicInteger hurries = new AtomicInteger();
  private final PageSpace space =
      new PageSpace(durable::get, LIMIT, RESERVE, hurries::incrementAndGet);

  private void dirty(int pages) {
    for (int i = 0; i < pages; i++) {
      space.dirtied();
    }
  }

  private static void awaitParked(Thread thread) {
    while (thread.getState() != Thread.State.TIMED_WAITING) {
      assertTrue(thread.isAlive(), "nothing was waited for");
      Await.pause();
    }
  }

  /** A hundred sessions would pass any check together; credit admits only as many as fit. */
  @Test
  void R17_a_hundred_sessions_that_want_credit_together_never_exceed_the_bound() throws Exception {
    long seed = Long.getLong("pages.seed", System.nanoTime());
    int sessions = 100;
    int want = 20; // so that a third of them fit
    AtomicLong worst = new AtomicLong();
    AtomicLong tail = new AtomicLong(1000);
    AtomicLong toWrite = new AtomicLong();
    CyclicBarrier together = new CyclicBarrier(sessions);
    CountDownLatch running = new CountDownLatch(sessions);
    List<Thread> threads = new ArrayList<>();
    for (int session = 0; session < sessions; session++) {
      Random random = new Random(seed + session);
      threads.add(
          Thread.ofVirtual()
              .start(() -> {
                try {
                  together.await();
                } catch (Exception broken) {
                  throw new AssertionError(broken);
                }
                for (int i = 0; i < 50; i++) {
                  space.acquire(want);
                  int dirtied = random.nextInt(want + 1);
                  dirty(dirtied);
                  worst.accumulateAndGet(space.inUse(), Math::max);
                  toWrite.addAndGet(dirtied);
                  tail.addAndGet(100);
                  space.release(want);
                }
                running.countDown();
              }));
    }
    while (running.getCount() > 0) { // page writer and checkpointer
      int pages = (int) toWrite.getAndSet(0);
      long lsn = tail.get();
      if (pages > 0) {
        space.written(pages, lsn, PageSpace.NOT_ON_RECORD);
      }
      space.redoPointMoved(lsn);
      Await.pause();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertTrue(worst.get() <= LIMIT - RESERVE, "pages: " + worst + ", pages.seed=" + seed);
  }

  @Test
  void R17_credit_is_a_reservation() throws InterruptedException {
    for (int i = 0; i < 100; i++) {
      space.acquire(7);
    }
    Thread next = Thread.ofPlatform().start(() -> space.acquire(1));
    awaitParked(next);
    assertEquals(0, hurries.get(), "no checkpoint gives back what is only granted");
    space.release(7);
    next.join();
  }

  @Test
  void a_checkpoint_is_requested_at_half_of_the_limit() {
    dirty(LIMIT / 2);
    space.acquire(1);
    assertEquals(0, hurries.get());
    dirty(1);
    space.acquire(1);
    assertEquals(1, hurries.get());
    assertTrue(space.isScarce());
  }

  /**
   * The cleaner reverts the work of others, so it does not queue behind threads that do more of it.
   */
  @Test
  void R17_the_cleaner_uses_a_reserve_that_writers_cannot_use() throws InterruptedException {
    dirty(LIMIT - RESERVE);
    Thread writer = Thread.ofPlatform().start(() -> space.acquire(1));
    awaitParked(writer);
    space.acquireReserved(60);
    dirty(60);
    space.release(60);
    Thread cleaner = Thread.ofPlatform().start(() -> space.acquireReserved(60));
    awaitParked(cleaner); // the reserve has an end, too
    space.written(LIMIT - RESERVE + 60, 1500, PageSpace.NOT_ON_RECORD);
    space.redoPointMoved(1500);
    cleaner.join();
    writer.join();
    assertEquals(0, space.inUse());
  }

  @Test
  void a_written_page_counts_until_the_redo_point_has_passed_it() {
    dirty(5);
    space.written(3, 1200, PageSpace.NOT_ON_RECORD);
    space.written(2, 1400, PageSpace.NOT_ON_RECORD);
    assertEquals(5, space.inUse());
    space.redoPointMoved(1199);
    assertEquals(5, space.inUse());
    space.redoPointMoved(1200);
    assertEquals(2, space.inUse());
    space.redoPointMoved(1400);
    assertEquals(0, space.inUse());
  }

  /** R6: a write that a power cut can undo does not save a visit. */
  @Test
  void R6_a_written_page_counts_until_its_record_is_durable() {
    dirty(3);
    space.written(2, 1200, /* onRecord= */ 1300);
    durable.set(1299);
    space.redoPointMoved(1000);
    assertEquals(3, space.inUse());
    durable.set(1300);
    space.redoPointMoved(1000);
    assertEquals(1, space.inUse());
  }

  /** The record of one batch may be missing; the records of later batches still count. */
  @Test
  void stints_end_in_any_order() {
    dirty(7);
    space.written(4, 1500, PageSpace.NOT_ON_RECORD);
    space.written(3, 1600, 1650);
    durable.set(1700);
    space.redoPointMoved(1400);
    assertEquals(4, space.inUse());
  }

  @Test
  void R12_a_freed_page_counts_until_the_record_that_frees_it_is_durable() {
    dirty(1);
    space.discarded(1100);
    assertEquals(1, space.inUse());
    durable.set(1100);
    space.redoPointMoved(1000);
    assertEquals(0, space.inUse());
  }

  /** Near the bound each page costs the time in which checkpoints free one, as in LogSpace. */
  @Test
  void callers_are_slowed_down_smoothly_near_the_bound() {
    long[] now = {0};
    List<Long> pauses = new ArrayList<>();
    PageSpace paced =
        new PageSpace(
            durable::get,
            LIMIT,
            RESERVE,
            () -> {},
            new Pace.Time() {
              @Override
              public long now() {
                return now[0];
              }

              @Override
              public void pause(long nanos) {
                pauses.add(nanos);
                now[0] += nanos;
              }
            });
    for (int i = 0; i <= LIMIT / 2; i++) {
      paced.acquire(1);
      paced.dirtied();
      paced.release(1);
    }
    paced.acquire(1); // asks for a checkpoint
    paced.release(1);
    now[0] += 401_000;
    paced.written(401, 1100, PageSpace.NOT_ON_RECORD);
    paced.redoPointMoved(1100); // 1000 ns a page
    for (int i = 0; i < 699; i++) {
      paced.acquire(1);
      paced.dirtied();
      paced.release(1);
    }
    assertEquals(149, pauses.size(), "from the mark, at 550, on");
    long before = 0;
    for (long pause : pauses) {
      assertTrue(pause >= before && pause <= 1000, "pauses: " + pauses);
      before = pause;
    }
  }

  @Test
  void a_stopped_engine_fails_waiting_and_later_callers() throws InterruptedException {
    dirty(LIMIT);
    List<Throwable> thrown = new ArrayList<>();
    Thread waiting =
        Thread.ofPlatform()
            .start(
                () -> thrown.add(assertThrows(LogStoppedException.class, () -> space.acquire(1))));
    awaitParked(waiting);
    RuntimeException cause = new RuntimeException("the disk is gone");
    space.stop(cause);
    waiting.join();
    assertEquals(cause, thrown.getFirst().getCause());
    assertThrows(LogStoppedException.class, () -> space.acquireReserved(1));
  }

  @Test
  void what_can_never_be_granted_is_refused() {
    assertThrows(IllegalArgumentException.class, () -> space.acquire(LIMIT - RESERVE + 1));
    assertThrows(IllegalArgumentException.class, () -> space.acquireReserved(LIMIT + 1));
  }

  /** Credit for pages is released if there is no credit for bytes. */
  @Test
  void credit_for_both_is_taken_whole_or_not_at_all() {
    AtomicLong tail = new AtomicLong(1000);
    RecoverySpace both = new RecoverySpace(new LogSpace(tail::get, 10_000, 2_000, () -> {}), space);
    assertThrows(IllegalArgumentException.class, () -> both.acquire(8_001, LIMIT - RESERVE));
    both.acquire(8_000, LIMIT - RESERVE);
    both.release(8_000, LIMIT - RESERVE);
    assertEquals(0, both.log().used());
  }

  /** A caller that only saves work does not wait, and leaves the credit to waiting callers. */
  @Test
  void R17_a_try_takes_nothing_where_there_is_no_room() {
    AtomicLong tail = new AtomicLong(1000);
    LogSpace log = new LogSpace(tail::get, 10_000, 2_000, () -> {});
    assertTrue(log.tryAcquire(8_000));
    assertEquals(false, log.tryAcquire(1));
    log.release(8_000);
    assertEquals(0, log.used());
  }
}
