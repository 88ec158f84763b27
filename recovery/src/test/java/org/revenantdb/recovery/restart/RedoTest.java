package org.revenantdb.recovery.restart;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.revenantdb.recovery.file.DamagedFileException;
import org.revenantdb.recovery.log.Log;
import org.revenantdb.recovery.log.PartKind;
import org.revenantdb.recovery.log.RecordBuilder;
import org.revenantdb.recovery.log.RecordType;
import org.revenantdb.recovery.testing.CrashDisk;

/** R12 and R13: the parts that redo hands to the pages. */
class RedoTest {
  private static final byte[] BYTES = LogFixture.bytes(10);

  private final CrashDisk disk = new CrashDisk();
  private final Log log = LogFixture.create(disk);

  @AfterEach
  void close() {
    log.close();
  }

  private Restart analyse(long begin, long redo) {
    log.awaitDurable(log.tail());
    return LogFixture.analyse(disk.afterKill(), LogFixture.state(begin, redo, 0, redo, 1));
  }

  @Test
  void R12_parts_older_than_the_last_format_of_their_page_are_left_out() {
    long redo = log.tail();
    LogFixture.change(log, 0, 1, BYTES);
    long other = LogFixture.change(log, 0, 2, BYTES);
    long format = LogFixture.part(log, 0, 1, PartKind.FORMAT, BYTES);
    long after = LogFixture.change(log, 0, 1, BYTES);
    assertEquals(
        List.of("1/FORMAT@" + format, "1/CHANGE@" + after, "2/CHANGE@" + other),
        LogFixture.redone(analyse(redo, redo)));
  }

  @Test
  void R12_a_freed_page_is_not_touched_at_all() {
    long redo = log.tail();
    LogFixture.change(log, 0, 1, BYTES);
    LogFixture.part(log, 0, 1, PartKind.FREE, new byte[0]);
    assertEquals(List.of(), LogFixture.redone(analyse(redo, redo)));
  }

  /**
   * The schedule of the rule: page 1 is freed at 200, its frame is dropped, the redo point moves to
   * 150, and the checkpoint begins after 200. The record at 160 must not meet the old page.
   */
  @Test
  void R12_a_free_between_redo_point_and_checkpoint_counts() {
    LogFixture.change(log, 0, 1, BYTES);
    long redo = log.tail();
    LogFixture.change(log, 0, 1, BYTES);
    LogFixture.part(log, 0, 1, PartKind.FREE, new byte[0]);
    long begin = log.tail();
    LogFixture.change(log, 0, 2, BYTES);
    assertEquals(List.of(2), LogFixture.pages(analyse(begin, redo)));
  }

  @Test
  void R12_a_page_freed_and_formatted_again_begins_at_the_format() {
    long redo = log.tail();
    LogFixture.change(log, 0, 1, BYTES);
    LogFixture.part(log, 0, 1, PartKind.FREE, new byte[0]);
    long format = LogFixture.part(log, 0, 1, PartKind.FORMAT, BYTES);
    assertEquals(List.of("1/FORMAT@" + format), LogFixture.redone(analyse(redo, redo)));
  }

  @Test
  void parts_that_the_data_file_has_are_not_handed_out() {
    long redo = log.tail();
    long first = LogFixture.change(log, 0, 1, BYTES);
    long second = LogFixture.change(log, 0, 1, BYTES);
    LogFixture.change(log, 0, 2, BYTES);
    long both = LogFixture.change(log, 0, 2, BYTES);
    LogFixture.flushed(log, 1, first);
    LogFixture.flushed(log, 2, both);
    long later = LogFixture.change(log, 0, 1, BYTES);
    assertEquals(
        List.of("1/CHANGE@" + second, "1/CHANGE@" + later), LogFixture.redone(analyse(redo, redo)));
  }

  @Test
  void of_several_flushes_the_highest_counts() {
    long redo = log.tail();
    long first = LogFixture.change(log, 0, 1, BYTES);
    long second = LogFixture.change(log, 0, 1, BYTES);
    LogFixture.flushed(log, 1, second);
    LogFixture.flushed(log, 1, first);
    assertEquals(List.of(), LogFixture.redone(analyse(redo, redo)));
  }

  /**
   * FLUSHED is of the page's former use; the file has it from before or after the page was freed.
   */
  @Test
  void R12_a_flush_of_a_freed_page_spares_nothing_of_the_page_that_follows_it() {
    long redo = log.tail();
    long before = LogFixture.change(log, 0, 1, BYTES);
    LogFixture.flushed(log, 1, before);
    LogFixture.part(log, 0, 1, PartKind.FREE, new byte[0]);
    long format = LogFixture.part(log, 0, 1, PartKind.FORMAT, BYTES);
    LogFixture.flushed(log, 1, before); // the batch was under way when the page was freed
    long after = LogFixture.change(log, 0, 1, BYTES);
    assertEquals(
        List.of("1/FORMAT@" + format, "1/CHANGE@" + after), LogFixture.redone(analyse(redo, redo)));
  }

  /**
   * Otherwise redo would build an older page than the file has; evicted half way, it would count.
   */
  @Test
  void R12_a_format_that_the_data_file_has_is_left_out() {
    long redo = log.tail();
    LogFixture.part(log, 0, 1, PartKind.FORMAT, BYTES);
    long written = LogFixture.change(log, 0, 1, BYTES);
    LogFixture.flushed(log, 1, written);
    long after = LogFixture.change(log, 0, 1, BYTES);
    assertEquals(List.of("1/CHANGE@" + after), LogFixture.redone(analyse(redo, redo)));
  }

  /** The slot names ten pages; redo skips parts that it takes for written, so readers must know. */
  @Test
  void
      a_flush_behind_the_size_in_the_slot_counts_for_readers_if_the_log_has_built_the_page_before() {
    long redo = log.tail();
    long built = LogFixture.part(log, 0, 12, PartKind.FORMAT, BYTES);
    LogFixture.flushed(log, 12, built);
    LogFixture.flushed(log, 13, built); // of the page before the file was cut
    LogFixture.flushed(log, 14, built); // likewise, and formatted anew
    LogFixture.part(log, 0, 14, PartKind.FORMAT, BYTES);
    LogFixture.flushed(log, 9, built);
    Map<Integer, Long> written = new TreeMap<>();
    analyse(redo, redo).flushedPages(written::put);
    assertEquals(Map.of(9, built, 12, built), written);
  }

  @Test
  void a_flush_counts_in_later_lives() {
    long redo = log.tail();
    long written = LogFixture.change(log, 0, 1, BYTES);
    LogFixture.change(log, 0, 2, BYTES);
    log.awaitDurable(LogFixture.flushed(log, 1, written));
    CrashDisk left = disk.afterKill();
    Restart second = LogFixture.analyse(left, LogFixture.state(redo, redo, 0, redo, 1));
    try (Log next = second.startLife(LogFixture.options())) {
      next.awaitDurable(LogFixture.change(next, 0, 3, BYTES));
    }
    Restart third = LogFixture.analyse(left, LogFixture.state(redo, redo, 0, redo, 2));
    assertEquals(List.of(2, 3), LogFixture.pages(third));
  }

  @Test
  void a_flush_of_a_change_that_is_still_to_come_is_damage() {
    long redo = log.tail();
    long change = LogFixture.change(log, 0, 1, BYTES);
    LogFixture.flushed(log, 1, change + 1000);
    assertThrows(DamagedFileException.class, () -> analyse(redo, redo));
  }

  @Test
  void a_list_of_flushed_pages_that_is_longer_than_its_record_is_damage() {
    long redo = log.tail();
    RecordBuilder record = new RecordBuilder().begin(RecordType.FLUSHED, 0);
    record.putInt(2);
    record.putInt(1);
    record.putLong(redo);
    log.publish(record);
    assertThrows(DamagedFileException.class, () -> analyse(redo, redo));
  }

  @Test
  void R13_each_part_comes_alone_and_whole() {
    long redo = log.tail();
    RecordBuilder record = new RecordBuilder().begin(RecordType.PAGES, 3);
    byte[][] contents = {{1}, {2, 2, 2}, {}, {4, 4, 4, 4, 4, 4, 4, 4, 4}};
    for (int page = 0; page < contents.length; page++) {
      record.beginPart(page + 10, PartKind.CHANGE);
      record.putBytes(contents[page], 0, contents[page].length);
      record.endPart();
    }
    long lsn = log.publish(record);
    List<byte[]> found = new ArrayList<>();
    LogFixture.replay(
        analyse(redo, redo),
        (page, at, kind, bytes, offset, length) -> {
          assertEquals(10 + found.size(), page);
          assertEquals(lsn, at);
          found.add(Arrays.copyOfRange(bytes, offset, offset + length));
        });
    for (int page = 0; page < contents.length; page++) {
      assertArrayEquals(contents[page], found.get(page));
    }
  }

  @Test
  void redo_goes_through_all_lives_in_order() {
    long redo = log.tail();
    LogFixture.change(log, 0, 1, BYTES);
    log.awaitDurable(log.tail());
    CrashDisk left = disk.afterKill();
    for (int life = 2; life < 8; life++) {
      Restart restart = LogFixture.analyse(left, LogFixture.state(redo, redo, 0, redo, life - 1));
      try (Log next = restart.startLife(LogFixture.options())) {
        next.awaitDurable(LogFixture.change(next, 0, life, BYTES));
      }
      left = left.afterKill();
    }
    Restart last = LogFixture.analyse(left, LogFixture.state(redo, redo, 0, redo, 7));
    assertEquals(List.of(1, 2, 3, 4, 5, 6, 7), LogFixture.pages(last));
    assertEquals(8, last.result().life());
    assertEquals(7, last.result().highestPageId());
  }

  /** A page with such an LSN is ahead of log that was lost, whichever life lost it. */
  @Test
  void R7_positions_between_two_lives_belong_to_none() {
    long redo = log.tail();
    LogFixture.change(log, 0, 1, BYTES);
    log.awaitDurable(log.tail());
    CrashDisk left = disk.afterKill();
    List<long[]> gaps = new ArrayList<>();
    for (int life = 2; life < 5; life++) {
      Restart restart = LogFixture.analyse(left, LogFixture.state(redo, redo, 0, redo, life - 1));
      try (Log next = restart.startLife(LogFixture.options())) {
        long changed = LogFixture.change(next, 0, life, BYTES);
        gaps.add(new long[] {restart.result().endOfLog(), changed});
        next.awaitDurable(changed);
      }
      left = left.afterKill();
    }
    Restart last = LogFixture.analyse(left, LogFixture.state(redo, redo, 0, redo, 4));
    for (long[] gap : gaps) {
      assertFalse(last.isBetweenLives(gap[0]));
      assertTrue(last.isBetweenLives(gap[0] + 1));
      assertFalse(last.isBetweenLives(gap[1]));
    }
    assertFalse(last.isBetweenLives(last.result().endOfLog()));
  }

  /** Restarts that are killed repeatedly leave neither a longer chain nor more files. */
  @Test
  void restarts_killed_over_and_over_leave_no_more_files() {
    long redo = log.tail();
    LogFixture.change(log, 0, 1, BYTES);
    log.awaitDurable(log.tail());
    CrashDisk left = disk.afterKill();
    long highest = 0;
    int life = 1;
    for (int i = 0; i < 50; i++) {
      Restart restart = LogFixture.analyse(left, LogFixture.state(redo, redo, 0, redo, life));
      Log next = restart.startLife(LogFixture.options());
      assertEquals(List.of(1), LogFixture.pages(restart));
      assertEquals(true, next.tail() > highest, "no LSN returns");
      highest = next.tail();
      life = next.life();
      left = left.afterKill();
      next.close();
    }
    assertEquals(
        52, LogFixture.analyse(left, LogFixture.state(redo, redo, 0, redo, life)).result().life());
    assertEquals(true, left.files().size() <= 4, left.files().toString());
  }
}
