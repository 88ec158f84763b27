package org.revenantdb.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.btree.Descent;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.catalog.Catalog;
import org.revenantdb.engine.catalog.TableState;
import org.revenantdb.engine.change.MiniTransaction;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.PageOps;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.testing.MemoryJournal;
import org.revenantdb.engine.testing.Replay;
import org.revenantdb.engine.testing.TestEngine;
import org.revenantdb.engine.txn.TransactionTable;
import org.revenantdb.engine.version.RowBatch;
import org.revenantdb.engine.version.RowScan;
import org.revenantdb.engine.version.RowWriter;
import org.revenantdb.recovery.log.LogStoppedException;
import org.revenantdb.recovery.log.PartKind;
import org.revenantdb.recovery.testing.Await;

/** The schedules of the rules, played step by step. */
class RulesTest {
  @TempDir Path directory;

  private TestEngine engine;
  private Tree tree;

  @BeforeEach
  void open() {
    engine = new TestEngine(directory, 512);
    tree = engine.table("t");
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private static byte[] key(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] key(int number) {
    return key("key%06d".formatted(number));
  }

  private static byte[] value(int length, int seed) {
    byte[] value = new byte[length];
    new Random(seed).nextBytes(value);
    return value;
  }

  private long put(byte[] key, byte[] value) {
    TestEngine.Tx tx = engine.begin();
    assertEquals(RowWriter.Outcome.DONE, tx.put(tree, key, value));
    return tx.commitDurably();
  }

  private long delete(byte[] key) {
    TestEngine.Tx tx = engine.begin();
    assertEquals(RowWriter.Outcome.DONE, tx.delete(tree, key));
    return tx.commitDurably();
  }

  private int leafOf(byte[] key) {
    int frame = tree.leafShared(key, new Descent());
    try {
      return engine.pool.pageIdOf(frame);
    } finally {
      engine.pool.unfixShared(frame);
    }
  }

  /** Runs something once, after the cleaner's first visit of a page. */
  private void afterVisit(int page, Runnable action) {
    boolean[] done = {false};
    engine.around =
        step -> {
          boolean before = versionBit(page);
          long changes = step.getAsLong();
          if (!done[0] && before && !versionBit(page)) {
            done[0] = true;
            action.run();
          }
          return changes;
        };
  }

  private boolean versionBit(int page) {
    int frame = engine.pool.fixShared(page);
    try {
      return Page.hasVersions(engine.pool.page(frame));
    } finally {
      engine.pool.unfixShared(frame);
    }
  }

  /** Waits until no thread can latch a page exclusively, because a reader has it. */
  private void awaitLatched(int page) {
    for (int frame; (frame = engine.pool.tryFixExclusive(page)) >= 0; ) {
      engine.pool.unfixExclusive(frame);
      Thread.yield();
    }
  }

  // ---- R1

  private void writerIsLookedUpUnderTheLatch(Supplier<byte @Nullable []> read) {
    put(key("a"), key("before"));
    TestEngine.Tx writer = engine.begin();
    writer.put(tree, key("a"), key("undecided"));
    TransactionTable table = engine.storage.transactions();
    table.committing(writer.id);
    CompletableFuture<byte @Nullable []> reader = CompletableFuture.supplyAsync(read);
    // It waits for the outcome, and holds the page meanwhile: nobody can revert the row and forget
    // its writer.
    awaitLatched(leafOf(key("a")));
    assertFalse(reader.isDone());
    table.aborted().add(writer.id);
    table.aborted(writer.id);
    assertArrayEquals(key("before"), reader.join());
  }

  @Test
  void R1_a_read_looks_its_writer_up_while_the_page_is_latched() {
    writerIsLookedUpUnderTheLatch(() -> engine.begin().get(tree, key("a")));
  }

  @Test
  void R1_a_scan_looks_its_writers_up_while_the_page_is_latched() {
    writerIsLookedUpUnderTheLatch(() -> {
      TestEngine.Tx tx = engine.begin();
      RowScan scan =
          new RowScan(
              engine.storage,
              engine.engine.reader(),
              tree,
              tx.reading,
              /* descending= */ false,
              null,
              null);
      RowBatch rows = new RowBatch();
      scan.fill(rows);
      return rows.value(0).bytes();
    });
  }

  @Test
  void R1_a_transaction_is_not_forgotten_while_a_reader_holds_its_row() {
    put(key("a"), key("before"));
    TestEngine.Tx writer = engine.begin();
    writer.put(tree, key("a"), key("aborted"));
    writer.abort();
    int frame = tree.leafShared(key("a"), new Descent());
    Thread cleaner = Thread.ofPlatform().start(engine::clean);
    while (cleaner.getState() != Thread.State.WAITING
        && cleaner.getState() != Thread.State.TIMED_WAITING) {
      assertTrue(cleaner.isAlive(), "the cleaner did not wait for the reader");
      Await.pause();
    }
    assertEquals(TransactionTable.ABORTED, engine.storage.transactions().status(writer.id));
    assertEquals(1, engine.storage.transactions().aborted().size());
    engine.pool.unfixShared(frame);
    joined(cleaner);
    assertEquals(0, engine.storage.transactions().aborted().size());
    assertArrayEquals(key("before"), engine.read(tree, key("a")));
  }

  private static void joined(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  // ---- R2

  @Test
  void R2_a_split_hands_the_rows_that_it_moves_to_the_running_pass() {
    // Pages below those of the tree, which the split will take: the pass has gone by them.
    int[] low = new int[8];
    for (int i = 0; i < low.length; i++) {
      low[i] = engine.storage.allocator().claim();
    }
    for (int i = 0; i < 40; i++) {
      put(key(i), value(600, i));
    }
    engine.clean();
    TestEngine.Tx aborted = engine.begin();
    int first = leafOf(key(0));
    int last = leafOf(key(20));
    assertTrue(first < last, first + " " + last);
    aborted.put(tree, key(0), key("aborted"));
    for (int i = 15; i < 25; i++) {
      aborted.put(tree, key(i), value(500, -i));
    }
    aborted.abort();
    afterVisit(
        first,
        () -> {
          for (int page : low) {
            engine.storage.allocator().release(page);
          }
          TestEngine.Tx splitter = engine.begin();
          for (int i = 0; i < 12; i++) {
            splitter.put(tree, key("key000020-" + i), value(600, i));
            splitter.put(tree, key("key000017-" + i), value(600, i));
          }
          splitter.commitDurably();
          boolean moved = false;
          for (int i = 15; i < 25; i++) {
            moved |= leafOf(key(i)) < first;
          }
          assertTrue(moved, "no row moved to a page behind the pass");
        });
    engine.pass();
    assertEquals(0, engine.storage.transactions().aborted().size());
    for (int i = 0; i < 40; i++) {
      assertArrayEquals(value(600, i), engine.read(tree, key(i)), "row " + i);
    }
    engine.around = step -> step.getAsLong();
    engine.checkAllClean();
  }

  @Test
  void R2_a_merge_hands_the_rows_that_it_moves_to_the_running_pass() {
    for (int i = 0; i < 40; i++) {
      put(key(i), value(600, i));
    }
    engine.clean();
    int left = leafOf(key(0));
    int kept = 0;
    while (leafOf(key(kept)) == left) {
      kept++;
    }
    int right = leafOf(key(kept));
    assertTrue(left < right, left + " " + right);
    // The right leaf gets small while its neighbours are full, so that it stays for now.
    TestEngine.Tx remover = engine.begin();
    for (int i = kept + 1; leafOf(key(i)) == right; i++) {
      remover.delete(tree, key(i));
    }
    remover.commitDurably();
    engine.clean();
    assertEquals(right, leafOf(key(kept)));
    // Then the left one. When the pass visits that, it takes the right one in, not yet visited.
    remover = engine.begin();
    for (int i = 1; i < kept; i++) {
      remover.delete(tree, key(i));
    }
    remover.commitDurably();
    byte[] key = key("key%06d-".formatted(kept));
    TestEngine.Tx aborted = engine.begin();
    aborted.put(tree, key, key("aborted"));
    aborted.abort();
    engine.pass();
    assertEquals(left, leafOf(key(kept)));
    assertEquals(0, engine.storage.transactions().aborted().size());
    assertNull(engine.read(tree, key));
    assertArrayEquals(value(600, kept), engine.read(tree, key(kept)));
    engine.checkAllClean();
  }

  // ---- R4

  @Test
  void R4_a_version_is_kept_for_a_snapshot_that_the_known_set_does_not_have() {
    put(key("a"), key("zero"));
    engine.storage.horizon().refresh();
    TestEngine.Tx reader = engine.begin();
    put(key("a"), key("one"));
    put(key("a"), key("two"));
    put(key("a"), key("three"));
    assertArrayEquals(key("zero"), reader.get(tree, key("a")));
    engine.pass();
    assertArrayEquals(key("zero"), reader.get(tree, key("a")));
    reader.abort();
    engine.checkAllClean();
  }

  @Test
  void R4_a_pass_drops_nothing_that_was_superseded_after_its_horizon() {
    for (int i = 0; i < 40; i++) {
      put(key(i), value(600, i));
    }
    engine.clean();
    int first = leafOf(key(0));
    int last = leafOf(key(20));
    assertTrue(first < last);
    put(key(0), key("new"));
    put(key(20), key("old"));
    TestEngine.Tx[] reader = new TestEngine.Tx[1];
    afterVisit(
        first,
        () -> {
          reader[0] = engine.begin();
          put(key(20), key("newer"));
          delete(key(21));
          engine.storage.horizon().refresh();
        });
    engine.pass();
    assertArrayEquals(key("old"), reader[0].get(tree, key(20)));
    assertArrayEquals(value(600, 21), reader[0].get(tree, key(21)));
    reader[0].abort();
    engine.checkAllClean();
  }

  @Test
  void an_insert_that_a_snapshot_does_not_see_shows_no_version_from_before_the_row_was_deleted() {
    // The row's old version waits in memory to be pruned, which is done at the end of the pass; the
    // row itself leaves the leaf earlier, and an insert takes its place.
    put(key("a"), key("zero"));
    TestEngine.Tx old = engine.begin();
    put(key("a"), key("one"));
    put(key("a"), key("two"));
    assertEquals(1, engine.storage.versions().rows());
    delete(key("a"));
    old.abort();
    byte[][] seen = {key("not read")};
    afterVisit(
        leafOf(key("a")),
        () -> {
          TestEngine.Tx inserter = engine.begin();
          inserter.put(tree, key("a"), key("three"));
          seen[0] = engine.read(tree, key("a"));
          inserter.abort();
        });
    engine.pass();
    assertNull(seen[0]);
    engine.around = step -> step.getAsLong();
    engine.checkAllClean();
  }

  // ---- crashes

  /** What the row may be, for each end of the log. */
  private interface Expected {
    void check(TestEngine restarted, Tree table, long endOfLog);
  }

  /**
   * Ends the log after each record from there on, restarts, looks, cleans, looks again and checks
   * that no page has leaked or has two owners.
   */
  private void crashAtEachRecord(int from, Expected expected) {
    List<MemoryJournal.Entry> entries = engine.journal.entries();
    for (int end = from; end <= entries.size(); end++) {
      List<MemoryJournal.Entry> kept = entries.subList(0, end);
      Map<Integer, byte[]> pages = Replay.newDatabase();
      Replay.redo(pages, kept);
      try (TestEngine restarted = TestEngine.restart(directory, kept, pages)) {
        Tree table = restarted.table("t");
        restarted.check();
        expected.check(restarted, table, kept.getLast().lsn());
        restarted.checkAllClean();
        expected.check(restarted, table, kept.getLast().lsn());
      } catch (AssertionError | RuntimeException failure) {
        throw new AssertionError(
            "the log ends after record " + end + " of " + entries.size() + ": " + failure, failure);
      }
    }
  }

  @Test
  void R9_what_a_commit_allows_does_not_outlive_it() {
    put(key("a"), key("zero"));
    put(key("b"), key("zero"));
    engine.clean();
    int from = engine.journal.entries().size();
    TestEngine.Tx tx = engine.begin();
    tx.put(tree, key("a"), key("one"));
    tx.delete(tree, key("b"));
    long commit = tx.commit();
    engine.pass();
    // Not durable: seen, but nothing may be dropped yet.
    TestEngine.Tx other = engine.begin();
    assertArrayEquals(key("one"), other.get(tree, key("a")));
    assertNull(other.get(tree, key("b")));
    other.abort();
    assertEquals(2, rowsIn(leafOf(key("a"))));
    engine.journal.force();
    engine.clean();
    assertEquals(1, rowsIn(leafOf(key("a"))));
    crashAtEachRecord(
        from,
        (restarted, table, end) -> {
          boolean committed = end >= commit;
          assertArrayEquals(committed ? key("one") : key("zero"), restarted.read(table, key("a")));
          assertArrayEquals(committed ? null : key("zero"), restarted.read(table, key("b")));
        });
    // All that the cleaner did is in the log.
    Map<Integer, byte[]> pages = Replay.newDatabase();
    Replay.redo(pages, engine.journal.entries());
    TestEngine.assertSamePages(engine.memory(), pages);
  }

  /** Its row has no writer to ask for, so the catalogue says how far the log has to be durable. */
  @Test
  void R10_a_table_is_not_announced_before_its_record_is_durable() {
    engine.journal.force();
    long lsn = engine.catalog.create("created later", TableOptions.defaults());
    assertNotNull(engine.catalog.find("created later"));
    assertTrue(lsn > engine.journal.durableLsn());
    assertEquals(lsn, engine.catalog.changedAt());
    assertEquals(0, engine.catalog.create("created later", TableOptions.defaults()), "it is there");
    assertEquals(lsn, engine.catalog.changedAt());
  }

  /**
   * A caller that comes while the record is being published receives its LSN as soon as that is
   * known.
   */
  @Test
  void R10_a_drop_is_not_announced_before_its_record_is_durable() throws Exception {
    Table table = engine.table("dropped later", TableOptions.defaults());
    engine.journal.force();
    long before = engine.journal.tail();
    List<CompletableFuture<Long>> told = new ArrayList<>();
    engine.journal.gate =
        record -> {
          engine.journal.gate = later -> {};
          assertNotNull(
              TableState.of(table).readableAt(before - 1), "a snapshot from before the record");
          assertNull(TableState.of(table).readableAt(before), "one that may be behind it");
          for (Supplier<Long> question :
              List.<Supplier<Long>>of(engine.catalog::changedAt, TableState.of(table)::droppedAt)) {
            CompletableFuture<Long> answer = new CompletableFuture<>();
            told.add(answer);
            Thread asks = Thread.ofPlatform().start(() -> answer.complete(question.get()));
            while (asks.getState() != Thread.State.WAITING && asks.isAlive()) {
              Await.pause();
            }
          }
        };
    assertEquals(Catalog.Dropped.DONE, engine.catalog.drop(table));
    long lsn = engine.journal.tail();
    assertTrue(lsn > engine.journal.durableLsn());
    for (CompletableFuture<Long> answer : told) {
      assertEquals(lsn, answer.get());
    }
    assertEquals(2, told.size());
    assertNull(engine.catalog.find("dropped later"));
    assertEquals(lsn, engine.catalog.changedAt());
    engine.pass();
    long pages = engine.check().treePages();
    engine.journal.force();
    engine.pass();
    assertEquals(pages - 1, engine.check().treePages(), "freed when it is durable, not before");
  }

  private int rowsIn(int leaf) {
    int frame = engine.pool.fixShared(leaf);
    try {
      return Slotted.count(engine.pool.page(frame));
    } finally {
      engine.pool.unfixShared(frame);
    }
  }

  private void largeValues(Runnable work, boolean stream) {
    byte[] one = value(90_000, 1);
    byte[] two = value(70_000, 2);
    TestEngine.Tx first = engine.begin();
    assertEquals(
        RowWriter.Outcome.DONE,
        stream ? first.putStream(tree, key("a"), one) : first.put(tree, key("a"), one));
    long inserted = first.commitDurably();
    TestEngine.Tx aborted = engine.begin();
    aborted.put(tree, key("a"), value(40_000, 3));
    aborted.put(tree, key("new"), value(40_000, 4));
    aborted.abort();
    work.run();
    TestEngine.Tx second = engine.begin();
    assertEquals(RowWriter.Outcome.DONE, second.put(tree, key("a"), value(20_000, 5)));
    assertEquals(RowWriter.Outcome.DONE, second.put(tree, key("a"), two));
    long replaced = second.commitDurably();
    work.run();
    long deleted = delete(key("a"));
    work.run();
    crashAtEachRecord(
        2,
        (restarted, table, end) -> {
          byte[] expected = end < inserted || end >= deleted ? null : end < replaced ? one : two;
          assertArrayEquals(expected, restarted.read(table, key("a")));
          assertNull(restarted.read(table, key("new")));
        });
    engine.checkAllClean();
    assertEquals(0, engine.check().overflowPages());
  }

  @Test
  void R15_no_page_of_a_large_value_leaks_or_has_two_owners_wherever_the_log_ends() {
    largeValues(() -> {}, /* stream= */ false);
  }

  @Test
  void R15_the_same_for_a_streamed_value_while_the_cleaner_works() {
    largeValues(engine::pass, /* stream= */ true);
  }

  @Test
  void R15_a_value_with_index_pages_is_freed_whole_wherever_the_log_ends() {
    engine.close();
    engine = new TestEngine(directory, 5000);
    tree = engine.table("t");
    byte[] value = value(2032 * 8128 + 100_000, 7);
    TestEngine.Tx tx = engine.begin();
    tx.putStream(tree, key("a"), value);
    tx.commitDurably();
    assertArrayEquals(value, engine.read(tree, key("a")));
    delete(key("a"));
    int from = engine.journal.entries().size();
    engine.clean();
    assertEquals(0, engine.check().overflowPages());
    // Redo is shown by array here: a restart for each of them would write gigabytes.
    List<MemoryJournal.Entry> entries = engine.journal.entries();
    assertTrue(entries.size() > from + 30, "freed by few records");
    Map<Integer, byte[]> pages = Replay.newDatabase();
    PageOps operations = new PageOps();
    int before = Integer.MAX_VALUE;
    for (int i = 0; i < entries.size(); i++) {
      Replay.forward(pages, entries.get(i), operations);
      if (i >= from) {
        int allocated = Replay.allocated(pages).size();
        assertTrue(allocated <= before);
        before = allocated;
      }
    }
    for (int end : new int[] {300, from + 1, from + 17, from + 31, entries.size() - 1}) {
      List<MemoryJournal.Entry> kept = entries.subList(0, Math.min(end, entries.size()));
      pages = Replay.newDatabase();
      Replay.redo(pages, kept);
      try (TestEngine restarted = TestEngine.restart(directory, kept, pages)) {
        restarted.check();
        assertEquals(0, restarted.checkAllClean().overflowPages());
      }
    }
  }

  // ---- R12, R13

  @Test
  void R12_a_freed_page_is_redone_from_its_last_format_whatever_its_place_holds() {
    put(key("a"), value(60_000, 1));
    int from = engine.journal.entries().size();
    TestEngine.Tx tx = engine.begin();
    tx.put(tree, key("b"), value(100, 1));
    tx.commitDurably();
    delete(key("a"));
    engine.clean();
    for (int i = 0; i < 100; i++) {
      put(key(i), value(700, i));
    }
    put(key("z"), value(60_000, 2));
    List<MemoryJournal.Entry> entries = engine.journal.entries();
    Map<Integer, byte[]> disk =
        Replay.randomlyFlushed(Replay.newDatabase(), entries.subList(0, from), from, new Random(1));
    int garbage = 0;
    for (MemoryJournal.Entry entry : entries.subList(from, entries.size())) {
      for (Replay.Part part : Replay.parts(entry)) {
        if (part.kind() == PartKind.FREE) {
          byte[] bytes = value(Page.SIZE, part.page());
          disk.put(part.page(), bytes);
          garbage++;
        }
      }
    }
    assertTrue(garbage > 5);
    Replay.redo(disk, entries.subList(from, entries.size()));
    TestEngine.assertSamePages(engine.memory(), disk);
  }

  @Test
  void R13_each_page_is_redone_alone_and_in_any_order() {
    Random random = new Random(13);
    for (int i = 0; i < 400; i++) {
      byte[] key = key(random.nextInt(i < 200 ? 90 : 60));
      TestEngine.Tx tx = engine.begin();
      if (random.nextInt(4) == 0) {
        tx.delete(tree, key);
      } else {
        tx.put(tree, key, value(random.nextInt(random.nextInt(10) == 0 ? 30_000 : 900), i));
      }
      if (random.nextInt(4) == 0) {
        tx.abort();
      } else {
        tx.commitDurably();
      }
      if (random.nextInt(10) == 0) {
        engine.pass();
      }
    }
    for (int i = 0; i < 90; i++) {
      TestEngine.Tx tx = engine.begin();
      tx.delete(tree, key(i)); // whether it is there or not
      tx.commitDurably();
      if (i % 10 == 0) {
        engine.pass();
      }
    }
    engine.pass();
    assertTrue(engine.storage.counters().splits.sum() > 2);
    assertTrue(engine.storage.counters().merges.sum() > 0);
    Map<Integer, List<Replay.Part>> byPage = new TreeMap<>();
    for (MemoryJournal.Entry entry : engine.journal.entries()) {
      for (Replay.Part part : Replay.parts(entry)) {
        byPage.computeIfAbsent(part.page(), p -> new ArrayList<>()).add(part);
      }
    }
    List<Integer> order = new ArrayList<>(byPage.keySet());
    Collections.shuffle(order, random);
    Map<Integer, byte[]> pages = Replay.newDatabase();
    PageOps operations = new PageOps();
    for (int page : order) {
      List<Replay.Part> parts = byPage.get(page);
      int last = 0;
      for (int i = 0; i < parts.size(); i++) {
        if (parts.get(i).kind() != PartKind.CHANGE) {
          last = i;
        }
      }
      for (Replay.Part part : parts.subList(last, parts.size())) {
        if (part.kind() != PartKind.FREE) {
          Replay.redo(pages, part, operations);
        }
      }
    }
    TestEngine.assertSamePages(engine.memory(), pages);
  }

  // ---- R18

  @Test
  void R18_what_fails_before_the_record_is_published_has_changed_nothing() {
    for (int i = 0; i < 20; i++) {
      put(key(i), value(700, i));
    }
    put(key("large"), value(50_000, 1));
    engine.clean();
    engine.pool.flushDirtyBefore(Long.MAX_VALUE);
    Runnable[] works = {
      () -> engine.begin().put(tree, key(5), value(800, 1)),
      () -> engine.begin().put(tree, key("key000005-"), value(800, 1)),
      () -> engine.begin().put(tree, key("key000005-"), value(50_000, 1)),
      () -> engine.begin().put(tree, key("large"), value(50_000, 1)),
      () -> engine.begin().delete(tree, key("large")),
    };
    for (int i = 0; i < works.length; i++) {
      Map<Integer, byte[]> before = engine.memory();
      long tail = engine.journal.tail();
      engine.journal.gate =
          record -> {
            throw new StackOverflowError("a test");
          };
      assertThrows(StackOverflowError.class, works[i]::run, "work " + i);
      engine.journal.gate = record -> {};
      assertEquals(tail, engine.journal.tail());
      TestEngine.assertSamePages(before, engine.memory());
      assertNull(engine.journal.failure());
      engine.check();
    }
    // Nothing is latched, nothing is claimed for ever.
    int free = 0;
    int used = Replay.allocated(engine.memory()).size();
    for (int page = 0; page < 512; page = engine.storage.allocator().claim()) {
      free++;
    }
    assertEquals(512 - 3 - used + 1, free);
  }

  @Test
  void R18_a_Throwable_after_the_record_is_published_stops_the_engine() {
    MiniTransaction mini = new MiniTransaction(engine.pool, engine.journal);
    int frame = engine.pool.fixExclusive(tree.root());
    mini.begin(0);
    mini.change(frame).putByte(99);
    mini.end();
    assertThrows(IllegalStateException.class, mini::commit);
    engine.pool.unfixExclusive(frame);
    assertNotNull(engine.journal.failure());
    TestEngine.Tx tx = engine.begin();
    assertThrows(LogStoppedException.class, () -> tx.put(tree, key("a"), key("b")));
  }

  // ---- protocols.md §7: first updater wins

  private void assertOutcomes(
      String what, Supplier<TestEngine.Tx> made, RowWriter.Outcome put, RowWriter.Outcome delete) {
    RowWriter.Outcome[] expected = {put, put, delete};
    for (int operation = 0; operation < 3; operation++) {
      close();
      open();
      TestEngine.Tx tx = made.get();
      byte[] seen = tx.get(tree, key("k"));
      RowWriter.Outcome outcome =
          operation == 2
              ? tx.delete(tree, key("k"))
              : tx.put(tree, key("k"), value(operation == 0 ? 10 : 30_000, 9));
      assertEquals(expected[operation], outcome, what + ", operation " + operation);
      byte[] after = tx.get(tree, key("k"));
      if (outcome != RowWriter.Outcome.DONE) {
        assertArrayEquals(seen, after, what);
      } else if (operation == 2) {
        assertNull(after, what);
      } else {
        assertArrayEquals(value(operation == 0 ? 10 : 30_000, 9), after, what);
      }
      tx.abort();
    }
  }

  private TestEngine.Tx writing(byte @Nullable [] value) {
    TestEngine.Tx tx = engine.begin();
    assertEquals(
        RowWriter.Outcome.DONE,
        value == null ? tx.delete(tree, key("k")) : tx.put(tree, key("k"), value));
    return tx;
  }

  @Test
  void the_first_updater_wins_in_every_state_of_the_row() {
    RowWriter.Outcome done = RowWriter.Outcome.DONE;
    RowWriter.Outcome nothing = RowWriter.Outcome.NOTHING;
    RowWriter.Outcome conflict = RowWriter.Outcome.CONFLICT;
    byte[] small = value(10, 1);
    byte[] large = value(25_000, 2);
    assertOutcomes("no row", () -> engine.begin(), done, nothing);
    for (byte[] v : new byte[][] {small, large}) {
      String size = v.length + " bytes";
      assertOutcomes(
          "committed before " + size,
          () -> {
            writing(v).commitDurably();
            return engine.begin();
          },
          done,
          done);
      assertOutcomes(
          "committed after " + size,
          () -> {
            TestEngine.Tx tx = engine.begin();
            writing(v).commitDurably();
            return tx;
          },
          conflict,
          conflict);
      assertOutcomes(
          "committed, not yet durable " + size,
          () -> {
            writing(v).commit();
            return engine.begin();
          },
          done,
          done);
      assertOutcomes(
          "committed after, not yet durable " + size,
          () -> {
            TestEngine.Tx tx = engine.begin();
            writing(v).commit();
            return tx;
          },
          conflict,
          conflict);
      assertOutcomes(
          "being inserted " + size,
          () -> {
            TestEngine.Tx tx = engine.begin();
            writing(v);
            return tx;
          },
          conflict,
          conflict);
      assertOutcomes(
          "being replaced " + size,
          () -> {
            writing(v).commitDurably();
            writing(small);
            return engine.begin();
          },
          conflict,
          conflict);
      assertOutcomes(
          "an aborted insert " + size,
          () -> {
            writing(v).abort();
            return engine.begin();
          },
          done,
          nothing);
      assertOutcomes(
          "two aborted inserts " + size,
          () -> {
            writing(v).abort();
            writing(v).abort();
            return engine.begin();
          },
          done,
          nothing);
      assertOutcomes(
          "aborted over committed before " + size,
          () -> {
            writing(v).commitDurably();
            writing(small).abort();
            writing(null).abort();
            writing(large).abort();
            return engine.begin();
          },
          done,
          done);
      assertOutcomes(
          "aborted over committed after " + size,
          () -> {
            TestEngine.Tx tx = engine.begin();
            writing(v).commitDurably();
            writing(small).abort();
            return tx;
          },
          conflict,
          conflict);
      assertOutcomes(
          "an aborted delete over committed after " + size,
          () -> {
            writing(small).commitDurably();
            TestEngine.Tx tx = engine.begin();
            writing(v).commitDurably();
            writing(null).abort();
            return tx;
          },
          conflict,
          conflict);
      assertOutcomes(
          "deleted before " + size,
          () -> {
            writing(v).commitDurably();
            writing(null).commitDurably();
            return engine.begin();
          },
          done,
          nothing);
      assertOutcomes(
          "deleted after " + size,
          () -> {
            writing(v).commitDurably();
            TestEngine.Tx tx = engine.begin();
            writing(null).commitDurably();
            return tx;
          },
          conflict,
          conflict);
      assertOutcomes(
          "aborted insert over deleted before " + size,
          () -> {
            writing(v).commitDurably();
            writing(null).commitDurably();
            writing(v).abort();
            return engine.begin();
          },
          done,
          nothing);
      assertOutcomes("my own " + size, () -> writing(v), done, done);
      assertOutcomes(
          "my own over committed " + size,
          () -> {
            writing(v).commitDurably();
            TestEngine.Tx tx = writing(small);
            tx.put(tree, key("k"), v);
            return tx;
          },
          done,
          done);
      assertOutcomes(
          "deleted by me " + size,
          () -> {
            writing(v).commitDurably();
            return writing(null);
          },
          done,
          nothing);
      assertOutcomes(
          "inserted and deleted by me " + size,
          () -> {
            TestEngine.Tx tx = writing(v);
            tx.delete(tree, key("k"));
            return tx;
          },
          done,
          nothing);
    }
  }

  @Test
  void own_updates_of_large_values_leave_one_value_and_one_predecessor() {
    put(key("k"), value(30_000, 1));
    TestEngine.Tx old = engine.begin();
    TestEngine.Tx tx = engine.begin();
    for (int i = 0; i < 5; i++) {
      tx.put(tree, key("k"), value(20_000 + i, i));
      engine.pass();
      assertArrayEquals(value(20_000 + i, i), tx.get(tree, key("k")));
      tx.delete(tree, key("k"));
      assertNull(tx.get(tree, key("k")));
      tx.put(tree, key("k"), value(10, i));
      assertArrayEquals(value(30_000, 1), old.get(tree, key("k")));
    }
    tx.put(tree, key("k"), value(40_000, 2));
    tx.commitDurably();
    engine.pass();
    assertArrayEquals(value(30_000, 1), old.get(tree, key("k")));
    assertArrayEquals(value(40_000, 2), engine.read(tree, key("k")));
    old.abort();
    CheckReport report = engine.checkAllClean();
    assertEquals(1 + (40_000 - 1) / 8128, report.overflowPages());
  }

  @Test
  void aborted_writers_one_after_the_other_keep_the_committed_predecessor() {
    put(key("k"), value(30_000, 1));
    for (int i = 0; i < 6; i++) {
      TestEngine.Tx tx = writing(i % 3 == 0 ? null : value(i % 3 == 1 ? 50 : 20_000, i));
      tx.abort();
      if (i % 2 == 0) {
        engine.pass();
      }
      assertArrayEquals(value(30_000, 1), engine.read(tree, key("k")));
    }
    engine.checkAllClean();
    assertArrayEquals(value(30_000, 1), engine.read(tree, key("k")));
  }

  @Test
  void a_table_that_is_emptied_from_left_to_right_gives_its_pages_back() {
    for (int i = 0; i < 400; i++) {
      put(key(i), value(700, i));
    }
    assertTrue(engine.checkAllClean().treePages() > 30);
    for (int i = 0; i < 400; i++) {
      delete(key(i));
    }
    long left = engine.checkAllClean().treePages();
    assertTrue(left < 6, left + " pages are left of an empty table");
  }

  @Test
  void keys_of_all_lengths_at_the_right_edge_split() {
    Random random = new Random(4);
    byte[] last = {0};
    for (int i = 0; i < 200; i++) {
      byte[] next = Arrays.copyOf(last, 1 + random.nextInt(LeafCell.MAX_KEY));
      int at = Math.min(next.length, last.length) - 1;
      while (at > 0 && next[at] == -1) {
        at--;
      }
      next[at]++;
      if (Arrays.compareUnsigned(next, last) <= 0) {
        next = Arrays.copyOf(last, Math.min(last.length + 1, LeafCell.MAX_KEY));
        if (Arrays.compareUnsigned(next, last) <= 0) {
          break;
        }
      }
      put(next, value(LeafCell.maxInlineValue(next.length), i));
      last = next;
    }
    engine.checkAllClean();
  }
}
