package org.revenantdb.engine.overflow;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
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
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.check.Checker;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.SharedValues;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.page.SlottedSearch;
import org.revenantdb.engine.page.SpaceMapPage;
import org.revenantdb.engine.page.ValueReference;
import org.revenantdb.engine.testing.CommittedStates;
import org.revenantdb.engine.testing.MemoryJournal;
import org.revenantdb.engine.testing.Replay;
import org.revenantdb.engine.testing.TestEngine;
import org.revenantdb.engine.version.CleanerSteps;
import org.revenantdb.engine.version.RowWriter;
import org.revenantdb.engine.version.StoredValue;
import org.revenantdb.recovery.file.FileException;

/**
 * Values that share a page (docs/protocols.md §26), with a cleaner that moves only when it is told
 * to.
 *
 * <p>{@code -Drevenant.seed=n} repeats a run.
 */
class SharedValueStepsTest {
  @TempDir Path directory;

  private final long seed =
      Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));
  private final Random random = new Random(seed);

  private static byte[] key(int i) {
    return ByteBuffer.allocate(4).putInt(i).array();
  }

  private byte[] value(int length) {
    byte[] value = new byte[length];
    random.nextBytes(value);
    return value;
  }

  private static ValueReference reference(TestEngine engine, Tree tree, int key) {
    TestEngine.Tx tx = engine.begin();
    try {
      StoredValue value = engine.engine.reader().read(tree, key(key), tx.reading);
      return Objects.requireNonNull(value).reference();
    } finally {
      tx.abort();
    }
  }

  private static void put(TestEngine engine, Tree tree, int key, byte[] value) {
    TestEngine.Tx tx = engine.begin();
    assertEquals(RowWriter.Outcome.DONE, tx.put(tree, key(key), value));
    tx.commitDurably();
  }

  private static void delete(TestEngine engine, Tree tree, int... keys) {
    TestEngine.Tx tx = engine.begin();
    for (int key : keys) {
      assertEquals(RowWriter.Outcome.DONE, tx.delete(tree, key(key)));
    }
    tx.commitDurably();
  }

  /** What the space map says. */
  private static int fullness(TestEngine engine, int page) {
    byte[] map = engine.page(SpaceMapPage.mapOf(page));
    return map[SpaceMapPage.offset(page)] & SpaceMapPage.FULLNESS;
  }

  @Test
  void three_values_of_a_third_of_a_page_are_on_one() {
    try (TestEngine engine = new TestEngine(directory, 128)) {
      Tree tree = engine.table("t");
      int before = engine.used();
      for (int i = 0; i < 90; i++) {
        put(engine, tree, i, value(2_700));
      }
      assertTrue(engine.used() - before <= 31, engine.used() + " pages, " + before + " before");
      ValueReference first = reference(engine, tree, 0);
      assertEquals(new ValueReference(first.page(), 2, 2_700), reference(engine, tree, 2));
      assertNotEquals(first.page(), reference(engine, tree, 3).page());
      engine.checkAllClean();
    }
  }

  @Test
  void a_value_goes_where_there_is_room_by_the_space_map() {
    try (TestEngine engine = new TestEngine(directory, 128)) {
      Tree tree = engine.table("t");
      for (int i = 0; i < 300; i++) {
        put(engine, tree, i, value(1_600));
      }
      int page = reference(engine, tree, 0).page();
      assertEquals(4, fullness(engine, page));
      delete(engine, tree, 0, 1);
      assertEquals(4, fullness(engine, page), "nothing was taken yet");
      engine.clean();
      assertEquals(2, fullness(engine, page));
      int used = engine.used();
      put(engine, tree, 1_000, value(5_000)); // the stripe leaves its page; a new one
      put(engine, tree, 1_001, value(1_600)); // of which none was found when one was last searched
      assertEquals(page, reference(engine, tree, 1_001).page());
      assertEquals(used + 1, engine.used());
      engine.checkAllClean();
    }
  }

  @Test
  void room_that_was_given_back_is_used_again_by_the_next_life() {
    List<MemoryJournal.Entry> log;
    int used;
    try (TestEngine engine = new TestEngine(directory, 128)) {
      Tree tree = engine.table("t");
      for (int i = 0; i < 400; i++) {
        put(engine, tree, i, value(2_000));
      }
      int[] odd = new int[200];
      Arrays.setAll(odd, i -> 2 * i + 1);
      delete(engine, tree, odd);
      engine.checkAllClean();
      used = engine.used();
      log = engine.journal.entries();
    }
    Map<Integer, byte[]> pages = Replay.newDatabase();
    Replay.redo(pages, log);
    try (TestEngine restarted = TestEngine.restart(directory, log, pages)) {
      Tree tree = restarted.table("t");
      for (int i = 0; i < 190; i++) {
        put(restarted, tree, 1_000 + i, value(2_000));
      }
      assertTrue(restarted.used() <= used + 6, restarted.used() + " pages, " + used + " before");
      restarted.checkAllClean();
    }
  }

  @Test
  void the_last_value_takes_its_page_with_it() {
    try (TestEngine engine = new TestEngine(directory, 128)) {
      Tree tree = engine.table("t");
      put(engine, tree, 1, value(2_000));
      put(engine, tree, 2, value(2_000));
      engine.checkAllClean();
      int used = engine.used();
      int page = reference(engine, tree, 1).page();
      delete(engine, tree, 1);
      engine.checkAllClean();
      assertEquals(used, engine.used());
      delete(engine, tree, 2);
      engine.checkAllClean();
      assertEquals(used - 1, engine.used());
      assertEquals(0, fullness(engine, page));
    }
  }

  /** It still has the bytes of one with room, and this thread has used it last. */
  @Test
  void R5_nothing_is_put_on_a_page_that_was_freed_and_is_anothers() {
    try (TestEngine engine = new TestEngine(directory, 128)) {
      Tree tree = engine.table("t");
      put(engine, tree, 1, value(2_000));
      engine.checkAllClean();
      int page = reference(engine, tree, 1).page();
      delete(engine, tree, 1);
      engine.checkAllClean();
      List<Integer> claimed = new ArrayList<>();
      do {
        claimed.add(engine.storage.allocator().claim());
      } while (claimed.getLast() != page);
      put(engine, tree, 2, value(2_000));
      assertNotEquals(page, reference(engine, tree, 2).page());
      claimed.forEach(engine.storage.allocator()::unclaim);
      engine.checkAllClean();
    }
  }

  @Test
  void R15_a_new_version_and_the_one_it_replaces_may_be_on_one_page() {
    try (TestEngine engine = new TestEngine(directory, 128)) {
      Tree tree = engine.table("t");
      byte[] first = value(2_000);
      put(engine, tree, 1, first);
      TestEngine.Tx before = engine.begin();
      byte[] second = value(2_100);
      put(engine, tree, 1, second);
      ValueReference now = reference(engine, tree, 1);
      assertEquals(1, now.slot());
      assertArrayEquals(first, before.get(tree, key(1)));
      engine.pass();
      engine.check();
      assertArrayEquals(first, before.get(tree, key(1)));
      before.abort();
      engine.checkAllClean();
      assertArrayEquals(second, engine.read(tree, key(1)));
      byte[] page = engine.page(now.page());
      assertEquals(Page.SIZE - 32 - 2 * 20 - 2_100, SharedValues.free(MemorySegment.ofArray(page)));
    }
  }

  /** The row of an aborted transaction leads to a slot that is another's by now. */
  @Test
  void R1_the_slot_of_an_aborted_value_is_used_again_before_its_row_is_reverted() {
    try (TestEngine engine = new TestEngine(directory, 128)) {
      Tree tree = engine.table("t");
      byte[] old = value(100);
      put(engine, tree, 1, old);
      put(engine, tree, 5, value(1_900)); // so the page is not freed
      TestEngine.Tx aborted = engine.begin();
      aborted.put(tree, key(1), value(2_000));
      aborted.put(tree, key(2), value(2_000));
      aborted.abort();
      ValueReference other = reference(engine, tree, 5);
      CleanerSteps.visit(engine.cleaner, other.page());
      put(engine, tree, 3, value(2_000));
      assertEquals(new ValueReference(other.page(), 1, 2_000), reference(engine, tree, 3));
      assertArrayEquals(old, engine.read(tree, key(1)));
      assertNull(engine.read(tree, key(2)));
      engine.check();
      engine.checkAllClean();
      assertArrayEquals(old, engine.read(tree, key(1)));
    }
  }

  @Test
  void R16_values_of_one_leaf_that_share_pages_go_with_their_table() {
    try (TestEngine engine = new TestEngine(directory, 128)) {
      engine.table("other");
      int before = engine.used();
      Tree tree = engine.table("t");
      for (int i = 0; i < 200; i++) {
        put(engine, tree, i, value(900 + random.nextInt(3_000) + 800));
      }
      TestEngine.Tx aborted = engine.begin();
      for (int i = 0; i < 50; i += 3) {
        aborted.put(tree, key(i), value(2_000));
      }
      aborted.abort();
      assertTrue(engine.used() > before + 40);
      engine.catalog.drop(Objects.requireNonNull(engine.catalog.find("t")));
      engine.checkAllClean();
      assertEquals(before, engine.used());
    }
  }

  @Test
  void a_stream_goes_on_over_a_value_that_moves_within_its_page_and_to_another() {
    try (TestEngine engine = new TestEngine(directory, 128)) {
      Tree tree = engine.table("t");
      for (int i = 0; i < 300; i++) {
        put(engine, tree, i, value(2_000));
      }
      put(engine, tree, 1_001, value(1_800));
      byte[] expected = value(2_000);
      put(engine, tree, 1_000, expected); // moves up when the one before it is taken
      int[] front = new int[280];
      Arrays.setAll(front, i -> i);
      delete(engine, tree, front);
      delete(engine, tree, 1_001);
      TestEngine.Tx reader = engine.begin();
      StoredValue large =
          Objects.requireNonNull(engine.engine.reader().read(tree, key(1_000), reader.reading));
      OverflowInput input = new OverflowInput(engine.pool, Supplier::get, large.reference());
      byte[] found = new byte[2_000];
      input.read(found, 0, 500);
      engine.clean();
      input.read(found, 500, 500);
      List<Tree> trees = List.of(engine.catalog.tree(), tree);
      assertTrue(CleanerSteps.compact(engine.cleaner, trees) > 0);
      assertNotEquals(large.reference(), reference(engine, tree, 1_000));
      engine.clean();
      engine.check();
      input.read(found, 1_000, 1_000);
      assertArrayEquals(expected, found);
      assertArrayEquals(expected, reader.bytes(large), "from where it was");
      int used = engine.used();
      reader.abort();
      engine.checkAllClean();
      assertTrue(engine.used() < used);
      assertArrayEquals(expected, engine.read(tree, key(1_000)));
    }
  }

  /** Its slot was taken and is another's by now, of the same length. */
  @Test
  void R15_the_value_that_an_aborted_row_leads_to_by_chance_does_not_move_with_it() {
    try (TestEngine engine = new TestEngine(directory, 128)) {
      Tree tree = engine.table("t");
      for (int i = 10; i < 300; i++) {
        put(engine, tree, i, value(2_000));
      }
      put(engine, tree, 400, value(1_900)); // so the page is not freed
      engine.checkAllClean();
      int[] front = new int[270];
      Arrays.setAll(front, i -> 10 + i);
      delete(engine, tree, front);
      TestEngine.Tx aborted = engine.begin();
      aborted.put(tree, key(1), value(2_000));
      ValueReference taken =
          Objects.requireNonNull(engine.engine.reader().read(tree, key(1), aborted.freshReading()))
              .reference();
      engine.clean();
      aborted.abort();
      CleanerSteps.visit(engine.cleaner, taken.page());
      byte[] expected = value(2_000);
      put(engine, tree, 500, expected);
      assertEquals(taken, reference(engine, tree, 500));
      CleanerSteps.visit(engine.cleaner, taken.page());
      assertTrue(CleanerSteps.compact(engine.cleaner, List.of(engine.catalog.tree(), tree)) > 0);
      assertNotEquals(taken, reference(engine, tree, 500), "it has moved");
      engine.check();
      assertArrayEquals(expected, engine.read(tree, key(500)));
      engine.checkAllClean();
      assertArrayEquals(expected, engine.read(tree, key(500)));
      assertNull(engine.read(tree, key(1)));
    }
  }

  @Test
  void a_page_that_values_have_left_gets_none_and_goes_when_the_snapshot_has_ended() {
    try (TestEngine engine = new TestEngine(directory, 128)) {
      Tree tree = engine.table("t");
      for (int i = 0; i < 300; i++) {
        put(engine, tree, i, value(2_000));
      }
      put(engine, tree, 1_000, value(2_000));
      put(engine, tree, 1_001, value(2_000));
      engine.checkAllClean();
      int[] front = new int[299];
      Arrays.setAll(front, i -> i);
      delete(engine, tree, front);
      engine.clean();
      ValueReference before = reference(engine, tree, 1_001);
      TestEngine.Tx reader = engine.begin();
      assertTrue(CleanerSteps.compact(engine.cleaner, List.of(engine.catalog.tree(), tree)) > 0);
      assertNotEquals(before.page(), reference(engine, tree, 1_001).page());
      engine.clean();
      assertTrue(CleanerSteps.isNothingNew(engine.cleaner));
      assertNotEquals(0, fullness(engine, before.page()));
      for (int i = 2_000; i < 2_040; i++) {
        put(engine, tree, i, value(1_700));
        assertNotEquals(before.page(), reference(engine, tree, i).page());
      }
      engine.clean();
      assertNotEquals(0, fullness(engine, before.page()));
      reader.abort();
      engine.clean();
      assertEquals(0, fullness(engine, before.page()));
      engine.checkAllClean();
    }
  }

  @Test
  void the_cleaner_of_an_idle_database_notices_the_end_of_a_snapshot() {
    try (TestEngine engine = new TestEngine(directory, 128)) {
      Tree tree = engine.table("t");
      for (int i = 0; i < 300; i++) {
        put(engine, tree, i, value(2_000));
      }
      int[] front = new int[299];
      Arrays.setAll(front, i -> i);
      delete(engine, tree, front);
      engine.checkAllClean();
      int page = reference(engine, tree, 299).page();
      TestEngine.Tx reader = engine.begin();
      assertTrue(CleanerSteps.compact(engine.cleaner, List.of(engine.catalog.tree(), tree)) > 0);
      engine.pass();
      assertTrue(CleanerSteps.isNothingNew(engine.cleaner));
      reader.abort();
      assertFalse(CleanerSteps.isNothingNew(engine.cleaner));
      engine.pass();
      assertEquals(0, fullness(engine, page));
    }
  }

  private static long compact(TestEngine engine, Tree tree) {
    return CleanerSteps.compact(engine.cleaner, List.of(engine.catalog.tree(), tree));
  }

  /** Puts a value from a thread that has no page of its own yet. */
  private void putElsewhere(TestEngine engine, Tree tree, int key, byte[] value)
      throws InterruptedException {
    Thread thread = new Thread(() -> put(engine, tree, key, value));
    thread.start();
    thread.join();
  }

  @Test
  void a_page_that_a_value_has_left_does_not_hide_the_room_behind_it() throws InterruptedException {
    try (TestEngine engine = new TestEngine(directory, 128)) {
      Tree tree = engine.table("t");
      for (int i = 0; i < 300; i++) {
        put(engine, tree, i, value(2_000));
      }
      put(engine, tree, 400, value(5_000)); // alone on its page, which has room
      int[] front = new int[296];
      Arrays.setAll(front, i -> i);
      delete(engine, tree, front);
      engine.checkAllClean();
      TestEngine.Tx reader = engine.begin();
      ValueReference left = reference(engine, tree, 400);
      assertTrue(compact(engine, tree) > 0);
      assertNotEquals(left, reference(engine, tree, 400));
      for (int i = 1_000; i < 1_300; i++) {
        put(engine, tree, i, value(2_000)); // on all that is free in front, and behind
      }
      TestEngine.Tx aborted = engine.begin();
      for (int i = 2_000; i < 2_040; i++) {
        aborted.put(tree, key(i), value(2_000));
        put(engine, tree, i + 1_000, value(2_000));
      }
      aborted.abort();
      engine.clean(); // a half of each of their pages
      assertTrue(reference(engine, tree, 3_039).page() > left.page());
      int used = engine.used();
      for (int i = 0; i < 20; i++) {
        putElsewhere(engine, tree, 4_000 + i, value(2_000));
      }
      assertEquals(used, engine.used());
      reader.abort();
      engine.checkAllClean();
    }
  }

  @Test
  void values_of_unlike_lengths_that_shared_pages_share_them_again_where_they_are_moved() {
    try (TestEngine engine = new TestEngine(directory, 128)) {
      Tree tree = engine.table("t");
      for (int i = 0; i < 300; i++) {
        put(engine, tree, i, value(4_000));
      }
      for (int i = 1_000; i < 1_030; i++) {
        put(engine, tree, 2 * i, value(5_000));
        put(engine, tree, 2 * i + 1, value(3_000));
      }
      int[] front = new int[300];
      Arrays.setAll(front, i -> i);
      delete(engine, tree, front);
      engine.checkAllClean();
      int used = engine.used();
      assertTrue(compact(engine, tree) > 30);
      engine.checkAllClean();
      assertTrue(engine.used() <= used + 1, engine.used() + " pages, " + used + " before");
    }
  }

  /** All that a pass can find on one page, at once. */
  @Test
  void R15_a_page_with_a_value_of_each_fate_keeps_those_that_somebody_needs() {
    try (TestEngine engine = new TestEngine(directory, 128)) {
      Tree tree = engine.table("t");
      byte[] settled = value(1_500);
      byte[] replaced = value(1_500);
      put(engine, tree, 1, settled);
      put(engine, tree, 2, replaced);
      TestEngine.Tx reader = engine.begin();
      delete(engine, tree, 2);
      TestEngine.Tx active = engine.begin();
      byte[] written = value(1_500);
      active.put(tree, key(3), written);
      TestEngine.Tx aborted = engine.begin();
      aborted.put(tree, key(4), value(1_500));
      aborted.delete(tree, key(1));
      int page = reference(engine, tree, 1).page();
      assertEquals(page, reader.get(tree, key(2)) == null ? 0 : page);
      aborted.abort();
      MemorySegment there = MemorySegment.ofArray(engine.page(page));
      assertEquals(4, SharedValues.count(there));
      engine.clean();
      there = MemorySegment.ofArray(engine.page(page));
      assertTrue(SharedValues.isTaken(there, 0) && SharedValues.superseder(there, 0) == 0);
      assertTrue(SharedValues.isTaken(there, 1) && SharedValues.isTaken(there, 2));
      assertFalse(SharedValues.isTaken(there, 3));
      assertArrayEquals(settled, engine.read(tree, key(1)));
      assertArrayEquals(replaced, reader.get(tree, key(2)));
      engine.check();
      reader.abort();
      engine.clean();
      there = MemorySegment.ofArray(engine.page(page));
      assertFalse(SharedValues.isTaken(there, 1));
      active.commitDurably();
      engine.checkAllClean();
      assertArrayEquals(written, engine.read(tree, key(3)));
      assertArrayEquals(settled, engine.read(tree, key(1)));
    }
  }

  @Test
  void a_table_that_is_dropped_leaves_the_values_of_others_on_its_pages() {
    try (TestEngine engine = new TestEngine(directory, 128)) {
      Tree other = engine.table("other");
      Tree tree = engine.table("t");
      Map<Integer, byte[]> kept = new TreeMap<>();
      for (int i = 0; i < 60; i++) {
        put(engine, tree, i, value(1_500));
        kept.put(i, value(1_500));
        put(engine, other, i, kept.get(i));
      }
      assertEquals(reference(engine, tree, 0).page(), reference(engine, other, 0).page());
      engine.catalog.drop(Objects.requireNonNull(engine.catalog.find("t")));
      engine.checkAllClean();
      kept.forEach((key, value) -> assertArrayEquals(value, engine.read(other, key(key))));
    }
  }

  @Test
  void a_value_of_8140_bytes_shares_a_page_and_a_larger_one_is_a_chain() {
    try (TestEngine engine = new TestEngine(directory, 128)) {
      Tree tree = engine.table("t");
      byte[] most = value(8_140);
      byte[] more = value(8_141);
      put(engine, tree, 1, most);
      put(engine, tree, 2, more);
      assertEquals(0, reference(engine, tree, 1).slot());
      assertEquals(ValueReference.WHOLE, reference(engine, tree, 2).slot());
      List<MemoryJournal.Entry> log = engine.journal.entries();
      Map<Integer, byte[]> pages = Replay.newDatabase();
      Replay.redo(pages, log);
      try (TestEngine restarted = TestEngine.restart(directory, log, pages)) {
        assertArrayEquals(most, restarted.read(restarted.table("t"), key(1)));
        assertArrayEquals(more, restarted.read(restarted.table("t"), key(2)));
        restarted.checkAllClean();
      }
    }
  }

  @Test
  void a_value_whose_superseder_has_aborted_moves_when_that_was_taken_back_and_no_page_is_lost() {
    try (TestEngine engine = new TestEngine(directory, 128)) {
      Tree tree = engine.table("t");
      for (int i = 0; i < 300; i++) {
        put(engine, tree, i, value(2_000));
      }
      byte[] last = value(2_000);
      put(engine, tree, 500, last);
      int[] front = new int[300];
      Arrays.setAll(front, i -> i);
      delete(engine, tree, front);
      engine.checkAllClean();
      ValueReference before = reference(engine, tree, 500);
      TestEngine.Tx aborted = engine.begin();
      aborted.delete(tree, key(500));
      aborted.abort();
      CleanerSteps.visit(engine.cleaner, tree.root());
      compact(engine, tree);
      assertEquals(before, reference(engine, tree, 500));
      assertEquals(0, engine.storage.allocator().claims().pages().size());
      engine.checkAllClean();
      compact(engine, tree);
      assertNotEquals(before, reference(engine, tree, 500));
      assertArrayEquals(last, engine.read(tree, key(500)));
      engine.checkAllClean();
    }
  }

  /** Whatever the length in a row says, and wherever it leads. */
  @Test
  void a_row_with_a_wrong_reference_neither_moves_nor_stops_the_cleaner() {
    for (ValueReference wrong :
        List.of(
            new ValueReference(0, 1, 2_000),
            new ValueReference(-1, 1, 1L << 40),
            new ValueReference(-1, 1, 1_999),
            new ValueReference(-1, 200, 2_000))) { // -1: the page where its value is, at the end
      try (TestEngine engine = new TestEngine(directory, 128)) {
        Tree tree = engine.table("t");
        int[] front = new int[200];
        for (int i = 0; i < front.length; i++) {
          put(engine, tree, 10 + i, value(2_000));
          front[i] = 10 + i;
        }
        put(engine, tree, 1, value(2_000));
        put(engine, tree, 2, value(2_000));
        delete(engine, tree, front);
        engine.checkAllClean();
        int home = reference(engine, tree, 2).page();
        int leaf = engine.pool.fixExclusive(tree.root());
        MemorySegment page = engine.pool.page(leaf);
        int cell = Slotted.cell(page, SlottedSearch.search(page, key(2)));
        int at = LeafCell.valueOffset(page, cell);
        int led = wrong.page() < 0 ? home : wrong.page();
        byte[] bytes = new ValueReference(led, wrong.slot(), wrong.length()).bytes();
        for (int i = 0; i < bytes.length; i++) {
          Page.putByte(page, at + i, bytes[i]);
        }
        engine.pool.unfixExclusive(leaf);
        TestEngine.Tx tx = engine.begin();
        if (wrong.length() == 2_000) {
          assertThrows(FileException.class, () -> tx.delete(tree, key(2)), "" + wrong);
        }
        assertFalse(Checker.alone(engine.storage).problems().isEmpty());
        compact(engine, tree);
        assertNotEquals(home, reference(engine, tree, 1).page(), "the other one has moved");
        assertNull(engine.journal.failure());
        ValueReference now = reference(engine, tree, 2);
        assertEquals(new ValueReference(led, wrong.slot(), wrong.length()), now);
        assertEquals(0, engine.storage.allocator().claims().pages().size());
      }
    }
  }

  @Test
  void a_row_that_leads_to_no_value_is_damage_and_nothing_is_written() {
    try (TestEngine engine = new TestEngine(directory, 128)) {
      Tree tree = engine.table("t");
      put(engine, tree, 1, value(2_000));
      put(engine, tree, 2, value(2_000));
      engine.checkAllClean();
      ValueReference reference = reference(engine, tree, 1);
      int frame = engine.pool.fixExclusive(reference.page());
      Page.putShort(engine.pool.page(frame), 32 + 16, 0); // slot 0 has no value
      engine.pool.unfixExclusive(frame);
      int before = engine.journal.entries().size();
      TestEngine.Tx tx = engine.begin();
      FileException told = assertThrows(FileException.class, () -> tx.get(tree, key(1)));
      assertTrue(told.getMessage().contains("slot 0 of page " + reference.page()));
      FileException damage = assertThrows(FileException.class, () -> tx.delete(tree, key(1)));
      assertTrue(damage.getMessage().contains("slot 0 of page"), damage.getMessage());
      assertEquals(before, engine.journal.entries().size());
      List<String> problems = Checker.alone(engine.storage).problems();
      assertTrue(problems.stream().anyMatch(p -> p.contains("slot 0 of page")), "" + problems);
    }
  }

  @Test
  void a_check_reports_a_leaked_value_and_a_wrong_fullness() {
    try (TestEngine engine = new TestEngine(directory, 128)) {
      Tree tree = engine.table("t");
      put(engine, tree, 1, value(2_000));
      put(engine, tree, 2, value(2_000));
      engine.checkAllClean();
      int page = reference(engine, tree, 1).page();
      int map = engine.pool.fixExclusive(SpaceMapPage.mapOf(page));
      int offset = SpaceMapPage.offset(page);
      int bits = Page.getByte(engine.pool.page(map), offset);
      Page.putByte(engine.pool.page(map), offset, bits ^ 1);
      engine.pool.unfixExclusive(map);
      assertEquals(1, Checker.alone(engine.storage).problems().size());
      map = engine.pool.fixExclusive(SpaceMapPage.mapOf(page));
      Page.putByte(engine.pool.page(map), offset, bits);
      engine.pool.unfixExclusive(map);
      engine.check();
      int leaf = engine.pool.fixExclusive(tree.root());
      Page.putShort(engine.pool.page(leaf), 18, 1); // the leaf forgets its second row
      engine.pool.unfixExclusive(leaf);
      List<String> problems = Checker.alone(engine.storage).problems();
      assertEquals(2, problems.size(), "" + problems);
      assertTrue(problems.getFirst().contains("in memory, page " + tree.root()), "" + problems);
      assertTrue(problems.getLast().contains("leaked"), "" + problems);
    }
  }

  /** Random transactions beside the cleaner; the log may end behind each record. */
  @Test
  void random_lives_keep_what_was_committed_wherever_the_log_ends() {
    System.out.println("SharedValueStepsTest -Drevenant.seed=" + seed);
    try (TestEngine engine = new TestEngine(directory, 128)) {
      CommittedStates states = new CommittedStates();
      NavigableMap<Integer, byte[]> model = new TreeMap<>();
      Tree tree = engine.table("t");
      for (int i = 0; i < 150; i++) {
        TestEngine.Tx tx = engine.begin();
        NavigableMap<Integer, byte[]> now = new TreeMap<>(model);
        for (int n = 1 + random.nextInt(8); n > 0; n--) {
          int key = random.nextInt(60);
          if (random.nextInt(4) == 0) {
            tx.delete(tree, key(key));
            now.remove(key);
          } else {
            byte[] value = value(random.nextInt(8) == 0 ? 9_000 : 1 + random.nextInt(6_000));
            tx.put(tree, key(key), value);
            now.put(key, value);
          }
        }
        if (random.nextInt(4) == 0) {
          tx.abort();
        } else {
          states.add(tx.commitDurably(), now);
          model = now;
        }
        if (random.nextInt(5) == 0) {
          engine.pass();
        }
        if (random.nextInt(40) == 0) {
          CleanerSteps.compact(engine.cleaner, List.of(engine.catalog.tree(), tree));
        }
      }
      engine.check();
      states.assertKeptWhereverTheLogEnds(engine, directory, 60, random);
      engine.checkAllClean();
    }
  }
}
