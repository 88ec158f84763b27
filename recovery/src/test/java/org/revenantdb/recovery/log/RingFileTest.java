package org.revenantdb.recovery.log;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.format.RingLayout;
import org.revenantdb.recovery.format.SegmentLayout;
import org.revenantdb.recovery.segment.LogReader;
import org.revenantdb.recovery.segment.SegmentDirectory;
import org.revenantdb.recovery.segment.SegmentMap;
import org.revenantdb.recovery.testing.CrashDisk;
import org.revenantdb.recovery.testing.FaultyFileSystem;
import org.revenantdb.recovery.testing.IoEvent;

/** The file of the ring: when it is there, and what a failure in a publication leaves in it. */
class RingFileTest {
  private static final int SEGMENT = 1 << 13;
  private static final int CAPACITY = 1 << 13;
  private static final byte[] ID = new byte[16];

  @TempDir Path directory;

  private Path file() {
    return directory.resolve(RingFile.NAME);
  }

  private static Log start(Path logs, int life, LogOptions options) {
    return Log.start(
        new LifeStart(
            logs,
            ID,
            life,
            /* firstLsn= */ life * (long) SegmentLayout.payload(SEGMENT),
            /* firstSize= */ SEGMENT,
            /* formerLife= */ 0,
            /* formerEnd= */ 0,
            new TreeMap<>(),
            new TreeSet<>(),
            new TreeSet<>()),
        options);
  }

  private static LogOptions options() {
    return new LogOptions(SEGMENT, CAPACITY, 1 << 24, "ring", new IoStatistics());
  }

  /** A log in which somebody has committed lazily. */
  private Log start(int life) throws IOException {
    Log log = start(Files.createDirectories(directory.resolve("log")), life, options());
    log.awaitUnbroken(log.tail());
    return log;
  }

  private static RecordBuilder commit(long id) {
    return new RecordBuilder().begin(RecordType.COMMIT, id);
  }

  private byte[] ring() throws IOException {
    return Files.readAllBytes(file());
  }

  @Test
  void what_is_published_is_in_the_file_at_once() throws IOException {
    try (Log log = start(1)) {
      assertTrue(log.isRingInFile());
      RecordBuilder record = commit(7);
      long lsn = log.publish(record);
      byte[] bytes = ring();
      assertEquals(RingLayout.fileSize(CAPACITY), bytes.length);
      int at = (int) RingLayout.offset(lsn - record.length(), CAPACITY);
      byte[] found = new byte[record.length()];
      System.arraycopy(bytes, at, found, 0, found.length);
      byte[] expected = new byte[record.length()];
      System.arraycopy(record.array(), 0, expected, 0, expected.length);
      assertArrayEquals(expected, found);
    }
  }

  @Test
  void it_is_for_its_owner_only() throws IOException {
    try (Log log = start(1)) {
      assertTrue(log.isRingInFile());
      assertEquals(
          "rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file())));
    }
  }

  @Test
  void a_clean_close_deletes_it() throws IOException {
    start(1).close();
    assertFalse(Files.exists(file()));
    assertFalse(Files.exists(directory.resolve(RingFile.UNFINISHED)));
  }

  /** A process that has lost the database and runs on must not store into the ring of the next. */
  @Test
  void each_life_has_a_file_of_its_own() throws IOException {
    Files.write(directory.resolve(RingFile.UNFINISHED), new byte[100]); // killed while it was made
    Log zombie = start(1);
    Object former = Files.readAttributes(file(), "unix:ino").get("ino");
    try (Log log = start(2)) {
      assertNotEquals(former, Files.readAttributes(file(), "unix:ino").get("ino"));
      byte[] before = ring();
      zombie.publish(commit(7));
      assertArrayEquals(before, ring());
      assertTrue(log.isRingInFile());
    }
    zombie.fail(new IllegalStateException("the database was taken over"));
    assertThrows(LogStoppedException.class, zombie::close);
  }

  @Test
  void a_log_that_failed_leaves_it_and_refuses_stores() throws IOException {
    Log log = start(1);
    log.publish(commit(7));
    log.fail(new IllegalStateException("a force failed"));
    assertThrows(LogStoppedException.class, log::close);
    assertTrue(Files.exists(file()));
    assertThrows(LogStoppedException.class, () -> log.publish(commit(8)));
  }

  /** The thread has its place, the log fails and is closed, and only then the thread goes on. */
  @Test
  void a_publication_that_a_close_overtakes_finds_the_log_stopped() throws IOException {
    Log log = start(1);
    log.steps =
        step -> {
          if (step == LogSteps.Step.RESERVED) {
            log.steps = LogSteps.NONE;
            log.fail(new IllegalStateException("a force failed"));
            assertThrows(LogStoppedException.class, log::close);
          }
        };
    assertThrows(LogStoppedException.class, () -> log.publish(commit(7)));
  }

  @Test
  void a_file_system_without_mapping_has_the_ring_in_memory() {
    CrashDisk disk = new CrashDisk();
    try (Log log = start(disk.path("/db/log"), 1, options())) {
      assertFalse(log.isRingInFile());
      assertFalse(Files.exists(disk.path("/db/" + RingFile.NAME)));
      log.awaitUnbroken(log.publish(commit(7)));
    }
  }

  private static FaultyFileSystem refusesToMap(Supplier<IOException> refusal) {
    FaultyFileSystem faulty = new FaultyFileSystem();
    faulty.mappable(true);
    faulty.hook(event -> {
      if (event.kind() == IoEvent.Kind.MAP && event.length() > 0) {
        throw refusal.get();
      }
    });
    return faulty;
  }

  /** Java knows how to map a file, and the file system does not do it. */
  @Test
  void a_file_system_that_refuses_to_map_has_the_ring_in_memory() throws IOException {
    FaultyFileSystem faulty = refusesToMap(() -> new IOException("No such device"));
    Path logs = Files.createDirectories(directory.resolve("log"));
    try (Log log = start(faulty.wrap(logs), 1, options())) {
      for (int id = 7; id < 10; id++) {
        long lazy = log.publish(commit(id));
        log.awaitUnbroken(lazy);
        assertTrue(log.durableLsn() < lazy, "the log cannot do better, so nothing is waited for");
        assertFalse(log.isRingInFile());
      }
      assertNull(log.failure());
      assertEquals(1, faulty.count(IoEvent.Kind.MAP, RingFile.UNFINISHED), "it is asked once");
    }
    assertFalse(Files.exists(file()));
    assertFalse(Files.exists(directory.resolve(RingFile.UNFINISHED)));
  }

  /** Another refusal may end: the process has too many mappings at the moment. */
  @Test
  void a_mapping_for_which_the_process_has_no_room_now_is_asked_for_again() throws IOException {
    FaultyFileSystem faulty =
        refusesToMap(() -> new IOException("Map failed", new OutOfMemoryError("Map failed")));
    Path logs = Files.createDirectories(directory.resolve("log"));
    try (Log log = start(faulty.wrap(logs), 1, options())) {
      long lazy = log.publish(commit(7));
      log.awaitUnbroken(lazy);
      assertFalse(log.isRingInFile());
      assertEquals(lazy, log.durableLsn());
      assertFalse(Files.exists(directory.resolve(RingFile.UNFINISHED)));
      faulty.hook(event -> {});
      while (!log.isRingInFile()) { // it is tried again after a while
        log.awaitUnbroken(log.publish(commit(8)));
      }
      assertNull(log.failure());
    }
  }

  /** What a log that ends while its ring is moved has published is in its segments. */
  private void assertInSegments(Path logs, int records) {
    int found = 0;
    SegmentDirectory segments = new SegmentDirectory(logs, ID, SEGMENT, new IoStatistics());
    SegmentMap present = segments.list();
    try (LogReader reader = new LogReader(segments, present::at)) {
      reader.seek(SegmentLayout.payload(SEGMENT));
      while (reader.next()) {
        found++;
      }
    }
    assertEquals(records, found);
  }

  /** The writer looked at the tail of the stopped log, not at that of the pause, for ever. */
  @Test
  void a_log_that_is_closed_while_its_ring_is_moved_ends() throws Exception {
    for (int unpublished = 0; unpublished < 2; unpublished++) {
      Path logs = Files.createDirectories(directory.resolve("db" + unpublished).resolve("log"));
      Log log = start(logs, 1, options());
      CountDownLatch reserved = new CountDownLatch(1);
      CountDownLatch goOn = new CountDownLatch(1);
      FutureTask<Void> close =
          new FutureTask<>(() -> {
            log.close();
            return null;
          });
      LogSteps paused =
          step -> {
            if (step == LogSteps.Step.PAUSED) {
              Thread.ofPlatform().start(close);
              log.finalTail(); // the log has stopped
              goOn.countDown();
            }
          };
      long lazy = log.publish(commit(7));
      if (unpublished > 0) {
        log.steps = paused;
        Thread.ofPlatform().start(() -> LogHolds.publish(log, commit(8), reserved, goOn, paused));
        reserved.await();
      } else {
        log.steps = paused;
      }
      log.awaitUnbroken(lazy);
      close.get();
      assertNull(log.failure());
      assertTrue(log.durableLsn() >= lazy);
      assertFalse(Files.exists(RingFile.beside(logs)));
      assertInSegments(logs, 1 + unpublished);
      assertThrows(LogStoppedException.class, () -> log.publish(commit(9)));
    }
  }

  @Test
  void a_log_that_fails_while_its_ring_is_moved_ends() throws Exception {
    Path logs = Files.createDirectories(directory.resolve("log"));
    Log log = start(logs, 1, options());
    long lazy = log.publish(commit(7));
    IllegalStateException cause = new IllegalStateException("a force failed");
    log.steps =
        step -> {
          if (step == LogSteps.Step.PAUSED) {
            log.fail(cause);
          }
        };
    assertThrows(DurabilityUnknownException.class, () -> log.awaitUnbroken(lazy));
    assertSame(cause, assertThrows(LogStoppedException.class, log::close).getCause());
    assertFalse(Files.exists(file()), "no record is in it");
  }

  /** A log without lazy commits needs no file: nor does an open, nor an empty database. */
  @Test
  void it_is_made_for_the_first_lazy_commit() throws IOException {
    Path logs = Files.createDirectories(directory.resolve("log"));
    Files.write(file(), new byte[10]); // of a former life
    try (Log log = start(logs, 1, options())) {
      assertFalse(Files.exists(file()));
      log.awaitDurable(log.publish(commit(7)));
      assertFalse(log.isRingInFile());
      assertFalse(Files.exists(file()));
      long lazy = log.publish(commit(8));
      log.awaitUnbroken(lazy);
      assertTrue(log.isRingInFile());
      assertTrue(Files.exists(file()));
    }
  }

  /** The ring moves while several threads publish: each record is in the log, whole. */
  @Test
  void it_moves_while_records_are_published() throws Exception {
    for (int round = 0; round < 20; round++) {
      Path logs = Files.createDirectories(directory.resolve("db" + round).resolve("log"));
      int each = 300;
      try (Log log = start(logs, 1, options())) {
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 3; t++) {
          int thread = t;
          threads.add(
              Thread.ofPlatform()
                  .start(() -> {
                    for (int i = 0; i < each; i++) {
                      long lsn = log.publish(commit(1 + thread * each + i));
                      if (i == each / 2) {
                        log.awaitUnbroken(lsn);
                      }
                    }
                  }));
        }
        for (Thread thread : threads) {
          thread.join();
        }
        assertTrue(log.isRingInFile());
        assertNull(log.failure());
      }
      BitSet found = new BitSet();
      SegmentDirectory segments = new SegmentDirectory(logs, ID, SEGMENT, new IoStatistics());
      SegmentMap present = segments.list();
      try (LogReader reader = new LogReader(segments, present::at)) {
        reader.seek(SegmentLayout.payload(SEGMENT));
        while (reader.next()) {
          found.set((int) reader.transactionId());
        }
      }
      assertEquals(3 * each, found.cardinality(), "round " + round);
    }
  }

  /** As on a full disk. */
  @Test
  void if_it_cannot_be_made_lazy_commits_are_durable_until_it_can() throws IOException {
    Path logs = Files.createDirectories(directory.resolve("log"));
    Path inTheWay = Files.createDirectories(directory.resolve(RingFile.UNFINISHED + "/x"));
    Files.delete(inTheWay);
    Files.delete(directory.resolve(RingFile.UNFINISHED));
    try (Log log = start(logs, 1, options())) {
      Files.createDirectories(inTheWay);
      long lazy = log.publish(commit(7));
      log.awaitUnbroken(lazy);
      assertFalse(log.isRingInFile());
      assertEquals(lazy, log.durableLsn());
      Files.delete(inTheWay);
      while (!log.isRingInFile()) { // it is tried again after a while
        log.awaitUnbroken(log.publish(commit(8)));
      }
      assertNull(log.failure());
    }
  }

  @Test
  void the_first_lazy_commit_of_a_log_that_fails_is_not_acknowledged() throws IOException {
    Log log = start(Files.createDirectories(directory.resolve("log")), 1, options());
    long lazy = log.publish(commit(7));
    log.fail(new IllegalStateException("a force failed"));
    assertThrows(DurabilityUnknownException.class, () -> log.awaitUnbroken(lazy));
    assertThrows(LogStoppedException.class, log::close);
  }

  /** Before the record is whole a PAD can take its place: no restart takes what is torn. */
  @Test
  void an_error_before_the_copy_ends_leaves_a_pad() throws IOException {
    try (Log log = start(1)) {
      StackOverflowError error = new StackOverflowError();
      log.steps =
          step -> {
            if (step == LogSteps.Step.RESERVED) {
              throw error;
            }
          };
      assertSame(error, assertThrows(StackOverflowError.class, () -> log.publish(commit(7))));
      log.steps = LogSteps.NONE;
      log.awaitDurable(log.publish(commit(8)));
    }
  }

  /**
   * A whole record may be found by a restart after a power cut, also if a PAD took its place in the
   * cache. So nothing may follow it that depends on the PAD.
   */
  @Test
  void an_error_behind_the_copy_stops_the_log() throws IOException {
    Log log = start(1);
    StackOverflowError error = new StackOverflowError();
    log.steps =
        step -> {
          if (step == LogSteps.Step.COPIED) {
            throw error;
          }
        };
    assertSame(error, assertThrows(StackOverflowError.class, () -> log.publish(commit(7))));
    log.steps = LogSteps.NONE;
    assertThrows(LogStoppedException.class, () -> log.publish(commit(8)));
    assertSame(error, assertThrows(LogStoppedException.class, log::close).getCause());
  }

  /** As after a store for which a file system that copies on write has no block. */
  @Test
  void a_record_that_the_file_has_not_taken_is_not_published_and_stops_the_log()
      throws IOException {
    Log log = start(1);
    long before = log.tail();
    try (FileChannel file = FileChannel.open(file(), StandardOpenOption.WRITE)) {
      file.truncate(0);
    }
    assertThrows(InternalError.class, () -> log.publish(commit(7)));
    assertInstanceOf(InternalError.class, log.failure());
    assertThrows(DurabilityUnknownException.class, () -> log.awaitDurable(before + 1));
    assertThrows(LogStoppedException.class, log::close);
  }

  /** Its record is in the ring, but a restart ends at the place that was not filled. */
  @Test
  void a_lazy_commit_behind_a_hole_is_not_acknowledged_when_the_log_fails() throws Exception {
    Log log = start(1);
    CountDownLatch reserved = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    Thread holder =
        Thread.ofPlatform().start(() -> LogHolds.publish(log, commit(7), reserved, goOn));
    reserved.await();
    long lsn = log.publish(commit(8));
    FutureTask<Void> lazy =
        new FutureTask<>(() -> {
          log.awaitUnbroken(lsn);
          return null;
        });
    Thread committer = Thread.ofPlatform().start(lazy);
    log.fail(new IllegalStateException("a force failed"));
    ExecutionException unknown = assertThrows(ExecutionException.class, lazy::get);
    assertInstanceOf(DurabilityUnknownException.class, unknown.getCause());
    goOn.countDown();
    holder.join();
    committer.join();
    assertThrows(LogStoppedException.class, log::close);
  }

  /** A store beyond the room of a full disk would be a signal; so zeros are written before. */
  @Test
  void the_room_of_the_file_is_written() throws IOException {
    IoStatistics io = new IoStatistics();
    Path logs = Files.createDirectories(directory.resolve("log"));
    LogOptions options = new LogOptions(SEGMENT, CAPACITY, 1 << 24, "ring", io);
    try (Log log = start(logs, 1, options)) {
      log.awaitUnbroken(log.tail());
      assertTrue(log.isRingInFile());
      assertEquals(SEGMENT + RingLayout.fileSize(CAPACITY), io.bytesWritten());
    }
  }
}
