package org.revenantdb.engine.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.SpaceMapPage;
import org.revenantdb.recovery.format.PageChecksum;
import org.revenantdb.recovery.format.PageHeaderLayout;
import org.revenantdb.recovery.testing.IoEvent;

/** Schedules of the page writer against checkpoints and users, played step by step. */
class PageWriterScheduleTest {
  private static final int PAGE = 50;

  @TempDir Path directory;

  @Test
  void the_redo_point_stays_while_the_first_lsn_moves_between_the_two_reads_of_the_scan() {
    try (PoolFixture fixture = new PoolFixture(directory).withPages(100)) {
      long first = dirty(fixture, PAGE, 1);
      int frame = frameOf(fixture.pool, PAGE);
      StepGate scanned = new StepGate(Steps.Step.SCANNED_FIRST_LSN);
      StepGate moved = new StepGate(Steps.Step.BATCH_COPIED);
      fixture.steps =
          (step, at) -> {
            if (step != Steps.Step.SCANNED_FIRST_LSN || at == frame) {
              scanned.at(step, at);
            }
            moved.at(step, at);
          };
      Started<Long> scan = Started.of(fixture.pool::oldestDirtyLsn);
      scanned.awaitArrival();
      Started<Void> flush = Started.run(() -> fixture.pool.flushDirtyBefore(Long.MAX_VALUE));
      moved.awaitArrival();
      scanned.letGo();
      assertEquals(first, scan.result());
      assertEquals(first, fixture.pool.oldestDirtyLsn());
      moved.letGo();
      flush.result();
      assertEquals(Long.MAX_VALUE, fixture.pool.oldestDirtyLsn());
    }
  }

  @Test
  void the_redo_point_stays_at_every_step_of_a_batch_until_the_pages_are_forced()
      throws IOException {
    for (Steps.Step step :
        List.of(
            Steps.Step.FLUSHING_SET,
            Steps.Step.BATCH_COPIED,
            Steps.Step.LOG_DURABLE,
            Steps.Step.DOUBLE_WRITTEN,
            Steps.Step.PAGES_FORCED)) {
      try (PoolFixture fixture =
          new PoolFixture(
                  directory.resolve(step.name()).toFile().mkdir()
                      ? directory.resolve(step.name())
                      : directory)
              .withPages(100)) {
        long first = dirty(fixture, PAGE, 1);
        StepGate gate = new StepGate(step);
        fixture.steps = gate;
        Started<Void> flush = Started.run(() -> fixture.pool.flushDirtyBefore(Long.MAX_VALUE));
        gate.awaitArrival();
        assertEquals(first, fixture.pool.oldestDirtyLsn(), step.name());
        gate.letGo();
        flush.result();
        assertEquals(Long.MAX_VALUE, fixture.pool.oldestDirtyLsn());
      }
    }
  }

  @Test
  void a_mark_that_the_checkpoint_missed_belongs_to_a_record_after_its_tail() {
    try (PoolFixture fixture = new PoolFixture(directory).withPages(100)) {
      BufferPool pool = fixture.pool;
      int frame = pool.fixExclusive(PAGE);
      long tailOfMarker = fixture.log.tail();
      fixture.log.append(); // somebody else's record, in between
      long tailOfCheckpoint = fixture.log.tail();
      long redoPoint = Math.min(tailOfCheckpoint, pool.oldestDirtyLsn());
      pool.markDirty(frame, tailOfMarker);
      long end = fixture.log.append();
      PoolFixture.write(pool.page(frame), end, 1);
      pool.unfixExclusive(frame);
      assertTrue(end - FakeLog.RECORD >= redoPoint);
      assertEquals(tailOfMarker, pool.oldestDirtyLsn());
    }
  }

  @Test
  void a_page_changed_again_while_it_is_written_stays_dirty_with_its_new_lsn() {
    try (PoolFixture fixture = new PoolFixture(directory).withPages(100)) {
      long first = dirty(fixture, PAGE, 1);
      StepGate gate = new StepGate(Steps.Step.LOG_DURABLE);
      fixture.steps = gate;
      long goal = fixture.log.tail();
      Started<Void> flush = Started.run(() -> fixture.pool.flushDirtyBefore(goal));
      gate.awaitArrival();
      long second = dirty(fixture, PAGE, 2);
      assertEquals(first, fixture.pool.oldestDirtyLsn());
      gate.letGo();
      flush.result();
      assertEquals(second, fixture.pool.oldestDirtyLsn());
      assertEquals(1, PoolFixture.value(fixture.onDisk(PAGE)));
      fixture.readThrough(PoolFixture.FIRST, 100);
      fixture.pool.flushDirtyBefore(Long.MAX_VALUE);
      assertEquals(2, PoolFixture.value(fixture.onDisk(PAGE)));
    }
  }

  @Test
  void a_page_being_written_is_not_evicted_and_its_discarded_frame_is_not_reused() {
    try (PoolFixture fixture = new PoolFixture(directory).withPages(1500)) {
      BufferPool pool = fixture.pool;
      dirty(fixture, PAGE, 1);
      int frame = frameOf(pool, PAGE);
      StepGate gate = new StepGate(Steps.Step.DOUBLE_WRITTEN);
      fixture.steps = gate;
      Started<Void> flush = Started.run(() -> pool.flushDirtyBefore(Long.MAX_VALUE));
      gate.awaitArrival();
      assertEquals(frame, pool.fixExclusive(PAGE));
      pool.discard(frame);
      fixture.readThrough(100, 1500);
      assertEquals(frame, frameOf(pool, PAGE), "the frame was given away");
      gate.letGo();
      flush.result();
      for (int turn = 0; turn < 5; turn++) {
        fixture.readThrough(100, 1500); // until the hand has come round
      }
      long misses = pool.statistics().misses();
      frameOf(pool, PAGE);
      assertEquals(misses + 1, pool.statistics().misses(), "the frame never became free");
    }
  }

  @Test
  void WAL_no_page_is_written_before_the_log_is_durable_up_to_it() {
    FakeLog log = new FakeLog();
    List<String> early = new ArrayList<>();
    BatchGuard guard =
        new BatchGuard() {
          @Override
          public void write(int[] pageIds, int count, MemorySegment images) {
            for (int i = 0; i < count; i++) {
              MemorySegment image = images.asSlice(8192L * i, 8192);
              if (PageHeaderLayout.pageLsn(image) > log.durableLsn()) {
                early.add("page " + pageIds[i] + " LSN " + PageHeaderLayout.pageLsn(image));
              }
              PageChecksum.seal(image);
            }
          }

          @Override
          public void confirm() {}
        };
    try (PoolFixture fixture = new PoolFixture(directory, log, guard).withPages(1000)) {
      for (int page = PoolFixture.FIRST; page < 1000; page++) {
        dirty(fixture, page, page + 1);
      }
      fixture.pool.flushDirtyBefore(Long.MAX_VALUE);
      assertEquals(List.of(), early);
      assertTrue(fixture.pool.statistics().batches() > 8);
    }
  }

  @Test
  void R24_the_batch_is_guarded_before_and_confirmed_after_its_pages_are_forced() {
    List<String> story = new ArrayList<>();
    BatchGuard guard =
        new BatchGuard() {
          @Override
          public void write(int[] pageIds, int count, MemorySegment images) {
            for (int i = 0; i < count; i++) {
              PageChecksum.seal(images.asSlice(8192L * i, 8192));
            }
            story.add("guard " + count);
          }

          @Override
          public void confirm() {
            story.add("confirm");
          }
        };
    try (PoolFixture fixture = new PoolFixture(directory, new FakeLog(), guard).withPages(100)) {
      dirty(fixture, 10, 1);
      dirty(fixture, 11, 1);
      dirty(fixture, 20, 1);
      story.clear();
      fixture.faulty.hook(event -> story.add(event.kind() + " " + event.length()));
      fixture.pool.flushDirtyBefore(Long.MAX_VALUE);
      fixture.faulty.hook(event -> {});
      assertEquals(
          List.of(
              "guard 3",
              IoEvent.Kind.WRITE + " 16384",
              IoEvent.Kind.WRITE + " 8192",
              IoEvent.Kind.FORCE + " 0",
              "confirm"),
          story);
    }
  }

  @Test
  void R19_a_checkpoint_waits_for_no_latch_so_a_latch_holder_gets_its_frames_and_its_growth() {
    try (PoolFixture fixture = new PoolFixture(directory).withPages(2000)) {
      BufferPool pool = fixture.pool;
      int held = pool.fixExclusive(PAGE);
      fixture.change(held, 1);
      long goal = fixture.log.tail();
      Started<Void> checkpoint = Started.run(() -> pool.flushDirtyBefore(goal));
      for (int page = 100; page < 1000; page++) {
        dirty(fixture, page, page + 1); // needs frames, so the writer, while PAGE is latched
      }
      pool.extendTo(pool.sizeInPages() + 1);
      assertFalse(checkpoint.isDone());
      assertEquals(PAGE, PoolFixture.value(fixture.onDisk(PAGE)));
      pool.unfixExclusive(held);
      checkpoint.result();
      assertEquals(1, PoolFixture.value(fixture.onDisk(PAGE)));
    }
  }

  private static final int MAP = SpaceMapPage.POSITION;

  /** As those do who share a map: marked, logged, one byte, LSN. */
  private static long changeShared(PoolFixture fixture, int frame, int value) {
    fixture.pool.markDirtyShared(frame, fixture.log.tail());
    long lsn = fixture.log.append();
    Page.putBitsShared(fixture.pool.page(frame), SpaceMapPage.offset(PAGE), 0xFF, value);
    Page.raiseLsn(fixture.pool.page(frame), lsn);
    return lsn;
  }

  private static int mapByte(MemorySegment map) {
    return Page.getByte(map, SpaceMapPage.offset(PAGE));
  }

  @Test
  void schedule_d_a_map_that_changes_while_it_is_written_is_written_as_it_was_and_sound() {
    try (PoolFixture fixture = new PoolFixture(directory).withPages(100)) {
      BufferPool pool = fixture.pool;
      int value = 0;
      for (Steps.Step step :
          List.of(Steps.Step.BATCH_COPIED, Steps.Step.LOG_DURABLE, Steps.Step.DOUBLE_WRITTEN)) {
        int frame = pool.fixShared(MAP);
        long lsn = changeShared(fixture, frame, ++value);
        pool.unfixShared(frame);
        long goal = fixture.log.tail();
        StepGate gate = new StepGate(step);
        fixture.steps = gate;
        Started<Void> flush = Started.run(() -> pool.flushDirtyBefore(goal));
        gate.awaitArrival();
        frame = pool.fixShared(MAP); // nobody has it: what is being written is a copy
        changeShared(fixture, frame, ++value);
        pool.unfixShared(frame);
        gate.letGo();
        flush.result();
        MemorySegment written = fixture.onDisk(MAP);
        assertTrue(PageChecksum.isGood(written, MAP), step + ": a checksum of other bytes");
        assertEquals(lsn, PageHeaderLayout.pageLsn(written), step.name());
        assertEquals(value - 1, mapByte(written), step.name());
        pool.flushDirtyBefore(Long.MAX_VALUE);
        assertEquals(value, mapByte(fixture.onDisk(MAP)), "what came later was forgotten");
      }
    }
  }

  @Test
  void R19_who_shares_a_map_gets_frames_though_the_checkpoint_wants_the_map() {
    try (PoolFixture fixture = new PoolFixture(directory).withPages(2000)) {
      BufferPool pool = fixture.pool;
      int held = pool.fixShared(MAP);
      changeShared(fixture, held, 7);
      long goal = fixture.log.tail();
      Started<Void> checkpoint = Started.run(() -> pool.flushDirtyBefore(goal));
      for (int page = 100; page < 1000; page++) {
        dirty(fixture, page, page + 1); // needs frames, so the writer, while the map is shared
      }
      assertFalse(checkpoint.isDone());
      assertTrue(mapByte(fixture.onDisk(MAP)) != 7, "the map was written undrained");
      pool.unfixShared(held);
      checkpoint.result();
      assertEquals(7, mapByte(fixture.onDisk(MAP)));
    }
  }

  @Test
  void R19_a_slow_reader_does_not_wait_for_the_page_that_took_its_frame() {
    R19_slow(/* writer= */ false);
  }

  @Test
  void R19_a_slow_writer_does_not_wait_for_the_page_that_took_its_frame() {
    R19_slow(/* writer= */ true);
  }

  private void R19_slow(boolean writer) {
    try (PoolFixture fixture = new PoolFixture(directory).withPages(2000)) {
      BufferPool pool = fixture.pool;
      int frame = frameOf(pool, PAGE);
      StepGate gate = new StepGate(Steps.Step.ABOUT_TO_LATCH);
      fixture.steps = gate;
      Started<Integer> slow =
          Started.of(() -> writer ? pool.fixExclusive(PAGE) : pool.fixShared(PAGE));
      gate.awaitArrival();
      int intruder = -1;
      int page = 300;
      while (intruder != frame) { // until some other page is in that frame, held exclusively
        if (intruder != -1) {
          pool.unfixExclusive(intruder);
        }
        intruder = pool.fixExclusive(page++ % 1500 + 300);
      }
      gate.letGo();
      int found = slow.result(); // would hang if it waited for the intruder's latch
      assertEquals(PAGE, pool.pageIdOf(found));
      assertEquals(PAGE, PoolFixture.value(pool.page(found)));
      if (writer) {
        pool.unfixExclusive(found);
      } else {
        pool.unfixShared(found);
      }
      pool.unfixExclusive(intruder);
    }
  }

  private static long dirty(PoolFixture fixture, int page, long value) {
    int frame = fixture.pool.fixExclusive(page);
    long first = fixture.log.tail();
    fixture.change(frame, value);
    fixture.pool.unfixExclusive(frame);
    return first;
  }

  private static int frameOf(BufferPool pool, int page) {
    int frame = pool.fixShared(page);
    pool.unfixShared(frame);
    return frame;
  }
}
