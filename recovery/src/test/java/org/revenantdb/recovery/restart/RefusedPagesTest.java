package org.revenantdb.recovery.restart;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.revenantdb.recovery.checkpoint.CheckpointImage;
import org.revenantdb.recovery.checkpoint.RefusedPage;
import org.revenantdb.recovery.checkpoint.TransactionImage;
import org.revenantdb.recovery.file.ControlState;
import org.revenantdb.recovery.file.DamagedFileException;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.log.Log;
import org.revenantdb.recovery.log.PartKind;
import org.revenantdb.recovery.log.RecordBuilder;
import org.revenantdb.recovery.log.RecordType;
import org.revenantdb.recovery.testing.CrashDisk;

/** The refused pages in a checkpoint's image, and what ends a refusal. */
class RefusedPagesTest {
  private static final byte[] ROW = LogFixture.bytes(20);
  private static final long[] NONE = {};
  private static final long PAGES = 4_099;

  private final CrashDisk disk = new CrashDisk();
  private final Log log = LogFixture.create(disk);
  private final long begin = log.tail();

  @AfterEach
  void close() {
    log.close();
  }

  private CheckpointImage.Published checkpoint(long[] aborted, RefusedPage... refused) {
    TransactionImage image = new TransactionImage(10_000, NONE, NONE, aborted);
    return CheckpointImage.publish(log, image, List.of(refused), begin);
  }

  private Restart analyse(CheckpointImage.Published image) {
    log.awaitDurable(log.tail());
    return LogFixture.analyse(
        disk.afterKill(),
        new ControlState(
            0, begin, begin, image.start(), image.lsn(), 1, /* clean= */ false, 0, PAGES));
  }

  private static Map<Integer, Long> refused(Restart restart) {
    Map<Integer, Long> told = new TreeMap<>();
    restart.refusedPages(told::put);
    return told;
  }

  @Test
  void a_page_that_the_image_names_is_refused_and_counts_as_written() {
    Restart restart = analyse(checkpoint(NONE, new RefusedPage(7, 40), new RefusedPage(9, 41)));
    assertEquals(Map.of(7, 40L, 9, 41L), refused(restart));
    Map<Integer, Long> written = new TreeMap<>();
    restart.flushedPages(written::put);
    assertEquals(Map.of(7, 40L, 9, 41L), written);
  }

  @Test
  void redo_skips_parts_below_the_lsn_of_a_refused_page() {
    long older = LogFixture.change(log, 5, 7, ROW);
    LogFixture.change(log, 5, 8, ROW);
    Restart restart = analyse(checkpoint(NONE, new RefusedPage(7, older)));
    assertEquals(List.of(8), LogFixture.pages(restart));
  }

  @Test
  void a_page_that_was_written_again_formatted_or_freed_is_not_refused_any_more() {
    CheckpointImage.Published image =
        checkpoint(
            NONE,
            new RefusedPage(5, 40),
            new RefusedPage(6, 40),
            new RefusedPage(7, 40),
            new RefusedPage(8, 40));
    LogFixture.part(log, 0, 5, PartKind.FORMAT, ROW);
    LogFixture.part(log, 0, 6, PartKind.FREE, new byte[0]);
    LogFixture.flushed(log, 7, 48);
    LogFixture.flushed(log, 8, 40); // not above: no write of this page
    assertEquals(Map.of(8, 40L), refused(analyse(image)));
  }

  /** As after lost log: the page has changed, but the log can build it. */
  @Test
  void a_page_that_the_log_can_build_is_not_refused_and_is_redone_from_the_beginning() {
    long built = LogFixture.part(log, 0, 5, PartKind.FORMAT, ROW);
    LogFixture.change(log, 1, 5, ROW);
    Restart restart = analyse(checkpoint(NONE, new RefusedPage(5, built + 1)));
    assertEquals(Map.of(), refused(restart));
    assertEquals(List.of(5, 5), LogFixture.pages(restart));
  }

  /** The write was lost: redo skips FORMAT, so nothing builds the page. */
  @Test
  void a_page_that_was_written_after_its_format_stays_refused() {
    long built = LogFixture.part(log, 0, 5, PartKind.FORMAT, ROW);
    LogFixture.flushed(log, 5, built);
    Restart restart = analyse(checkpoint(NONE, new RefusedPage(5, built)));
    assertEquals(Map.of(5, built), refused(restart));
    assertEquals(List.of(), LogFixture.pages(restart));
  }

  /** Pages that were added behind the size in the slot have their FORMAT in the range of redo. */
  @Test
  void a_page_behind_the_size_in_the_slot_is_left_to_redo() {
    LogFixture.change(log, 1, 5_000, ROW);
    Restart restart = analyse(checkpoint(NONE, new RefusedPage(5_000, 40)));
    assertEquals(Map.of(), refused(restart));
    assertEquals(List.of(5_000), LogFixture.pages(restart));
  }

  /** A checkpoint may have ended before its control slot was written: its image has more pages. */
  @Test
  void the_images_of_all_checkpoints_count() {
    CheckpointImage.Published image = checkpoint(NONE, new RefusedPage(5, 40));
    checkpoint(NONE, new RefusedPage(5, 48), new RefusedPage(6, 40));
    assertEquals(Map.of(5, 48L, 6, 40L), refused(analyse(image)));
  }

  @Test
  void an_image_of_many_parts_has_ids_and_pages() {
    List<RefusedPage> many = new ArrayList<>();
    Map<Integer, Long> expected = new TreeMap<>();
    for (int page = 3; page < PAGES; page++) {
      many.add(new RefusedPage(page, page % 3L));
      expected.put(page, page % 3L);
    }
    long[] aborted = java.util.stream.LongStream.rangeClosed(1, 777).toArray();
    Restart restart = analyse(checkpoint(aborted, many.toArray(RefusedPage[]::new)));
    assertEquals(expected, refused(restart));
    assertEquals(777, restart.result().aborted().length);
  }

  @Test
  void an_illegal_list_of_refused_pages_is_damage() {
    for (int count : new int[] {-1, 2, Integer.MAX_VALUE}) {
      assertDamaged(count, 7, 40);
    }
    assertDamaged(1, 2, 40);
    assertDamaged(1, 7, -8);
    assertDamaged(1, 7, 1L << 40);
  }

  /** A separate log for each; the image is at its beginning. */
  private static void assertDamaged(int count, int page, long lsn) {
    CrashDisk disk = new CrashDisk();
    try (Log log = LogFixture.create(disk)) {
      long begin = log.tail();
      RecordBuilder record = new RecordBuilder().begin(RecordType.CHECKPOINT, 0);
      record.putInt(0);
      record.putInt(1);
      record.putLong(99);
      record.putLong(begin);
      record.putInt(0);
      record.putInt(0);
      record.putInt(0);
      record.putInt(count);
      record.putInt(page);
      record.putLong(lsn);
      long end = log.publish(record);
      log.awaitDurable(end);
      assertThrows(
          DamagedFileException.class,
          () ->
              Restart.analyse(
                  LogFixture.directory(disk.afterKill()),
                  LogFixture.ID,
                  LogFixture.SEGMENT,
                  LogFixture.state(begin, begin, begin, end, 1),
                  new PageRange(3, 100),
                  new IoStatistics(),
                  RestartProgress.NONE),
          () -> count + " pages, page " + page + ", LSN " + lsn);
    }
  }
}
