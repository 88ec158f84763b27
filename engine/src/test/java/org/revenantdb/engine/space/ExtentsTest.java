package org.revenantdb.engine.space;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.change.StopAfterPublish;
import org.revenantdb.engine.check.Checker;
import org.revenantdb.engine.check.FrozenDatabase;
import org.revenantdb.engine.page.ExtentMapPage;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.page.SpaceMapPage;
import org.revenantdb.engine.testing.MemoryJournal;
import org.revenantdb.engine.testing.Replay;
import org.revenantdb.engine.testing.TestEngine;
import org.revenantdb.engine.version.CleanerSteps;
import org.revenantdb.testing.Drawn;

/**
 * Extents of trees, and mixed ones (protocols.md §25): their owners at each step. The result of a
 * check (X1 to X3) is asserted throughout.
 *
 * <p>{@code -Drevenant.seed=n} repeats a run.
 */
class ExtentsTest {
  private static final int GAM = ExtentMapPage.POSITION;
  private static final int MAP = SpaceMapPage.POSITION;

  @TempDir Path directory;

  private final long seed =
      Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));

  private static byte[] key(int i) {
    return ByteBuffer.allocate(4).putInt(i).array();
  }

  /** One that separators are as long as. */
  private static byte[] longKey(int i) {
    return ByteBuffer.allocate(900).putInt(896, i).array();
  }

  /** Eight rows a leaf or so. */
  private static void fill(TestEngine engine, Tree tree, int from, int to) {
    TestEngine.Tx tx = engine.begin();
    for (int i = from; i < to; i++) {
      tx.put(tree, key(i), new byte[900]);
    }
    tx.commitDurably();
  }

  private static void empty(TestEngine engine, Tree tree, int from, int to) {
    TestEngine.Tx tx = engine.begin();
    for (int i = from; i < to; i++) {
      tx.delete(tree, key(i));
    }
    tx.commitDurably();
    engine.clean();
  }

  private static int iam(TestEngine engine, Tree tree) {
    return Slotted.iam(MemorySegment.ofArray(engine.page(tree.root())));
  }

  /** The extents that a map of them has bits for. */
  private static TreeSet<Integer> extents(TestEngine engine, int map) {
    MemorySegment page = MemorySegment.ofArray(engine.page(map));
    int base = Page.type(page) == Page.IAM ? ExtentMapPage.rangeNumber(page) : 0;
    TreeSet<Integer> found = new TreeSet<>();
    for (int i = base * ExtentMapPage.RANGE; i < (base + 1) * ExtentMapPage.RANGE; i++) {
      if (ExtentMapPage.isSet(page, i)) {
        found.add(i);
      }
    }
    return found;
  }

  /** The pages of a tree but for its root. */
  private static TreeSet<Integer> pagesOf(TestEngine engine, Tree tree) {
    TreeSet<Integer> pages = new TreeSet<>();
    engine
        .memory()
        .forEach((id, bytes) -> {
          MemorySegment page = MemorySegment.ofArray(bytes);
          boolean isTree = Page.type(page) == Page.LEAF || Page.type(page) == Page.INNER;
          if (isTree && Slotted.table(page) == tree.table() && id != tree.root()) {
            pages.add(id);
          }
        });
    return pages;
  }

  private static boolean isMixed(TestEngine engine, int page) {
    return (engine.page(SpaceMapPage.mapOf(page))[SpaceMapPage.offset(page)] & SpaceMapPage.MIXED)
        != 0;
  }

  @Test
  void small_trees_share_mixed_extents_and_a_large_one_has_its_own() {
    try (TestEngine engine = new TestEngine(directory, 600)) {
      List<Tree> small = new ArrayList<>();
      for (int i = 0; i < 5; i++) {
        small.add(engine.table("small " + i));
        fill(engine, small.getLast(), 0, 20);
      }
      TreeSet<Integer> taken = extents(engine, GAM);
      assertTrue(taken.size() <= 4, taken + " for 22 pages");
      Tree large = engine.table("large");
      fill(engine, large, 0, 400);
      assertNotEquals(0, iam(engine, large));
      TreeSet<Integer> own = extents(engine, iam(engine, large));
      TreeSet<Integer> pages = pagesOf(engine, large);
      long mixed = pages.stream().filter(page -> isMixed(engine, page)).count();
      assertTrue(mixed <= 8, mixed + " pages in mixed extents");
      pages.removeIf(page -> isMixed(engine, page));
      pages.forEach(page -> assertTrue(own.contains(page / 8), "page " + page));
      assertTrue(own.size() <= pages.size() / 8 + 1, own.size() + " for " + pages.size());
      small.forEach(tree -> assertEquals(0, iam(engine, tree)));
      engine.checkAllClean();
    }
  }

  @Test
  void an_extent_whose_pages_are_all_free_is_given_back_and_taken_by_others() {
    try (TestEngine engine = new TestEngine(directory, 600)) {
      Tree tree = engine.table("t");
      fill(engine, tree, 0, 1000);
      int before = extents(engine, GAM).size();
      empty(engine, tree, 0, 990);
      TreeSet<Integer> left = extents(engine, iam(engine, tree));
      assertTrue(left.size() <= 2, left + " are left");
      assertTrue(extents(engine, GAM).size() <= 6, extents(engine, GAM) + " of " + before);
      Tree other = engine.table("other");
      int pages = engine.storage.allocator().pages();
      fill(engine, other, 0, 900);
      assertEquals(pages, engine.storage.allocator().pages(), "the file has grown");
      engine.checkAllClean();
    }
  }

  @Test
  void a_tree_takes_its_own_free_pages_before_it_takes_another_extent() {
    try (TestEngine engine = new TestEngine(directory, 600)) {
      Tree tree = engine.table("t");
      fill(engine, tree, 0, 1000);
      // Of each extent some pages go, none whole.
      TestEngine.Tx tx = engine.begin();
      for (int i = 0; i < 1000; i++) {
        if (i / 24 % 2 == 0) {
          tx.delete(tree, key(i));
        }
      }
      tx.commitDurably();
      engine.clean();
      TreeSet<Integer> before = extents(engine, iam(engine, tree));
      int free = 8 * before.size() - pagesOf(engine, tree).size();
      assertTrue(free > 20, "only " + free + " free pages");
      fill(engine, tree, 2000, 2000 + 4 * free);
      assertEquals(before, extents(engine, iam(engine, tree)));
      engine.checkAllClean();
    }
  }

  /** Grows and shrinks, beside another tree; the log may end after each record. */
  @Test
  @Drawn(oneIn = 2)
  void the_log_may_end_after_each_record_of_trees_that_grow_and_shrink() {
    System.out.println("ExtentsTest -Drevenant.seed=" + seed);
    Random random = new Random(seed);
    try (TestEngine engine = new TestEngine(directory, 64)) {
      Tree tree = engine.table("t");
      Tree other = engine.table("u");
      fill(engine, tree, 0, 120);
      fill(engine, other, 0, 100);
      TestEngine.Tx tx = engine.begin();
      tx.put(other, key(500), new byte[100_000]);
      tx.commitDurably();
      empty(engine, tree, 20, 120);
      fill(engine, other, 100, 160);
      CleanerSteps.compact(engine.cleaner, List.of(engine.catalog.tree(), tree, other));
      empty(engine, tree, 0, 20);
      empty(engine, other, 0, 160);
      engine.checkAllClean();
      List<MemoryJournal.Entry> entries = engine.journal.entries();
      Map<Integer, byte[]> redone = Replay.newDatabase();
      Replay.redo(redone, entries);
      TestEngine.assertSamePages(engine.memory(), redone);
      for (int end = 1; end <= entries.size(); end += 1 + random.nextInt(5)) {
        List<MemoryJournal.Entry> kept = entries.subList(0, end);
        int from = random.nextInt(end + 1);
        Map<Integer, byte[]> pages =
            Replay.randomlyFlushed(Replay.newDatabase(), kept, from, random);
        Replay.redo(pages, kept.subList(from, end));
        try (TestEngine restarted = TestEngine.restart(directory, kept, pages)) {
          restarted.check();
          restarted.checkAllClean();
          Tree again = restarted.table("again");
          fill(restarted, again, 0, 100);
          restarted.checkAllClean();
        }
      }
    }
  }

  /** A has the extent in the log and not on the maps: B must take another one. */
  @Test
  void R5_an_extent_that_is_in_the_log_alone_is_taken_by_nobody_else() throws Exception {
    try (TestEngine engine = new TestEngine(directory, 600)) {
      Tree tree = engine.table("t");
      Tree other = engine.table("u");
      fill(engine, tree, 0, 100);
      fill(engine, other, 0, 100);
      Allocator allocator = engine.storage.allocator();
      TreeSet<Integer> before = extents(engine, GAM);
      // All that are left of the tree's extents, so that the next claim takes another one.
      while (true) {
        int page = allocator.claimLower(tree.unit(), allocator.pages());
        if (page < 0) {
          break;
        }
      }
      CompletableFuture<Integer> claimed = new CompletableFuture<>();
      Thread taker = new Thread(() -> claimed.complete(allocator.claim(tree.unit())));
      try (StopAfterPublish stop = new StopAfterPublish(engine.journal, taker)) {
        taker.start();
        stop.awaitArrival();
        assertEquals(before, extents(engine, GAM), "it is not on the GAM yet");
        assertEquals(-1, allocator.claimAtOnce(other.unit()) / 8 == before.last() + 1 ? 0 : -1);
      }
      taker.join();
      TreeSet<Integer> taken = extents(engine, GAM);
      taken.removeAll(before);
      assertEquals(new TreeSet<>(List.of(claimed.join() / 8)), taken);
      engine.check();
    }
  }

  /** Else the new owner could change the maps before the former one has. */
  @Test
  void R5_an_extent_that_is_given_back_is_taken_again_only_when_that_is_on_the_maps()
      throws Exception {
    try (TestEngine engine = new TestEngine(directory, 600)) {
      Tree tree = engine.table("t");
      fill(engine, tree, 0, 300);
      Tree other = engine.table("u");
      fill(engine, other, 0, 100);
      TestEngine.Tx tx = engine.begin();
      for (int i = 0; i < 290; i++) {
        tx.delete(tree, key(i));
      }
      tx.commitDurably();
      TreeSet<Integer> before = extents(engine, iam(engine, tree));
      Thread cleaner = new Thread(engine::clean);
      int given;
      try (StopAfterPublish stop = new StopAfterPublish(engine.journal, cleaner, Allocator.class)) {
        cleaner.start();
        stop.awaitArrival();
        assertEquals(before, extents(engine, iam(engine, tree)), "nothing is on the maps yet");
        Claims claims = engine.storage.allocator().claims();
        given = before.stream().filter(e -> !enter(claims, e)).findFirst().orElse(-1);
        assertTrue(given >= 0, "nobody has entered the extent that is given back");
        for (int page = 8 * given; page < 8 * given + 8; page++) {
          assertFalse(claims.tryPage(page, false), "page " + page + " could be claimed");
        }
      }
      cleaner.join();
      assertFalse(extents(engine, GAM).contains(given));
      fill(engine, other, 100, 700);
      engine.checkAllClean();
    }
  }

  private static boolean enter(Claims claims, int extent) {
    if (!claims.tryExtent(extent)) {
      return false;
    }
    claims.leaveExtent(extent);
    return true;
  }

  @Test
  void a_claimed_page_keeps_its_extent() {
    try (TestEngine engine = new TestEngine(directory, 600)) {
      Tree tree = engine.table("t");
      fill(engine, tree, 0, 300);
      Allocator allocator = engine.storage.allocator();
      int claimed = allocator.claim(tree.unit());
      empty(engine, tree, 0, 300);
      assertEquals(
          new TreeSet<>(List.of(claimed / 8)), extents(engine, iam(engine, tree)), "one is left");
      allocator.unclaim(tree.unit(), claimed);
      engine.clean();
      assertEquals(new TreeSet<>(), extents(engine, iam(engine, tree)));
      engine.checkAllClean();
    }
  }

  /** The cleaner tried them again and again, for ever, and did nothing else. */
  @Test
  void extents_that_a_check_holds_back_are_given_back_when_it_ends() {
    try (TestEngine engine = new TestEngine(directory, 2000)) {
      Tree tree = engine.table("t");
      fill(engine, tree, 0, 3000);
      Allocator allocator = engine.storage.allocator();
      TreeSet<Integer> before = extents(engine, iam(engine, tree));
      allocator.holdBack();
      empty(engine, tree, 0, 3000);
      assertEquals(before, extents(engine, iam(engine, tree)));
      assertTrue(allocator.loosened().size() > 20);
      allocator.holdNoMore();
      engine.clean();
      assertTrue(extents(engine, iam(engine, tree)).size() <= 1, "the last leaf's");
      assertTrue(allocator.loosened().isEmpty());
      assertTrue(allocator.claims().pages().isEmpty(), "pages are claimed");
      engine.checkAllClean();
    }
  }

  /** Where its list was may be anything by then. */
  @Test
  void an_extent_of_a_tree_that_is_gone_is_not_given_back_again() {
    try (TestEngine engine = new TestEngine(directory, 600)) {
      Tree tree = engine.table("t");
      fill(engine, tree, 0, 100);
      int extent = extents(engine, iam(engine, tree)).first();
      Unit unit = tree.unit();
      empty(engine, tree, 0, 100);
      int list = iam(engine, tree);
      int frame = engine.pool.fixExclusive(list);
      MemorySegment page = engine.pool.page(frame);
      Page.putBitsShared(
          page, ExtentMapPage.offset(extent), 0xFF, ExtentMapPage.mask(extent)); // by chance
      Page.putByte(page, Page.TYPE, Page.LEAF);
      engine.pool.unfixExclusive(frame);
      byte[] gam = engine.page(GAM);
      assertEquals(Allocator.Emptied.IN_USE, engine.storage.allocator().giveBack(extent, unit));
      assertArrayEquals(gam, engine.page(GAM));
    }
  }

  /** The first pages of a database have no LSN, and were taken for free ones. */
  @Test
  void a_check_sees_the_first_maps_as_they_were_though_they_change_for_the_first_time() {
    try (TestEngine engine = new TestEngine(directory, 600)) {
      byte[] map = engine.page(MAP);
      byte[] gam = engine.page(GAM);
      try (FrozenDatabase frozen = new FrozenDatabase(engine.storage)) {
        for (int i = 0; i < 10; i++) {
          engine.table("t" + i);
        }
        assertFalse(Arrays.equals(gam, engine.page(GAM)));
        assertArrayEquals(gam, Page.bytes(Objects.requireNonNull(frozen.read(GAM)), 0, Page.SIZE));
        assertArrayEquals(map, Page.bytes(Objects.requireNonNull(frozen.read(MAP)), 0, Page.SIZE));
      }
    }
  }

  /** Its root names them, whatever becomes of the root: it splits, and collapses. */
  @Test
  void a_tree_keeps_its_extents_when_its_root_changes() {
    try (TestEngine engine = new TestEngine(directory, 3000)) {
      Tree tree = engine.table("t");
      fill(engine, tree, 0, 200);
      int list = iam(engine, tree);
      TestEngine.Tx tx = engine.begin();
      for (int i = 0; i < 300; i++) {
        tx.put(tree, longKey(i), new byte[1000]);
      }
      tx.commitDurably();
      assertTrue(Slotted.level(MemorySegment.ofArray(engine.page(tree.root()))) > 1);
      assertEquals(list, iam(engine, tree));
      engine.check();
      tx = engine.begin();
      for (int i = 0; i < 300; i++) {
        tx.delete(tree, longKey(i));
      }
      tx.commitDurably();
      empty(engine, tree, 0, 200);
      engine.checkAllClean();
      assertEquals(list, iam(engine, tree));
      fill(engine, tree, 0, 200);
      engine.checkAllClean();
    }
  }

  @Test
  void a_list_of_extents_moves_when_the_file_is_compacted() {
    try (TestEngine engine = new TestEngine(directory, 64)) {
      Tree front = engine.table("front");
      fill(engine, front, 0, 500);
      Tree tree = engine.table("t");
      NavigableMap<Integer, byte[]> model = new TreeMap<>();
      fill(engine, tree, 0, 100);
      for (int i = 0; i < 100; i++) {
        model.put(i, new byte[900]);
      }
      int list = iam(engine, tree);
      empty(engine, front, 0, 500);
      List<Tree> all = List.of(engine.catalog.tree(), front, tree);
      long moved = CleanerSteps.compact(engine.cleaner, all);
      assertTrue(moved > 5, moved + " pages were moved");
      assertTrue(iam(engine, tree) < list, "the list is still in page " + list);
      model.forEach((i, value) -> assertArrayEquals(value, engine.read(tree, key(i))));
      fill(engine, tree, 100, 200);
      int end = engine.storage.allocator().fence();
      assertTrue(end <= 8 * 8, "the end is " + end);
      engine.checkAllClean();
    }
  }

  /** More than four GB: the file is there by name, none of its pages are. */
  @Test
  void a_tree_has_a_list_for_each_range_of_the_file() {
    int range = ExtentMapPage.RANGE * 8;
    try (TestEngine engine = new TestEngine(directory, range + 400)) {
      for (int map = MAP + SpaceMapPage.GROUP; map < range; map += SpaceMapPage.GROUP) {
        int frame = engine.pool.fixNew(map); // else it would be one that was never written
        engine.pool.markDirty(frame, engine.journal.tail() + 1);
        Page.putByte(engine.pool.page(frame), Page.TYPE, Page.SPACE_MAP);
        engine.pool.unfixExclusive(frame);
      }
      Tree tree = engine.table("t");
      fill(engine, tree, 0, 100);
      int first = iam(engine, tree);
      int gam = engine.pool.fixExclusive(GAM);
      engine.pool.markDirty(gam, engine.journal.tail() + 1);
      MemorySegment page = engine.pool.page(gam);
      for (int e = 0; e < ExtentMapPage.RANGE; e++) {
        Page.putBitsShared(page, ExtentMapPage.offset(e), 0xFF, 0xFF);
      }
      engine.pool.unfixExclusive(gam);
      fill(engine, tree, 100, 400);
      int second = iam(engine, tree);
      assertNotEquals(first, second);
      assertEquals(first, ExtentMapPage.nextPage(MemorySegment.ofArray(engine.page(second))));
      assertTrue(extents(engine, second).first() >= ExtentMapPage.RANGE);
      assertTrue(extents(engine, second).size() > 3);
      pagesOf(engine, tree).stream()
          .filter(id -> id >= range)
          .forEach(id -> assertTrue(extents(engine, second).contains(id / 8), "page " + id));
      Unit again = new Unit(tree.table(), tree.root());
      again.load(engine.pool);
      assertTrue(again.isLarge());
      int claimed = engine.storage.allocator().claim(again);
      assertTrue(
          extents(engine, first).contains(claimed / 8)
              || extents(engine, second).contains(claimed / 8),
          "page " + claimed);
      empty(engine, tree, 50, 400);
      assertTrue(extents(engine, second).size() <= 1, "they are given back");
    }
  }

  @Test
  void a_check_reports_extents_without_an_owner_or_with_two() {
    try (TestEngine engine = new TestEngine(directory, 600)) {
      Tree tree = engine.table("t");
      Tree other = engine.table("u");
      fill(engine, tree, 0, 100);
      fill(engine, other, 0, 100);
      engine.check();
      int mine = extents(engine, iam(engine, tree)).first();
      assertTold(engine, GAM, ExtentMapPage.offset(50), ExtentMapPage.mask(50), "has leaked");
      assertTold(
          engine, GAM, ExtentMapPage.offset(mine), ExtentMapPage.mask(mine), "marks it as free");
      assertTold(
          engine,
          iam(engine, other),
          ExtentMapPage.offset(mine),
          ExtentMapPage.mask(mine),
          "is listed twice");
      assertTold(
          engine,
          iam(engine, tree),
          ExtentMapPage.offset(mine),
          ExtentMapPage.mask(mine),
          "it has no owner");
      assertTold(engine, MAP, SpaceMapPage.offset(8 * mine), SpaceMapPage.MIXED, "is mixed");
      assertTold(
          engine,
          MAP,
          SpaceMapPage.offset(8 * 40),
          1,
          "is free, but its byte in the space map is 1");
    }
  }

  private static void assertTold(
      TestEngine engine, int pageId, int offset, int flipped, String told) {
    flip(engine, pageId, offset, flipped);
    List<String> problems = Checker.alone(engine.storage).problems();
    assertTrue(problems.stream().anyMatch(problem -> problem.contains(told)), told + problems);
    flip(engine, pageId, offset, flipped);
    engine.check();
  }

  private static void flip(TestEngine engine, int pageId, int offset, int bits) {
    int frame = engine.pool.fixExclusive(pageId);
    MemorySegment page = engine.pool.page(frame);
    Page.putByte(page, offset, Page.getByte(page, offset) ^ bits);
    engine.pool.unfixExclusive(frame);
  }
}
