package org.revenantdb.recovery.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.recovery.log.LogSteps.Step.BEFORE_PAD;
import static org.revenantdb.recovery.log.LogSteps.Step.BEFORE_WAKE;
import static org.revenantdb.recovery.log.LogSteps.Step.RESERVED;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.recovery.file.DiskFullException;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.ForceFailedException;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.format.LogRecordLayout;
import org.revenantdb.recovery.segment.LogReader;
import org.revenantdb.recovery.segment.SegmentDirectory;
import org.revenantdb.recovery.segment.SegmentMap;
import org.revenantdb.recovery.testing.Await;
import org.revenantdb.recovery.testing.CrashDisk;
import org.revenantdb.recovery.testing.FaultyFileSystem;

class LogTest {
  private static final int SEGMENT = 1 << 13;
  private static final int PAYLOAD = SEGMENT - 4096;
  private static final byte[] ID = new byte[16];

  private final CrashDisk disk = new CrashDisk();

  private Path directory() {
    return disk.path("/db/log");
  }

  private Log start(int buffer) {
    return start(directory(), buffer);
  }

  private static Log start(Path directory, int buffer) {
    LogOptions options = new LogOptions(SEGMENT, buffer, 1 << 24, "test", new IoStatistics());
    return Log.start(
        new LifeStart(
            directory,
            ID,
            1,
            PAYLOAD,
            SEGMENT,
            0,
            0,
            new TreeMap<>(),
            new TreeSet<>(),
            new TreeSet<>()),
        options);
  }

  private LogReader reader() {
    SegmentDirectory segments = new SegmentDirectory(directory(), ID, SEGMENT, new IoStatistics());
    LogReader reader = new LogReader(segments, segments.list()::at);
    reader.seek(PAYLOAD);
    return reader;
  }

  private static RecordBuilder record(long id, int length) {
    RecordBuilder record = new RecordBuilder().begin(RecordType.PAGES, id);
    record.beginPart((int) id, PartKind.CHANGE);
    for (int i = 0; i < length; i++) {
      record.putByte((int) id + i);
    }
    record.endPart();
    return record;
  }

  /** A small ring, many laps, records across the ring's end and across segments. */
  @Test
  void records_of_many_threads_are_read_back_whole_and_in_order() throws InterruptedException {
    int threads = 6;
    int each = 400;
    Set<Long> lsns = new ConcurrentSkipListSet<>();
    ConcurrentHashMap<Long, Long> lsnOfId = new ConcurrentHashMap<>();
    try (Log log = start(1 << 12)) {
      List<Thread> running = new ArrayList<>();
      for (int thread = 0; thread < threads; thread++) {
        int number = thread;
        Runnable publisher =
            () -> {
              Random random = new Random(number);
              for (int i = 0; i < each; i++) {
                long id = 1L + number * each + i;
                long lsn = log.publish(record(id, random.nextInt(400)));
                lsns.add(lsn);
                lsnOfId.put(id, lsn);
                if (random.nextInt(10) == 0) {
                  log.awaitDurable(lsn);
                }
              }
            };
        running.add(
            thread % 2 == 0
                ? Thread.ofVirtual().start(publisher)
                : Thread.ofPlatform().start(publisher));
      }
      for (Thread thread : running) {
        thread.join();
      }
      log.awaitDurable(log.tail());
      assertEquals(log.tail(), log.durableLsn());
    }
    try (LogReader reader = reader()) {
      int records = 0;
      while (reader.next()) {
        records++;
        long id = reader.transactionId();
        assertEquals(lsnOfId.get(id), reader.lsn());
        int length = reader.getShort(LogRecordLayout.HEADER + LogRecordLayout.PART_LENGTH);
        int from = LogRecordLayout.HEADER + LogRecordLayout.PART_HEADER;
        for (int i = 0; i < length; i++) {
          assertEquals((byte) (id + i), reader.array()[reader.offset() + from + i]);
        }
      }
      assertEquals(threads * each, records);
      assertEquals(threads * each, lsns.size());
    }
  }

  @Test
  void R11_the_lsn_of_a_record_is_the_position_after_its_last_byte() {
    try (Log log = start(1 << 13)) {
      long before = log.tail();
      long lsn = log.publish(record(1, 100));
      assertEquals(before + 40 + 8 + 100 + 4, lsn);
      assertEquals(lsn, log.tail());
    }
    try (LogReader reader = reader()) {
      assertTrue(reader.next());
      assertEquals(PAYLOAD + 152, reader.getLong(LogRecordLayout.LSN));
    }
  }

  /**
   * At every change of the disk, {@code durable} is between two records, and everything below it is
   * on the disk.
   */
  @Test
  void R11_durable_moves_only_over_whole_published_records() {
    Set<Long> ends = ConcurrentHashMap.newKeySet();
    ends.add((long) PAYLOAD);
    List<Long> seen = new ArrayList<>();
    try (Log log = start(1 << 12)) {
      disk.observe(() -> seen.add(log.durableLsn()));
      for (int i = 1; i <= 200; i++) {
        long lsn = log.publish(record(i, i % 300));
        ends.add(lsn);
        if (i % 7 == 0) {
          log.awaitDurable(lsn);
          disk.observe(() -> {});
          CrashDisk cut = disk.afterPowerCut(position -> false);
          disk.observe(() -> seen.add(log.durableLsn()));
          assertTrue(endOf(cut) >= lsn, "record " + i + " is not whole after a power cut");
        }
      }
      disk.observe(() -> {});
    }
    assertTrue(ends.containsAll(seen), "durable stood inside a record");
    assertTrue(Set.copyOf(seen).size() > 10, "it moved");
  }

  private static long endOf(CrashDisk disk) {
    SegmentDirectory directory =
        new SegmentDirectory(disk.path("/db/log"), ID, SEGMENT, new IoStatistics());
    try (LogReader reader = new LogReader(directory, directory.list()::at)) {
      reader.seek(PAYLOAD);
      while (reader.next()) {
        // to the end
      }
      return reader.lsn();
    }
  }

  @Test
  void R17_a_record_longer_than_an_eighth_of_the_buffer_is_refused_before_it_gets_a_place() {
    try (Log log = start(1 << 12)) {
      long tail = log.tail();
      assertThrows(IllegalArgumentException.class, () -> log.publish(record(1, 500)));
      assertEquals(tail, log.tail());
      assertNull(log.failure());
    }
    RecordBuilder builder = new RecordBuilder().begin(RecordType.PAGES, 1);
    builder.putBytes(new byte[RecordBuilder.MAX_RECORD - 40], 0, RecordBuilder.MAX_RECORD - 40);
    assertThrows(IllegalStateException.class, () -> builder.putByte(1));
  }

  private static LogSteps throwing(Map<LogSteps.Step, Error> errors) {
    return step -> {
      Error thrown = errors.get(step);
      if (thrown != null) {
        throw thrown;
      }
    };
  }

  @Test
  void R18_a_throwable_between_reservation_and_publication_leaves_a_pad() {
    long after;
    try (Log log = start(1 << 13)) {
      log.steps = throwing(Map.of(RESERVED, new StackOverflowError("thrown by the test")));
      assertThrows(StackOverflowError.class, () -> log.publish(record(1, 100)));
      log.steps = LogSteps.NONE;
      after = log.publish(record(2, 100));
      log.awaitDurable(after);
      assertNull(log.failure());
    }
    try (LogReader reader = reader()) {
      assertTrue(reader.next());
      assertEquals(RecordType.PAD.code(), reader.type());
      assertTrue(reader.next());
      assertEquals(2, reader.transactionId());
      assertEquals(after, reader.lsn());
    }
  }

  @Test
  void R18_if_not_even_a_pad_can_be_published_the_log_stops() {
    Log log = start(1 << 13);
    Error thrown = new OutOfMemoryError("thrown by the test");
    log.steps = throwing(Map.of(RESERVED, thrown, BEFORE_PAD, new OutOfMemoryError("again")));
    assertSame(thrown, assertThrows(OutOfMemoryError.class, () -> log.publish(record(1, 100))));
    log.steps = LogSteps.NONE;
    assertSame(thrown, log.failure());
    assertThrows(LogStoppedException.class, () -> log.publish(record(2, 100)));
    assertThrows(LogStoppedException.class, log::close);
  }

  /** A caller concludes from any Throwable that nothing was published, and aborts its commit. */
  @Test
  void R18_nothing_is_thrown_once_a_record_is_published() {
    try (Log log = start(1 << 13)) {
      log.steps = throwing(Map.of(BEFORE_WAKE, new StackOverflowError("thrown by the test")));
      long lsn = 0;
      for (int i = 1; i <= 30; i++) {
        lsn = log.publish(record(i, 400));
      }
      log.awaitDurable(lsn);
    }
    try (LogReader reader = reader()) {
      for (int i = 1; i <= 30; i++) {
        assertTrue(reader.next());
        assertEquals(i, reader.transactionId());
      }
    }
  }

  @Test
  void a_failed_force_is_final() throws InterruptedException {
    Log log = start(1 << 13);
    long durable = log.publish(record(1, 10));
    log.awaitDurable(durable);
    disk.failForcesAfter(0);
    long lsn = log.publish(record(2, 10));
    CountDownLatch told = new CountDownLatch(3);
    List<Thread> waiting = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      waiting.add(
          Thread.ofVirtual()
              .start(() -> {
                DurabilityUnknownException unknown =
                    assertThrows(DurabilityUnknownException.class, () -> log.awaitDurable(lsn));
                assertInstanceOf(ForceFailedException.class, unknown.getCause());
                told.countDown();
              }));
    }
    told.await();
    disk.failForcesAfter(Integer.MAX_VALUE);
    assertEquals(durable, log.durableLsn());
    log.awaitDurable(durable); // this much stays durable
    assertThrows(DurabilityUnknownException.class, () -> log.awaitDurable(lsn));
    LogStoppedException stopped =
        assertThrows(LogStoppedException.class, () -> log.publish(record(3, 10)));
    assertInstanceOf(ForceFailedException.class, stopped.getCause());
    assertThrows(LogStoppedException.class, log::close);
    assertEquals(durable, log.durableLsn());
    for (Thread thread : waiting) {
      thread.join();
    }
  }

  /** A thread that waits for room in the ring receives the failure, too. */
  @Test
  void a_failed_force_ends_waits_for_room() {
    Log log = start(1 << 12);
    disk.failForcesAfter(0);
    assertThrows(
        LogStoppedException.class,
        () -> {
          for (int i = 0; i < 1000; i++) {
            log.publish(record(i, 400));
          }
        });
    assertThrows(LogStoppedException.class, log::close);
  }

  @Test
  void a_full_disk_stops_the_log_and_is_reported() {
    Log log = start(1 << 12);
    disk.fullAfter(SEGMENT / 2);
    assertThrows(
        DurabilityUnknownException.class,
        () -> {
          for (int i = 0; i < 1000; i++) {
            log.awaitDurable(log.publish(record(i, 100)));
          }
        });
    assertInstanceOf(DiskFullException.class, log.failure());
    assertThrows(LogStoppedException.class, log::close);
    assertTrue(disk.files().stream().noneMatch(name -> name.endsWith(".tmp")), "half a segment");
  }

  /** Credit is granted only for existing files, so on a full disk the requesting call fails. */
  @Test
  void R17_a_full_disk_refuses_credit_and_the_log_goes_on() {
    try (Log log = start(1 << 12)) {
      LogSpace space = new LogSpace(log, 1 << 20, 1 << 16, () -> {});
      disk.fullAfter(2 * SEGMENT);
      List<Long> lsns = new ArrayList<>();
      assertThrows(
          DiskFullException.class,
          () -> {
            for (int i = 0; i < 1000; i++) {
              space.acquire(400);
              lsns.add(log.publish(record(i, 300)));
              space.release(400);
            }
          });
      assertTrue(lsns.size() > 5);
      assertEquals(log.tail() - PAYLOAD, space.used(), "no credit was kept");
      // a commit takes no credit: there is a margin for it
      long commit = log.publish(new RecordBuilder().begin(RecordType.COMMIT, 1));
      disk.fullAfter(1 << 20);
      log.awaitDurable(commit);
      space.acquire(400);
      space.release(400);
      assertNull(log.failure());
    }
  }

  @Test
  void an_interrupted_caller_waits_on_and_stays_interrupted() {
    try (Log log = start(1 << 13)) {
      Thread.currentThread().interrupt();
      long lsn = log.publish(record(1, 10));
      log.awaitDurable(lsn);
      assertTrue(Thread.interrupted());
      assertTrue(log.durableLsn() >= lsn);
    }
  }

  @Test
  void a_closed_log_takes_nothing_and_has_lost_nothing() {
    Log log = start(1 << 13);
    long lsn = log.publish(record(1, 10));
    log.close();
    log.close();
    assertEquals(lsn, log.durableLsn());
    assertEquals(lsn, log.tail());
    log.awaitDurable(lsn);
    assertThrows(LogStoppedException.class, () -> log.publish(record(2, 10)));
    assertNull(log.failure());
  }

  /** Full segments are not forced at once, so a force has to cover all of them (W3). */
  @Test
  void a_force_covers_every_segment_that_was_left_behind() {
    try (Log log = start(1 << 12)) {
      for (int round = 0; round < 10; round++) {
        long from = log.durableLsn();
        while (log.tail() < from + 5L * PAYLOAD) {
          log.publish(record(round, 200));
        }
        log.awaitDurable(log.tail());
        assertEquals(log.tail(), endOf(disk.afterPowerCut(position -> false)));
      }
    }
  }

  /** A caller that lets the log grow without requesting a force does not pay for one. */
  @Test
  void a_full_segment_is_not_forced_at_once() {
    try (Log log = start(1 << 12)) {
      while (log.tail() < 6L * PAYLOAD) {
        log.publish(record(1, 200));
      }
      assertEquals(PAYLOAD, log.durableLsn());
      assertEquals(PAYLOAD, endOf(disk.afterPowerCut(position -> false)));
    }
    assertEquals(endOf(disk.afterKill()), endOf(disk.afterPowerCut(position -> false)), "closed");
  }

  @Test
  void the_log_continues_during_a_long_force_and_no_request_is_lost() throws Exception {
    CountDownLatch forcing = new CountDownLatch(1);
    CountDownLatch over = new CountDownLatch(1);
    disk.observe(() -> {
      if (Thread.currentThread().getName().endsWith("-log-force")) {
        forcing.countDown();
        while (over.getCount() > 0) {
          waitFor(disk);
        }
      }
    });
    try (Log log = start(1 << 12)) {
      while (log.tail() < 3L * PAYLOAD) {
        log.publish(record(1, 200));
      }
      log.requestFlush(log.tail());
      forcing.await();
      long before = log.durableLsn();
      while (log.tail() < 20L * PAYLOAD) {
        log.publish(record(2, 200)); // many rings full
      }
      assertEquals(before, log.durableLsn());
      long later = log.publish(record(3, 200));
      log.requestFlush(later); // while the other force is under way
      synchronized (disk) {
        over.countDown();
        disk.notifyAll();
      }
      log.awaitDurableUnasked(later);
      assertTrue(log.durableLsn() >= later);
    }
  }

  private static void waitFor(CrashDisk disk) {
    try {
      disk.wait(); // gives up the disk meanwhile
    } catch (InterruptedException nobodyDoes) {
      throw new AssertionError(nobodyDoes);
    }
  }

  /** The writer kept writing as long as there was something to write, and never forced. */
  @Test
  void threads_that_do_not_wait_do_not_delay_a_force() {
    AtomicBoolean lazy = new AtomicBoolean();
    AtomicInteger before = new AtomicInteger();
    try (Log log = start(1 << 16)) {
      long forced = log.durableLsn();
      disk.observe(() -> {
        if (lazy.get() && log.durableLsn() == forced && before.incrementAndGet() < 1000) {
          log.publish(record(1, 10)); // while the writer is in a write, or in a force
        }
      });
      lazy.set(true);
      log.awaitDurable(log.publish(record(2, 10)));
      lazy.set(false);
      assertTrue(before.get() < 20, () -> before + " writes before the force");
    }
  }

  @Test
  void a_force_of_much_that_fails_stops_the_log() {
    Log log = start(1 << 12);
    while (log.tail() < 3L * PAYLOAD) {
      log.publish(record(1, 200));
    }
    disk.failForcesAfter(1);
    long lsn = log.publish(record(1, 200));
    assertThrows(DurabilityUnknownException.class, () -> log.awaitDurable(lsn));
    assertInstanceOf(ForceFailedException.class, log.failure());
    assertEquals(PAYLOAD, log.durableLsn());
    assertThrows(LogStoppedException.class, log::close);
  }

  @Test
  void many_logs_after_one_another_leave_no_threads() {
    for (int i = 0; i < 200; i++) {
      CrashDisk other = new CrashDisk();
      LogOptions options = new LogOptions(SEGMENT, 1 << 12, 1 << 24, "many", new IoStatistics());
      try (Log log =
          Log.start(
              new LifeStart(
                  other.path("/db/log"),
                  ID,
                  1,
                  PAYLOAD,
                  SEGMENT,
                  0,
                  0,
                  new TreeMap<>(),
                  new TreeSet<>(),
                  new TreeSet<>()),
              options)) {
        for (int record = 0; record < 10; record++) {
          log.publish(record(record, 300));
        }
      }
    }
    // A thread that prepares segments may still be ending; the last logs do not wait for it.
    while (Thread.getAllStackTraces().keySet().stream()
        .anyMatch(thread -> thread.getName().startsWith("many"))) {
      Await.pause();
    }
  }

  /**
   * A segment that is taken for missing is taken for the end of the log, and the rest would be
   * lost.
   */
  @Test
  void a_segment_that_this_user_may_not_read_is_not_taken_for_the_end_of_the_log(
      @TempDir Path temporary) {
    FaultyFileSystem faulty = new FaultyFileSystem();
    Path directory = faulty.wrap(temporary);
    try (Log log = start(directory, 1 << 12)) {
      for (int id = 1; id <= 40; id++) {
        log.awaitDurable(log.publish(record(id, 400)));
      }
    }
    SegmentDirectory segments = new SegmentDirectory(directory, ID, SEGMENT, new IoStatistics());
    SegmentMap found = segments.list();
    Path third = segments.file(3L * PAYLOAD);
    faulty.deny(third.getFileName().toString());
    try (LogReader reader = new LogReader(segments, found::at)) {
      reader.seek(PAYLOAD);
      FileException refused =
          assertThrows(
              FileException.class,
              () -> {
                while (reader.next()) {
                  // to the segment that is denied
                }
              });
      assertEquals(third, refused.file());
    }
    faulty.deny("");
    try (LogReader reader = new LogReader(segments, found::at)) {
      reader.seek(PAYLOAD);
      int records = 0;
      while (reader.next()) {
        records++;
      }
      assertEquals(40, records);
    }
  }
}
