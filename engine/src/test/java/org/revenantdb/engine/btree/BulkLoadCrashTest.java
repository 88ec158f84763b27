package org.revenantdb.engine.btree;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.CheckReport;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.page.SlottedSearch;
import org.revenantdb.engine.testing.MemoryJournal;
import org.revenantdb.engine.testing.Replay;
import org.revenantdb.engine.testing.Samples;
import org.revenantdb.engine.testing.TestEngine;
import org.revenantdb.engine.version.RowLoader;
import org.revenantdb.engine.version.RowWriter;
import org.revenantdb.recovery.log.RecordType;

/**
 * A bulk load, cut off behind each of its records, beside a cleaner that moves only when it is told
 * to (protocols.md §17): all rows or none, no page leaked, whatever the age of the pages.
 */
class BulkLoadCrashTest {
  private static final long SEED = Long.getLong("revenant.seed", 20_261_122);

  /** So short, and all in their leaves: no record but those of the leaves names the load. */
  private static final int WITHOUT_LARGE = 99;

  @TempDir Path directory;

  private static byte[] key(int number) {
    return "key%06d".formatted(number).getBytes(StandardCharsets.US_ASCII);
  }

  /** Of many lengths; some go to overflow pages. */
  private static byte[] value(int number, int kind) {
    return Samples.random(
        number, kind > WITHOUT_LARGE && number % 97 == 5 ? 1500 + 90 * number : 20 + number % kind);
  }

  private static RowWriter.Outcome load(RowLoader loader, int from, int to, int kind) {
    for (int i = from; i < to; i++) {
      assertTrue(loader.isAscending(key(i)));
      RowWriter.Outcome outcome = loader.add(key(i), value(i, kind));
      if (outcome != RowWriter.Outcome.DONE) {
        return outcome;
      }
    }
    return loader.finish();
  }

  private static void assertRows(TestEngine engine, Tree tree, Map<Integer, byte[]> rows, int to) {
    for (int i = 0; i < to; i++) {
      byte[] found = engine.read(tree, key(i));
      byte @Nullable [] expected = rows.get(i);
      if (expected == null) {
        assertNull(found, "row " + i);
      } else {
        assertArrayEquals(expected, found, "row " + i);
      }
    }
  }

  /** A table with some rows, others deleted, and a load behind them. */
  private static void tableAndLoad(TestEngine engine, Map<Integer, byte[]> before, int kind) {
    Tree tree = engine.table("t");
    TestEngine.Tx tx = engine.begin();
    for (int i = 0; i < 120; i++) {
      tx.put(tree, key(i), value(i, kind));
      before.put(i, value(i, kind));
    }
    tx.commitDurably();
    tx = engine.begin();
    for (int i = 90; i < 110; i++) {
      tx.delete(tree, key(i));
      before.remove(i);
    }
    tx.commitDurably();
  }

  @Test
  void a_crash_behind_each_record_leaves_all_rows_or_none_and_leaks_no_page() {
    crashBehindEachRecord(400, 24);
  }

  @Test
  void a_crash_of_a_load_without_large_values_leaves_all_rows_or_none() {
    crashBehindEachRecord(WITHOUT_LARGE, 8);
  }

  private void crashBehindEachRecord(int kind, int appended) {
    System.out.println("BulkLoadCrashTest -Drevenant.seed=" + SEED);
    Random random = new Random(SEED);
    TreeMap<Integer, byte[]> before = new TreeMap<>();
    try (TestEngine engine = new TestEngine(directory, 2048)) {
      tableAndLoad(engine, before, kind);
      Tree tree = engine.table("t");
      int from = engine.journal.entries().size();
      TestEngine.Tx tx = engine.begin();
      RowLoader loader = tx.loader(tree);
      assertEquals(RowWriter.Outcome.DONE, load(loader, 200, 1200, kind));
      assertTrue(loader.pages() > appended, "appended: " + loader.pages());
      long committed = tx.commitDurably();
      TreeMap<Integer, byte[]> after = new TreeMap<>(before);
      for (int i = 200; i < 1200; i++) {
        after.put(i, value(i, kind));
      }
      assertRows(engine, tree, after, 1210);
      engine.clean();
      engine.check();

      List<MemoryJournal.Entry> entries = engine.journal.entries();
      for (int end = from; end <= entries.size(); end++) {
        List<MemoryJournal.Entry> kept = entries.subList(0, end);
        int redoFrom = random.nextInt(end + 1);
        Map<Integer, byte[]> pages =
            Replay.randomlyFlushed(Replay.newDatabase(), kept, redoFrom, random);
        Replay.redo(pages, kept.subList(redoFrom, end));
        try (TestEngine restarted = TestEngine.restart(directory, kept, pages)) {
          boolean all = kept.getLast().lsn() >= committed;
          Tree again = restarted.table("t");
          if (end % 7 == 0) {
            assertRows(restarted, again, all ? after : before, 1210);
          }
          restarted.check();
          CheckReport clean = restarted.checkAllClean();
          assertEquals(all ? after.size() : before.size(), clean.rows() - 1); // the catalogue's
          assertRows(restarted, again, all ? after : before, 1210);
        } catch (Throwable failure) {
          throw new AssertionError("the log ends behind record " + end + ": " + failure, failure);
        }
      }
    }
  }

  /** What a load of so many rows with values of 300 bytes leaves. */
  private static TreeMap<Integer, byte[]> rows(int count) {
    TreeMap<Integer, byte[]> rows = new TreeMap<>();
    for (int i = 0; i < count; i++) {
      rows.put(i, value(i, 300));
    }
    return rows;
  }

  /** What a killed load leaves is in the way of its repetition, which must not be refused. */
  @Test
  void a_load_is_repeated_over_what_an_aborted_one_has_left() {
    try (TestEngine engine = new TestEngine(directory, 2048)) {
      Tree tree = engine.table("t");
      TestEngine.Tx tx = engine.begin();
      load(tx.loader(tree), 0, 600, 300);
      tx.abort();
      tx = engine.begin();
      RowLoader again = tx.loader(tree);
      assertEquals(RowWriter.Outcome.DONE, load(again, 0, 700, 300));
      tx.commitDurably();
      TreeMap<Integer, byte[]> rows = rows(700);
      assertRows(engine, tree, rows, 710);
      engine.checkAllClean();
      assertRows(engine, tree, rows, 710);
    }
  }

  /** The cleaner leaves a table that was emptied with some structure; a load fits in. */
  @Test
  void a_load_goes_into_a_table_that_was_emptied() {
    for (boolean clean : new boolean[] {true, false}) {
      try (TestEngine engine = new TestEngine(directory, 2048)) {
        Tree tree = engine.table("t");
        TestEngine.Tx tx = engine.begin();
        load(tx.loader(tree), 0, 500, 300);
        tx.commitDurably();
        tx = engine.begin();
        for (int i = 0; i < 500; i++) {
          tx.delete(tree, key(i));
        }
        tx.commitDurably();
        if (clean) {
          engine.checkAllClean();
        }
        tx = engine.begin();
        RowLoader loader = tx.loader(tree);
        assertEquals(RowWriter.Outcome.DONE, load(loader, 0, 800, 300));
        if (clean) {
          assertTrue(loader.pages() > 10, "appended: " + loader.pages());
        }
        tx.commitDurably();
        TreeMap<Integer, byte[]> rows = rows(800);
        assertRows(engine, tree, rows, 810);
        engine.checkAllClean();
      }
    }
  }

  /**
   * The last leaf is empty and cannot be merged with a full neighbour; what is loaded begins below
   * it, in that neighbour.
   */
  @Test
  void a_load_begins_below_an_empty_last_leaf() {
    boolean met = false;
    for (int deleted = 10; deleted < 60; deleted += 7) {
      try (TestEngine engine = new TestEngine(directory, 2048)) {
        Tree tree = engine.table("t");
        TestEngine.Tx tx = engine.begin();
        load(tx.loader(tree), 0, 500, 300);
        tx.commitDurably();
        tx = engine.begin();
        for (int i = 500 - deleted; i < 500; i++) {
          tx.delete(tree, key(i));
        }
        tx.commitDurably();
        engine.checkAllClean();
        int last = tree.leafBelow(null);
        MemorySegment page = engine.pool.page(last);
        met |= Slotted.count(page) == 0 && !SlottedSearch.covers(page, key(500 - deleted));
        engine.pool.unfixShared(last);
        tx = engine.begin();
        assertEquals(RowWriter.Outcome.DONE, load(tx.loader(tree), 500 - deleted, 800, 300));
        tx.commitDurably();
        TreeMap<Integer, byte[]> rows = rows(800);
        assertRows(engine, tree, rows, 810);
        engine.checkAllClean();
      }
    }
    assertTrue(met, "the case was not met");
  }

  /** The highest writer that ever was on a page, removed rows included, stays when it is reused. */
  @Test
  void R10_a_leaf_that_is_formatted_in_place_keeps_its_highest_writer() {
    try (TestEngine engine = new TestEngine(directory, 2048)) {
      Tree tree = engine.table("t");
      TestEngine.Tx tx = engine.begin();
      RowLoader loader = tx.loader(tree);
      TestEngine.Tx later = engine.begin();
      later.put(tree, key(7), new byte[10]);
      assertTrue(later.id > tx.id);
      later.abort();
      engine.clean();
      assertEquals(RowWriter.Outcome.DONE, load(loader, 0, 400, WITHOUT_LARGE));
      tx.commitDurably();
      int first = tree.leafBelow(key(1));
      assertTrue(Slotted.maxWriter(engine.pool.page(first)) >= later.id);
      engine.pool.unfixShared(first);
      engine.checkAllClean();
    }
  }

  @Test
  void R2_the_cleaner_forgets_an_aborted_load_only_when_nothing_of_it_is_left() {
    try (TestEngine engine = new TestEngine(directory, 2048)) {
      Tree tree = engine.table("t");
      TestEngine.Tx tx = engine.begin();
      RowLoader loader = tx.loader(tree);
      for (int i = 0; i < 400; i++) {
        loader.add(key(i), value(i, 300));
        if (i % 100 == 50) {
          engine.pass(); // with the writer active
        }
      }
      loader.finish();
      assertTrue(loader.pages() > 8);
      tx.abort();
      engine.checkAllClean();
      assertRows(engine, tree, Map.of(), 410);
      assertEquals(1, engine.check().rows(), "the table's row in the catalogue");
      assertEquals(0, engine.check().overflowPages());
    }
  }

  /** No memory, or no room, where a record would be published. */
  @Test
  void R18_a_record_that_cannot_be_published_leaves_neither_claims_nor_latches() {
    try (TestEngine engine = new TestEngine(directory, 2048)) {
      Tree tree = engine.table("t");
      for (int fail = 0; fail < 4; fail++) {
        int[] left = {fail};
        TestEngine.Tx tx = engine.begin();
        RowLoader loader = tx.loader(tree);
        engine.journal.gate =
            record -> {
              if (record.array()[36] == RecordType.PAGES.code() && left[0]-- == 0) {
                throw new OutOfMemoryError("says the test");
              }
            };
        assertThrows(OutOfMemoryError.class, () -> load(loader, 0, 400, 200));
        engine.journal.gate = record -> {};
        tx.abort();
        engine.checkAllClean();
        assertRows(engine, tree, Map.of(), 20);
      }
      TestEngine.Tx tx = engine.begin();
      assertEquals(RowWriter.Outcome.DONE, load(tx.loader(tree), 0, 400, 200));
      tx.commitDurably();
      CheckReport report = engine.checkAllClean();
      assertEquals(401, report.rows());
      List<Integer> claimed = new ArrayList<>();
      for (int i = 0; i < report.freePages(); i++) {
        claimed.add(engine.storage.allocator().claim());
      }
      claimed.forEach(engine.storage.allocator()::release);
      assertEquals(2048, engine.storage.allocator().pages(), "a claim was not given back");
    }
  }
}
