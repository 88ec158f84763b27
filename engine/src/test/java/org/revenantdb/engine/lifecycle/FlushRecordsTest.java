package org.revenantdb.engine.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.revenantdb.engine.change.FlushRecords;
import org.revenantdb.engine.testing.MemoryJournal;
import org.revenantdb.recovery.format.LittleEndian;
import org.revenantdb.recovery.log.FlushedPages;
import org.revenantdb.recovery.log.LogSpace;
import org.revenantdb.recovery.log.PageSpace;
import org.revenantdb.recovery.log.RecordType;

/** When a batch is put on record, and what counts while it is not. */
class FlushRecordsTest {
  private final MemoryJournal journal = new MemoryJournal();
  private final PageSpace pages = new PageSpace(journal::durableLsn, 256, 32, () -> {});
  private final FlushRecords records = new FlushRecords(journal, pages);
  private final LogSpace room = new LogSpace(journal::tail, 10_000, 2_000, () -> {});

  private boolean isRedoing;

  private void write(long lsn) {
    records.dirtied();
    records.dirtied();
    records.written(2, new int[] {7, 9}, new long[] {lsn - 8, lsn});
  }

  @Test
  void a_batch_is_one_record_that_counts_when_it_is_durable() {
    records.begin(room, () -> isRedoing);
    write(4000);
    assertEquals(2, pages.inUse());
    List<MemoryJournal.Entry> entries = journal.entries();
    assertEquals(1, entries.size());
    byte[] bytes = entries.getFirst().bytes();
    assertTrue(entries.getFirst().is(RecordType.FLUSHED));
    assertEquals(2, LittleEndian.getInt(bytes, FlushedPages.COUNT));
    int second = FlushedPages.PAGES + FlushedPages.ENTRY;
    assertEquals(9, LittleEndian.getInt(bytes, second + FlushedPages.PAGE));
    assertEquals(4000, LittleEndian.getLong(bytes, second + FlushedPages.LSN));
    journal.force();
    pages.redoPointMoved(0);
    assertEquals(0, pages.inUse());
  }

  /** A restart that is killed over and over must leave no longer chain of lives. */
  @Test
  void nothing_is_put_on_record_before_redo_has_ended() {
    write(4000);
    assertEquals(List.of(), journal.entries());
    journal.force();
    pages.redoPointMoved(3999);
    assertEquals(2, pages.inUse());
    pages.redoPointMoved(4000);
    assertEquals(0, pages.inUse());
  }

  /** The page writer would wait for the checkpoint, which waits for the page writer. */
  @Test
  void R17_without_room_there_is_no_record_and_no_wait() {
    records.begin(room, () -> isRedoing);
    room.acquire(8_000);
    write(4000);
    assertEquals(List.of(), journal.entries());
    journal.force();
    pages.redoPointMoved(0);
    assertEquals(2, pages.inUse());
    room.release(8_000);
    write(4008);
    assertEquals(1, journal.entries().size());
  }

  /** Writers may wait for the redo point, and that for this record. */
  @Test
  void R17_while_pages_are_pending_the_record_does_not_wait_for_room_that_others_have() {
    records.begin(room, () -> isRedoing);
    room.acquire(8_000);
    isRedoing = true;
    write(4000);
    assertEquals(1, journal.entries().size());
    journal.force();
    pages.redoPointMoved(0);
    assertEquals(0, pages.inUse());
    room.release(8_000);
  }

  @Test
  void a_batch_that_was_written_is_no_failure_when_the_log_has_stopped() {
    records.begin(room, () -> isRedoing);
    journal.fail(new IllegalStateException("stopped"));
    write(4000);
    assertEquals(2, pages.inUse());
    assertEquals(0, room.used());
  }
}
