package org.revenantdb.recovery.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.format.SegmentLayout;
import org.revenantdb.recovery.testing.Await;
import org.revenantdb.recovery.testing.CrashDisk;

/** The waiting thread reports each wait for the log once; without a wait nothing is reported. */
class LogWaitsTest {
  private static final int SEGMENT = 1 << 13;
  private static final int RING = 1 << 12;

  /** Nine of them fit into the ring, ten do not. */
  private static final int RECORD = 448;

  private final CrashDisk disk = new CrashDisk();
  private final CountingMeter room = new CountingMeter();
  private final CountingMeter force = new CountingMeter();
  private final CountingMeter file = new CountingMeter();
  private final CountingMeter credit = new CountingMeter();
  private final AtomicLong tail = new AtomicLong();

  private Log start() {
    LogOptions options =
        new LogOptions(SEGMENT, RING, 1 << 24, "test", new IoStatistics())
            .withWaits(new LogWaits(room, force, file));
    return Log.start(
        new LifeStart(
            disk.path("/db/log"),
            new byte[16],
            1,
            SegmentLayout.FIRST_BEGIN,
            SEGMENT,
            0,
            0,
            new TreeMap<>(),
            new TreeSet<>(),
            new TreeSet<>()),
        options);
  }

  private static RecordBuilder record() {
    RecordBuilder record = new RecordBuilder().begin(RecordType.PAGES, 1);
    record.beginPart(1, PartKind.CHANGE);
    for (int i = 0; i < RECORD - 48; i++) {
      record.putByte(i);
    }
    record.endPart();
    return record;
  }

  private static void uninterruptibly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void force_isReported_onlyByCallersThatRequestOneAndWait() {
    try (Log log = start()) {
      long lsn = log.publish(record());
      force.assertWaits(0);
      log.awaitDurable(lsn);
      force.assertWaits(1);
      log.awaitDurable(lsn);
      force.assertWaits(1);
      long unasked = log.publish(record());
      log.requestFlush(unasked);
      log.awaitDurableUnasked(unasked);
      force.assertWaits(1);
      room.assertWaits(0);
      file.assertWaits(0);
    }
  }

  @Test
  void force_thatFails_isStillReportedAsAWait() {
    Log log = start();
    disk.failForcesAfter(0);
    long lsn = log.publish(record());
    assertThrows(DurabilityUnknownException.class, () -> log.awaitDurable(lsn));
    force.assertWaits(1);
    assertThrows(LogStoppedException.class, log::close);
  }

  @Test
  void room_aWaitIsReported_byTheCallerWhoseRecordDoesNotFit() throws InterruptedException {
    try (Log log = start()) {
      CountDownLatch open = new CountDownLatch(1);
      disk.observe(() -> uninterruptibly(open)); // nothing gets to the disk
      Thread publisher =
          new Thread(() -> {
            for (int i = 0; i < 10; i++) {
              log.publish(record());
            }
          });
      publisher.start();
      room.awaitFirst();
      open.countDown();
      publisher.join();
      room.assertWaits(1);
      force.assertWaits(0);
    }
  }

  @Test
  void room_noWaitIsReported_whileThereIsRoom() {
    try (Log log = start()) {
      for (int i = 0; i < 100; i++) {
        log.awaitDurable(log.publish(record()));
      }
      room.assertWaits(0);
      force.assertWaits(100);
    }
  }

  @Test
  void file_isReported_byTheCallerThatHasItMade() {
    try (Log log = start()) {
      log.ensureSegments(log.tail());
      file.assertWaits(0);
      log.ensureSegments(log.tail() + 3 * SEGMENT);
      file.assertWaits(1);
      log.ensureSegments(log.tail() + 3 * SEGMENT);
      file.assertWaits(1);
    }
  }

  @Test
  void credit_thatIsAvailable_reportsNoWait() {
    LogSpace space = new LogSpace(tail::get, 10_000, 2_000, () -> {}, Pace.Time.SYSTEM, credit);
    for (int i = 0; i < 8; i++) {
      space.acquire(1_000);
    }
    assertEquals(8_000, space.used());
    credit.assertWaits(0);
    assertFalse(space.tryAcquire(1)); // does not wait
    credit.assertWaits(0);
  }

  @Test
  void credit_aWaitingCallerReportsItsWait() throws InterruptedException {
    LogSpace space = new LogSpace(tail::get, 10_000, 2_000, () -> {}, Pace.Time.SYSTEM, credit);
    space.acquire(8_000);
    Thread waiting = new Thread(() -> space.acquire(1_000));
    waiting.start();
    credit.awaitFirst();
    space.release(8_000);
    waiting.join();
    credit.assertWaits(1);
  }

  @Test
  void credit_ofAStoppedEngine_isStillReportedAsAWait() throws InterruptedException {
    LogSpace space = new LogSpace(tail::get, 10_000, 2_000, () -> {}, Pace.Time.SYSTEM, credit);
    space.acquire(8_000);
    Thread waiting =
        new Thread(() -> assertThrows(LogStoppedException.class, () -> space.acquire(1_000)));
    waiting.start();
    credit.awaitFirst();
    space.stop(new RuntimeException("the disk is gone"));
    waiting.join();
    credit.assertWaits(1);
    assertThrows(LogStoppedException.class, () -> space.acquire(1_000));
    credit.assertWaits(1);
  }

  /** The caller is slowed down first, and then waits until there is enough: one wait. */
  @Test
  void credit_aSlowedCallerReportsOneWait() throws InterruptedException {
    AtomicLong now = new AtomicLong();
    AtomicLong pauses = new AtomicLong();
    Pace.Time time =
        new Pace.Time() {
          @Override
          public long now() {
            return now.get();
          }

          @Override
          public void pause(long nanos) {
            pauses.incrementAndGet();
            now.addAndGet(nanos);
          }
        };
    LogSpace space = new LogSpace(tail::get, 10_000, 2_000, () -> {}, time, credit);
    space.acquire(6_000);
    tail.addAndGet(6_000);
    space.release(6_000);
    now.addAndGet(300_000);
    space.redoPointMoved(6_000); // a checkpoint has shown how fast it is
    tail.addAndGet(6_500);
    space.acquire(600);
    assertEquals(1, pauses.get());
    credit.assertWaits(1);
    tail.addAndGet(600);
    Thread waiting = new Thread(() -> space.acquire(2_000));
    waiting.start();
    while (waiting.getState() != Thread.State.TIMED_WAITING) {
      Await.pause();
    }
    space.release(600);
    space.redoPointMoved(tail.get());
    waiting.join();
    assertEquals(2, pauses.get());
    credit.assertWaits(2);
  }

  @Test
  void creditForPages_waitsAreReported_alsoForCallersThatMayUseTheReserve()
      throws InterruptedException {
    PageSpace space = new PageSpace(() -> 0, 800, 100, () -> {}, credit);
    space.acquire(700);
    space.acquireReserved(100);
    credit.assertWaits(0);
    Thread cleaner = new Thread(() -> space.acquireReserved(50));
    cleaner.start();
    credit.awaitFirst();
    space.release(100);
    cleaner.join();
    credit.assertWaits(1);
    Thread writer = new Thread(() -> space.acquire(10));
    writer.start();
    while (writer.getState() != Thread.State.TIMED_WAITING) {
      Await.pause();
    }
    space.release(700);
    writer.join();
    credit.assertWaits(2);
  }
}
