package org.revenantdb.recovery.restart;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.revenantdb.recovery.file.ControlState;
import org.revenantdb.recovery.file.DamagedFileException;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.FormatVersionException;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.file.MissingFileException;
import org.revenantdb.recovery.format.SegmentLayout;
import org.revenantdb.recovery.log.Log;
import org.revenantdb.recovery.segment.LogReader;
import org.revenantdb.recovery.segment.SegmentDirectory;
import org.revenantdb.recovery.testing.CrashDisk;

/** R7: a hole at or after D is the end of the log, a hole before it is damage. */
class EndOfLogTest {
  /** Enough for the log to reach from segment 1 into segment 4 or 5. */
  private static final int RECORDS = 40;

  private final List<Long> lsns = new ArrayList<>();

  /** A log of several segments, each record durable before the next is made. */
  private CrashDisk durableLog() {
    CrashDisk disk = new CrashDisk();
    try (Log log = LogFixture.create(disk)) {
      for (int page = 0; page < RECORDS; page++) {
        long lsn = LogFixture.change(log, 0, page, LogFixture.bytes(300));
        log.awaitDurable(lsn);
        lsns.add(lsn);
      }
    }
    return disk;
  }

  /** Keeps the disk as it was before the last change by the log writer: before its last force. */
  private static void observeWriter(CrashDisk disk, CrashDisk[] image) {
    disk.observe(() -> {
      String name = Thread.currentThread().getName();
      if (name.endsWith("-log") || name.endsWith("-log-force")) {
        image[0] = disk.afterKill();
      }
    });
  }

  private static List<Integer> upTo(int records) {
    return IntStream.range(0, records).boxed().toList();
  }

  @Test
  void R7_a_flipped_bit_in_any_record_below_the_known_durable_lsn_is_refused() {
    CrashDisk disk = durableLog();
    Random random = new Random(7);
    // The last record names the durable LSN of the one before it; nothing names its own.
    for (int record = 0; record < RECORDS - 1; record++) {
      CrashDisk flipped = disk.afterKill();
      long start = record == 0 ? LogFixture.PAYLOAD : lsns.get(record - 1);
      long position = start + random.nextInt((int) (lsns.get(record) - start));
      String file = LogFixture.segment(LogFixture.number(position));
      flipped.flip(file, LogFixture.offset(position), random.nextInt(8));
      DamagedFileException damage =
          assertThrows(
              DamagedFileException.class,
              () -> LogFixture.analyse(flipped, LogFixture.firstState()),
              "record " + record);
      String segmentOfStart = LogFixture.segment(LogFixture.number(start));
      assertEquals(segmentOfStart, damage.file().toString());
      assertEquals(LogFixture.offset(start), damage.offset());
      assertTrue(damage.reason().contains("position " + start), damage.reason());
    }
  }

  @Test
  void R7_a_flipped_bit_above_the_known_durable_lsn_is_the_end_of_the_log() {
    CrashDisk disk = durableLog();
    long start = lsns.get(RECORDS - 2);
    disk.flip(LogFixture.segment(LogFixture.number(start)), LogFixture.offset(start) + 60, 3);
    assertEquals(
        upTo(RECORDS - 1), LogFixture.pages(LogFixture.analyse(disk, LogFixture.firstState())));
  }

  @Test
  void R7_the_same_flipped_bit_is_damage_if_the_control_slot_knows_better() {
    CrashDisk disk = durableLog();
    long start = lsns.get(RECORDS - 2);
    disk.flip(LogFixture.segment(LogFixture.number(start)), LogFixture.offset(start) + 60, 3);
    ControlState state =
        LogFixture.state(LogFixture.PAYLOAD, LogFixture.PAYLOAD, 0, lsns.getLast(), 1);
    assertThrows(DamagedFileException.class, () -> LogFixture.analyse(disk, state));
  }

  /** The tail is copied, and then read again from there: a refusal would be too late. */
  @Test
  void a_durable_lsn_inside_a_record_is_refused_before_anything_is_changed() {
    CrashDisk disk = durableLog();
    long inside = lsns.getLast() - 8;
    ControlState state = LogFixture.state(LogFixture.PAYLOAD, LogFixture.PAYLOAD, 0, inside, 1);
    DamagedFileException damage =
        assertThrows(DamagedFileException.class, () -> LogFixture.analyse(disk, state));
    long segment = LogFixture.number(inside);
    assertEquals(LogFixture.segment(segment), damage.file().toString());
    assertEquals(LogFixture.offset(inside), damage.offset());
    assertTrue(damage.reason().contains("position " + inside), damage.reason());
  }

  /** One unforced write; its first sectors are lost, its later ones kept: an ordinary power cut. */
  @Test
  void R7_a_hole_with_good_records_behind_it_is_the_end_of_the_log() {
    CrashDisk disk = new CrashDisk();
    CrashDisk[] written = new CrashDisk[1];
    long firstLsn;
    try (Log log = LogFixture.create(disk)) {
      firstLsn = LogFixture.change(log, 0, 0, LogFixture.bytes(300));
      log.awaitDurable(firstLsn);
      for (int page = 1; page <= 8; page++) {
        LogFixture.change(log, 0, page, LogFixture.bytes(300));
      }
      observeWriter(disk, written);
      log.awaitDurable(log.tail());
      disk.observe(() -> {});
    }
    CrashDisk cut = written[0].afterPowerCut(position -> position >= 4096 + 1536);
    Restart restart = LogFixture.analyse(cut, LogFixture.firstState());
    assertEquals(firstLsn, restart.result().endOfLog());
    assertEquals(List.of(0), LogFixture.pages(restart));

    // and the records behind the hole never come back
    try (Log log = restart.startLife(LogFixture.options())) {
      log.awaitDurable(LogFixture.change(log, 0, 77, LogFixture.bytes(300)));
    }
    assertEquals(
        List.of(0, 77), LogFixture.pages(LogFixture.analyse(cut, LogFixture.firstStateOf(2))));
  }

  /** Several segments are written between two forces, and a power cut keeps any part of them. */
  @Test
  void R7_holes_in_several_unforced_segments_end_the_log_at_the_first_of_them() {
    CrashDisk disk = new CrashDisk();
    CrashDisk[] written = new CrashDisk[1];
    try (Log log = LogFixture.create(disk)) {
      log.awaitDurable(LogFixture.change(log, 0, 0, LogFixture.bytes(300)));
      for (int page = 1; page < RECORDS; page++) {
        LogFixture.change(log, 0, page, LogFixture.bytes(300));
      }
      written[0] = disk.afterKill();
    }
    Random random = new Random(70);
    for (int i = 0; i < 50; i++) {
      CrashDisk cut = written[0].afterPowerCut(position -> random.nextInt(8) > 0);
      Restart restart = LogFixture.analyse(cut, LogFixture.firstState());
      List<Integer> pages = LogFixture.pages(restart);
      assertEquals(upTo(pages.size()), pages);
      restart.startLife(LogFixture.options()).close();
      assertEquals(pages, LogFixture.pages(LogFixture.analyse(cut, LogFixture.firstState())));
    }
  }

  /** The record that crosses into the next segment is torn there; records behind it are whole. */
  @Test
  void R7_a_torn_record_that_crosses_segments_is_the_end_of_the_log_for_every_restart() {
    CrashDisk disk = new CrashDisk();
    CrashDisk[] written = new CrashDisk[1];
    List<Long> ends = new ArrayList<>();
    try (Log log = LogFixture.create(disk)) {
      for (int page = 0; page < 15; page++) {
        ends.add(LogFixture.change(log, 0, page, LogFixture.bytes(300)));
        if (page == 1) {
          log.awaitDurable(log.tail()); // the first sector of the first segment
        }
      }
      observeWriter(disk, written);
      log.awaitDurable(log.tail());
      disk.observe(() -> {});
    }
    long boundary = 2L * LogFixture.PAYLOAD;
    int whole = (int) ends.stream().filter(end -> end <= boundary).count();
    assertTrue(ends.get(whole - 1) < boundary && ends.get(whole) > boundary, "one crosses");
    // of the second segment all but the first sector of its records is kept
    CrashDisk cut = written[0].afterPowerCut(position -> position != 4096);
    Restart restart = LogFixture.analyse(cut, LogFixture.firstState());
    assertEquals(upTo(whole), LogFixture.pages(restart));

    // After the seal had cut off the torn record,
    // the good records behind it were taken for proof of damage.
    List<CrashDisk> killed = new ArrayList<>();
    cut.observe(() -> killed.add(cut.afterKill()));
    restart.startLife(LogFixture.options()).close();
    cut.observe(() -> {});
    assertFalse(killed.isEmpty());
    for (CrashDisk again : killed) {
      assertEquals(
          upTo(whole), LogFixture.pages(LogFixture.analyse(again, LogFixture.firstState())));
    }
  }

  /**
   * Regression: the last record of a segment reached into the next one with zeros only, which a
   * prepared segment contains anyway. That was taken for proof that the former segment had been
   * forced.
   */
  @Test
  void R7_a_record_that_ends_in_zeros_of_the_next_segment_does_not_prove_a_force() {
    CrashDisk disk = new CrashDisk();
    List<CrashDisk> cuts = new ArrayList<>();
    long durable;
    try (Log log = LogFixture.create(disk)) {
      long number;
      do {
        number = appendUntilNextIsPrepared(disk, log, /* atLeast= */ 1);
      } while (LogFixture.firstLsn(number + 1) - log.tail() < 1536);
      long boundary = LogFixture.firstLsn(number + 1);
      durable = log.durableLsn();
      long hole = LogFixture.offset(durable) / 512 * 512 + 512;
      // of what is not forced all is kept but one sector in the middle
      disk.observe(() -> cuts.add(disk.afterPowerCut(position -> position != hole)));
      while (log.tail() < boundary - 500) {
        LogFixture.change(log, 0, 2, LogFixture.bytes(300));
      }
      long end = LogFixture.change(log, 0, 3, new byte[700]);
      assertTrue(end > boundary, "zeros cross the boundary");
      log.awaitDurable(end);
      disk.observe(() -> {});
    }
    assertFalse(cuts.isEmpty());
    for (CrashDisk cut : cuts) {
      assertTrue(LogFixture.analyse(cut, LogFixture.firstState()).result().endOfLog() >= durable);
    }
  }

  @Test
  void R7_a_missing_segment_is_refused_first_middle_and_last() {
    CrashDisk disk = new CrashDisk();
    List<Long> spokenOf;
    try (Log log = LogFixture.create(disk)) {
      long last = 3;
      do {
        last = appendUntilNextIsPrepared(disk, log, /* atLeast= */ last + 1);
        spokenOf = segmentsSpokenOf(disk, last);
      } while (spokenOf.size() < 4);
    }
    for (long number : spokenOf) {
      CrashDisk without = disk.afterKill();
      without.move(LogFixture.segment(number), null);
      MissingFileException missing =
          assertThrows(
              MissingFileException.class,
              () -> LogFixture.analyse(without, LogFixture.firstState()),
              "segment " + number);
      assertEquals(LogFixture.segment(number), missing.file().toString());
    }
  }

  /** The segment behind the last record has been prepared, and the record says so. */
  @Test
  void R7_a_missing_segment_that_only_was_prepared_is_refused() {
    CrashDisk disk = new CrashDisk();
    long last;
    try (Log log = LogFixture.create(disk)) {
      last = appendUntilNextIsPrepared(disk, log, /* atLeast= */ 1);
    }
    disk.move(LogFixture.segment(last + 1), null);
    MissingFileException missing =
        assertThrows(
            MissingFileException.class, () -> LogFixture.analyse(disk, LogFixture.firstState()));
    assertEquals(LogFixture.segment(last + 1), missing.file().toString());
  }

  /** Appends until the last record knows of the next segment; returns that record's segment. */
  private static long appendUntilNextIsPrepared(CrashDisk disk, Log log, long atLeast) {
    while (true) {
      long lsn = LogFixture.change(log, 0, 1, LogFixture.bytes(50));
      log.awaitDurable(lsn);
      long number = LogFixture.number(lsn - 1);
      if (number >= atLeast && segmentsKnownToLast(disk) > LogFixture.firstLsn(number + 1)) {
        return number;
      }
    }
  }

  /**
   * The first segment, and those that a record before them speaks of. The last record before a
   * segment may have been written when that was still being made.
   */
  private static List<Long> segmentsSpokenOf(CrashDisk disk, long last) {
    List<Long> numbers = new ArrayList<>(List.of(1L));
    SegmentDirectory directory =
        new SegmentDirectory(
            LogFixture.directory(disk), LogFixture.ID, LogFixture.SEGMENT, new IoStatistics());
    try (LogReader reader = new LogReader(directory, directory.list()::at)) {
      reader.seek(LogFixture.PAYLOAD);
      while (reader.next()) {
        long next = LogFixture.number(reader.lsn() - 1) + 1;
        if (next <= last
            && numbers.getLast() < next
            && reader.segmentsUpTo() > LogFixture.firstLsn(next)) {
          numbers.add(next);
        }
      }
    }
    return numbers;
  }

  private static long segmentsKnownToLast(CrashDisk disk) {
    SegmentDirectory directory =
        new SegmentDirectory(
            LogFixture.directory(disk), LogFixture.ID, LogFixture.SEGMENT, new IoStatistics());
    try (LogReader reader = new LogReader(directory, directory.list()::at)) {
      reader.seek(LogFixture.PAYLOAD);
      long known = 0;
      while (reader.next()) {
        known = reader.segmentsUpTo();
      }
      return known;
    }
  }

  @Test
  void R7_a_segment_under_another_name_is_refused() {
    CrashDisk disk = durableLog();
    disk.move(LogFixture.segment(2), LogFixture.segment(99));
    assertThrows(
        MissingFileException.class, () -> LogFixture.analyse(disk, LogFixture.firstState()));
  }

  @Test
  void R7_a_damaged_segment_header_is_refused_in_any_segment() {
    CrashDisk disk = durableLog();
    long last = LogFixture.number(lsns.getLast());
    for (long number = 1; number <= last; number++) {
      CrashDisk damaged = disk.afterKill();
      damaged.flip(LogFixture.segment(number), 33, 1);
      assertThrows(
          FileException.class,
          () -> LogFixture.analyse(damaged, LogFixture.firstState()),
          "segment " + number);
    }
  }

  @Test
  void a_segment_of_another_version_or_database_is_reported_as_such() {
    CrashDisk disk = durableLog();
    CrashDisk other = disk.afterKill();
    other.content(LogFixture.segment(1), withHeader(other, SegmentLayout.VERSION, 1));
    FormatVersionException version =
        assertThrows(
            FormatVersionException.class, () -> LogFixture.analyse(other, LogFixture.firstState()));
    assertEquals(1, version.found());
    disk.content(LogFixture.segment(1), withHeader(disk, SegmentLayout.DATABASE_ID, 1));
    DamagedFileException foreign =
        assertThrows(
            DamagedFileException.class, () -> LogFixture.analyse(disk, LogFixture.firstState()));
    assertTrue(foreign.reason().contains("another database"), foreign.reason());
  }

  private static byte[] withHeader(CrashDisk disk, int offset, int value) {
    byte[] bytes = disk.content(LogFixture.segment(1));
    ByteBuffer header = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    header.putInt(offset, value);
    java.util.zip.CRC32C crc = new java.util.zip.CRC32C();
    crc.update(bytes, SegmentLayout.VERSION, SegmentLayout.CHECKED - SegmentLayout.VERSION);
    header.putInt(SegmentLayout.CRC, (int) crc.getValue());
    return bytes;
  }

  /** Lost LSNs are never used again, nor are LSNs that were assigned and not even written. */
  @Test
  void R7_a_new_life_begins_above_every_lsn_of_the_former_one() {
    CrashDisk disk = new CrashDisk();
    long highest = 0;
    ControlState state = LogFixture.firstState();
    Log log = LogFixture.create(disk);
    for (int life = 2; life < 6; life++) {
      CrashDisk[] before = new CrashDisk[1];
      CrashDisk current = disk;
      long tail = log.tail();
      disk.observe(() -> before[0] = before[0] == null ? current.afterKill() : before[0]);
      while (log.tail() - tail <= LogFixture.BUFFER / 2) {
        highest = LogFixture.change(log, 0, life, LogFixture.bytes(300));
      }
      CrashDisk cut =
          (before[0] == null ? disk.afterKill() : before[0]).afterPowerCut(position -> false);
      disk.observe(() -> {});
      log.close();
      disk = cut;
      log = LogFixture.analyse(disk, state).startLife(LogFixture.options());
      assertTrue(log.tail() > highest, log.tail() + " is not above " + highest);
    }
    log.close();
  }

  /** A segment that is used again contains whole records of its former use. */
  @Test
  void R7_old_records_in_a_segment_that_is_used_again_do_not_count() {
    CrashDisk disk = new CrashDisk();
    try (Log log = LogFixture.create(disk)) {
      int page = 0;
      long segments;
      do {
        log.awaitDurable(LogFixture.change(log, 0, page++ % 100, LogFixture.bytes(300)));
        log.recycleBelow(log.durableLsn());
        segments = LogFixture.number(log.durableLsn() - 1);
      } while (page < 100 || log.bytesInDirectory() >= segments * LogFixture.SEGMENT);
      // There are fewer files than there were segments, so some are used again.
      long point = log.durableLsn();
      long lsn = LogFixture.change(log, 0, 100, LogFixture.bytes(100));
      log.awaitDurable(lsn);
      ControlState state = LogFixture.state(point, point, 0, point, 1);
      Restart restart = LogFixture.analyse(disk.afterKill(), state);
      assertEquals(List.of(100), LogFixture.pages(restart));
      assertEquals(lsn, restart.result().endOfLog());
    }
  }

  /** The first state of a life is in the control slots, so a life whose log is gone is noticed. */
  @Test
  void R7_a_life_that_the_control_slot_knows_must_be_found() {
    CrashDisk disk = durableLog();
    Restart restart = LogFixture.analyse(disk, LogFixture.firstState());
    long firstSegment;
    ControlState state;
    try (Log log = restart.startLife(LogFixture.options())) {
      state = restart.firstState(log);
      firstSegment = LogFixture.number(log.tail());
      log.awaitDurable(LogFixture.change(log, 0, 50, LogFixture.bytes(10)));
    }
    disk.move(LogFixture.segment(firstSegment), null);
    assertThrows(FileException.class, () -> LogFixture.analyse(disk, state));
    // also if only the number of the life shows it
    ControlState onlyLife =
        LogFixture.state(LogFixture.PAYLOAD, LogFixture.PAYLOAD, 0, LogFixture.PAYLOAD, 2);
    assertThrows(FileException.class, () -> LogFixture.analyse(disk, onlyLife));
  }

  @Test
  void R7_the_life_never_falls_along_the_log() {
    CrashDisk disk = durableLog();
    // the second segment claims another life, with all its checksums right
    byte[] bytes = disk.content(LogFixture.segment(2));
    ByteBuffer header = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    header.putInt(SegmentLayout.LIFE, 0);
    java.util.zip.CRC32C crc = new java.util.zip.CRC32C();
    crc.update(bytes, SegmentLayout.VERSION, SegmentLayout.CHECKED - SegmentLayout.VERSION);
    header.putInt(SegmentLayout.CRC, (int) crc.getValue());
    disk.content(LogFixture.segment(2), bytes);
    assertThrows(FileException.class, () -> LogFixture.analyse(disk, LogFixture.firstState()));
  }
}
