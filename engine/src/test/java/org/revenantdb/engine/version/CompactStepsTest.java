package org.revenantdb.engine.version;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.CheckReport;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.overflow.OverflowInput;
import org.revenantdb.engine.space.Allocator;
import org.revenantdb.engine.space.Unit;
import org.revenantdb.engine.testing.MemoryJournal;
import org.revenantdb.engine.testing.Replay;
import org.revenantdb.engine.testing.TestEngine;

/**
 * Pages that move, step by step (docs/protocols.md §18): the log may end after each record, readers
 * come back to pages that have moved, and what is moved is not decided yet.
 *
 * <p>{@code -Drevenant.seed=n} repeats a run.
 */
class CompactStepsTest {
  @TempDir Path directory;

  private final long seed =
      Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));
  private final Random random = new Random(seed);
  private final NavigableMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);

  private static byte[] key(int i) {
    return ByteBuffer.allocate(4).putInt(i).array();
  }

  private byte[] value(int length) {
    byte[] value = new byte[length];
    random.nextBytes(value);
    return value;
  }

  /** Rows and large values, one with index pages, rows behind it; what is in front is deleted. */
  private Tree fill(TestEngine engine) {
    return fill(engine, tree -> {});
  }

  private Tree fill(TestEngine engine, Consumer<Tree> beforePagesAreFree) {
    System.out.println("CompactStepsTest -Drevenant.seed=" + seed);
    Tree tree = engine.table("t");
    TestEngine.Tx tx = engine.begin();
    rows(tx, tree, 0, 900);
    byte[] streamed = value(17 << 20); // more than an index page names
    tx.putStream(tree, key(2000), streamed);
    model.headMap(key(900)).clear();
    model.put(key(2000), streamed);
    rows(tx, tree, 900, 1200);
    tx.commitDurably();
    tx = engine.begin();
    for (int i = 0; i < 900; i++) {
      tx.delete(tree, key(i));
    }
    tx.commitDurably();
    beforePagesAreFree.accept(tree);
    engine.clean();
    engine.check();
    return tree;
  }

  private void rows(TestEngine.Tx tx, Tree tree, int from, int to) {
    for (int i = from; i < to; i++) {
      int length = i % 60 == 0 ? 9_000 + random.nextInt(60_000) : 300;
      byte[] value = value(i % 20 == 5 ? 1_500 + random.nextInt(6_000) : length);
      tx.put(tree, key(i), value);
      model.put(key(i), value);
    }
  }

  private static long compact(TestEngine engine) {
    return CleanerSteps.compact(engine.cleaner, List.of(engine.catalog.tree(), engine.table("t")));
  }

  private void assertRows(TestEngine engine, Tree tree) {
    for (Map.Entry<byte[], byte[]> row : model.entrySet()) {
      assertArrayEquals(row.getValue(), engine.read(tree, row.getKey()));
    }
  }

  private static int end(TestEngine engine) {
    return Replay.allocated(engine.memory()).last();
  }

  @Test
  void the_log_may_end_after_each_record_of_a_move() {
    try (TestEngine engine = new TestEngine(directory, 128)) {
      Tree tree = fill(engine);
      int before = end(engine);
      int from = engine.journal.entries().size();
      long moved = compact(engine);
      assertTrue(moved > 30, "only " + moved + " pages were moved");
      // Values of unlike lengths may have found too few pages with room in front.
      for (int again = 0; again < 4 && compact(engine) > 0; again++) {
        engine.check();
      }
      CheckReport report = engine.check();
      assertRows(engine, tree);
      int after = end(engine);
      List<Unit> units = List.of(engine.catalog.tree().unit(), tree.unit());
      int goal = engine.storage.allocator().occupancy().compactSize(units);
      assertTrue(after < goal && after >= goal - 8, after + " after " + before + ": " + goal);
      assertEquals(0, report.pagesToClean());
      assertEquals(0, compact(engine), "there was nothing more to move");
      List<MemoryJournal.Entry> entries = engine.journal.entries();
      Map<Integer, byte[]> redone = Replay.newDatabase();
      Replay.redo(redone, entries);
      TestEngine.assertSamePages(engine.memory(), redone);
      for (int end = from; end <= entries.size(); end += 1 + random.nextInt(60)) {
        List<MemoryJournal.Entry> kept = entries.subList(0, end);
        Map<Integer, byte[]> pages = Replay.newDatabase();
        Replay.redo(pages, kept);
        try (TestEngine restarted = TestEngine.restart(directory, kept, pages)) {
          Tree table = restarted.table("t");
          restarted.check();
          assertRows(restarted, table);
          compact(restarted);
          restarted.checkAllClean();
          assertRows(restarted, table);
        }
      }
    }
  }

  @Test
  void R15_a_stream_goes_on_over_pages_that_have_moved_and_they_are_claimed_until_it_ends() {
    try (TestEngine engine = new TestEngine(directory, 128)) {
      Tree tree = fill(engine);
      TestEngine.Tx reader = engine.begin();
      StoredValue large = engine.engine.reader().read(tree, key(2000), reader.reading);
      byte[] found = new byte[(int) large.length()];
      OverflowInput input = new OverflowInput(engine.pool, Supplier::get, large.reference());
      input.read(found, 0, 20_000);
      assertTrue(compact(engine) > 30);
      // The pages that are free on disk are nobody's.
      TestEngine.Tx writer = engine.begin();
      for (int i = 3000; i < 3400; i++) {
        byte[] value = value(3000);
        writer.put(tree, key(i), value);
        model.put(key(i), value);
      }
      writer.commitDurably();
      input.read(found, 20_000, found.length - 20_000);
      assertArrayEquals(model.get(key(2000)), found);
      assertArrayEquals(model.get(key(2000)), reader.bytes(large), "from its old head");
      int claimed = engine.used();
      reader.abort();
      engine.clean();
      assertTrue(engine.used() < claimed - 20);
      assertRows(engine, tree);
      engine.checkAllClean();
    }
  }

  @Test
  void what_is_not_decided_stays_and_is_moved_when_it_is() {
    try (TestEngine engine = new TestEngine(directory, 128)) {
      List<TestEngine.Tx> undecided = new ArrayList<>();
      Tree tree =
          fill(
              engine,
              table -> {
                for (int i : new int[] {2000, 5000}) {
                  TestEngine.Tx writer = engine.begin();
                  assertEquals(RowWriter.Outcome.DONE, writer.put(table, key(i), value(50_000)));
                  undecided.add(writer);
                }
              });
      byte[] replaced = model.get(key(2000));
      assertTrue(compact(engine) > 0);
      engine.check();
      assertArrayEquals(replaced, engine.read(tree, key(2000)));
      undecided.forEach(TestEngine.Tx::abort);
      engine.checkAllClean();
      assertRows(engine, tree);
      int before = end(engine);
      assertTrue(compact(engine) > 0);
      assertTrue(end(engine) < before);
      engine.checkAllClean();
      assertRows(engine, tree);
    }
  }

  @Test
  void R2_rows_of_an_aborted_transaction_move_with_their_page_and_are_still_taken_back() {
    try (TestEngine engine = new TestEngine(directory, 128)) {
      Tree tree = fill(engine);
      TestEngine.Tx writer = engine.begin();
      for (int i = 900; i < 1200; i += 3) {
        writer.put(tree, key(i), value(100));
      }
      writer.abort();
      TreeSet<Integer> before = Replay.allocated(engine.memory());
      assertTrue(compact(engine) > 0);
      engine.check(); // the space maps tell a restart of the rows
      assertFalse(before.equals(Replay.allocated(engine.memory())));
      engine.checkAllClean();
      assertRows(engine, tree);
    }
  }

  /** Between fence and cut, where the checkpoint is. */
  @Test
  void a_file_that_has_grown_again_or_has_a_changed_page_behind_the_end_is_not_cut() {
    try (TestEngine engine = new TestEngine(directory, 9000)) {
      Allocator allocator = engine.storage.allocator();
      int end = allocator.fence();
      assertTrue(end < 10, "the end is " + end);
      int page;
      do {
        page = allocator.claim();
      } while (page < end);
      engine.journal.force();
      engine.pool.flushDirtyBefore(Long.MAX_VALUE); // the map that growing has formatted
      assertFalse(allocator.cut(end), "page " + page + " is claimed");
      int size = engine.pool.sizeInPages();
      assertTrue(size >= 9000, "it has " + size);
      int frame = engine.pool.fixNew(page);
      engine.pool.markDirty(frame, engine.journal.tail() + 1);
      engine.pool.unfixExclusive(frame);
      for (int i = end - 1; i <= page; i++) {
        if (i > 4) {
          allocator.release(i);
        }
      }
      end = allocator.fence();
      assertTrue(end <= page);
      assertFalse(allocator.cut(end), "page " + page + " would be written behind the end");
      engine.pool.discard(engine.pool.fixExclusive(page));
      assertTrue(allocator.cut(end));
      assertEquals(end, engine.pool.sizeInPages());
      TreeSet<Integer> claimed = new TreeSet<>();
      while (claimed.size() < 8500) {
        assertTrue(claimed.add(allocator.claim()));
      }
      assertFalse(claimed.contains(8128 + 3), "the map of the second group");
      claimed.forEach(allocator::release);
      engine.check();
    }
  }
}
