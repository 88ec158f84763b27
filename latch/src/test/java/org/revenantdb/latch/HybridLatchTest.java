package org.revenantdb.latch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What the latch promises, mode by mode; every test leaves it free. */
@ExtendWith(NobodyTakesOver.class)
class HybridLatchTest {
  private static final long LONG = TimeUnit.HOURS.toNanos(1);

  private final HybridLatch latch = new HybridLatch();

  @AfterEach
  void leftFree() {
    assertEquals(LatchWord.FREE, latch.wordOpaque(), latch::toString);
    assertFalse(latch.isExclusivelyHeld(), latch::toString);
    assertEquals(0, latch.version() & 1, "nobody writes");
  }

  @Test
  void exclusive_excludesAllOthers() {
    latch.acquireExclusive();
    assertTrue(latch.isExclusivelyHeld());
    assertFalse(latch.tryAcquireExclusive());
    assertFalse(latch.tryAcquireShared());
    assertFalse(latch.tryAcquireExclusive(1));
    assertFalse(latch.tryAcquireShared(1));
    assertFalse(latch.tryAcquireExclusive(0));
    assertFalse(latch.tryAcquireShared(-1));
    assertFalse(latch.tryUpgrade());
    latch.releaseExclusive();
    assertFalse(latch.isExclusivelyHeld());
  }

  @Test
  void shared_excludesWritersOnly() {
    latch.acquireShared();
    assertTrue(latch.tryAcquireShared());
    assertTrue(latch.tryAcquireShared(LONG));
    assertTrue(latch.isSharedHeld());
    assertFalse(latch.tryAcquireExclusive());
    assertFalse(latch.tryAcquireExclusive(1));
    for (int i = 0; i < 3; i++) {
      latch.releaseShared();
    }
    assertFalse(latch.isSharedHeld());
  }

  @Test
  void release_ofWhatIsNotHeldThrowsAndChangesNothing() {
    assertThrows(IllegalMonitorStateException.class, latch::releaseExclusive);
    assertThrows(IllegalMonitorStateException.class, latch::releaseExclusiveUnmodified);
    assertThrows(IllegalMonitorStateException.class, latch::releaseShared);
    assertThrows(IllegalMonitorStateException.class, latch::downgrade);
    latch.acquireShared();
    assertThrows(IllegalMonitorStateException.class, latch::releaseExclusive);
    latch.releaseShared();
    latch.acquireExclusive();
    assertThrows(IllegalMonitorStateException.class, latch::releaseShared);
    latch.releaseExclusive();
  }

  @Test
  void version_isOddWhileExclusiveAndGrows() {
    long before = latch.version();
    latch.acquireExclusive();
    assertEquals(before + 1, latch.version());
    latch.releaseExclusive();
    long after = latch.version();
    assertTrue(after > before);
    assertEquals(0, after & 1);
    latch.acquireShared();
    latch.releaseShared();
    assertEquals(after, latch.version(), "readers change nothing");
  }

  @Test
  void optimistic_validUntilAThreadWrites() {
    long stamp = latch.readOptimistic();
    assertNotEquals(HybridLatch.INVALID_STAMP, stamp);
    assertTrue(latch.validate(stamp));
    latch.acquireShared();
    assertTrue(latch.validate(stamp));
    latch.releaseShared();
    latch.acquireExclusive();
    assertFalse(latch.validate(stamp));
    latch.releaseExclusive();
    assertFalse(latch.validate(stamp), "for ever");
  }

  @Test
  void optimistic_begunUnderAWriterNeverValidates() {
    latch.acquireExclusive();
    long stamp = latch.readOptimistic();
    assertEquals(HybridLatch.INVALID_STAMP, stamp);
    assertFalse(latch.validate(stamp));
    latch.releaseExclusive();
    assertFalse(latch.validate(stamp));
  }

  @Test
  void optimistic_survivesAWriterThatWroteNothing() {
    long stamp = latch.readOptimistic();
    latch.acquireExclusive();
    assertFalse(latch.validate(stamp), "it might write yet");
    long during = latch.readOptimistic();
    latch.releaseExclusiveUnmodified();
    assertTrue(latch.validate(stamp));
    assertFalse(latch.validate(during));
  }

  @Test
  void upgrade_ofTheOnlyReader() {
    long stamp = latch.readOptimistic();
    latch.acquireShared();
    assertTrue(latch.tryUpgrade());
    assertTrue(latch.isExclusivelyHeld());
    assertFalse(latch.validate(stamp));
    latch.releaseExclusive();
  }

  @Test
  void upgrade_failsBesideAnotherReaderAndKeepsTheHold() {
    latch.acquireShared();
    latch.acquireShared();
    assertFalse(latch.tryUpgrade());
    assertTrue(latch.isSharedHeld());
    latch.releaseShared();
    assertTrue(latch.tryUpgrade());
    latch.releaseExclusive();
  }

  @Test
  void upgradeOptimistic_onlyIfNothingHasChanged() {
    long stamp = latch.readOptimistic();
    assertTrue(latch.tryUpgradeOptimistic(stamp));
    assertFalse(latch.tryUpgradeOptimistic(stamp), "held");
    latch.releaseExclusive();
    assertFalse(latch.tryUpgradeOptimistic(stamp), "written since");
    assertFalse(latch.tryUpgradeOptimistic(HybridLatch.INVALID_STAMP));
    stamp = latch.readOptimistic();
    latch.acquireShared();
    assertFalse(latch.tryUpgradeOptimistic(stamp), "a reader is in");
    latch.releaseShared();
    assertTrue(latch.tryUpgradeOptimistic(stamp));
    latch.releaseExclusiveUnmodified();
    assertTrue(latch.validate(stamp));
  }

  @Test
  void downgrade_endsWritingAndLetsReadersIn() {
    latch.acquireExclusive();
    latch.downgrade();
    assertFalse(latch.isExclusivelyHeld());
    assertTrue(latch.validate(latch.readOptimistic()));
    assertTrue(latch.tryAcquireShared());
    assertFalse(latch.tryAcquireExclusive());
    latch.releaseShared();
    latch.releaseShared();
  }

  @Test
  void downgrade_admitsQueuedReadersButNotTheWriterBehindThem() throws InterruptedException {
    latch.acquireExclusive();
    AtomicBoolean wrote = new AtomicBoolean();
    Thread[] readers = new Thread[3];
    for (int i = 0; i < readers.length; i++) {
      readers[i] = queuedInOneQueue(latch::acquireShared, i + 1);
    }
    Thread writer =
        queuedInOneQueue(
            () -> {
              latch.acquireExclusive();
              wrote.set(true);
              latch.releaseExclusive();
            },
            readers.length + 1);
    latch.downgrade();
    for (Thread reader : readers) {
      reader.join();
    }
    assertEquals(1 + readers.length, LatchWord.sharedHolders(latch.wordOpaque()));
    assertTrue(LatchWord.isParked(latch.wordOpaque()));
    assertFalse(wrote.get());
    assertFalse(latch.tryAcquireShared(), "a newcomer waits behind the writer");
    for (int i = 0; i < 1 + readers.length; i++) {
      latch.releaseShared();
    }
    writer.join();
    assertTrue(wrote.get());
  }

  /**
   * parking_lot#465: a waiter that gives up must not leave behind those that only it had kept
   * waiting.
   */
  @Test
  void timeout_ofTheFirstWriterLetsTheReadersBehindItIn() throws InterruptedException {
    latch.acquireShared();
    AtomicBoolean acquired = new AtomicBoolean(true);
    Thread writer =
        new Thread(
            () -> acquired.set(latch.tryAcquireExclusive(TimeUnit.MILLISECONDS.toNanos(200))));
    writer.start();
    Await.until(() -> waiters() == 1 || !writer.isAlive());
    Thread reader = Thread.startVirtualThread(latch::acquireShared);
    reader.join(); // while our shared hold stays
    writer.join();
    assertFalse(acquired.get());
    latch.releaseShared();
    latch.releaseShared();
  }

  @Test
  void timeout_ofTheOnlyWaiterClearsTheParkedBit() {
    latch.acquireExclusive();
    assertFalse(latch.tryAcquireShared(100));
    assertEquals(LatchWord.EXCLUSIVE, latch.wordOpaque());
    latch.releaseExclusive();
  }

  @Test
  void timeout_ofForeverDoesNotOverflow() throws InterruptedException {
    latch.acquireExclusive();
    Thread waiter =
        queued(
            () -> {
              assertTrue(latch.tryAcquireExclusive(Long.MAX_VALUE));
              latch.releaseExclusive();
            },
            1);
    latch.releaseExclusive();
    waiter.join();
  }

  @Test
  void interrupt_doesNotEndTheWaitAndIsKept() throws InterruptedException {
    latch.acquireExclusive();
    AtomicBoolean kept = new AtomicBoolean();
    Thread waiter =
        queued(
            () -> {
              latch.acquireExclusive();
              kept.set(Thread.currentThread().isInterrupted());
              latch.releaseExclusive();
            },
            1);
    waiter.interrupt();
    Await.until(() -> !waiter.isInterrupted()); // it has noticed, and goes on waiting
    assertEquals(1, waiters());
    latch.releaseExclusive();
    waiter.join();
    assertTrue(kept.get());
  }

  @Test
  void handOver_whenTheFairnessTimeHasCome() throws InterruptedException {
    latch.acquireExclusive();
    AtomicBoolean mayRelease = new AtomicBoolean();
    long stamp = latch.readOptimistic();
    Thread waiter =
        queued(
            () -> {
              latch.acquireExclusive();
              Await.until(mayRelease::get);
              latch.releaseExclusive();
            },
            1);
    ParkingLot.global().setFairTime(latch, 0, System.nanoTime());
    latch.releaseExclusive();
    assertFalse(latch.tryAcquireExclusive(), "handed over before we could barge");
    assertTrue(latch.isExclusivelyHeld());
    assertFalse(latch.validate(stamp));
    mayRelease.set(true);
    waiter.join();
  }

  @Test
  void handOver_ofTheLastReaderGoesToAllReadersOfTheGroup() throws InterruptedException {
    latch.acquireExclusive();
    Thread first = queuedInOneQueue(latch::acquireShared, 1);
    Thread second = queuedInOneQueue(latch::acquireShared, 2);
    ParkingLot.global().setFairTime(latch, 0, System.nanoTime());
    latch.releaseExclusive();
    assertEquals(2, latch.wordOpaque(), "both hold it before either has run");
    first.join();
    second.join();
    latch.releaseShared();
    latch.releaseShared();
  }

  @Test
  void barging_neverLeavesTheWokenBehind() throws InterruptedException {
    for (int i = 0; i < 200; i++) {
      latch.acquireExclusive();
      Thread waiter =
          queued(
              () -> {
                latch.acquireExclusive();
                latch.releaseExclusive();
              },
              1);
      ParkingLot.global().setFairTime(latch, 0, System.nanoTime() + LONG);
      latch.releaseExclusive();
      for (int barge = 0; barge < 10; barge++) {
        if (latch.tryAcquireExclusive()) {
          latch.releaseExclusive();
        }
      }
      waiter.join();
    }
    ParkingLot.global().setFairTime(latch, 0, System.nanoTime());
  }

  /** JDK-8345052: what cannot be allocated must not cost the latch. */
  @Test
  void outOfMemory_inTheSlowPathSpinsInstead() throws InterruptedException {
    ParkingLot lot = ParkingLot.global();
    latch.acquireExclusive();
    AtomicBoolean failed = new AtomicBoolean();
    lot.allocationFault =
        () -> {
          failed.set(true);
          throw new OutOfMemoryError("injected");
        };
    try {
      assertFalse(latch.tryAcquireExclusive(100_000));
      assertTrue(failed.get());
      failed.set(false);
      Thread waiter =
          new Thread(() -> {
            latch.acquireShared();
            latch.releaseShared();
          });
      waiter.start();
      Await.until(failed::get);
      latch.releaseExclusive();
      waiter.join();
    } finally {
      lot.allocationFault = null;
    }
  }

  @Test
  void upgradeOptimisticToShared_onlyIfNothingHasChanged() {
    long stamp = latch.readOptimistic();
    assertTrue(latch.tryUpgradeOptimisticToShared(stamp));
    assertTrue(latch.tryUpgradeOptimisticToShared(stamp), "beside another reader");
    latch.releaseShared();
    latch.releaseShared();
    latch.acquireExclusive();
    assertFalse(latch.tryUpgradeOptimisticToShared(stamp), "held");
    latch.releaseExclusive();
    assertFalse(latch.tryUpgradeOptimisticToShared(stamp), "written since");
    assertFalse(latch.tryUpgradeOptimisticToShared(HybridLatch.INVALID_STAMP));
    assertFalse(latch.isSharedHeld());
  }

  @Test
  void readOptimisticOrShared_readsWithoutTheLatchIfNoThreadWrites() {
    assertEquals(
        "free", latch.readOptimisticOrShared(() -> LatchWord.describe(latch.wordOpaque())));
  }

  @Test
  void readOptimisticOrShared_takesTheLatchWhenDisturbedTooOften() {
    AtomicInteger reads = new AtomicInteger();
    String held =
        latch.readOptimisticOrShared(() -> {
          if (reads.incrementAndGet() <= 3) {
            latch.acquireExclusive(); // a writer comes by
            latch.releaseExclusive();
            throw new IllegalStateException("of torn data: must not be seen");
          }
          return LatchWord.describe(latch.wordOpaque());
        });
    assertEquals("1 shared", held);
    assertEquals(4, reads.get());
  }

  @Test
  void readOptimisticOrShared_throwsWhatAnUndisturbedReadThrows() {
    assertThrows(
        ArithmeticException.class,
        () ->
            latch.readOptimisticOrShared(() -> {
              throw new ArithmeticException();
            }));
    latch.acquireExclusive();
    latch.markObsolete();
    latch.releaseExclusive();
    assertThrows(
        ArithmeticException.class,
        () ->
            latch.readOptimisticOrShared(() -> {
              throw new ArithmeticException();
            }),
        "and gives back the shared latch");
  }

  @Test
  void obsolete_isForEverAndEndsAllStamps() {
    long stamp = latch.readOptimistic();
    assertFalse(latch.isObsolete());
    assertThrows(IllegalMonitorStateException.class, latch::markObsolete);
    latch.acquireExclusive();
    latch.markObsolete();
    assertTrue(latch.isObsolete());
    latch.releaseExclusiveUnmodified();
    assertTrue(latch.isObsolete());
    assertFalse(latch.validate(stamp), "though nothing was written");
    assertEquals(HybridLatch.INVALID_STAMP, latch.readOptimistic());
    assertFalse(latch.tryUpgradeOptimistic(stamp));
    latch.acquireShared();
    assertTrue(latch.isObsolete());
    assertTrue(latch.tryUpgrade());
    latch.releaseExclusive();
    assertTrue(latch.isObsolete());
    assertEquals(HybridLatch.INVALID_STAMP, latch.readOptimistic());
  }

  /** §2.3.1: a thread that waits for a node that is removed must learn it. */
  @Test
  void obsolete_isSeenByThreadsThatWaited() throws InterruptedException {
    latch.acquireExclusive();
    AtomicInteger saw = new AtomicInteger();
    Thread reader =
        queued(
            () -> {
              latch.acquireShared();
              saw.addAndGet(latch.isObsolete() ? 1 : 0);
              latch.releaseShared();
            },
            1);
    Thread writer =
        queued(
            () -> {
              latch.acquireExclusive();
              saw.addAndGet(latch.isObsolete() ? 1 : 0);
              latch.releaseExclusive();
            },
            2);
    latch.markObsolete();
    latch.releaseExclusive();
    reader.join();
    writer.join();
    assertEquals(2, saw.get());
  }

  /** While a woken thread is on its way, threads that come and go need not know of the queue. */
  @Test
  void wakeUp_leavesAFreeWordAndTheWokenAnswersForTheOthers() throws InterruptedException {
    latch.acquireExclusive();
    ParkingLot.global().setFairTime(latch, 0, System.nanoTime() + LONG);
    Thread[] writers = new Thread[3];
    for (int i = 0; i < writers.length; i++) {
      writers[i] =
          queued(
              () -> {
                latch.acquireExclusive();
                latch.releaseExclusive();
              },
              i + 1);
    }
    ParkingLot.global().setFairTime(latch, 0, System.nanoTime() + LONG);
    latch.releaseExclusive();
    for (Thread writer : writers) {
      writer.join(); // nobody else ever comes by to wake them
    }
    ParkingLot.global().setFairTime(latch, 0, System.nanoTime());
  }

  /** Starts a thread and waits until it is the n-th that is queued. */
  private Thread queued(Runnable body, int n) {
    return awaitQueued(new Thread(body), n);
  }

  /** The same in one queue, however many cache nodes the machine has: virtual threads share it. */
  private Thread queuedInOneQueue(Runnable body, int n) {
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
