package org.revenantdb.recovery.checkpoint;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.revenantdb.recovery.file.ControlFile;
import org.revenantdb.recovery.file.ControlState;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.StorageFile;
import org.revenantdb.recovery.format.SegmentLayout;
import org.revenantdb.recovery.log.Log;
import org.revenantdb.recovery.log.LogOptions;
import org.revenantdb.recovery.log.LogSpace;
import org.revenantdb.recovery.log.LogStoppedException;
import org.revenantdb.recovery.log.PageSpace;
import org.revenantdb.recovery.log.PartKind;
import org.revenantdb.recovery.log.RecordBuilder;
import org.revenantdb.recovery.log.RecordType;
import org.revenantdb.recovery.log.RecoverySpace;
import org.revenantdb.recovery.restart.AnalysisResult;
import org.revenantdb.recovery.restart.PageRange;
import org.revenantdb.recovery.restart.Restart;
import org.revenantdb.recovery.restart.RestartProgress;
import org.revenantdb.recovery.testing.CrashDisk;
import org.revenantdb.recovery.testing.FaultyFileSystem;
import org.revenantdb.recovery.testing.IoEvent;

class CheckpointerTest {
  private static final int SEGMENT = 1 << 13;
  private static final long LIMIT = 1 << 16;
  private static final byte[] ID = new byte[16];

  private final CrashDisk disk = new CrashDisk();
  private final StorageFile data =
      StorageFile.open(disk.path("/db/revenant.data"), OpenMode.CREATE_NEW, true);
  private final Log log = Restart.createFirst(logDirectory(disk), ID, options());
  private final ControlFile control =
      ControlFile.create(
          data, new ControlState(0, log.tail(), log.tail(), 0, log.tail(), 1, false, 0, 7));
  private final RecoverySpace space = space(() -> {});
  private final Source source = new Source();

  private RecoverySpace space(Runnable hurry) {
    return new RecoverySpace(
        new LogSpace(log::tail, LIMIT, LIMIT / 8, hurry), PageSpace.unlimited());
  }

  private static Path logDirectory(CrashDisk disk) {
    return disk.path("/db/log");
  }

  private static LogOptions options() {
    return new LogOptions(SEGMENT, 1 << 13, 1 << 20, "checkpointer", new IoStatistics());
  }

  private static final class Source implements CheckpointSource {
    private volatile long oldest = Long.MAX_VALUE;
    private volatile RuntimeException failure;
    private volatile Runnable beforeImage = () -> {};
    private volatile LongConsumer flush = goal -> {};
    private volatile Runnable beforeHighWater = () -> {};

    @Override
    public void flushDirtyBefore(long lsn) {
      if (failure != null) {
        throw failure;
      }
      flush.accept(lsn);
    }

    @Override
    public long oldestDirtyLsn() {
      return oldest;
    }

    @Override
    public TransactionImage transactions() {
      beforeImage.run();
      return new TransactionImage(50, new long[] {3}, new long[0], new long[] {4});
    }

    @Override
    public List<RefusedPage> refusedPages() {
      return List.of();
    }

    @Override
    public long highWaterPages() {
      beforeHighWater.run();
      return 9;
    }
  }

  @AfterEach
  void close() {
    try {
      log.close();
    } catch (LogStoppedException stopped) {
      // some tests stop it
    }
    data.close();
  }

  private Checkpointer start() {
    return new Checkpointer(log, space, control, source, LIMIT, "checkpointer");
  }

  private void publish(int records) {
    for (int i = 0; i < records; i++) {
      RecordBuilder record = new RecordBuilder().begin(RecordType.PAGES, 3);
      record.beginPart(i, PartKind.CHANGE);
      record.putBytes(new byte[300], 0, 300);
      record.endPart();
      log.publish(record);
    }
  }

  private static AnalysisResult analyse(CrashDisk disk) {
    try (StorageFile file = StorageFile.open(disk.path("/db/revenant.data"), OpenMode.READ, true)) {
      ControlState state = ControlFile.read(file).state();
      return Restart.analyse(
              logDirectory(disk),
              ID,
              SEGMENT,
              state,
              PageRange.ANY,
              new IoStatistics(),
              RestartProgress.NONE)
          .result();
    }
  }

  /** Throws the first time. */
  private static Runnable once(AtomicBoolean thrown) {
    return () -> {
      if (thrown.compareAndSet(false, true)) {
        throw new OutOfMemoryError("on purpose");
      }
    };
  }

  @ParameterizedTest
  @ValueSource(strings = {"flush", "high water", "image"})
  void a_round_without_memory_before_its_slot_is_made_again(String step) {
    AtomicBoolean thrown = new AtomicBoolean();
    Runnable once = once(thrown);
    try (Checkpointer checkpointer = start()) {
      publish(60);
      switch (step) {
        case "flush" -> source.flush = goal -> once.run();
        case "high water" -> source.beforeHighWater = once;
        default -> source.beforeImage = once;
      }
      long tail = log.tail();
      checkpointer.checkpointNow(/* everything= */ true);
      assertTrue(thrown.get());
      assertTrue(checkpointer.redoPoint() >= tail);
      assertNull(log.failure());
      checkpointer.closeCleanly();
    }
    assertTrue(analyse(disk).cleanShutdown());
  }

  @Test
  void a_round_without_memory_in_a_log_that_has_stopped_is_not_made_again() {
    try (Checkpointer checkpointer = start()) {
      IllegalStateException cause = new IllegalStateException("on purpose");
      source.flush =
          goal -> {
            log.fail(cause);
            throw new OutOfMemoryError("on purpose");
          };
      assertThrows(LogStoppedException.class, () -> checkpointer.checkpointNow(true));
      assertSame(cause, log.failure());
    }
  }

  /** The force of the slot may have failed: what comes then is not known to be in the file. */
  @Test
  void a_round_without_memory_while_its_slot_is_forced_stops_the_engine(@TempDir Path folder) {
    FaultyFileSystem faulty = new FaultyFileSystem();
    OutOfMemoryError noMemory = new OutOfMemoryError("on purpose");
    try (StorageFile file =
        StorageFile.open(faulty.wrap(folder).resolve("data"), OpenMode.CREATE_NEW, true)) {
      ControlFile slots =
          ControlFile.create(
              file, new ControlState(0, log.tail(), log.tail(), 0, log.tail(), 1, false, 0, 7));
      try (Checkpointer checkpointer =
          new Checkpointer(log, space, slots, source, LIMIT, "checkpointer")) {
        publish(60);
        faulty.hook(event -> {
          if (event.kind() == IoEvent.Kind.FORCE) {
            throw noMemory;
          }
        });
        assertThrows(LogStoppedException.class, () -> checkpointer.checkpointNow(true));
        assertSame(noMemory, log.failure());
        faulty.hook(event -> {});
      }
    }
  }

  @Test
  void a_round_moves_the_redo_point_to_its_begin_and_gives_segments_up() {
    try (Checkpointer checkpointer = start()) {
      publish(60);
      long begin = log.tail();
      checkpointer.checkpointNow(/* everything= */ true);
      assertEquals(begin, checkpointer.redoPoint());
      assertEquals(begin, control.state().redoPoint());
      assertEquals(begin, control.state().analysisPoint());
      assertFalse(control.state().clean());
      assertEquals(log.tail() - begin, space.log().used());
      long size = log.bytesInDirectory();
      publish(60);
      checkpointer.checkpointNow(true);
      publish(60);
      assertTrue(
          log.bytesInDirectory() <= size + (2L + SegmentLayout.BATCH) * SEGMENT,
          "segments are used again");
    }
    AnalysisResult result = analyse(disk.afterPowerCut(position -> false));
    assertArrayEquals(new long[] {3, 4}, result.aborted());
    assertEquals(50, result.highestTransactionId());
  }

  @Test
  void the_redo_point_stays_below_the_oldest_dirty_page() {
    try (Checkpointer checkpointer = start()) {
      publish(10);
      long dirtySince = log.tail();
      source.oldest = dirtySince;
      publish(10);
      checkpointer.checkpointNow(false);
      assertEquals(dirtySince, checkpointer.redoPoint());
    }
  }

  /** R8: B is the tail before the pages are looked at, so what is published later is redone. */
  @Test
  void R8_records_published_during_a_round_are_behind_its_begin() {
    try (Checkpointer checkpointer = start()) {
      publish(10);
      long begin = log.tail();
      source.beforeImage = () -> publish(5);
      checkpointer.checkpointNow(true);
      assertEquals(begin, control.state().redoPoint());
      assertTrue(control.state().checkpointLsn() > begin);
    }
  }

  /** At each of its steps a crash finds the former checkpoint or the new one. */
  @Test
  void a_crash_at_any_step_of_a_round_leaves_a_checkpoint() {
    try (Checkpointer checkpointer = start()) {
      for (int round = 0; round < 8; round++) {
        publish(25);
        disk.observe(() -> {});
        int[] images = new int[1];
        CrashDisk[] left = new CrashDisk[200];
        disk.observe(() -> {
          if (images[0] < left.length) {
            left[images[0]++] = disk.afterPowerCut(position -> position % 1024 == 0);
          }
        });
        long former = checkpointer.redoPoint();
        checkpointer.checkpointNow(true);
        disk.observe(() -> {});
        for (int i = 0; i < images[0]; i++) {
          AnalysisResult result = analyse(left[i]);
          assertTrue(
              result.redoPoint() == former || result.redoPoint() == checkpointer.redoPoint(),
              "round " + round + ", image " + i);
        }
        assertEquals(checkpointer.redoPoint(), analyse(disk.afterPowerCut(p -> false)).redoPoint());
      }
    }
  }

  @Test
  void a_clean_close_leaves_nothing_to_redo() {
    Checkpointer checkpointer = start();
    publish(30);
    checkpointer.closeCleanly();
    log.close();
    ControlState state = control.state();
    assertTrue(state.clean());
    assertEquals(log.tail(), state.endOfLog());
    AnalysisResult result = analyse(disk.afterPowerCut(position -> false));
    assertTrue(result.cleanShutdown());
    assertEquals(state.endOfLog(), result.endOfLog());
    assertArrayEquals(new long[] {3, 4}, result.aborted());
  }

  /** Something published in the middle of the last round, or a page still dirty: not clean. */
  @Test
  void a_close_with_work_left_is_not_marked_clean() {
    Checkpointer checkpointer = start();
    publish(5);
    source.oldest = log.tail();
    publish(5);
    checkpointer.closeCleanly();
    assertFalse(control.state().clean());
    assertEquals(0, control.state().endOfLog());
  }

  @Test
  void a_round_that_fails_stops_the_engine() {
    Checkpointer checkpointer = start();
    source.failure = new IllegalStateException("no page can be written");
    LogStoppedException stopped =
        assertThrows(LogStoppedException.class, () -> checkpointer.checkpointNow(true));
    assertSame(source.failure, stopped.getCause());
    assertSame(source.failure, log.failure());
    assertThrows(LogStoppedException.class, () -> space.acquire(1, 1));
    assertThrows(LogStoppedException.class, checkpointer::closeCleanly);
    checkpointer.close();
  }

  @Test
  void rounds_begin_by_themselves_when_half_of_the_limit_is_in_use() throws InterruptedException {
    CountDownLatch round = new CountDownLatch(1);
    source.beforeImage = round::countDown;
    Checkpointer[] checkpointer = new Checkpointer[1];
    RecoverySpace hurrying = space(() -> checkpointer[0].hurry());
    checkpointer[0] = new Checkpointer(log, hurrying, control, source, LIMIT, "checkpointer");
    while (log.tail() - control.state().redoPoint() <= LIMIT / 2 && round.getCount() > 0) {
      hurrying.acquire(400, 1);
      publish(1);
      hurrying.release(400, 1);
    }
    hurrying.acquire(400, 1);
    round.await();
    checkpointer[0].close();
  }

  /**
   * A writer reads the tail, a round begins and ends, the writer marks its frame with what it read.
   * Its record starts at or after that round's B, so nothing is lost; it was taken for damage.
   */
  @Test
  void R8_a_frame_marked_late_neither_stops_the_engine_nor_moves_the_redo_point_back() {
    try (Checkpointer checkpointer = start()) {
      publish(10);
      long tailOfTheMarker = log.tail();
      publish(10);
      checkpointer.checkpointNow(true);
      long redoPoint = checkpointer.redoPoint();
      assertTrue(tailOfTheMarker < redoPoint);
      source.oldest = tailOfTheMarker;
      publish(10);
      checkpointer.checkpointNow(true);
      assertNull(log.failure());
      assertEquals(redoPoint, checkpointer.redoPoint());
      assertEquals(redoPoint, control.state().redoPoint());
      source.oldest = Long.MAX_VALUE;
      long begin = log.tail();
      checkpointer.checkpointNow(true);
      assertEquals(begin, checkpointer.redoPoint(), "it moves on when the frame is written");
    }
  }

  /** Everything means: what is dirty when the round begins. It meant: until nothing is dirty. */
  @Test
  void a_checkpoint_of_everything_ends_though_there_is_always_a_newer_dirty_page() {
    try (Checkpointer checkpointer = start()) {
      publish(10);
      source.oldest = log.tail() - 8;
      source.flush =
          goal -> {
            for (int pages = 0; source.oldest < goal; pages++) {
              assertTrue(pages < 100, "the round goes after pages dirtied since it began");
              source.oldest = log.tail(); // that page is written, and the next one gets dirty
              publish(1);
            }
          };
      long begin = log.tail();
      checkpointer.checkpointNow(true);
      assertEquals(begin, checkpointer.redoPoint());
    }
  }

  /**
   * Restart takes a page below the high-water mark for one that must be there. So what made the
   * file grow has to be durable with the checkpoint that counts its pages.
   */
  @Test
  void the_pages_that_a_control_slot_counts_were_logged_before_its_checkpoint() {
    try (Checkpointer checkpointer = start()) {
      publish(10);
      AtomicLong counted = new AtomicLong();
      source.beforeHighWater = () -> counted.set(log.tail());
      checkpointer.checkpointNow(true);
      assertTrue(
          counted.get() <= control.state().checkpointLsn(),
          "counted at " + counted + ", forced from " + control.state().checkpointLsn() + " on");
    }
  }
}
