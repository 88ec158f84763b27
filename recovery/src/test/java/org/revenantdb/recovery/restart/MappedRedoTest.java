package org.revenantdb.recovery.restart;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.log.Log;

/** Redo from the mapped log, in real files; without a usable mapping, from the files. */
class MappedRedoTest {
  private static final int PAGES = 20;
  private static final int CHANGES = 2_000;

  @TempDir private Path directory;

  private Path log;
  private Restart restart;
  private final List<List<String>> expected = new ArrayList<>();

  @BeforeEach
  void writeLog() {
    log = directory.resolve("log");
    for (int page = 0; page < PAGES; page++) {
      expected.add(new ArrayList<>());
    }
    long seed = Long.getLong("mapped.seed", System.nanoTime());
    Random random = new Random(seed);
    long begin;
    long durable;
    try (Log written = Restart.createFirst(log, LogFixture.ID, LogFixture.options())) {
      begin = written.tail();
      for (int i = 0; i < CHANGES; i++) {
        byte[] content = new byte[random.nextInt(200)]; // records cross from segment to segment
        random.nextBytes(content);
        int page = random.nextInt(PAGES);
        long lsn = LogFixture.change(written, 1, 3 + page, content);
        expected.get(page).add(said(lsn, content));
      }
      written.awaitDurable(written.tail());
      durable = written.durableLsn();
    }
    restart =
        Restart.analyse(
            log,
            LogFixture.ID,
            LogFixture.SEGMENT,
            LogFixture.state(begin, begin, 0, durable, 1),
            PageRange.ANY,
            new IoStatistics(),
            RestartProgress.NONE);
  }

  private static String said(long lsn, byte[] content) {
    return lsn + ":" + ByteBuffer.wrap(content).hashCode() + "/" + content.length;
  }

  private static boolean replay(
      PendingParts pending, int page, boolean fromFiles, List<String> parts) {
    return pending.replay(
        3 + page,
        fromFiles,
        (_, lsn, _, record, offset, length) -> {
          byte[] content = new byte[length];
          System.arraycopy(record, offset, content, 0, length);
          parts.add(said(lsn, content));
        });
  }

  @Test
  void a_thread_that_may_be_interrupted_redoes_pages_from_the_mapped_log() {
    try (PendingParts pending = restart.pending()) {
      pending.map();
      assertTrue(pending.isMapped());
      Thread.currentThread().interrupt();
      for (int page = 0; page < PAGES; page++) {
        List<String> parts = new ArrayList<>();
        assertTrue(replay(pending, page, /* fromFiles= */ false, parts));
        assertEquals(expected.get(page), parts);
      }
      assertTrue(Thread.interrupted());
    }
  }

  @Test
  void without_a_mapping_only_a_thread_that_may_read_files_gets_the_parts() {
    try (PendingParts pending = restart.pending()) {
      assertFalse(pending.isMapped());
      List<String> parts = new ArrayList<>();
      assertFalse(replay(pending, 0, /* fromFiles= */ false, parts));
      assertEquals(List.of(), parts);
      assertTrue(replay(pending, 0, /* fromFiles= */ true, parts));
      assertEquals(expected.getFirst(), parts);
    }
  }

  /** The access ends in an InternalError, whenever the JVM throws it; the files show the error. */
  @Test
  void a_segment_that_became_shorter_is_an_error_of_the_log_and_not_of_the_thread()
      throws Exception {
    try (PendingParts pending = restart.pending()) {
      pending.map();
      try (FileChannel file = FileChannel.open(segmentOfMiddle(), StandardOpenOption.WRITE)) {
        file.truncate(100);
      }
      int page = firstWithoutParts(pending);
      assertFalse(pending.isMapped(), "nobody should try again");
      Thread.yield();
      assertThrows(
          FileException.class,
          () -> replay(pending, page, /* fromFiles= */ true, new ArrayList<>()));
      assertTrue(pending.isPending(3 + page));
    }
  }

  @Test
  void a_record_that_is_not_what_it_was_is_refused_with_segment_and_place() throws Exception {
    try (PendingParts pending = restart.pending()) {
      pending.map();
      Path segment = segmentOfMiddle();
      try (FileChannel file = FileChannel.open(segment, StandardOpenOption.WRITE)) {
        file.write(ByteBuffer.wrap(new byte[2_000]), 4096 + 1_000); // behind a record that crosses
      }
      int page = firstWithoutParts(pending);
      FileException told =
          assertThrows(
              FileException.class,
              () -> replay(pending, page, /* fromFiles= */ true, new ArrayList<>()));
      assertEquals(segment, told.file());
    }
  }

  private int firstWithoutParts(PendingParts pending) {
    for (int page = 0; page < PAGES; page++) {
      List<String> parts = new ArrayList<>();
      if (!replay(pending, page, /* fromFiles= */ false, parts)) {
        assertTrue(parts.size() < expected.get(page).size());
        return page;
      }
    }
    throw new AssertionError("each page got its parts");
  }

  private Path segmentOfMiddle() {
    return log.resolve(String.format("%016x.log", LogFixture.firstLsn(20)));
  }
}
