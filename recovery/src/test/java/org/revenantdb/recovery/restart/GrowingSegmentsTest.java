package org.revenantdb.recovery.restart;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.revenantdb.recovery.file.ControlState;
import org.revenantdb.recovery.file.DamagedFileException;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.file.MissingFileException;
import org.revenantdb.recovery.format.SegmentLayout;
import org.revenantdb.recovery.log.Log;
import org.revenantdb.recovery.log.LogOptions;
import org.revenantdb.recovery.testing.CrashDisk;

/** Segments of a log that begins small: docs/protocols.md §45. */
class GrowingSegmentsTest {
  private static final int KIB = 1 << 10;
  private static final int FULL = 256 * KIB;
  private static final int BUFFER = 1 << 13;
  private static final long BEGIN = SegmentLayout.FIRST_BEGIN;

  private static LogOptions options(long maxLogSize) {
    return new LogOptions(FULL, BUFFER, maxLogSize, "grow", new IoStatistics());
  }

  private static Log create(CrashDisk disk) {
    return Restart.createFirst(LogFixture.directory(disk), LogFixture.ID, options(1 << 24));
  }

  private static Restart analyse(CrashDisk disk, ControlState state) {
    return Restart.analyse(
        LogFixture.directory(disk),
        LogFixture.ID,
        FULL,
        state,
        PageRange.ANY,
        new IoStatistics(),
        RestartProgress.NONE);
  }

  private static ControlState slot(long redo, long durable, int life) {
    return LogFixture.state(redo, redo, 0, durable, life);
  }

  /** The segment files, by the position in their names, and their sizes. */
  private static TreeMap<Long, Integer> segments(CrashDisk disk) {
    TreeMap<Long, Integer> found = new TreeMap<>();
    for (String file : disk.files()) {
      if (file.endsWith(".log")) {
        String name = file.substring(file.lastIndexOf('/') + 1);
        found.put(Long.parseLong(name, 0, 16, 16), disk.content(file).length);
      }
    }
    return found;
  }

  private static List<Integer> sizes(CrashDisk disk) {
    return List.copyOf(segments(disk).values());
  }

  private static String file(long begin) {
    return String.format("/db/log/%016x.log", begin);
  }

  private static void put(CrashDisk disk, String file, byte[] bytes) {
    try (FileChannel channel =
        FileChannel.open(
            disk.path(file), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      channel.write(ByteBuffer.wrap(bytes), 0);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private static long append(Log log, int page) {
    return LogFixture.change(log, 0, page, LogFixture.bytes(700));
  }

  private static void appendUpTo(Log log, long lsn) {
    while (log.tail() < lsn) {
      log.awaitDurable(append(log, 3));
    }
  }

  /** What only an older redo point needs goes one by one, in any order. */
  @Test
  void a_log_with_a_hole_between_two_redo_points_is_not_whole() throws IOException {
    CrashDisk disk = new CrashDisk();
    long late;
    long end;
    try (Log log = create(disk)) {
      appendUpTo(log, BEGIN + 800L * KIB);
      late = log.tail();
      log.awaitDurable(append(log, 3));
      end = log.tail();
    }
    List<Long> begins = List.copyOf(segments(disk).keySet());
    ControlState state = slot(late, late, 1);
    assertTrue(analyse(disk, state).hasLog(BEGIN, late));
    assertTrue(analyse(disk, state).hasLog(end, end));
    Files.delete(disk.path(file(begins.get(2))));
    Restart holed = analyse(disk, state);
    assertFalse(holed.hasLog(BEGIN, late));
    assertFalse(holed.hasLog(begins.get(2), late), "a segment ends there, and the next is missing");
    assertTrue(holed.hasLog(begins.get(3), late));
    Files.delete(disk.path(file(begins.get(0))));
    Files.delete(disk.path(file(begins.get(1))));
    assertFalse(analyse(disk, state).hasLog(BEGIN, late));
  }

  @Test
  void segments_double_up_to_the_full_size() {
    CrashDisk disk = new CrashDisk();
    try (Log log = create(disk)) {
      assertEquals(List.of(32 * KIB), sizes(disk));
      appendUpTo(log, BEGIN + 1000L * KIB);
    }
    List<Integer> sizes = sizes(disk);
    assertEquals(
        List.of(32, 32, 64, 128, 256, 256),
        sizes.stream().limit(6).map(size -> size / KIB).toList());
    assertEquals(List.of(FULL), sizes.subList(6, sizes.size()).stream().distinct().toList());
    long next = BEGIN;
    for (var segment : segments(disk).entrySet()) {
      assertEquals(next, segment.getKey(), "named by its first position");
      next += SegmentLayout.payload(segment.getValue());
    }
  }

  /**
   * Credit of a transaction reaches far ahead of a small log, but must not cost a file each time.
   */
  @Test
  void one_segment_is_made_for_all_requested_credit() {
    CrashDisk disk = new CrashDisk();
    try (Log log = create(disk)) {
      log.ensureSegments(log.tail() + 100L * KIB);
      assertEquals(List.of(32 * KIB, 128 * KIB), sizes(disk));
      assertEquals(160L * KIB, log.bytesInDirectory());
    }
  }

  @Test
  void a_restart_reads_segments_of_all_sizes_and_any_tail_of_them() {
    CrashDisk disk = new CrashDisk();
    int records = 0;
    long forced;
    try (Log log = create(disk)) {
      while (log.tail() < BEGIN + 500L * KIB) {
        forced = append(log, records++);
        if (records == 20) {
          log.awaitDurable(forced);
        }
      }
    }
    assertEquals(
        IntStream.range(0, records).boxed().toList(),
        LogFixture.pages(analyse(disk, slot(BEGIN, BEGIN, 1))));
    CrashDisk killed = disk.afterKill();
    Random random = new Random(45);
    for (int i = 0; i < 30; i++) {
      CrashDisk cut = killed.afterPowerCut(position -> random.nextInt(8) > 0);
      Restart restart = analyse(cut, slot(BEGIN, BEGIN, 1));
      List<Integer> pages = LogFixture.pages(restart);
      assertEquals(IntStream.range(0, pages.size()).boxed().toList(), pages);
      restart.startLife(options(1 << 24)).close();
      assertEquals(pages, LogFixture.pages(analyse(cut, slot(BEGIN, BEGIN, 1))));
    }
  }

  @Test
  void a_life_goes_on_with_the_size_that_the_former_one_ended_in() {
    CrashDisk disk = new CrashDisk();
    long redo;
    try (Log log = create(disk)) {
      appendUpTo(log, BEGIN + 28L * KIB + 28L * KIB + 61L * KIB);
      redo = log.tail();
    }
    assertEquals(128 * KIB, segments(disk).floorEntry(redo).getValue());
    Restart restart = analyse(disk, slot(BEGIN, redo, 1));
    try (Log log = restart.startLife(options(1 << 24))) {
      assertEquals(128 * KIB, segments(disk).lastEntry().getValue());
      log.ensureSegments(segments(disk).lastKey() + 128L * KIB);
      log.ensureSegments(segments(disk).lastKey() + 128L * KIB);
      assertEquals(
          List.of(128 * KIB, 128 * KIB, 256 * KIB),
          List.copyOf(segments(disk).tailMap(log.tail() - 1000).values()));
    }
  }

  /** A database that is opened and closed repeatedly stays as small as it was. */
  @Test
  void an_empty_log_stays_small_through_many_lives() {
    CrashDisk disk = new CrashDisk();
    long redo;
    int life = 1;
    try (Log log = create(disk)) {
      redo = log.tail();
    }
    for (int i = 0; i < 20; i++) {
      CrashDisk left = disk.afterKill();
      try (Log log = analyse(left, slot(redo, redo, life)).startLife(options(1 << 24))) {
        log.awaitDurable(append(log, 3));
        redo = log.tail();
        life = log.life();
        log.recycleBelow(redo);
        assertTrue(log.bytesInDirectory() <= 4 * 32 * KIB, "bytes: " + log.bytesInDirectory());
        log.awaitDurable(append(log, 3));
      }
      assertEquals(List.of(32 * KIB), sizes(left).stream().distinct().toList());
      disk = left;
    }
  }

  @Test
  void segments_that_fit_nothing_any_more_are_deleted() {
    CrashDisk disk = new CrashDisk();
    try (Log log = create(disk)) {
      appendUpTo(log, BEGIN + 700L * KIB);
      log.recycleBelow(log.tail());
      appendUpTo(log, log.tail() + 600L * KIB); // needs a segment that was deleted
    }
    assertEquals(List.of(FULL), sizes(disk).stream().distinct().toList());
  }

  /**
   * A file may have the name of the next segment and another size, if a kill followed the rename.
   */
  @Test
  void a_file_without_header_that_has_the_name_of_a_larger_segment_is_replaced() {
    CrashDisk disk = new CrashDisk();
    long redo;
    try (Log log = create(disk)) {
      appendUpTo(log, BEGIN + 60L * KIB);
      redo = log.tail();
      log.recycleBelow(redo);
    }
    CrashDisk left = disk.afterKill();
    var last = segments(left).lastEntry();
    long next = last.getKey() + SegmentLayout.payload(last.getValue()) + BUFFER;
    put(left, file(next), new byte[32 * KIB]); // where the next life begins
    try (Log log = analyse(left, slot(redo, redo, 1)).startLife(options(1 << 24))) {
      assertEquals(64 * KIB, segments(left).get(next));
      assertEquals(
          segments(left).values().stream().mapToInt(Integer::intValue).sum(),
          log.bytesInDirectory());
    }
  }

  @Test
  void a_missing_segment_of_any_size_is_refused_by_name() {
    CrashDisk disk = new CrashDisk();
    long last;
    try (Log log = create(disk)) {
      appendUpTo(log, BEGIN + 500L * KIB);
      last = log.tail();
    }
    List<Long> begins = new ArrayList<>(segments(disk).headMap(last).keySet());
    for (long begin : begins) {
      CrashDisk without = disk.afterKill();
      without.move(file(begin), null);
      MissingFileException missing =
          assertThrows(MissingFileException.class, () -> analyse(without, slot(BEGIN, BEGIN, 1)));
      assertEquals(file(begin), missing.file().toString());
    }
  }

  @Test
  void a_segment_of_another_length_than_its_header_says_is_refused() {
    CrashDisk disk = new CrashDisk();
    try (Log log = create(disk)) {
      appendUpTo(log, BEGIN + 500L * KIB);
    }
    for (var segment : segments(disk).entrySet()) {
      for (int length : new int[] {segment.getValue() / 2, segment.getValue() * 2, 12_345, 0}) {
        CrashDisk other = disk.afterKill();
        String file = file(segment.getKey());
        other.content(file, Arrays.copyOf(other.content(file), length));
        DamagedFileException refused =
            assertThrows(DamagedFileException.class, () -> analyse(other, slot(BEGIN, BEGIN, 1)));
        assertEquals(file, refused.file().toString());
        assertTrue(refused.reason().contains(length + " bytes"), refused.reason());
      }
    }
  }

  /** No crash leaves two segments that have a position in common. */
  @Test
  void a_segment_inside_another_one_is_refused() {
    CrashDisk disk = new CrashDisk();
    try (Log log = create(disk)) {
      appendUpTo(log, BEGIN + 500L * KIB);
    }
    long begin = segments(disk).lastKey();
    byte[] bytes = disk.content(file(begin));
    long inside = begin + 4096;
    ByteBuffer header = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    header.putLong(SegmentLayout.BEGIN, inside);
    CRC32C crc = new CRC32C();
    crc.update(bytes, SegmentLayout.VERSION, SegmentLayout.CHECKED - SegmentLayout.VERSION);
    header.putInt(SegmentLayout.CRC, (int) crc.getValue());
    put(disk, file(inside), bytes);
    DamagedFileException refused =
        assertThrows(DamagedFileException.class, () -> analyse(disk, slot(BEGIN, BEGIN, 1)));
    assertEquals(file(inside), refused.file().toString());
    assertTrue(refused.reason().contains("reaches up to"), refused.reason());
  }

  /** The work is in proportion to the files, not to what their names say. */
  @Test
  void a_name_with_an_absurd_position_is_refused() {
    CrashDisk disk = new CrashDisk();
    create(disk).close();
    byte[] other = new byte[32 * KIB];
    for (long begin :
        new long[] {
          0,
          4097,
          1L << 40,
          SegmentLayout.LARGEST_LSN - 8,
          SegmentLayout.LARGEST_LSN,
          Long.MAX_VALUE
        }) {
      CrashDisk with = disk.afterKill();
      put(with, file(begin), other);
      FileException refused =
          assertThrows(FileException.class, () -> analyse(with, slot(BEGIN, BEGIN, 1)));
      assertEquals(file(begin), refused.file().toString());
    }
  }
}
