package org.revenantdb.engine.space;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.change.MiniTransaction;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.PageOps;
import org.revenantdb.engine.page.SpaceMapPage;
import org.revenantdb.engine.testing.MemoryJournal;
import org.revenantdb.engine.testing.Replay;
import org.revenantdb.engine.testing.TestEngine;

class SpaceTest {
  private static final int GROUP = SpaceMapPage.GROUP;

  @TempDir Path directory;

  @Test
  void claim_hands_each_page_to_one_taker_and_takes_the_lowest_given_back() {
    try (TestEngine engine = new TestEngine(directory, 64)) {
      Allocator allocator = engine.storage.allocator();
      TreeSet<Integer> claimed = new TreeSet<>();
      for (int i = 0; i < 58; i++) {
        assertTrue(claimed.add(allocator.claim()));
      }
      assertEquals(6, claimed.first());
      assertEquals(63, claimed.last());
      allocator.release(40);
      allocator.release(7);
      assertEquals(7, allocator.claim());
      assertEquals(40, allocator.claim());
      assertEquals(64, allocator.claim(), "the file grows");
      assertTrue(allocator.pages() > 64);
    }
  }

  @Test
  void the_file_grows_into_the_next_group_and_its_map_is_never_claimed() {
    for (int size : new int[] {GROUP - 30, GROUP, GROUP + 1, GROUP + 3, GROUP + 4}) {
      try (TestEngine engine = new TestEngine(directory, size)) {
        Allocator allocator = engine.storage.allocator();
        TreeSet<Integer> claimed = new TreeSet<>();
        while (claimed.isEmpty() || claimed.last() < GROUP + 200) {
          assertTrue(claimed.add(allocator.claim()));
        }
        TreeSet<Integer> expected = new TreeSet<>();
        for (int page = 6; page <= claimed.last(); page++) {
          if (page != GROUP + SpaceMapPage.POSITION) {
            expected.add(page);
          }
        }
        assertTrue(expected.equals(claimed), "a file of " + size);
        engine.check();
        Map<Integer, byte[]> pages = Replay.newDatabase();
        Replay.redo(pages, engine.journal.entries());
        TestEngine.assertSamePages(engine.memory(), pages);
      }
    }
  }

  @Test
  void a_group_whose_map_was_lost_in_a_crash_gets_one() {
    try (TestEngine engine = new TestEngine(directory, GROUP + 100)) {
      assertTrue(Replay.allocated(engine.memory()).contains(GROUP + SpaceMapPage.POSITION));
      Allocator allocator = engine.storage.allocator();
      int page;
      do {
        page = allocator.claim();
      } while (page < GROUP + 4);
      assertEquals(GROUP + 4, page);
      engine.check();
    }
  }

  @Test
  void rows_live_on_both_sides_of_a_group_boundary() {
    try (TestEngine engine = new TestEngine(directory, GROUP)) {
      Allocator allocator = engine.storage.allocator();
      var tree = engine.table("t");
      int page;
      do {
        page = allocator.claim();
      } while (page < GROUP - 4);
      TestEngine.Tx tx = engine.begin();
      byte[] value = new byte[60_000];
      new Random(1).nextBytes(value);
      tx.put(tree, new byte[] {1}, value);
      for (int i = 0; i < 100; i++) {
        tx.put(tree, new byte[] {2, (byte) i}, new byte[700]);
      }
      tx.commitDurably();
      assertTrue(java.util.Arrays.equals(value, engine.read(tree, new byte[] {1})));
      engine.check();
      tx = engine.begin();
      tx.delete(tree, new byte[] {1});
      tx.commitDurably();
      engine.checkAllClean();
    }
  }

  @Test
  void R5_a_page_freed_before_its_group_was_read_is_claimed_once() {
    try (TestEngine former = new TestEngine(directory, 64)) {
      var tree = former.table("t");
      TestEngine.Tx tx = former.begin();
      tx.put(tree, new byte[] {1}, new byte[30_000]);
      tx.commitDurably();
      List<MemoryJournal.Entry> entries = former.journal.entries();
      Map<Integer, byte[]> pages = Replay.newDatabase();
      Replay.redo(pages, entries);
      int page = Replay.allocated(pages).last();
      try (TestEngine engine = TestEngine.restart(directory, entries, pages)) {
        Allocator allocator = engine.storage.allocator();
        MiniTransaction mini = new MiniTransaction(engine.pool, engine.journal);
        MapChanges maps = engine.storage.mapChanges();
        mini.begin(0);
        mini.free(page);
        maps.set(page, 0);
        maps.latchAndWrite(mini);
        mini.commit();
        maps.unlatch();
        // Between the record and the release somebody claims, the first of this life.
        int other = allocator.claim();
        assertNotEquals(page, other);
        allocator.release(page);
        TreeSet<Integer> claimed = new TreeSet<>();
        claimed.add(other);
        for (int i = 0; i < 10; i++) {
          assertTrue(claimed.add(allocator.claim()));
        }
        assertTrue(claimed.contains(page));
      }
    }
  }

  @Test
  void maps_of_several_groups_change_in_one_record() {
    try (TestEngine engine = new TestEngine(directory, 2 * GROUP + 100)) {
      // The first of the two later groups has no map yet: it is made here as growth makes it.
      MiniTransaction mini = new MiniTransaction(engine.pool, engine.journal);
      int second = GROUP + SpaceMapPage.POSITION;
      int frame = engine.pool.fixNew(second);
      MemorySegment image = MemorySegment.ofArray(new byte[Page.SIZE]);
      Page.putByte(image, Page.TYPE, Page.SPACE_MAP);
      Page.putByte(image, SpaceMapPage.offset(second), SpaceMapPage.ALLOCATED);
      mini.begin(0);
      PageOps.image(mini.format(frame), image, 200, 0);
      mini.end();
      mini.commit();
      engine.pool.unfixExclusive(frame);
      MapChanges maps = engine.storage.mapChanges();
      int[] pages = {2 * GROUP + 50, 40, GROUP + 77, 41, 2 * GROUP + 51};
      mini.begin(0);
      for (int page : pages) {
        maps.set(page, SpaceMapPage.ALLOCATED | SpaceMapPage.VERSION);
      }
      assertFalse(maps.isEmpty());
      maps.latchAndWrite(mini);
      mini.commit();
      maps.unlatch();
      Map<Integer, byte[]> found = new TreeMap<>();
      for (int map : new int[] {3, GROUP + 3, 2 * GROUP + 3}) {
        found.put(map, engine.page(map));
      }
      TreeSet<Integer> allocated = Replay.allocated(found);
      for (int page : pages) {
        assertTrue(allocated.contains(page), "page " + page);
      }
    }
  }

  @Test
  void bitmap_against_a_set() {
    Random random = new Random(11);
    PageBitmap bitmap = new PageBitmap();
    TreeSet<Integer> model = new TreeSet<>();
    for (int i = 0; i < 20_000; i++) {
      int page = random.nextInt(20) == 0 ? random.nextInt(1 << 31 - 1) : random.nextInt(3000);
      switch (random.nextInt(4)) {
        case 0 -> assertEquals(model.add(page), bitmap.set(page));
        case 1 -> assertEquals(model.remove(page), bitmap.clear(page));
        case 2 -> assertEquals(model.contains(page), bitmap.contains(page));
        default -> {
          Integer next = model.ceiling(page);
          assertEquals(next == null ? -1 : next, bitmap.next(page));
        }
      }
    }
    assertEquals(model.size(), bitmap.size());
    int at = -1;
    for (int expected : model) {
      at = bitmap.next(at + 1);
      assertEquals(expected, at);
    }
  }

  @Test
  void bitmap_next_at_the_end_of_what_an_int_counts() {
    PageBitmap bitmap = new PageBitmap();
    bitmap.set(Integer.MAX_VALUE);
    bitmap.set(Integer.MAX_VALUE - 1);
    bitmap.set((1 << 18) - 1);
    bitmap.set(1 << 18);
    assertEquals((1 << 18) - 1, bitmap.next(0));
    assertEquals(1 << 18, bitmap.next(1 << 18));
    assertEquals(Integer.MAX_VALUE - 1, bitmap.next((1 << 18) + 1));
    assertEquals(Integer.MAX_VALUE, bitmap.next(Integer.MAX_VALUE));
    // The loops of the cleaner: page >= 0, page + 1.
    assertEquals(-1, bitmap.next(Integer.MAX_VALUE + 1));
  }

  @Test
  void marks_during_a_pass_reach_that_pass_and_those_before_it_too() {
    VersionMarks marks = new VersionMarks();
    marks.mark(7);
    marks.mark(9);
    marks.postponeLong(9);
    PageBitmap pass = marks.begin(/* all= */ false, /* postponed= */ true);
    assertTrue(pass.contains(7));
    assertFalse(pass.contains(9));
    marks.mark(3);
    assertTrue(pass.contains(3));
    marks.clear(7);
    assertFalse(pass.contains(7));
    marks.end();
    marks.mark(11);
    assertFalse(pass.contains(11));
    marks.postpone(11);
    marks.postponeLong(12);
    marks.longEnded();
    pass = marks.begin(/* all= */ false, /* postponed= */ true);
    assertTrue(pass.contains(3) && pass.contains(9) && pass.contains(11) && pass.contains(12));
    assertEquals(4, pass.size());
    marks.end();
    marks.postponeLong(9);
    assertTrue(marks.begin(/* all= */ true, /* postponed= */ true).contains(9));
    marks.end();
  }

  /**
   * What is in the file and was never written is damage, so a map must not be there unformatted.
   */
  @Test
  void a_file_that_grows_ahead_stops_before_the_next_space_map() {
    try (TestEngine engine = new TestEngine(directory, 200)) {
      Allocator allocator = engine.storage.allocator();
      int map = SpaceMapPage.GROUP + SpaceMapPage.POSITION;
      int last = 0;
      while (allocator.pages() < map && last < map - 2) {
        int before = allocator.pages();
        last = allocator.claim();
        engine.pool.cutTo(Integer.MAX_VALUE); // cuts nothing, behind what is to be done ahead
        assertTrue(
            allocator.pages() > map || engine.pool.sizeInPages() <= Math.max(map, before),
            "the file has " + engine.pool.sizeInPages() + " pages, known are " + before);
      }
      engine.pool.unfixShared(engine.pool.fixShared(SpaceMapPage.POSITION));
    }
  }

  /** It was: its bit was cleared, which called the page allocated, though nothing led to it. */
  @Test
  void a_page_that_is_freed_during_any_pass_of_the_cleaner_is_not_visited_by_it() {
    VersionMarks marks = new VersionMarks();
    for (boolean whole : new boolean[] {true, false}) {
      marks.mark(7);
      marks.markForLater(8);
      PageBitmap pass =
          whole
              ? marks.begin(/* all= */ false, /* postponed= */ true)
              : marks.beginUrgent(/* postponed= */ true, 9);
      assertTrue(pass.contains(7) && pass.contains(8));
      marks.clear(7);
      marks.clear(8);
      assertTrue(pass.isEmpty());
      marks.end();
    }
  }
}
