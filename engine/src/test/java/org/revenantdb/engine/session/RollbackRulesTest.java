package org.revenantdb.engine.session;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.testing.CommittedStates.assertRow;
import static org.revenantdb.engine.testing.CommittedStates.key;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.revenantdb.engine.Savepoint;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TableOptions;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.access.ApiAccess;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.testing.MemoryJournal;
import org.revenantdb.engine.testing.Replay;
import org.revenantdb.engine.testing.Samples;
import org.revenantdb.engine.testing.TestEngine;
import org.revenantdb.engine.txn.TransactionTable;
import org.revenantdb.recovery.checkpoint.TransactionImage;
import org.revenantdb.recovery.file.DiskFullException;
import org.revenantdb.recovery.format.LogRecordLayout;
import org.revenantdb.recovery.log.RecordBuilder;
import org.revenantdb.recovery.log.RecordType;
import org.revenantdb.recovery.testing.Await;

/** The schedules of the rules about rollbacks, and about transactions that overwrite their rows. */
class RollbackRulesTest {
  private static final byte[] NAME = Samples.bytes("name");

  /** On a page of its own, on one that it shares, in chains of two kinds. */
  private static final int[] LENGTHS = {3_000, 8_100, 20_000, 600_000};

  @TempDir Path directory;

  private static byte[] value(int seed, int length) {
    return Samples.random(seed, length);
  }

  private static TestEngine restarted(Path directory, TestEngine crashed) {
    List<MemoryJournal.Entry> log = crashed.journal.entries();
    Map<Integer, byte[]> pages = Replay.newDatabase();
    Replay.redo(pages, log);
    return TestEngine.restart(directory, log, pages);
  }

  // ---- R3

  /** What becomes of the one that has overwritten the aborted version. */
  private enum End {
    ABORTS,
    PUTS_BACK,
    IS_PREPARED_AND_ROLLED_BACK_IN_ANOTHER_LIFE,
    IS_LOST_IN_A_CRASH,
    COMMITS
  }

  /**
   * There is no store beside the rows whose pages are freed by their highest id (decision 0033).
   * The value that could be freed while it is still needed is the committed large value below an
   * aborted version: the first overwriter has aborted and is forgotten, the second one needs it.
   */
  @ParameterizedTest
  @EnumSource(End.class)
  void R3_a_large_value_under_an_aborted_version_stays_when_its_first_overwriter_is_forgotten(
      End end) {
    for (int length : LENGTHS) {
      for (int overwriter : new int[] {0, 50, 4_000}) {
        forgetTheFirstOverwriter(end, value(length, length), overwriter);
      }
    }
  }

  private void forgetTheFirstOverwriter(End end, byte[] committed, int length) {
    try (TestEngine engine = new TestEngine(directory, 512)) {
      engine.shortRows = end == End.PUTS_BACK ? 10 : 0;
      Tree tree = engine.table("t");
      TestEngine.Tx before = engine.begin();
      before.put(tree, key(1), committed);
      before.commitDurably();
      engine.checkAllClean();
      int used = engine.used();
      TestEngine.Tx first = engine.begin();
      first.put(tree, key(1), value(1, 100));
      first.abort();
      TestEngine.Tx second = engine.begin();
      if (length == 0) {
        second.delete(tree, key(1));
      } else {
        second.put(tree, key(1), value(2, length));
      }
      engine.journal.force();
      engine.pass();
      engine.pass();
      assertFalse(engine.storage.transactions().aborted().contains(first.id));
      assertRow(engine, tree, 1, committed);
      switch (end) {
        case ABORTS -> second.abort();
        case PUTS_BACK -> assertTrue(second.putBack());
        case IS_PREPARED_AND_ROLLED_BACK_IN_ANOTHER_LIFE -> second.prepare(NAME);
        case COMMITS -> second.commitDurably();
        case IS_LOST_IN_A_CRASH -> {}
      }
      boolean crashes =
          end == End.IS_LOST_IN_A_CRASH || end == End.IS_PREPARED_AND_ROLLED_BACK_IN_ANOTHER_LIFE;
      if (!crashes) {
        assertEnd(engine, end == End.COMMITS ? second(length) : committed, end, used);
        return;
      }
      try (TestEngine next = restarted(directory, engine)) {
        assertRow(next, next.table("t"), 1, committed);
        next.pass();
        if (end == End.IS_PREPARED_AND_ROLLED_BACK_IN_ANOTHER_LIFE) {
          assertTrue(next.engine.prepared().rollback(NAME) > 0);
        }
        assertEnd(next, committed, end, used);
      }
    }
  }

  private static byte[] second(int length) {
    return length == 0 ? null : value(2, length);
  }

  private static void assertEnd(TestEngine engine, byte[] expected, End end, int used) {
    Tree tree = engine.table("t");
    engine.check();
    engine.checkAllClean();
    assertRow(engine, tree, 1, expected);
    if (end != End.COMMITS) {
      assertEquals(used, engine.used(), "pages in use");
    }
  }

  // ---- R8

  /** The image of a checkpoint that comes right before a record gets its place. */
  private static TransactionImage imageBefore(TestEngine engine, Runnable work) {
    AtomicReference<TransactionImage> image = new AtomicReference<>();
    engine.journal.gate =
        record -> {
          if (image.get() == null) {
            image.set(engine.engine.prepared().image());
          }
        };
    work.run();
    engine.journal.gate = record -> {};
    return Objects.requireNonNull(image.get());
  }

  private static boolean contains(long[] ids, long id) {
    return Arrays.stream(ids).anyMatch(other -> other == id);
  }

  @Test
  void R8_a_transaction_is_in_the_image_before_its_first_record_has_a_place() {
    try (TestEngine engine = new TestEngine(directory, 128)) {
      Table table = engine.table("t", TableOptions.defaults());
      Transaction tx = engine.transaction();
      TransactionImage image = imageBefore(engine, () -> tx.put(table, key(1), value(1, 10)));
      long id = ApiAccess.api().core(tx).id();
      assertTrue(contains(image.writing(), id), "in the image of those who write");
      assertTrue(image.highestTransactionId() >= id);
      tx.rollback();
    }
  }

  @Test
  void R8_a_transaction_is_in_the_image_before_its_abort_has_a_place_and_until_it_is_forgotten() {
    try (TestEngine engine = new TestEngine(directory, 128, Samples.SMALL)) {
      Table table = engine.table("t", TableOptions.defaults());
      Transaction tx = engine.transaction();
      for (int i = 0; i < 10; i++) {
        tx.put(table, key(i), value(1, 10));
      }
      long id = ApiAccess.api().core(tx).id();
      TransactionImage before = imageBefore(engine, tx::rollback);
      assertTrue(contains(before.aborted(), id), "before ABORT");
      List<Boolean> seen = new ArrayList<>();
      engine.journal.gate =
          record -> seen.add(contains(engine.engine.prepared().image().aborted(), id));
      engine.clean();
      engine.journal.gate = record -> {};
      assertTrue(seen.size() > 1);
      assertFalse(seen.contains(false), "before each record of the cleaner, FORGET the last");
      assertFalse(contains(engine.engine.prepared().image().aborted(), id));
    }
  }

  @Test
  void R8_the_image_waits_for_a_commit_that_is_on_its_way() {
    try (TestEngine engine = new TestEngine(directory, 128)) {
      Table table = engine.table("t", TableOptions.defaults());
      Transaction tx = engine.transaction();
      tx.put(table, key(1), value(1, 10));
      long id = ApiAccess.api().core(tx).id();
      CompletableFuture<TransactionImage> image = new CompletableFuture<>();
      engine.journal.gate =
          record -> {
            Thread checkpoint =
                Thread.ofPlatform().start(() -> image.complete(engine.engine.prepared().image()));
            while (checkpoint.isAlive()
                && checkpoint.getState() != Thread.State.WAITING
                && checkpoint.getState() != Thread.State.TIMED_WAITING) {
              Await.pause();
            }
            assertFalse(image.isDone(), "the image does not wait for the outcome");
          };
      tx.commit();
      engine.journal.gate = record -> {};
      TransactionImage waited = image.join();
      assertFalse(contains(waited.writing(), id));
      assertFalse(contains(waited.aborted(), id));
    }
  }

  // ---- R14

  @Test
  void R14_what_is_prepared_behind_a_rollback_to_a_savepoint_is_that_in_every_later_life() {
    for (int length : new int[] {100, 3_000, 20_000}) {
      byte[] committed = value(1, length);
      byte[] kept = value(2, length);
      for (boolean commits : new boolean[] {true, false}) {
        try (TestEngine engine = new TestEngine(directory, 512)) {
          Table table = engine.table("t", TableOptions.defaults());
          try (Transaction tx = engine.transaction()) {
            tx.put(table, key(1), committed);
            tx.commit();
          }
          Transaction tx = engine.transaction();
          tx.put(table, key(1), kept);
          Savepoint savepoint = tx.savepoint();
          tx.put(table, key(1), value(3, length));
          tx.put(table, key(2), value(4, length));
          tx.rollbackTo(savepoint);
          tx.prepare(NAME);
          try (TestEngine next = restarted(directory, engine);
              TestEngine later = restarted(directory, next)) {
            PreparedTransactions prepared = later.engine.prepared();
            assertTrue((commits ? prepared.commit(NAME) : prepared.rollback(NAME)) > 0);
            Tree tree = later.table("t");
            assertRow(later, tree, 1, commits ? kept : committed);
            assertNull(later.read(tree, key(2)));
            later.checkAllClean();
            assertRow(later, tree, 1, commits ? kept : committed);
          }
        }
      }
    }
  }

  // ---- R25

  /** T shrinks rows, others fill the pages, no page can be had: T comes back all the same. */
  @Test
  void R25_rows_that_were_shrunk_come_back_on_pages_that_others_have_filled() {
    for (boolean isShort : new boolean[] {true, false}) {
      try (TestEngine engine = new TestEngine(directory, 256)) {
        engine.shortRows = isShort ? 50 : 0;
        Tree tree = engine.table("t");
        TestEngine.Tx before = engine.begin();
        for (int i = 0; i < 9; i++) {
          before.put(tree, key(100 * i), value(i, 700));
        }
        before.commitDurably();
        engine.checkAllClean();
        TestEngine.Tx tx = engine.begin();
        for (int i = 0; i < 9; i++) {
          tx.put(tree, key(100 * i), value(20 + i, 3));
        }
        TestEngine.Tx others = engine.begin();
        List<Integer> theirs = new ArrayList<>();
        long splits = engine.storage.counters().splits.sum();
        for (int i = 1; engine.storage.counters().splits.sum() < splits + 2; i++) {
          if (i % 100 > 0) {
            others.put(tree, key(i), value(i, 40));
            theirs.add(i);
          }
        }
        others.commitDurably();
        splits = engine.storage.counters().splits.sum();
        int used = engine.used();
        if (isShort) {
          assertTrue(tx.putBack());
        } else {
          tx.abort();
          engine.pass();
        }
        assertEquals(splits, engine.storage.counters().splits.sum());
        assertEquals(used, engine.used());
        for (int i = 0; i < 9; i++) {
          assertRow(engine, tree, 100 * i, value(i, 700));
        }
        for (int i : theirs) {
          assertRow(engine, tree, i, value(i, 40));
        }
        engine.checkAllClean();
      }
    }
  }

  private static DiskFullException diskFull() {
    return new DiskFullException(Path.of("log"), 0, "it is full", "make room", null);
  }

  /** Whatever stops it, at whichever of its records. */
  @Test
  void R25_a_row_that_cannot_be_put_back_is_left_to_the_cleaner_with_those_behind_it() {
    List<Supplier<Throwable>> failures =
        List.of(RollbackRulesTest::diskFull, OutOfMemoryError::new, StackOverflowError::new);
    for (Supplier<Throwable> failure : failures) {
      for (int nth = 1; nth <= 5; nth++) { // four rows, and FORGET
        failAtRecord(failure, nth);
      }
    }
  }

  private void failAtRecord(Supplier<Throwable> failure, int nth) {
    try (TestEngine engine = new TestEngine(directory, 256, Samples.SMALL)) {
      Table table = engine.table("t", TableOptions.defaults());
      try (Transaction tx = engine.transaction()) {
        tx.put(table, key(0), value(0, 300));
        tx.put(table, key(1), value(1, 3_000));
        tx.put(table, key(2), value(2, 20_000));
        tx.commit();
      }
      engine.checkAllClean();
      int used = engine.used();
      Transaction tx = engine.transaction();
      tx.put(table, key(0), value(10, 5));
      tx.put(table, key(1), value(11, 9_000));
      tx.delete(table, key(2));
      tx.put(table, key(3), value(13, 100));
      long id = ApiAccess.api().core(tx).id();
      int[] left = {nth};
      engine.journal.gate = record -> throwAt(record, left, failure.get());
      tx.rollback(); // tells nobody: it has succeeded
      engine.journal.gate = record -> {};
      assertTrue(left[0] <= 0, "it came to the record");
      assertEquals(TransactionTable.ABORTED, engine.storage.transactions().status(id));
      assertTrue(engine.storage.transactions().aborted().contains(id));
      assertRows(engine);
      engine.check();
      try (TestEngine next = restarted(directory, engine)) {
        assertRows(next);
        next.checkAllClean();
        assertRows(next);
        assertEquals(used, next.used());
      }
      engine.checkAllClean();
      assertRows(engine);
      assertEquals(used, engine.used());
    }
  }

  private static void throwAt(RecordBuilder record, int[] left, Throwable failure) {
    if (record.array()[LogRecordLayout.TYPE] == RecordType.ABORT.code()) {
      return;
    }
    if (--left[0] == 0) {
      switch (failure) {
        case Error error -> throw error;
        case RuntimeException exception -> throw exception;
        default -> throw new AssertionError(failure);
      }
    }
  }

  private static void assertRows(TestEngine engine) {
    Tree tree = engine.table("t");
    assertArrayEquals(value(0, 300), engine.read(tree, key(0)));
    assertArrayEquals(value(1, 3_000), engine.read(tree, key(1)));
    assertArrayEquals(value(2, 20_000), engine.read(tree, key(2)));
    assertNull(engine.read(tree, key(3)));
  }

  /** The cleaner fails at any of its records, and goes on later, or in the next life. */
  @Test
  void R25_a_row_that_the_cleaner_cannot_take_back_is_tried_again() {
    for (int nth = 1; ; nth++) {
      try (TestEngine engine = new TestEngine(directory, 256)) {
        Tree tree = engine.table("t");
        TestEngine.Tx before = engine.begin();
        before.put(tree, key(0), value(0, 300));
        before.put(tree, key(1), value(1, 3_000));
        before.put(tree, key(2), value(2, 20_000));
        before.commitDurably();
        engine.checkAllClean();
        TestEngine.Tx tx = engine.begin();
        tx.put(tree, key(0), value(10, 5));
        tx.put(tree, key(1), value(11, 9_000));
        tx.delete(tree, key(2));
        tx.put(tree, key(3), value(13, 100));
        tx.abort();
        int[] left = {nth};
        engine.journal.gate = record -> throwAt(record, left, diskFull());
        try {
          engine.pass(); // leaves the page for a later one
        } catch (DiskFullException told) {
          assertTrue(engine.storage.transactions().aborted().size() > 0, "it was FORGET");
        }
        engine.journal.gate = record -> {};
        try (TestEngine next = restarted(directory, engine)) {
          assertRows(next);
          next.checkAllClean();
          assertRows(next);
        }
        assertRows(engine);
        engine.check();
        engine.checkAllClean();
        assertRows(engine);
        if (left[0] > 0) {
          assertTrue(nth > 4, nth + " records");
          return;
        }
      }
    }
  }
}
