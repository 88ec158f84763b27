package org.revenantdb.recovery.restart;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.revenantdb.recovery.file.ControlState;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.file.MissingFileException;
import org.revenantdb.recovery.format.SegmentLayout;
import org.revenantdb.recovery.log.Log;
import org.revenantdb.recovery.log.LogOptions;
import org.revenantdb.recovery.testing.CrashDisk;

/** What a log keeps of its free files: docs/protocols.md §45. */
class SpareSegmentsTest {
  /** A life begins one log buffer behind the one before: within a segment that was made ahead. */
  private static final int SEGMENT = 1 << 14;

  private static final int PAYLOAD = SEGMENT - SegmentLayout.HEADER;

  /** Bytes of a record of 500 bytes. */
  private static final int LAST = 552;

  private static LogOptions options() {
    return new LogOptions(SEGMENT, LogFixture.BUFFER, 1 << 21, "spare", new IoStatistics());
  }

  private static Log create(CrashDisk disk) {
    return Restart.createFirst(LogFixture.directory(disk), LogFixture.ID, options());
  }

  private static Restart analyse(CrashDisk disk, ControlState state) {
    return Restart.analyse(
        LogFixture.directory(disk),
        LogFixture.ID,
        SEGMENT,
        state,
        PageRange.ANY,
        new IoStatistics(),
        RestartProgress.NONE);
  }

  /** The file with a position of the first life. */
  private static String segment(long lsn) {
    long begin = lsn - (lsn - SegmentLayout.FIRST_BEGIN) % PAYLOAD;
    return String.format("/db/log/%016x.log", begin);
  }

  private static long files(CrashDisk disk) {
    return disk.files().stream().filter(name -> name.endsWith(".log")).count();
  }

  /** The files up to the last written one, in order. */
  private static List<String> segmentsUpTo(CrashDisk disk, long end) {
    return disk.files().stream()
        .filter(name -> name.endsWith(".log") && name.compareTo(segment(end - 1)) <= 0)
        .sorted()
        .toList();
  }

  /** Publishes durable records that take so many segments. */
  private static void fill(Log log, int segments) {
    long end = log.tail() + (long) segments * PAYLOAD;
    while (log.tail() < end) {
      log.awaitDurable(LogFixture.change(log, 0, 1, LogFixture.bytes(500)));
    }
  }

  /** The files behind the last written one: those that were made ahead. */
  private static long ahead(CrashDisk disk, long end) {
    return disk.files().stream()
        .filter(name -> name.compareTo(segment(end - 1)) > 0)
        .filter(name -> name.endsWith(".log"))
        .count();
  }

  /** The slot of a clean close, which lets a restart read the last record; it names segments. */
  private static ControlState clean(long end) {
    return new ControlState(0, end - LAST, end - LAST, 0, end, /* life= */ 1, true, end, 10);
  }

  @Test
  void a_log_that_is_written_slowly_makes_no_segment_anew() {
    CrashDisk disk = new CrashDisk();
    try (Log log = create(disk)) {
      for (int round = 0; round < 3; round++) {
        fill(log, 30);
        log.recycleBelow(log.tail());
      }
      long before = files(disk);
      List<String> made = new ArrayList<>();
      disk.observeOperations(operation -> {
        if (operation.startsWith("create ") || operation.startsWith("delete ")) {
          made.add(operation);
        }
      });
      for (int round = 0; round < 10; round++) {
        fill(log, 20);
        log.recycleBelow(log.tail());
      }
      assertEquals(List.of(), made);
      assertEquals(before, files(disk));
      disk.observe(() -> {});
    }
  }

  /** Writes ten segments, which a checkpoint releases, and has others made ahead. */
  private static long life(Log log) {
    fill(log, 10);
    log.ensureSegments(log.tail() + 5L * PAYLOAD);
    log.awaitDurable(LogFixture.change(log, 0, 1, LogFixture.bytes(500)));
    log.recycleBelow(log.tail());
    return log.tail();
  }

  @Test
  void a_log_that_is_closed_cleanly_keeps_one_free_segment_and_none_that_was_made_ahead() {
    CrashDisk disk = new CrashDisk();
    long end;
    List<String> before;
    try (Log log = create(disk)) {
      end = life(log);
      before = segmentsUpTo(disk, end);
      log.endsCleanly();
    }
    assertEquals(0, ahead(disk, end));
    // The free one is the last of them: an archive may need it to recognise the database.
    assertEquals(before.subList(before.size() - 2, before.size()), segmentsUpTo(disk, end));
    assertTrue(before.size() > 2, before.toString());
    Restart next = analyse(disk, clean(end));
    assertTrue(next.result().cleanShutdown());
    try (Log log = next.startLife(options())) {
      assertEquals(2, files(disk), disk.files().toString()); // the free one is its first
      fill(log, 3);
    }
  }

  @Test
  void a_log_that_is_not_closed_cleanly_keeps_all_and_a_missing_one_is_damage() {
    CrashDisk disk = new CrashDisk();
    long end;
    try (Log log = create(disk)) {
      end = life(log);
    }
    assertTrue(ahead(disk, end) >= 5, disk.files().toString());
    CrashDisk cut = disk.afterKill();
    ControlState state = LogFixture.state(end - LAST, end - LAST, 0, end, 1);
    analyse(disk, state);
    cut.move(segment(end - 1 + PAYLOAD), "/db/elsewhere");
    assertThrows(MissingFileException.class, () -> analyse(cut, state));
  }

  /** Without a free segment the next life makes its first one anew. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void a_crash_while_a_clean_close_deletes_segments_leaves_a_log_that_goes_on(boolean releases) {
    long seed = Long.getLong("revenant.seed", System.nanoTime());
    System.out.println("SpareSegmentsTest -Drevenant.seed=" + seed);
    Random random = new Random(seed);
    CrashDisk disk = new CrashDisk();
    List<CrashDisk> images = new ArrayList<>();
    long end;
    try (Log log = create(disk)) {
      if (releases) {
        life(log);
      } else {
        log.ensureSegments(log.tail() + 5L * PAYLOAD);
        log.awaitDurable(LogFixture.change(log, 0, 1, LogFixture.bytes(500)));
      }
      end = log.tail();
      disk.observe(() -> {
        images.add(disk.afterKill());
        images.add(disk.afterPowerCut(random));
      });
      log.endsCleanly();
    }
    disk.observe(() -> {});
    images.add(disk);
    assertTrue(images.size() > 2 * 5, images.size() + " images");
    for (CrashDisk image : images) {
      goesOn(image, end, random);
    }
  }

  /** The next life begins, is cut off at each step, is killed, and so is the one after it. */
  private static void goesOn(CrashDisk image, long end, Random random) {
    Restart next = analyse(image, clean(end));
    assertTrue(next.result().cleanShutdown());
    List<CrashDisk> deeper = new ArrayList<>();
    image.observe(() -> {
      for (int i = 0; i < 4; i++) {
        deeper.add(image.afterPowerCut(random));
      }
    });
    long written;
    try (Log log = next.startLife(options())) {
      image.observe(() -> {});
      for (CrashDisk cut : deeper) {
        analyse(cut, clean(end)).startLife(options()).close();
      }
      assertTrue(log.lifeBegin() > end);
      fill(log, 3);
      written = log.tail();
    }
    CrashDisk killed = random.nextBoolean() ? image.afterKill() : image.afterPowerCut(random);
    Restart again = analyse(killed, LogFixture.state(end, end, 0, end, 2));
    assertEquals(written, again.result().endOfLog());
    try (Log log = again.startLife(options())) {
      assertTrue(log.lifeBegin() > written);
      fill(log, 1);
    }
  }
}
