package org.revenantdb.recovery.file;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.recovery.testing.FaultyFileSystem;

/** Reads on threads that anybody may interrupt. */
class CallerReadsTest {
  private static final int PAGE = 8192;
  private static final int PAGES = 50;

  @TempDir Path directory;

  private final IoStatistics statistics = new IoStatistics();
  private StorageFile file;
  private CallerReads reads;

  @BeforeEach
  void open() {
    file = StorageFile.open(directory.resolve("f"), OpenMode.CREATE_NEW, true, statistics);
    for (int page = 0; page < PAGES; page++) {
      file.write((long) page * PAGE, MemorySegment.ofArray(page(page)));
    }
    reads = file.callerReads(2, PAGE);
  }

  @AfterEach
  void close() {
    reads.close();
    file.close();
  }

  private static byte[] page(int page) {
    byte[] bytes = new byte[PAGE];
    Arrays.fill(bytes, (byte) page);
    return bytes;
  }

  private static int read(CallerReads from, long position, byte[] target) {
    return from.readUpTo(position, MemorySegment.ofArray(target));
  }

  @Test
  void an_interrupted_thread_reads_and_stays_interrupted_and_the_file_stays_open() {
    Thread.currentThread().interrupt();
    byte[] found = new byte[PAGE];
    for (int page = 0; page < PAGES; page++) {
      assertEquals(PAGE, read(reads, (long) page * PAGE, found));
      assertArrayEquals(page(page), found);
    }
    assertTrue(Thread.interrupted());
    file.write(0, MemorySegment.ofArray(page(77)));
    assertEquals(PAGE, read(reads, 0, found));
    assertArrayEquals(page(77), found);
  }

  @Test
  void what_lies_behind_the_end_is_not_read_until_the_file_has_grown() {
    byte[] found = new byte[PAGE];
    assertEquals(0, read(reads, (long) PAGES * PAGE, found));
    assertEquals(100, read(reads, (long) PAGES * PAGE - 100, found));
    file.write((long) PAGES * PAGE, MemorySegment.ofArray(page(3)));
    assertEquals(PAGE, read(reads, (long) PAGES * PAGE, found));
    assertArrayEquals(page(3), found);
    file.truncate(PAGE);
    assertEquals(0, read(reads, PAGE, found));
  }

  @Test
  void threads_do_not_disturb_each_others_positions() throws Exception {
    List<FutureTask<Integer>> tasks = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      Random random = new Random(i);
      FutureTask<Integer> task =
          new FutureTask<>(() -> {
            byte[] found = new byte[PAGE];
            int done = 0;
            for (int turn = 0; turn < 5_000; turn++) {
              int page = random.nextInt(PAGES);
              int n = read(reads, (long) page * PAGE, found);
              if (n != CallerReads.NOT_DONE) {
                assertEquals(PAGE, n);
                assertArrayEquals(page(page), found);
                done++;
              }
            }
            return done;
          });
      Thread.ofPlatform().daemon().start(task);
      tasks.add(task);
    }
    long done = 0;
    for (FutureTask<Integer> task : tasks) {
      done += task.get();
    }
    assertTrue(done > 0);
    assertEquals(done, statistics.reads());
  }

  @Test
  void a_request_that_can_never_be_served_is_refused() throws Exception {
    byte[] found = new byte[PAGE];
    assertEquals(CallerReads.NOT_DONE, read(reads, 0, new byte[PAGE + 1]));
    FutureTask<Integer> virtual = new FutureTask<>(() -> read(reads, 0, found));
    Thread.ofVirtual().start(virtual);
    assertEquals(CallerReads.NOT_DONE, virtual.get());
    try (CallerReads none = file.callerReads(0, PAGE)) {
      assertEquals(CallerReads.NOT_DONE, read(none, 0, found));
    }
    Path elsewhere = new FaultyFileSystem().wrap(directory).resolve("f");
    try (StorageFile other = StorageFile.open(elsewhere, OpenMode.READ, true);
        CallerReads none = other.callerReads(2, PAGE)) {
      assertEquals(CallerReads.NOT_DONE, read(none, 0, found));
    }
    reads.close();
    assertEquals(CallerReads.NOT_DONE, read(reads, 0, found));
  }

  @Test
  void reads_beside_the_cache_find_what_was_just_written_into_it() {
    try (CallerReads beside = file.callerReads(2, PAGE, /* beside= */ true)) {
      byte[] found = new byte[PAGE];
      for (int page = 0; page < PAGES; page++) {
        file.write((long) page * PAGE, MemorySegment.ofArray(page(page + 1))); // not forced
        assertEquals(PAGE, read(beside, (long) page * PAGE, found));
        assertArrayEquals(page(page + 1), found);
      }
    }
  }

  @Test
  void reads_beside_the_cache_end_at_the_end_of_the_file_and_may_be_of_any_size() {
    file.truncate(3 * PAGE / 2 + 1);
    try (CallerReads beside = file.callerReads(2, PAGE, /* beside= */ true)) {
      byte[] found = new byte[PAGE];
      assertEquals(PAGE, read(beside, 0, found));
      assertEquals(PAGE / 2 + 1, read(beside, PAGE, found));
      assertEquals(0, read(beside, 2 * PAGE, found));
      assertEquals(PAGE, read(beside, 1, found));
      byte[] some = new byte[100];
      assertEquals(100, read(beside, PAGE, some));
      assertArrayEquals(Arrays.copyOf(page(1), 100), some);
      assertEquals(PAGE, read(beside, 0, found));
      assertArrayEquals(page(0), found);
    }
  }

  @Test
  void an_interrupted_thread_reads_beside_the_cache_and_so_does_the_next_one() {
    DirectReads direct = DirectReads.open(directory.resolve("f"));
    byte[] found = new byte[PAGE];
    Assumptions.assumeTrue(direct != null && direct.read(0, found, PAGE));
    try (direct) {
      Thread.currentThread().interrupt();
      boolean read = direct.read(7 * PAGE, found, PAGE);
      assertTrue(Thread.interrupted());
      assertTrue(read);
      assertArrayEquals(page(7), found);
      assertTrue(direct.read(3 * PAGE, found, PAGE));
      assertArrayEquals(page(3), found);
    }
  }

  @Test
  void another_file_that_gets_the_name_is_not_read_beside_the_cache() throws Exception {
    Path named = directory.resolve("f");
    DirectReads direct = DirectReads.open(named);
    byte[] found = new byte[PAGE];
    Assumptions.assumeTrue(direct != null && direct.read(0, found, PAGE));
    try (direct) {
      Files.move(named, directory.resolve("away"));
      Files.write(named, page(99));
      Thread.currentThread().interrupt();
      assertTrue(direct.read(0, found, PAGE));
      assertTrue(Thread.interrupted());
      assertArrayEquals(page(0), found);
    }
  }

  @Test
  void a_read_beside_the_cache_behind_the_end_leaves_the_next_one_its_place() {
    DirectReads direct = DirectReads.open(directory.resolve("f"));
    byte[] found = new byte[PAGE];
    Assumptions.assumeTrue(direct != null && direct.read(0, found, PAGE));
    try (direct) {
      assertFalse(direct.read((long) (PAGES + 1) * PAGE, found, PAGE));
      file.truncate(5 * PAGE + PAGE / 2);
      assertFalse(direct.read(8 * PAGE, found, PAGE));
      assertFalse(direct.read(5 * PAGE, found, PAGE));
      assertTrue(direct.read(4 * PAGE, found, PAGE));
      assertArrayEquals(page(4), found);
    }
  }

  @Test
  void reads_beside_the_cache_can_be_given_up() {
    try (CallerReads beside = file.callerReads(2, PAGE, /* beside= */ true)) {
      beside.giveUpBeside();
      assertFalse(beside.readsBeside());
      byte[] found = new byte[PAGE];
      assertEquals(PAGE, read(beside, PAGE, found));
      assertArrayEquals(page(1), found);
    }
    assertFalse(reads.readsBeside());
  }
}
