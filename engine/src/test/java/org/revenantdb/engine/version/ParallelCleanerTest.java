package org.revenantdb.engine.version;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.CheckReport;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.page.OverflowPage;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.PageOps;
import org.revenantdb.engine.page.SharedValues;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.testing.MemoryJournal;
import org.revenantdb.engine.testing.Replay;
import org.revenantdb.engine.testing.Samples;
import org.revenantdb.engine.testing.TestEngine;
import org.revenantdb.recovery.format.LittleEndian;
import org.revenantdb.recovery.format.LogRecordLayout;
import org.revenantdb.recovery.log.PartKind;
import org.revenantdb.recovery.log.RecordType;
import org.revenantdb.recovery.testing.Await;

/**
 * Several threads clean side by side (docs/protocols.md §35): step by step, and against a model.
 *
 * <p>{@code -Drevenant.seed=n} repeats the choices, though not the schedule.
 */
@Tag("stress")
class ParallelCleanerTest {
  private static final String HELPER = "test-cleaner-";

  @TempDir Path directory;

  private final long seed =
      Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));
  private final Random random = new Random(seed);

  private static byte[] key(int number) {
    return ByteBuffer.allocate(4).putInt(number).array();
  }

  private static byte[] value(int number, int length) {
    byte[] value = new byte[length];
    new Random(number).nextBytes(value);
    return value;
  }

  private static <T> FutureTask<T> start(Callable<T> work) {
    FutureTask<T> task = new FutureTask<>(work);
    Thread.ofPlatform().daemon().start(task);
    return task;
  }

  private static boolean isHelper() {
    return Thread.currentThread().getName().startsWith(HELPER);
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** The leaves under a root, from the left. */
  private static List<Integer> leaves(TestEngine engine, Tree tree) {
    MemorySegment root = MemorySegment.ofArray(engine.page(tree.root()));
    assertEquals(1, Slotted.level(root));
    List<Integer> leaves = new ArrayList<>();
    for (int position = -1; position < Slotted.count(root); position++) {
      leaves.add(Slotted.child(root, position));
    }
    return leaves;
  }

  private static boolean hasRowsOf(TestEngine engine, int leaf, long writer) {
    return writersOn(MemorySegment.ofArray(engine.page(leaf))).contains(writer);
  }

  /** Whose versions are on a page. */
  private static Set<Long> writersOn(MemorySegment page) {
    Set<Long> writers = new HashSet<>();
    switch (Page.type(page)) {
      case Page.LEAF -> {
        for (int slot = 0; slot < Slotted.count(page); slot++) {
          writers.add(LeafCell.writer(page, Slotted.cell(page, slot)));
        }
      }
      case Page.OVERFLOW_HEAD -> writers.add(OverflowPage.writer(page));
      case Page.SHARED_VALUES -> {
        for (int slot = 0; slot < SharedValues.count(page); slot++) {
          if (SharedValues.isTaken(page, slot)) {
            writers.add(SharedValues.writer(page, slot));
          }
        }
      }
      default -> {}
    }
    return writers;
  }

  /** At each FORGET no page in use has anything of those that are forgotten. */
  private static int assertForgottenWhenGone(List<MemoryJournal.Entry> entries) {
    Map<Integer, byte[]> pages = Replay.newDatabase();
    PageOps operations = new PageOps();
    int forgotten = 0;
    for (MemoryJournal.Entry entry : entries) {
      Replay.forward(pages, entry, operations);
      if (!entry.is(RecordType.FORGET)) {
        continue;
      }
      Set<Long> ids = new HashSet<>();
      for (int at = LogRecordLayout.HEADER + 4; at + 8 <= entry.bytes().length; at += 8) {
        ids.add(LittleEndian.getLong(entry.bytes(), at));
      }
      forgotten += ids.size();
      for (int page : Replay.allocated(pages)) {
        Set<Long> writers = writersOn(MemorySegment.ofArray(pages.get(page)));
        writers.retainAll(ids);
        assertEquals(Set.of(), writers, "forgotten at " + entry.lsn() + ", and on page " + page);
      }
    }
    return forgotten;
  }

  /** Whether one of the records from one on builds a page with rows of a writer. */
  private static boolean wereCarried(List<MemoryJournal.Entry> entries, int from, long writer) {
    Map<Integer, byte[]> pages = Replay.newDatabase();
    PageOps operations = new PageOps();
    boolean carried = false;
    for (int i = 0; i < entries.size(); i++) {
      Replay.forward(pages, entries.get(i), operations);
      for (Replay.Part part : Replay.parts(entries.get(i))) {
        carried |=
            i >= from
                && part.kind() == PartKind.FORMAT
                && writersOn(MemorySegment.ofArray(pages.get(part.page()))).contains(writer);
      }
    }
    return carried;
  }

  /** Two leaves: the left one empties when it is cleaned, the right one fits to it. */
  private static Tree withTwoLeaves(TestEngine engine) {
    Tree tree = engine.table("t");
    List<Integer> numbers = new ArrayList<>(List.of(0, 1, 2, 3, 4, 5, 6, 7, 8));
    Collections.shuffle(numbers, new Random(1));
    TestEngine.Tx tx = engine.begin();
    for (int i : numbers) {
      tx.put(tree, key(i), value(i, 900));
    }
    tx.commitDurably();
    engine.checkAllClean();
    List<Integer> leaves = leaves(engine, tree);
    assertEquals(2, leaves.size());
    byte[] from = Slotted.lowerFence(MemorySegment.ofArray(engine.page(leaves.get(1))));
    tx = engine.begin();
    for (int i : numbers) {
      if (java.util.Arrays.compareUnsigned(key(i), from) < 0) {
        tx.delete(tree, key(i));
      }
    }
    byte[] changed = value(8, 900);
    changed[450]++;
    tx.put(tree, key(8), changed);
    tx.commitDurably();
    return tree;
  }

  @Test
  void a_page_that_is_merged_away_while_another_is_on_his_way_to_it_is_his_until_he_has_left() {
    try (TestEngine engine = new TestEngine(directory, 256)) {
      Tree tree = withTwoLeaves(engine);
      int right = leaves(engine, tree).get(1);
      assertTrue(CleanerSteps.begin(engine.cleaner, right), "the other one has taken it");
      CleanerSteps.pass(engine.cleaner, /* everything= */ true);
      assertEquals(2, engine.storage.counters().merges.sum(), "and the root has no child left");
      assertFalse(engine.storage.allocator().occupancy().isAllocated(right), "it is free");
      Set<Integer> claimed = new TreeSet<>(engine.storage.allocator().claims().pages());
      assertTrue(claimed.contains(right), "but not for others: " + claimed);

      int records = engine.journal.entries().size();
      assertEquals(0, CleanerSteps.visitBegun(engine.cleaner, right, engine.journal.tail()));
      assertEquals(records, engine.journal.entries().size(), "he has changed a page that is free");
      CleanerSteps.end(engine.cleaner, right);
      assertFalse(engine.storage.allocator().claims().pages().contains(right));
      engine.checkAllClean();
    }
  }

  @Test
  void a_page_that_is_being_visited_is_left_to_its_visitor() {
    try (TestEngine engine = new TestEngine(directory, 256)) {
      Tree tree = engine.table("t");
      TestEngine.Tx tx = engine.begin();
      tx.put(tree, key(1), value(1, 40_000));
      tx.commitDurably();
      Tree behind = engine.table("behind");
      tx = engine.begin();
      tx.put(behind, key(1), value(1, 10));
      tx.commitDurably();
      tx = engine.begin();
      tx.delete(tree, key(1));
      tx.delete(behind, key(1));
      tx.commitDurably();
      int head =
          Replay.allocated(engine.memory()).stream()
              .filter(
                  page -> Page.type(MemorySegment.ofArray(engine.page(page))) == Page.OVERFLOW_HEAD)
              .findFirst()
              .orElseThrow();
      assertTrue(tree.root() < head && head < behind.root(), "the order of the visits");
      assertTrue(CleanerSteps.begin(engine.cleaner, head), "another one visits it");
      int[] visits = {0};
      engine.around =
          step -> {
            long changes = step.getAsLong();
            if (++visits[0] == 2) {
              assertTrue(engine.storage.allocator().occupancy().isAllocated(head), "freed by two");
              CleanerSteps.end(engine.cleaner, head);
            }
            return changes;
          };
      CleanerSteps.pass(engine.cleaner, /* everything= */ true);
      assertFalse(engine.storage.allocator().occupancy().isAllocated(head), "left out");
      engine.around = step -> step.getAsLong();
      engine.checkAllClean();
    }
  }

  /** A thread has taken the last page of a pass; before it has it latched, the page is split. */
  @Test
  void R2_a_row_that_a_split_carries_away_from_a_page_that_another_has_taken_is_visited()
      throws Exception {
    try (TestEngine engine = new TestEngine(directory, 256)) {
      Tree tree = engine.table("t");
      List<Integer> numbers = new ArrayList<>();
      for (int i = 0; i < 100; i++) {
        numbers.add(i);
      }
      Collections.shuffle(numbers, new Random(1));
      TestEngine.Tx tx = engine.begin();
      for (int i : numbers) {
        tx.put(tree, key(1_000 * i), value(i, 300));
      }
      tx.commitDurably();
      engine.checkAllClean();
      TestEngine.Tx aborted = engine.begin();
      for (int i : numbers) {
        aborted.put(tree, key(1_000 * i + 500), value(i, 10));
      }
      long id = aborted.id;
      aborted.abort();

      CountDownLatch taken = new CountDownLatch(1);
      CountDownLatch goOn = new CountDownLatch(1);
      AtomicBoolean isFirst = new AtomicBoolean(true);
      engine.around =
          step -> {
            if (!isHelper()) {
              await(taken); // else there might be no page left for the other
            } else if (isFirst.getAndSet(false)) {
              taken.countDown();
              await(goOn);
            }
            return step.getAsLong();
          };
      Cleaner cleaner = engine.newCleaner(2);
      FutureTask<Long> pass = start(() -> CleanerSteps.pass(cleaner, /* everything= */ true));
      await(taken);
      List<Integer> left = List.of();
      while (left.size() != 1) {
        assertFalse(pass.isDone(), "the pass has ended while a page was taken");
        left = leaves(engine, tree).stream().filter(leaf -> hasRowsOf(engine, leaf, id)).toList();
      }
      MemorySegment page = MemorySegment.ofArray(engine.page(left.getFirst()));
      int first = ByteBuffer.wrap(Slotted.key(page, 0)).getInt();
      int records = engine.journal.entries().size();
      long splits = engine.storage.counters().splits.sum();
      tx = engine.begin();
      for (int i = 1; engine.storage.counters().splits.sum() == splits; i++) {
        assertEquals(RowWriter.Outcome.DONE, tx.put(tree, key(first + i), value(i, 300)));
      }
      tx.commitDurably();
      assertTrue(wereCarried(engine.journal.entries(), records, id), "by the split");
      assertEquals(1, engine.storage.transactions().aborted().size());
      goOn.countDown();
      pass.get();
      assertEquals(0, engine.storage.transactions().aborted().size(), "it is forgotten");
      assertEquals(1, assertForgottenWhenGone(engine.journal.entries()));
      engine.checkAllClean();
      for (int i : numbers) {
        assertNotNull(engine.read(tree, key(1_000 * i)));
        assertNull(engine.read(tree, key(1_000 * i + 500)));
      }
    }
  }

  /** Leaves that an aborted transaction has written to. */
  private static Tree withWork(TestEngine engine) {
    Tree tree = engine.table("t");
    TestEngine.Tx tx = engine.begin();
    for (int i = 0; i < 100; i++) {
      tx.put(tree, key(i), value(i, 300));
    }
    tx.commitDurably();
    engine.checkAllClean();
    tx = engine.begin();
    for (int i = 0; i < 100; i++) {
      tx.put(tree, key(i), value(i + 1, 300));
    }
    tx.abort();
    return tree;
  }

  /** A step of a helper throws this; the cleaner's own thread waits until one has. */
  private static void letHelpersFail(TestEngine engine, Error failure) {
    CountDownLatch thrown = new CountDownLatch(1);
    engine.around =
        step -> {
          if (isHelper()) {
            thrown.countDown();
            throw failure;
          }
          await(thrown);
          return step.getAsLong();
        };
  }

  @Test
  void what_a_helper_throws_is_thrown_by_the_pass_and_nothing_is_forgotten() {
    try (TestEngine engine = new TestEngine(directory, 256)) {
      Tree tree = withWork(engine);
      OutOfMemoryError failure = new OutOfMemoryError("not now");
      letHelpersFail(engine, failure);
      Cleaner cleaner = engine.newCleaner(2);
      assertSame(
          failure, assertThrows(OutOfMemoryError.class, () -> CleanerSteps.pass(cleaner, true)));
      assertEquals(1, engine.storage.transactions().aborted().size());
      engine.around = step -> step.getAsLong();
      engine.checkAllClean();
      assertArrayEquals(value(7, 300), engine.read(tree, key(7)));
    }
  }

  @Test
  void a_failure_of_a_helper_stops_the_engine() throws Exception {
    try (TestEngine engine = new TestEngine(directory, 256)) {
      withWork(engine);
      Error failure = new InternalError("not now");
      letHelpersFail(engine, failure);
      Cleaner cleaner = engine.newCleaner(2);
      cleaner.start(() -> false);
      assertSame(failure, assertThrows(Error.class, cleaner::cleanNow));
      cleaner.close();
      assertSame(failure, engine.journal.failure());
    }
  }

  @Test
  void a_pass_without_memory_is_made_again() throws Exception {
    try (TestEngine engine = new TestEngine(directory, 256)) {
      Tree tree = withWork(engine);
      OutOfMemoryError failure = new OutOfMemoryError("not now");
      letHelpersFail(engine, failure);
      Cleaner cleaner = engine.newCleaner(2);
      cleaner.start(() -> false);
      assertSame(failure, assertThrows(OutOfMemoryError.class, cleaner::cleanNow));
      assertNull(engine.journal.failure());
      engine.around = step -> step.getAsLong();
      cleaner.cleanNow();
      cleaner.close();
      assertNull(engine.journal.failure());
      engine.checkAllClean();
      assertArrayEquals(value(7, 300), engine.read(tree, key(7)));
    }
  }

  @Test
  void a_close_waits_for_the_pages_that_helpers_visit_and_forgets_nothing() throws Exception {
    try (TestEngine engine = new TestEngine(directory, 256)) {
      Tree tree = withWork(engine);
      CountDownLatch visiting = new CountDownLatch(2);
      CountDownLatch goOn = new CountDownLatch(1);
      AtomicBoolean hasLeft = new AtomicBoolean();
      engine.around =
          step -> {
            visiting.countDown();
            await(goOn);
            long changes = step.getAsLong();
            if (isHelper()) {
              hasLeft.set(true);
            }
            return changes;
          };
      Cleaner cleaner = engine.newCleaner(2);
      cleaner.start(() -> false);
      FutureTask<Void> wish =
          start(() -> {
            cleaner.cleanNow();
            return null;
          });
      await(visiting);
      AtomicBoolean hadLeft = new AtomicBoolean();
      Thread closer =
          Thread.ofPlatform()
              .daemon()
              .start(() -> {
                cleaner.close();
                hadLeft.set(hasLeft.get());
              });
      while (closer.getState() == Thread.State.RUNNABLE || closer.getState() == Thread.State.NEW) {
        Await.pause();
      }
      goOn.countDown();
      closer.join();
      assertTrue(hadLeft.get(), "closed while a page was being visited");
      wish.get();
      assertEquals(1, engine.storage.transactions().aborted().size());
      engine.around = step -> step.getAsLong();
      engine.checkAllClean();
      assertArrayEquals(value(7, 300), engine.read(tree, key(7)));
    }
  }

  /** Nothing of either is in the way of what was aborted. */
  @Test
  void an_open_transaction_and_an_old_snapshot_of_another_table_do_not_prevent_forgetting() {
    try (TestEngine engine = new TestEngine(directory, 256)) {
      Tree other = engine.table("other");
      TestEngine.Tx open = engine.begin();
      open.put(other, key(1), value(1, 10));
      TestEngine.Tx snapshot = engine.begin();
      assertNull(snapshot.get(other, key(1)));
      Tree tree = engine.table("t");
      TestEngine.Tx tx = engine.begin();
      for (int i = 0; i < 100; i++) {
        tx.put(tree, key(i), value(i, 300));
      }
      tx.abort();
      CleanerSteps.pass(engine.newCleaner(2), /* everything= */ false);
      assertEquals(0, engine.storage.transactions().aborted().size());
      assertNull(engine.read(tree, key(7)));
      assertEquals(1, assertForgottenWhenGone(engine.journal.entries()));
      open.commitDurably();
      snapshot.abort();
      engine.checkAllClean();
    }
  }

  @Test
  void what_is_left_of_a_pass_and_what_waits_can_be_seen() {
    try (TestEngine engine = new TestEngine(directory, 256)) {
      Tree tree = withWork(engine);
      int leaves = leaves(engine, tree).size();
      List<Integer> left = new ArrayList<>();
      engine.around =
          step -> {
            left.add(engine.storage.marks().leftInPass());
            return step.getAsLong();
          };
      assertEquals(leaves, engine.storage.marks().later());
      CleanerSteps.pass(engine.cleaner, /* everything= */ true);
      assertEquals(leaves - 1, left.getFirst());
      assertEquals(0, left.getLast());
      assertEquals(0, engine.storage.marks().leftInPass());
      engine.around = step -> step.getAsLong();

      TestEngine.Tx open = engine.begin();
      open.delete(tree, key(1));
      assertEquals(1, engine.storage.marks().fresh());
      CleanerSteps.pass(engine.cleaner, /* everything= */ false);
      assertEquals(0, engine.storage.marks().fresh());
      assertEquals(1, engine.storage.marks().postponed());
      open.commitDurably();
      TestEngine.Tx prepared = engine.begin();
      prepared.put(tree, key(99), value(1, 10));
      prepared.prepare(key(1));
      CleanerSteps.pass(engine.cleaner, /* everything= */ false);
      assertEquals(1, engine.storage.marks().postponedLong());
      assertTrue(engine.engine.prepared().rollback(key(1)) > 0);
      engine.checkAllClean();

      List<MemoryJournal.Entry> entries = engine.journal.entries();
      Map<Integer, byte[]> pages = Replay.newDatabase();
      Replay.redo(pages, entries);
      try (TestEngine restarted = TestEngine.restart(directory, entries, pages)) {
        assertEquals(1, restarted.cleaner.mapsToRead());
        restarted.clean();
        assertEquals(0, restarted.cleaner.mapsToRead());
      }
    }
  }

  @Test
  void tables_that_are_to_be_given_back_can_be_seen() {
    try (Database db = Samples.open(directory.resolve("db"))) {
      Samples.put(db, "t", "k", "v");
      db.cleanNow();
      try (Transaction snapshot = db.begin()) {
        assertNotNull(snapshot.get(db.getOrCreateTable("t"), Samples.bytes("k")));
        db.dropTable("t");
        db.cleanNow();
        assertEquals(1, db.statistics().cleaning().tablesToGiveBack());
      }
      db.cleanNow();
      assertEquals(0, db.statistics().cleaning().tablesToGiveBack());
      assertEquals(0, db.statistics().cleaning().pagesToVisit());
      assertEquals(0, db.statistics().cleaning().mapsToRead());
    }
  }

  // ------------------------------------------------------------------------------ against a model

  private static final int WRITERS = 3;
  private static final int KEYS = 40;

  /** What a commit has changed; null: deleted. */
  private record Commit(long lsn, Map<Integer, byte @Nullable []> rows) {}

  /** One thread with its keys, and what it has committed. */
  private static final class Writer implements Callable<Void> {
    final TreeMap<Integer, byte[]> rows = new TreeMap<>();
    final List<Commit> commits = new ArrayList<>();
    private final TestEngine engine;
    private final Tree tree;
    private final int number;
    private final Random random;

    Writer(TestEngine engine, Tree tree, int number, long seed) {
      this.engine = engine;
      this.tree = tree;
      this.number = number;
      this.random = new Random(seed);
    }

    @Override
    public Void call() {
      TestEngine.Tx snapshot = engine.begin();
      Map<Integer, byte[]> seen = Map.copyOf(rows);
      for (int round = 0; round < 60; round++) {
        write(random.nextInt(3) == 0, random.nextInt(12) == 0);
        if (random.nextInt(8) == 0) {
          for (int i = 0; i < KEYS; i++) {
            assertArrayEquals(seen.get(i), snapshot.get(tree, rowKey(i)), "row " + i);
          }
          snapshot.abort();
          snapshot = engine.begin();
          seen = Map.copyOf(rows);
        }
      }
      snapshot.abort();
      return null;
    }

    byte[] rowKey(int i) {
      return key(i * WRITERS + number);
    }

    private void write(boolean aborts, boolean deletesAll) {
      TestEngine.Tx tx = engine.begin();
      Map<Integer, byte @Nullable []> changes = new TreeMap<>();
      int count = deletesAll ? KEYS : 1 + random.nextInt(aborts ? 20 : 6);
      for (int n = 0; n < count; n++) {
        int i = deletesAll ? n : random.nextInt(KEYS);
        if (deletesAll || random.nextInt(4) == 0) {
          assertNotEquals(RowWriter.Outcome.CONFLICT, tx.delete(tree, rowKey(i)));
          changes.put(i, null);
        } else {
          byte[] value = value(random.nextInt(), length());
          assertEquals(RowWriter.Outcome.DONE, tx.put(tree, rowKey(i), value));
          changes.put(i, value);
        }
      }
      if (aborts) {
        tx.abort();
        return;
      }
      commits.add(new Commit(tx.commitDurably(), changes));
      changes.forEach((i, value) -> {
        if (value == null) {
          rows.remove(i);
        } else {
          rows.put(i, value);
        }
      });
    }

    /** In the row, on a shared page, in a chain. */
    private int length() {
      return switch (random.nextInt(10)) {
        case 0 -> 10_000 + random.nextInt(30_000);
        case 1, 2 -> 2_000 + random.nextInt(4_000);
        default -> 10 + random.nextInt(700);
      };
    }

    void deleteAll() {
      write(/* aborts= */ false, /* deletesAll= */ true);
    }

    void assertRows(TestEngine there, Tree table, long upTo) {
      Map<Integer, byte @Nullable []> expected = new TreeMap<>();
      for (Commit commit : commits) {
        if (commit.lsn() <= upTo) {
          expected.putAll(commit.rows());
        }
      }
      for (int i = 0; i < KEYS; i++) {
        assertArrayEquals(expected.get(i), there.read(table, rowKey(i)), "row " + i);
      }
    }
  }

  private static void cleanAll(TestEngine engine, Cleaner cleaner) {
    engine.journal.force();
    for (int pass = 0; CleanerSteps.pass(cleaner, /* everything= */ true) > 0; pass++) {
      assertTrue(pass < 1_000, "the cleaner finds no end");
    }
    assertEquals(0, engine.storage.transactions().aborted().size());
  }

  @Test
  void
      R2_R15_beside_writers_and_snapshots_nothing_is_lost_or_forgotten_too_early_wherever_it_crashes()
          throws Exception {
    System.out.println("ParallelCleanerTest -Drevenant.seed=" + seed);
    try (TestEngine engine = new TestEngine(directory, 1024)) {
      Tree tree = engine.table("t");
      engine.checkAllClean();
      int before = engine.used();
      Cleaner cleaner = engine.newCleaner(3);
      AtomicBoolean done = new AtomicBoolean();
      FutureTask<Void> cleaning =
          start(() -> {
            do {
              engine.journal.force();
              CleanerSteps.pass(cleaner, /* everything= */ true);
            } while (!done.get());
            cleanAll(engine, cleaner); // it may have had no turn before
            return null;
          });
      List<Writer> writers = new ArrayList<>();
      List<FutureTask<Void>> writing = new ArrayList<>();
      for (int i = 0; i < WRITERS; i++) {
        Writer writer = new Writer(engine, tree, i, seed + i);
        writers.add(writer);
        writing.add(start(writer));
      }
      try {
        for (FutureTask<Void> one : writing) {
          get(one);
        }
      } finally {
        done.set(true);
      }
      get(cleaning);
      List<MemoryJournal.Entry> entries = engine.journal.entries();
      assertTrue(assertForgottenWhenGone(entries) > 0);
      crashAt(entries, entries.size(), writers);
      for (int i = 0; i < 4; i++) {
        crashAt(entries, 50 + random.nextInt(entries.size() - 50), writers);
      }
      for (Writer writer : writers) {
        writer.assertRows(engine, tree, Long.MAX_VALUE);
        writer.deleteAll();
      }
      cleanAll(engine, cleaner);
      engine.checkAllClean();
      assertTrue(engine.storage.counters().merges.sum() > 0, "nothing was merged");
      assertTrue(engine.storage.counters().overflowPagesFreed.sum() > 0);
      assertEquals(before, engine.used() - iamPages(engine), "space is not given back");
    }
  }

  /** A tree that has had extents of its own keeps the pages that list them. */
  private static int iamPages(TestEngine engine) {
    return (int)
        engine.memory().values().stream()
            .filter(page -> Page.type(MemorySegment.ofArray(page)) == Page.IAM)
            .count();
  }

  private void crashAt(List<MemoryJournal.Entry> all, int end, List<Writer> writers) {
    List<MemoryJournal.Entry> kept = all.subList(0, end);
    Map<Integer, byte[]> pages =
        Replay.randomlyFlushed(Replay.newDatabase(), kept, random.nextInt(end), random);
    Replay.redo(pages, kept);
    try (TestEngine restarted = TestEngine.restart(directory, kept, pages)) {
      restarted.check();
      Tree table = restarted.table("t");
      long last = kept.getLast().lsn();
      writers.forEach(writer -> writer.assertRows(restarted, table, last));
      cleanAll(restarted, restarted.newCleaner(3));
      restarted.checkAllClean();
      writers.forEach(writer -> writer.assertRows(restarted, table, last));
      assertForgottenWhenGone(restarted.journal.entries());
    }
  }

  private static void get(FutureTask<?> task) throws InterruptedException {
    try {
      task.get();
    } catch (ExecutionException e) {
      throw new AssertionError("" + e.getCause(), e.getCause());
    }
  }

  /** Each of four threads wants credit, in the smallest log and pool that there are. */
  @Test
  void R17_four_threads_clean_in_the_smallest_log_and_pool() {
    DatabaseOptions smallest =
        DatabaseOptions.defaults()
            .withPoolBytes(2 << 20)
            .withLogSegmentBytes(1 << 20)
            .withMaxRecoveryLog(4 << 20)
            .withMaxRecoveryPages(256)
            .withShortTransactionRows(0)
            .withDurability(Durability.LAZY)
            .withCleanerThreads(4);
    try (Database db = Database.open(directory.resolve("db"), smallest)) {
      Table table = db.getOrCreateTable("t");
      for (int round = 0; round < 3; round++) {
        int now = round;
        db.run(tx -> {
          for (int i = 0; i < 1_500; i++) {
            tx.put(table, key(i), value(i + now, i % 10 == 0 ? 60_000 : i % 3 == 0 ? 3_000 : 500));
          }
        });
        try (Transaction tx = db.begin()) {
          for (int i = 0; i < 1_500; i++) {
            tx.put(table, key(i), value(i, i % 10 == 0 ? 60_000 : 500));
          }
          tx.rollback();
        }
        db.sync();
        db.cleanNow();
        assertEquals(0, db.statistics().commits().abortedPending());
      }
      db.run(tx -> {
        for (int i = 0; i < 1_500; i++) {
          tx.delete(table, key(i));
        }
      });
      db.sync();
      db.cleanNow();
      CheckReport report = db.check();
      assertEquals(List.of(), report.problems());
      assertEquals(0, report.pagesToClean());
      assertEquals(1, report.rows(), "the catalogue has one");
    }
  }
}
