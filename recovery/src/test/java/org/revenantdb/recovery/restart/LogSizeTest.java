package org.revenantdb.recovery.restart;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.log.Log;
import org.revenantdb.recovery.log.LogOptions;
import org.revenantdb.recovery.testing.CrashDisk;

/** The log directory never has more files than allowed, including unfinished ones. */
class LogSizeTest {
  private static final int MOST = 12;

  private static LogOptions options(int files) {
    return new LogOptions(
        LogFixture.SEGMENT,
        LogFixture.BUFFER,
        (long) files * LogFixture.SEGMENT,
        "size",
        new IoStatistics());
  }

  private static long files(CrashDisk disk) {
    return disk.files().stream().filter(name -> name.startsWith("/db/log/")).count();
  }

  /** Counts the files before each change, so also after each creation. */
  private static AtomicLong watch(CrashDisk disk) {
    AtomicLong most = new AtomicLong();
    disk.observe(() -> most.accumulateAndGet(files(disk), Math::max));
    return most;
  }

  private static void fill(Log log, long segments) {
    long end = log.tail() + segments * LogFixture.PAYLOAD;
    while (log.tail() < end) {
      log.awaitDurable(LogFixture.change(log, 0, 1, LogFixture.bytes(500)));
    }
  }

  /** Regression: a restart copied the tail beside a directory of the maximal size. */
  @Test
  void a_restart_copies_the_tail_in_a_full_directory_without_a_file_too_many() {
    CrashDisk disk = new CrashDisk();
    long redo;
    int life = 1;
    try (Log log = Restart.createFirst(LogFixture.directory(disk), LogFixture.ID, options(MOST))) {
      log.ensureSegments(log.tail() + (MOST - 1L) * LogFixture.PAYLOAD);
      fill(log, MOST - 2);
      redo = log.tail();
      log.recycleBelow(redo);
      fill(log, 1);
      assertEquals(MOST, files(disk));
    }
    CrashDisk left = disk.afterKill();
    for (int restart = 0; restart < 5; restart++) {
      AtomicLong most = watch(left);
      Restart next = LogFixture.analyse(left, LogFixture.state(redo, redo, 0, redo, life));
      try (Log log = next.startLife(options(MOST))) {
        life = log.life();
        for (int i = 0; i < 2 * MOST; i++) {
          redo = log.tail();
          log.recycleBelow(redo);
          fill(log, 1);
        }
        left = left.afterKill();
      }
      assertTrue(most.get() <= MOST, "restart " + restart + ": " + most);
    }
  }

  /** The user has set a lower bound: files in excess are deleted before any is made. */
  @Test
  void a_lower_bound_holds_when_the_database_is_open() {
    CrashDisk disk = new CrashDisk();
    long redo;
    try (Log log = Restart.createFirst(LogFixture.directory(disk), LogFixture.ID, options(MOST))) {
      log.ensureSegments(log.tail() + (MOST - 1L) * LogFixture.PAYLOAD);
      fill(log, MOST - 2);
      redo = log.tail();
      log.recycleBelow(redo);
      fill(log, 1);
    }
    CrashDisk left = disk.afterKill();
    AtomicLong most = watch(left);
    Restart next = LogFixture.analyse(left, LogFixture.state(redo, redo, 0, redo, 1));
    try (Log log = next.startLife(options(MOST / 2))) {
      assertTrue(files(left) <= MOST / 2, left.files().toString());
      assertEquals(files(left) * LogFixture.SEGMENT, log.bytesInDirectory());
    }
    assertEquals(MOST, most.get());
  }

  /** Regression: a segment was no longer counted, although it had already been renamed. */
  @Test
  void a_segment_whose_preparation_failed_half_way_counts() {
    CrashDisk disk = new CrashDisk();
    try (Log log = Restart.createFirst(LogFixture.directory(disk), LogFixture.ID, options(MOST))) {
      log.ensureSegments(log.tail() + 3L * LogFixture.PAYLOAD);
      fill(log, 3);
      log.recycleBelow(log.tail());
      long prepared = files(disk);
      disk.failForcesAfter(0);
      assertThrows(
          FileException.class, () -> log.ensureSegments(log.tail() + 2L * LogFixture.PAYLOAD));
      assertEquals(prepared * LogFixture.SEGMENT, log.bytesInDirectory());
      disk.failForcesAfter(Integer.MAX_VALUE);
      log.ensureSegments(log.tail() + (MOST - 2L) * LogFixture.PAYLOAD);
      assertEquals(files(disk) * LogFixture.SEGMENT, log.bytesInDirectory());
      assertTrue(files(disk) <= MOST, disk.files().toString());
    }
  }

  @Test
  void a_log_that_has_waited_for_files_has_more_of_them_made_while_it_is_written() {
    CrashDisk disk = new CrashDisk();
    try (Log log =
        Restart.createFirst(LogFixture.directory(disk), LogFixture.ID, options(4 * MOST))) {
      waitForFiles(log);
      assertEquals(5L * LogFixture.SEGMENT, log.bytesInDirectory());
      fill(log, 2);
      while (log.bytesInDirectory() < 6L * LogFixture.SEGMENT) {
        Thread.onSpinWait(); // for a file that no caller waits for
      }
    }
  }

  @Test
  void files_that_nobody_waits_for_are_not_made_beyond_the_bound() {
    CrashDisk disk = new CrashDisk();
    AtomicLong most = watch(disk);
    try (Log log = Restart.createFirst(LogFixture.directory(disk), LogFixture.ID, options(MOST))) {
      waitForFiles(log);
      for (int round = 0; round < 3 * MOST; round++) {
        fill(log, MOST / 2);
        log.recycleBelow(log.tail());
      }
    }
    assertTrue(most.get() <= MOST, most.toString());
  }

  @Test
  void a_restart_finds_room_for_its_file_beside_those_that_nobody_waits_for() {
    CrashDisk disk = new CrashDisk();
    long redo;
    try (Log log = Restart.createFirst(LogFixture.directory(disk), LogFixture.ID, options(MOST))) {
      waitForFiles(log);
      redo = log.tail();
      fill(log, MOST - 4); // the log itself may fill all but two files
      log.awaitDurable(LogFixture.change(log, 0, 1, LogFixture.bytes(500)));
    }
    CrashDisk left = disk.afterKill();
    assertTrue(files(left) < MOST, left.files().toString());
    AtomicLong most = watch(left);
    Restart next = LogFixture.analyse(left, LogFixture.state(redo, redo, 0, redo, 1));
    try (Log log = next.startLife(options(MOST))) {
      fill(log, 1);
    }
    assertTrue(most.get() <= MOST, most.toString());
  }

  /** Asks for one segment of full size after the other. */
  private static void waitForFiles(Log log) {
    for (int segments = 1; segments <= 4; segments++) {
      log.ensureSegments(log.tail() + segments * (long) LogFixture.PAYLOAD);
    }
  }
}
