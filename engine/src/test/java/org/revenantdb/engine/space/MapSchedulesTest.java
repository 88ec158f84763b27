package org.revenantdb.engine.space;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.space.SharedMapsTest.allocate;
import static org.revenantdb.engine.space.SharedMapsTest.lsn;
import static org.revenantdb.engine.space.SharedMapsTest.mapByte;
import static org.revenantdb.engine.space.SharedMapsTest.onDisk;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.buffer.Stay;
import org.revenantdb.engine.change.AtEachAfterPublish;
import org.revenantdb.engine.change.MiniTransaction;
import org.revenantdb.engine.change.StopAfterPublish;
import org.revenantdb.engine.check.FrozenDatabase;
import org.revenantdb.engine.overflow.OverflowRemoval;
import org.revenantdb.engine.overflow.OverflowWriter;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.PageOps;
import org.revenantdb.engine.page.SpaceMapPage;
import org.revenantdb.engine.testing.MemoryJournal;
import org.revenantdb.engine.testing.Replay;
import org.revenantdb.engine.testing.TestEngine;
import org.revenantdb.recovery.log.PartKind;
import org.revenantdb.recovery.log.RecordBuilder;
import org.revenantdb.recovery.testing.Await;

/**
 * The schedules that break a space map which several change under a shared latch, step by step
 * (protocols.md §19, R5, R19): A is the earlier record, B the later one.
 *
 * <ul>
 *   <li>a: B is applied and the map written before A is applied; redo passes A by.
 *   <li>b: the map is written with a change whose LSN it has not; the log need not have it.
 *   <li>c: A before B in the log, B before A on the map's word, or byte.
 *   <li>d: a map changes while it is written, {@code PageWriterScheduleTest}.
 *   <li>e: a byte changes and the version of the latch does not.
 *   <li>f: two have a page in the log.
 * </ul>
 */
class MapSchedulesTest {
  private static final int GROUP = SpaceMapPage.GROUP;
  private static final int MAP = SpaceMapPage.POSITION;
  private static final int ONE = 40;
  private static final int OTHER = 41; // of the same word
  private static final int FRESH = 50;

  @TempDir Path directory;

  private static void writeAll(TestEngine engine) {
    engine.journal.force();
    engine.pool.flushDirtyBefore(Long.MAX_VALUE);
  }

  /** Lets the page writer write what it can, a page of a batch at least; ends later. */
  private static CompletableFuture<Void> startWriting(TestEngine engine) {
    long written = engine.pool.statistics().pagesWritten();
    CompletableFuture<Void> flush =
        CompletableFuture.runAsync(() -> engine.pool.flushDirtyBefore(Long.MAX_VALUE));
    while (engine.pool.statistics().pagesWritten() == written) {
      Await.pause();
    }
    return flush;
  }

  /** Formats a page, which its space map says nothing of. */
  private static void format(TestEngine engine, int page) {
    MiniTransaction mini = new MiniTransaction(engine.pool, engine.journal);
    int frame = engine.pool.fixNew(page);
    mini.begin(0);
    PageOps.image(mini.format(frame), MemorySegment.ofArray(new byte[Page.SIZE]), 100, 0);
    mini.end();
    mini.commit();
    engine.pool.unfixExclusive(frame);
  }

  private static byte[] redone(TestEngine engine, byte[] map) {
    Map<Integer, byte[]> disk = new TreeMap<>();
    disk.put(MAP, map);
    Replay.redo(disk, engine.journal.entries());
    return Objects.requireNonNull(disk.get(MAP));
  }

  @Test
  void schedule_a_a_crash_after_a_later_change_was_written_does_not_lose_the_earlier_one() {
    try (TestEngine engine = new TestEngine(directory, 64)) {
      writeAll(engine);
      SharedMapsTest.Allocation first = new SharedMapsTest.Allocation(engine, ONE);
      CompletableFuture<Void> flush;
      try (StopAfterPublish stop = new StopAfterPublish(engine.journal, first.thread)) {
        first.thread.start();
        stop.awaitArrival();
        allocate(engine, OTHER, FRESH);
        engine.journal.force();
        flush = startWriting(engine);
        byte[] map = redone(engine, onDisk(engine, MAP)); // the crash, and all that redo has
        assertEquals(SpaceMapPage.ALLOCATED, mapByte(map, ONE), "A is lost");
        assertEquals(SpaceMapPage.ALLOCATED, mapByte(map, OTHER), "B is lost");
      }
      first.lsn.join();
      engine.journal.force();
      flush.join();
      assertEquals(
          -1, Arrays.mismatch(engine.page(MAP), 8, Page.SIZE, onDisk(engine, MAP), 8, Page.SIZE));
    }
  }

  @Test
  void schedule_b_a_change_whose_lsn_the_map_has_not_yet_is_not_written() {
    try (TestEngine engine = new TestEngine(directory, 64)) {
      writeAll(engine);
      format(engine, FRESH); // something to be written that does not force A's record
      SharedMapsTest.Allocation first = new SharedMapsTest.Allocation(engine, ONE);
      CompletableFuture<Void> flush;
      try (StopAfterPublish stop =
          new StopAfterPublish(engine.journal, first.thread, Object.class, /* places= */ 1)) {
        first.thread.start();
        stop.awaitArrival();
        byte[] map = engine.page(MAP);
        assertEquals(SpaceMapPage.ALLOCATED, mapByte(map, ONE), "A's byte is changed");
        assertTrue(lsn(map) < engine.journal.tail(), "and its LSN not raised");
        flush = startWriting(engine);
        assertTrue(engine.journal.durableLsn() < engine.journal.tail(), "A is not durable");
        assertEquals(0, mapByte(onDisk(engine, MAP), ONE), "the file is ahead of the log");
      }
      first.lsn.join();
      engine.journal.force();
      flush.join();
      assertEquals(SpaceMapPage.ALLOCATED, mapByte(onDisk(engine, MAP), ONE));
    }
  }

  @Test
  void schedule_c_redo_ends_where_memory_does_though_a_word_was_changed_in_another_order() {
    try (TestEngine engine = new TestEngine(directory, 64)) {
      byte[] before = engine.page(MAP);
      SharedMapsTest.Allocation first = new SharedMapsTest.Allocation(engine, ONE);
      try (StopAfterPublish stop = new StopAfterPublish(engine.journal, first.thread)) {
        first.thread.start();
        stop.awaitArrival();
        allocate(engine, OTHER, 0);
      }
      first.lsn.join();
      byte[] memory = engine.page(MAP);
      byte[] redone = redone(engine, before);
      assertArrayEquals(
          Arrays.copyOfRange(memory, 8, Page.SIZE), Arrays.copyOfRange(redone, 8, Page.SIZE));
      assertEquals(SpaceMapPage.ALLOCATED, mapByte(memory, ONE));
      assertEquals(SpaceMapPage.ALLOCATED, mapByte(memory, OTHER));
    }
  }

  /**
   * Two values of one byte: A, the cleaner, takes the version bit of a leaf away; B writes a row
   * there, and sets it again. The latch of the leaf, which A has until its byte is on the map,
   * keeps B from it. Were A's value the last one there, the map would call a page clean that is
   * not, and after a crash redo would say otherwise.
   */
  @Test
  void schedule_c_of_one_byte_the_later_record_has_the_last_word_in_memory_as_well()
      throws InterruptedException {
    for (int places = 0; places < 5; places++) {
      String place = "A stopped at place " + places;
      try (TestEngine engine = new TestEngine(directory, 64)) {
        Tree tree = engine.table("t");
        int leaf = tree.root();
        engine.checkAllClean();
        TestEngine.Tx former = engine.begin();
        former.put(tree, new byte[] {1}, new byte[10]);
        former.commitDurably();
        assertTrue(isMarked(engine.page(MAP), leaf));
        TestEngine.Tx later = engine.begin();
        Thread cleaner = new Thread(engine::pass);
        Thread writer = new Thread(() -> later.put(tree, new byte[] {2}, new byte[10]));
        try (StopAfterPublish stop =
            new StopAfterPublish(engine.journal, cleaner, Object.class, places)) {
          cleaner.start();
          stop.awaitArrival();
          assertFalse(isMarked(redone(engine), leaf), "A is in the log");
          writer.start();
          while (writer.isAlive() && !isParked(writer)) {
            Await.pause();
          }
        }
        cleaner.join();
        writer.join();
        assertTrue(isMarked(redone(engine), leaf), "B is behind it in the log, " + place);
        assertTrue(isMarked(engine.page(MAP), leaf), "B is lost, " + place);
        later.abort();
        engine.checkAllClean();
      }
    }
  }

  /** What redo makes of all that is in the log. */
  private static byte[] redone(TestEngine engine) {
    Map<Integer, byte[]> disk = Replay.newDatabase();
    Replay.redo(disk, engine.journal.entries());
    return Objects.requireNonNull(disk.get(MAP));
  }

  private static boolean isMarked(byte[] map, int page) {
    return (mapByte(map, page) & SpaceMapPage.VERSION) != 0;
  }

  /**
   * A reader that needs a whole map as of one moment has a copy that was made before any change.
   */
  @Test
  void schedule_e_a_check_does_not_see_a_changed_byte_that_neither_latch_nor_lsn_tell_of() {
    try (TestEngine engine = new TestEngine(directory, 64)) {
      allocate(engine, OTHER, 0); // a map without an LSN was never changed
      byte[] before = engine.page(MAP);
      try (FrozenDatabase frozen = new FrozenDatabase(engine.storage)) {
        Stay stay = Objects.requireNonNull(engine.pool.resident(MAP));
        long stamp = stay.readOptimistic();
        SharedMapsTest.Allocation change = new SharedMapsTest.Allocation(engine, ONE);
        try (StopAfterPublish stop =
            new StopAfterPublish(engine.journal, change.thread, Object.class, /* places= */ 1)) {
          change.thread.start();
          stop.awaitArrival();
          byte[] now = engine.page(MAP);
          assertEquals(SpaceMapPage.ALLOCATED, mapByte(now, ONE));
          assertTrue(stay.validate(stamp), "no reason to have copies any more");
          assertEquals(lsn(before), lsn(now));
          assertFrozen(before, frozen);
        }
        change.lsn.join();
        assertFrozen(before, frozen);
      }
    }
  }

  private static void assertFrozen(byte[] before, FrozenDatabase frozen) {
    MemorySegment seen = Objects.requireNonNull(frozen.read(MAP));
    assertArrayEquals(before, Page.bytes(seen, 0, Page.SIZE));
  }

  /** The pages that records of a kind have named since there were so many. */
  private static TreeSet<Integer> named(TestEngine engine, int since, PartKind kind) {
    TreeSet<Integer> pages = new TreeSet<>();
    List<MemoryJournal.Entry> entries = engine.journal.entries();
    for (MemoryJournal.Entry entry : entries.subList(since, entries.size())) {
      for (Replay.Part part : Replay.parts(entry)) {
        if (part.kind() == kind) {
          pages.add(part.page());
        }
      }
    }
    return pages;
  }

  private static List<Integer> claim(Allocator allocator, int count) {
    List<Integer> pages = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      pages.add(allocator.claim());
    }
    return pages;
  }

  /** A has the page in the log and not on the map: B must not have it in the log as well. */
  @Test
  void schedule_f_a_page_that_is_in_the_log_alone_is_claimed_by_nobody_else() {
    try (TestEngine engine = new TestEngine(directory, 300)) {
      Tree tree = engine.table("t");
      int since = engine.journal.entries().size();
      TestEngine.Tx tx = engine.begin();
      CompletableFuture<Void> put = new CompletableFuture<>();
      Thread writer =
          new Thread(() -> {
            try {
              tx.put(tree, new byte[] {1}, new byte[50_000]);
              put.complete(null);
            } catch (Throwable failure) {
              put.completeExceptionally(failure);
            }
          });
      List<Integer> claimed;
      try (StopAfterPublish stop =
          new StopAfterPublish(engine.journal, writer, OverflowWriter.class)) {
        writer.start();
        stop.awaitArrival();
        TreeSet<Integer> logged = named(engine, since, PartKind.FORMAT);
        assertFalse(logged.isEmpty());
        byte[] map = engine.page(MAP);
        logged.forEach(
            page -> assertEquals(0, mapByte(map, page) & SpaceMapPage.ALLOCATED, "page " + page));
        claimed = claim(engine.storage.allocator(), 100);
        claimed.forEach(page -> assertFalse(logged.contains(page), "two have page " + page));
      }
      put.join();
      TreeSet<Integer> logged = named(engine, since, PartKind.FORMAT);
      claimed.forEach(page -> assertFalse(logged.contains(page), "two have page " + page));
      claimed.forEach(engine.storage.allocator()::release);
      tx.commitDurably();
      engine.checkAllClean();
    }
  }

  /** Else the new owner's byte could be on the map before the former owner's. */
  @Test
  void R5_a_page_is_claimed_again_only_when_its_free_is_on_the_map() throws InterruptedException {
    try (TestEngine engine = new TestEngine(directory, 300)) {
      Tree tree = engine.table("t");
      TestEngine.Tx tx = engine.begin();
      tx.put(tree, new byte[] {1}, new byte[50_000]);
      tx.commitDurably();
      tx = engine.begin();
      tx.delete(tree, new byte[] {1});
      tx.commitDurably();
      int since = engine.journal.entries().size();
      Thread cleaner = new Thread(engine::clean);
      TreeSet<Integer> freed;
      try (StopAfterPublish stop =
          new StopAfterPublish(engine.journal, cleaner, OverflowRemoval.class)) {
        cleaner.start();
        stop.awaitArrival();
        freed = named(engine, since, PartKind.FREE);
        assertFalse(freed.isEmpty());
        byte[] map = engine.page(MAP);
        freed.forEach(page -> assertNotEquals(0, mapByte(map, page), "page " + page));
        List<Integer> claimed = claim(engine.storage.allocator(), 50);
        claimed.forEach(page -> assertFalse(freed.contains(page), "two have page " + page));
        claimed.forEach(engine.storage.allocator()::release);
      }
      cleaner.join();
      List<Integer> claimed = claim(engine.storage.allocator(), 50);
      assertTrue(claimed.containsAll(freed), "what was freed can be claimed");
      claimed.forEach(engine.storage.allocator()::release);
      engine.checkAllClean();
    }
  }

  @Test
  void R5_a_crash_with_pages_claimed_and_not_logged_leaks_none() {
    List<MemoryJournal.Entry> entries;
    List<Integer> claimed;
    try (TestEngine former = new TestEngine(directory, 64)) {
      Tree tree = former.table("t");
      TestEngine.Tx tx = former.begin();
      tx.put(tree, new byte[] {1}, new byte[10_000]);
      tx.commitDurably();
      claimed = claim(former.storage.allocator(), 20);
      entries = former.journal.entries();
    }
    Map<Integer, byte[]> pages = Replay.newDatabase();
    Replay.redo(pages, entries);
    try (TestEngine engine = TestEngine.restart(directory, entries, pages)) {
      engine.checkAllClean();
      assertEquals(claimed, claim(engine.storage.allocator(), 20));
    }
  }

  private static boolean isLatched(TestEngine engine, int map) {
    Stay stay = Objects.requireNonNull(engine.pool.resident(map));
    if (!stay.tryAcquireExclusive()) {
      return true;
    }
    stay.releaseExclusiveUnmodified();
    return false;
  }

  /** Formats the map of a group that the file has grown over, as growth does it. */
  private static void formatMap(TestEngine engine, int map) {
    MiniTransaction mini = new MiniTransaction(engine.pool, engine.journal);
    int frame = engine.pool.fixNew(map);
    MemorySegment image = MemorySegment.ofArray(new byte[Page.SIZE]);
    Page.putByte(image, Page.TYPE, Page.SPACE_MAP);
    Page.putByte(image, SpaceMapPage.offset(map), SpaceMapPage.ALLOCATED);
    mini.begin(0);
    PageOps.image(mini.format(frame), image, 200, 0);
    mini.end();
    mini.commit();
    engine.pool.unfixExclusive(frame);
  }

  @Test
  void R19_maps_are_latched_in_the_order_of_their_ids_whatever_order_they_are_named_in()
      throws InterruptedException {
    try (TestEngine engine = new TestEngine(directory, 2 * GROUP + 100)) {
      int second = GROUP + MAP;
      int third = 2 * GROUP + MAP;
      formatMap(engine, second);
      engine.page(MAP);
      engine.page(third);
      int held = engine.pool.fixExclusive(second);
      Thread changer =
          new Thread(() -> {
            MiniTransaction mini = new MiniTransaction(engine.pool, engine.journal);
            MapChanges maps = engine.storage.mapChanges();
            mini.begin(0);
            maps.set(2 * GROUP + 50, SpaceMapPage.ALLOCATED);
            maps.set(ONE, SpaceMapPage.ALLOCATED);
            maps.set(GROUP + 77, SpaceMapPage.ALLOCATED);
            maps.latchAndWrite(mini);
            mini.commit();
            maps.unlatch();
          });
      changer.start();
      while (changer.isAlive() && !isParked(changer)) {
        Await.pause();
      }
      assertTrue(isLatched(engine, MAP), "the first one is latched");
      assertFalse(isLatched(engine, third), "the last one is not, while the second is waited for");
      engine.pool.unfixExclusive(held);
      changer.join();
      assertEquals(SpaceMapPage.ALLOCATED, mapByte(engine.page(MAP), ONE));
    }
  }

  private static boolean isParked(Thread thread) {
    return thread.getState() == Thread.State.WAITING
        || thread.getState() == Thread.State.TIMED_WAITING;
  }

  /** The maps that the record at hand names, and how often they were looked at. */
  private static final class Latched implements MemoryJournal.Gate, Runnable {
    private final TestEngine engine;
    private final TreeSet<Integer> maps = new TreeSet<>();
    private int looks;

    Latched(TestEngine engine) {
      this.engine = engine;
    }

    @Override
    public void before(RecordBuilder record) {
      maps.clear();
      MemoryJournal.Entry entry =
          new MemoryJournal.Entry(0, Arrays.copyOf(record.array(), record.length()));
      for (Replay.Part part : Replay.parts(entry)) {
        if (part.kind() == PartKind.CHANGE && isMap(part.page())) {
          maps.add(part.page());
        }
      }
      run();
    }

    private boolean isMap(int page) {
      Stay stay = engine.pool.resident(page);
      return stay != null && Page.isChangedShared(Page.type(stay.page()));
    }

    @Override
    public void run() {
      for (int map : maps) {
        looks++;
        assertTrue(isLatched(engine, map), "map " + map + " is not latched");
      }
    }
  }

  /** All kinds of changes of maps: tables, versions, splits, large values, merges. */
  @Test
  void R19_a_map_is_latched_from_before_the_reservation_until_its_lsn_is_raised() {
    try (TestEngine engine = new TestEngine(directory, 600)) {
      Latched latched = new Latched(engine);
      engine.journal.gate = latched;
      try (AtEachAfterPublish each = new AtEachAfterPublish(engine.journal, latched)) {
        Tree tree = engine.table("t");
        TestEngine.Tx tx = engine.begin();
        for (int i = 0; i < 60; i++) {
          tx.put(tree, new byte[] {(byte) i}, new byte[1_500]);
        }
        tx.put(tree, new byte[] {99}, new byte[200_000]);
        tx.commitDurably();
        tx = engine.begin();
        for (int i = 0; i < 60; i++) {
          tx.delete(tree, new byte[] {(byte) i});
        }
        tx.delete(tree, new byte[] {99});
        tx.commitDurably();
        engine.checkAllClean();
      }
      assertTrue(latched.looks > 100, () -> "only " + latched.looks + " looks");
    }
  }
}
