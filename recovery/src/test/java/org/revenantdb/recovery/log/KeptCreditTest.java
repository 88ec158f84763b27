package org.revenantdb.recovery.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.revenantdb.latch.WaitMeter;
import org.revenantdb.recovery.file.DiskFullException;
import org.revenantdb.recovery.testing.Await;

class KeptCreditTest {
  private static final int LIMIT = 1 << 20;
  private static final int BYTES = 100;

  private final AtomicLong tail = new AtomicLong(1);
  private int hurries;
  private final LogSpace log = new LogSpace(tail::get, LIMIT, /* reserve= */ 10, () -> hurries++);
  private final PageSpace pages =
      new PageSpace(tail::get, /* limit= */ 10_000, /* reserve= */ 10, () -> hurries++);
  private final RecoverySpace space = new RecoverySpace(log, pages);

  private void work(int bytes) {
    space.acquire(BYTES, 1);
    tail.getAndAdd(bytes);
    space.release(BYTES, 1);
  }

  @Test
  void release_keepsTheCredit_whichCountsAsGranted() {
    work(0);
    assertEquals(BYTES, log.credit().granted());
    work(0);
    assertEquals(BYTES, log.credit().granted());
    assertEquals(1, pages.credit().granted());
  }

  @Test
  void release_ofAnotherSize_takesThePlace() {
    work(0);
    space.acquire(2 * BYTES, 2);
    assertEquals(3 * BYTES, log.credit().granted());
    space.release(2 * BYTES, 2);
    assertEquals(2 * BYTES, log.credit().granted());
    assertEquals(2, pages.credit().granted());
  }

  @Test
  void release_ofMuch_keepsNothing() {
    space.acquire(LIMIT / 8, 1);
    space.release(LIMIT / 8, 1);
    assertEquals(0, log.credit().granted());
    space.acquire(BYTES, 5_000);
    space.release(BYTES, 5_000);
    assertEquals(0, pages.credit().granted());
  }

  @Test
  void R17_a_request_for_everything_gets_the_kept_credit_too() {
    work(0);
    space.acquire(LIMIT - 10, 1);
    assertEquals(LIMIT - 10, log.credit().granted());
    space.release(LIMIT - 10, 1);
    work(0);
    assertTrue(space.tryAcquire(BYTES, 10_000 - 10));
  }

  @Test
  void R17_kept_credit_that_is_used_again_and_again_stays_within_the_bound() {
    for (int i = 0; i < LIMIT / BYTES - 2 && log.used() < LIMIT - 10 - 2 * BYTES; i++) {
      work(BYTES);
      assertTrue(log.used() <= LIMIT - 10, log.used() + " in use");
    }
    assertTrue(hurries > 0, "nobody has asked for a checkpoint");
    assertFalse(space.tryAcquire(3 * BYTES, 1));
  }

  @Test
  void acquire_afterAStop_isRefusedDespiteKeptCredit() {
    work(0);
    space.stop(new IllegalStateException("on purpose"));
    assertThrows(LogStoppedException.class, () -> space.acquire(BYTES, 1));
  }

  @Test
  void acquire_whereACheckpointIsNeeded_requestsIt() {
    work(0);
    tail.getAndAdd(LIMIT / 2);
    work(0);
    assertEquals(1, hurries);
  }

  /** A log of 1,000 bytes on a disk that is full. */
  private RecoverySpace onAFullDisk() {
    LogSpace.Segments files =
        new LogSpace.Segments() {
          @Override
          public void ensure(long lsn) {
            if (!exist(lsn)) {
              throw new DiskFullException(Path.of("log"), 0, "it is full", "make room", null);
            }
          }

          @Override
          public boolean exist(long lsn) {
            return lsn <= 1_000;
          }
        };
    LogSpace small =
        new LogSpace(
            tail::get,
            files,
            /* margin= */ 0,
            LIMIT,
            /* reserve= */ 10,
            () -> hurries++,
            Pace.Time.SYSTEM,
            WaitMeter.NONE);
    return new RecoverySpace(small, pages);
  }

  @Test
  void acquire_onAFullDisk_isNotRefusedBecauseOfKeptCredit() {
    RecoverySpace full = onAFullDisk();
    full.acquire(300, 1);
    full.release(300, 1);
    full.acquire(800, 1);
    assertEquals(800, full.log().credit().granted());
    assertThrows(DiskFullException.class, () -> full.acquire(300, 1));
    assertEquals(800, full.log().credit().granted());
  }

  @Test
  void tryAcquire_onAFullDisk_isNotRefusedBecauseOfKeptCredit() {
    RecoverySpace full = onAFullDisk();
    full.acquire(300, 1);
    full.release(300, 1);
    assertTrue(full.tryAcquire(800, 1));
    assertFalse(full.tryAcquire(300, 1));
  }

  @Test
  void acquire_ofKeptCreditBeyondTheFiles_isRefused() {
    RecoverySpace full = onAFullDisk();
    full.acquire(300, 1);
    full.release(300, 1);
    tail.set(900);
    assertThrows(DiskFullException.class, () -> full.acquire(300, 1));
    assertEquals(0, full.log().credit().granted());
  }

  @Test
  void R17_a_waiting_thread_is_woken_by_a_release_that_would_have_kept_credit() throws Exception {
    space.acquire(BYTES, 1);
    Thread waits = Thread.ofPlatform().start(() -> space.acquire(LIMIT - 10, 1));
    while (!log.credit().isAwaited()) {
      Await.pause();
    }
    space.release(BYTES, 1);
    waits.join();
    assertEquals(LIMIT - 10, log.credit().granted());
  }
}
