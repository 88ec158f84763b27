package org.revenantdb.engine.space;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.change.MiniTransaction;
import org.revenantdb.engine.change.StopAfterPublish;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.PageOps;
import org.revenantdb.engine.page.SpaceMapPage;
import org.revenantdb.engine.testing.Replay;
import org.revenantdb.engine.testing.TestEngine;
import org.revenantdb.recovery.testing.Await;

/**
 * Space maps that several threads change at once (protocols.md §19). No thread waits for another,
 * no image of a map is written without a change whose LSN it covers, and each page is taken only
 * once.
 */
class SharedMapsTest {
  private static final int MAP = SpaceMapPage.POSITION;
  private static final int ONE = 40;
  private static final int OTHER = 41; // of the same word

  @TempDir Path directory;

  /** Allocates a page, and formats another one, if one is given, in the same record. */
  static long allocate(TestEngine engine, int page, int fresh) {
    MiniTransaction mini = new MiniTransaction(engine.pool, engine.journal);
    MapChanges maps = engine.storage.mapChanges();
    int frame = -1;
    mini.begin(0);
    if (fresh > 0) {
      frame = engine.pool.fixNew(fresh);
      PageOps.image(mini.format(frame), MemorySegment.ofArray(new byte[Page.SIZE]), 100, 0);
      mini.end();
    }
    maps.set(page, SpaceMapPage.ALLOCATED);
    maps.latchAndWrite(mini);
    try {
      return mini.commit();
    } finally {
      maps.unlatch();
      if (frame >= 0) {
        engine.pool.unfixExclusive(frame);
      }
    }
  }

  /** An allocation in a thread of its own, which is not started yet. */
  static final class Allocation {
    final CompletableFuture<Long> lsn = new CompletableFuture<>();
    final Thread thread;

    Allocation(TestEngine engine, int page) {
      thread =
          new Thread(() -> {
            try {
              lsn.complete(allocate(engine, page, 0));
            } catch (Throwable failure) {
              lsn.completeExceptionally(failure);
            }
          });
    }
  }

  static int mapByte(byte[] map, int page) {
    return map[SpaceMapPage.offset(page)] & 0xFF;
  }

  static byte[] onDisk(TestEngine engine, int page) {
    byte[] bytes = new byte[Page.SIZE];
    engine.file.read((long) page * Page.SIZE, MemorySegment.ofArray(bytes));
    return bytes;
  }

  static long lsn(byte[] page) {
    return Page.lsn(MemorySegment.ofArray(page));
  }

  @Test
  void
      two_threads_that_change_bytes_of_one_word_do_not_wait_for_each_other_and_the_highest_lsn_stays() {
    try (TestEngine engine = new TestEngine(directory, 64)) {
      Allocation first = new Allocation(engine, ONE);
      long later;
      try (StopAfterPublish stop = new StopAfterPublish(engine.journal, first.thread)) {
        first.thread.start();
        stop.awaitArrival();
        later = allocate(engine, OTHER, 0); // with the other in the middle of it
        byte[] map = engine.page(MAP);
        assertEquals(0, mapByte(map, ONE));
        assertEquals(SpaceMapPage.ALLOCATED, mapByte(map, OTHER));
        assertEquals(later, lsn(map));
      }
      long earlier = first.lsn.join();
      assertTrue(earlier < later);
      byte[] map = engine.page(MAP);
      assertEquals(SpaceMapPage.ALLOCATED, mapByte(map, ONE));
      assertEquals(SpaceMapPage.ALLOCATED, mapByte(map, OTHER));
      assertEquals(later, lsn(map));
    }
  }

  /**
   * A at 10 has published and not changed the map yet, B at 20 has; an image with LSN 20 and
   * without A's byte would not be redone.
   */
  @Test
  void R5_a_map_is_not_written_while_a_change_of_it_is_in_the_log_alone() {
    try (TestEngine engine = new TestEngine(directory, 64)) {
      int fresh = 50;
      engine.journal.force();
      engine.pool.flushDirtyBefore(Long.MAX_VALUE);
      long written = engine.pool.statistics().pagesWritten();
      Allocation first = new Allocation(engine, ONE);
      CompletableFuture<Void> flush;
      long later;
      try (StopAfterPublish stop = new StopAfterPublish(engine.journal, first.thread)) {
        first.thread.start();
        stop.awaitArrival();
        later = allocate(engine, OTHER, fresh);
        engine.journal.force();
        flush = CompletableFuture.runAsync(() -> engine.pool.flushDirtyBefore(Long.MAX_VALUE));
        while (engine.pool.statistics().pagesWritten() == written) {
          Await.pause(); // until the other page of the batch is in the file
        }
        assertEquals(later, lsn(onDisk(engine, fresh)));
        assertTrue(lsn(onDisk(engine, MAP)) < later, "the map got out half changed");
        assertFalse(flush.isDone());
      }
      first.lsn.join();
      engine.journal.force();
      flush.join();
      byte[] map = onDisk(engine, MAP);
      assertEquals(SpaceMapPage.ALLOCATED, mapByte(map, ONE));
      assertEquals(SpaceMapPage.ALLOCATED, mapByte(map, OTHER));
      assertEquals(later, lsn(map));
    }
  }

  @Test
  void memory_and_log_agree_after_many_have_allocated_and_freed_at_once() throws Exception {
    long seed = Long.getLong("revenant.seed", System.nanoTime());
    System.out.println("SharedMapsTest -Drevenant.seed=" + seed);
    try (TestEngine engine = new TestEngine(directory, 600)) {
      Map<Integer, byte[]> pages = Replay.newDatabase();
      int threads = 4;
      CyclicBarrier barrier = new CyclicBarrier(threads);
      AtomicIntegerArray owners = new AtomicIntegerArray(5_000);
      CompletableFuture.allOf(
              IntStream.range(0, threads)
                  .mapToObj(number ->
                      CompletableFuture.runAsync(
                          () -> churn(engine, owners, barrier, new Random(seed + number))))
                  .toArray(CompletableFuture[]::new))
          .get();
      Replay.redo(pages, engine.journal.entries());
      TestEngine.assertSamePages(engine.memory(), pages);
    }
  }

  /** Claims, allocates, frees, releases, so that two never have the same page. */
  private static void churn(
      TestEngine engine, AtomicIntegerArray owners, CyclicBarrier barrier, Random random) {
    Allocator allocator = engine.storage.allocator();
    MiniTransaction mini = new MiniTransaction(engine.pool, engine.journal);
    MapChanges maps = engine.storage.mapChanges();
    int[] mine = new int[20];
    await(barrier);
    for (int i = 0; i < 400; i++) {
      int at = random.nextInt(mine.length);
      int page = mine[at];
      if (page == 0) {
        page = allocator.claim();
        assertTrue(owners.compareAndSet(page, 0, 1), "page " + page + " has two takers");
        set(engine, mini, maps, page, SpaceMapPage.ALLOCATED);
        mine[at] = page;
      } else {
        set(engine, mini, maps, page, 0);
        assertTrue(owners.compareAndSet(page, 1, 0));
        allocator.release(page);
        mine[at] = 0;
      }
    }
  }

  private static void set(
      TestEngine engine, MiniTransaction mini, MapChanges maps, int page, int value) {
    mini.begin(0);
    int frame = -1;
    if (value == 0) {
      mini.free(page);
    } else {
      frame = engine.pool.fixNew(page);
      PageOps.image(mini.format(frame), MemorySegment.ofArray(new byte[Page.SIZE]), 100, 0);
      mini.end();
    }
    maps.clear();
    maps.set(page, value);
    maps.latchAndWrite(mini);
    try {
      mini.commit();
    } finally {
      maps.unlatch();
      if (frame >= 0) {
        engine.pool.unfixExclusive(frame);
      }
    }
  }

  private static void await(CyclicBarrier barrier) {
    try {
      barrier.await();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  /** The hint must not skip a page that was freed during the search. */
  @Test
  void a_page_that_comes_back_while_another_looks_for_one_is_found_again() throws Exception {
    try (TestEngine engine = new TestEngine(directory, 7_000)) {
      Allocator allocator = engine.storage.allocator();
      int rounds = Boolean.getBoolean("revenant.long") ? 20_000 : 8_000;
      CyclicBarrier barrier = new CyclicBarrier(2);
      int before = allocator.claim();
      int page = allocator.claim();
      for (int i = 0; i < 5_000; i++) {
        allocator.claim(); // a long way to the next free one
      }
      CompletableFuture<Void> other =
          CompletableFuture.runAsync(() -> {
            for (int round = 0; round < rounds; round++) {
              await(barrier);
              allocator.release(page);
              await(barrier);
            }
          });
      for (int round = 0; round < rounds; round++) {
        allocator.release(before);
        assertEquals(before, allocator.claim()); // the hint is at the page
        await(barrier);
        int one = allocator.claim(); // takes the page or passes it by
        await(barrier);
        int next = allocator.claim();
        assertTrue(one == page || next == page, "page " + page + " is free and hidden");
        allocator.release(one == page ? next : one);
      }
      other.get();
    }
  }
}
