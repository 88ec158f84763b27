package org.revenantdb.engine.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.testing.CommittedStates.assertRow;
import static org.revenantdb.engine.testing.CommittedStates.key;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.check.Checker;
import org.revenantdb.engine.testing.CommittedStates;
import org.revenantdb.engine.testing.TestEngine;
import org.revenantdb.engine.version.CleanerSteps;
import org.revenantdb.recovery.log.PageSpace;

/**
 * Short transactions put their rows back themselves (docs/protocols.md §27).
 *
 * <p>{@code -Drevenant.seed=n} repeats a run.
 */
class ShortRollbackTest {
  @TempDir Path directory;

  private final long seed =
      Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));
  private final Random random = new Random(seed);

  private byte[] value(int length) {
    byte[] value = new byte[length];
    random.nextBytes(value);
    return value;
  }

  @Test
  void inserts_updates_and_deletes_are_undone_and_no_transaction_has_to_be_forgotten() {
    try (TestEngine engine = new TestEngine(directory, 128)) {
      engine.shortRows = 10;
      Tree tree = engine.table("t");
      byte[] old = value(300);
      TestEngine.Tx before = engine.begin();
      before.put(tree, key(1), old);
      before.put(tree, key(2), old);
      before.put(tree, key(3), old);
      before.delete(tree, key(3));
      before.commitDurably();
      TestEngine.Tx tx = engine.begin();
      tx.put(tree, key(1), value(10));
      tx.put(tree, key(1), value(900));
      tx.delete(tree, key(2));
      tx.put(tree, key(3), value(20));
      tx.put(tree, key(4), value(30));
      tx.delete(tree, key(4));
      long id = tx.id;
      assertTrue(tx.putBack());
      assertFalse(engine.storage.transactions().aborted().contains(id));
      assertRow(engine, tree, 1, old);
      assertRow(engine, tree, 2, old);
      assertRow(engine, tree, 3, null);
      assertRow(engine, tree, 4, null);
      engine.check();
      TestEngine.Tx next = engine.begin();
      next.put(tree, key(1), value(20));
      next.put(tree, key(4), value(20));
      next.commitDurably();
      engine.checkAllClean();
    }
  }

  @Test
  void a_transaction_that_has_written_more_is_rolled_back_by_one_record() {
    try (TestEngine engine = new TestEngine(directory, 128)) {
      engine.shortRows = 10;
      Tree tree = engine.table("t");
      TestEngine.Tx many = engine.begin();
      for (int i = 0; i < 11; i++) {
        many.put(tree, key(i), value(10));
      }
      assertFalse(many.putBack());
      TestEngine.Tx few = engine.begin();
      for (int i = 0; i < 10; i++) {
        few.put(tree, key(i), value(10));
        few.put(tree, key(i), value(20));
      }
      assertTrue(few.putBack(), "rows that it has written twice count once");
      engine.checkAllClean();
      assertRow(engine, tree, 5, null);
    }
  }

  @Test
  void R15_large_values_that_were_written_or_replaced_are_freed_or_kept() {
    for (int length : new int[] {3_000, 20_000}) {
      try (TestEngine engine = new TestEngine(directory, 128)) {
        engine.shortRows = 10;
        Tree tree = engine.table("t");
        byte[] old = value(length);
        TestEngine.Tx before = engine.begin();
        before.put(tree, key(1), old);
        before.put(tree, key(2), old);
        before.commitDurably();
        engine.checkAllClean();
        int used = engine.used();
        TestEngine.Tx tx = engine.begin();
        tx.put(tree, key(1), value(length));
        tx.put(tree, key(1), value(length + 1));
        tx.delete(tree, key(2));
        tx.put(tree, key(3), value(length));
        assertTrue(tx.putBack());
        assertRow(engine, tree, 1, old);
        assertRow(engine, tree, 2, old);
        engine.check();
        engine.checkAllClean();
        assertEquals(used, engine.used());
        assertRow(engine, tree, 1, old);
        assertRow(engine, tree, 2, old);
        assertRow(engine, tree, 3, null);
      }
    }
  }

  /** Its page is marked, so the cleaner finds it. */
  @Test
  void R18_a_row_that_is_not_remembered_since_memory_ended_behind_its_record_is_taken_back() {
    try (TestEngine engine = new TestEngine(directory, 128)) {
      engine.shortRows = 10;
      Tree tree = engine.table("t");
      TestEngine.Tx tx = engine.begin();
      int savepoint = tx.savepoint();
      tx.put(tree, key(1), value(10));
      engine.clean();
      engine.marks.fails = true;
      assertThrows(OutOfMemoryError.class, () -> tx.put(engine.table("u"), key(2), value(10)));
      engine.marks.fails = false;
      assertThrows(IllegalStateException.class, () -> tx.goBackTo(savepoint));
      assertFalse(tx.putBack());
      engine.checkAllClean();
      assertRow(engine, tree, 1, null);
      assertRow(engine, engine.table("u"), 2, null);
    }
  }

  @Test
  void large_values_that_were_put_back_are_freed_though_an_older_writer_goes_on() {
    try (TestEngine engine = new TestEngine(directory, 128)) {
      engine.shortRows = 10;
      Tree tree = engine.table("t");
      TestEngine.Tx older = engine.begin();
      older.put(tree, key(100), value(10));
      int used = engine.used();
      TestEngine.Tx tx = engine.begin();
      for (int i = 0; i < 5; i++) {
        tx.put(tree, key(i), value(5_000));
      }
      CleanerSteps.passBesideWriters(engine.cleaner); // all are postponed
      assertTrue(tx.putBack());
      CleanerSteps.passBesideWriters(engine.cleaner);
      assertEquals(used, engine.used());
      older.commitDurably();
      engine.checkAllClean();
    }
  }

  @Test
  void a_check_reports_a_row_of_a_transaction_that_should_have_no_rows_left() {
    try (TestEngine engine = new TestEngine(directory, 128)) {
      Tree tree = engine.table("t");
      TestEngine.Tx tx = engine.begin();
      tx.put(tree, key(1), value(10));
      engine.storage.transactions().aborted(tx.id); // and was not put back
      List<String> problems = Checker.alone(engine.storage).problems();
      assertEquals(1, problems.size(), "" + problems);
      assertTrue(problems.getFirst().contains("of transaction " + tx.id), problems.getFirst());
    }
  }

  @Test
  void R25_without_credit_the_rest_is_left_to_the_cleaner() {
    PageSpace pages = new PageSpace(() -> Long.MAX_VALUE, 400, 50, () -> {});
    try (TestEngine engine = new TestEngine(directory, 128, pages)) {
      engine.shortRows = 10;
      Tree tree = engine.table("t");
      TestEngine.Tx tx = engine.begin();
      for (int i = 0; i < 5; i++) {
        tx.put(tree, key(i), value(10));
      }
      int taken = 0;
      while (pages.tryAcquire(1)) {
        taken++;
      }
      assertFalse(tx.putBack());
      pages.release(taken);
      engine.checkAllClean();
      assertRow(engine, tree, 3, null);
    }
  }

  /** Random transactions beside the cleaner; the log may end behind each record. */
  @Test
  void random_lives_keep_what_was_committed_wherever_the_log_ends() {
    System.out.println("ShortRollbackTest -Drevenant.seed=" + seed);
    try (TestEngine engine = new TestEngine(directory, 128)) {
      engine.shortRows = 12;
      CommittedStates states = new CommittedStates();
      NavigableMap<Integer, byte[]> model = new TreeMap<>();
      Tree tree = engine.table("t");
      int shortOnes = 0;
      for (int i = 0; i < 200 || shortOnes <= 20; i++) {
        TestEngine.Tx tx = engine.begin();
        TestEngine.Tx reader = random.nextInt(3) == 0 ? engine.begin() : null;
        Map<Integer, byte[]> before = model;
        NavigableMap<Integer, byte[]> now = new TreeMap<>(model);
        for (int n = 1 + random.nextInt(16); n > 0; n--) {
          int key = random.nextInt(80);
          if (random.nextInt(4) == 0) {
            tx.delete(tree, key(key));
            now.remove(key);
          } else {
            byte[] value =
                value(
                    random.nextInt(6) == 0 ? 2_000 + random.nextInt(7_000) : random.nextInt(1_000));
            tx.put(tree, key(key), value);
            now.put(key, value);
          }
        }
        if (random.nextBoolean()) {
          shortOnes += tx.putBack() ? 1 : 0;
          assertRow(engine, tree, 7, model.get(7));
        } else {
          states.add(tx.commitDurably(), now);
          model = now;
        }
        if (reader != null) {
          assertRow(3, before.get(3), reader.get(tree, key(3)));
          reader.abort();
        }
        if (random.nextInt(5) == 0) {
          engine.pass();
        }
      }
      engine.check();
      states.assertKeptWhereverTheLogEnds(engine, directory, 80, random);
      engine.checkAllClean();
    }
  }

  /** Readers and scans beside transactions that come and go: nothing of them is ever seen. */
  @Test
  void R1_nobody_sees_a_row_that_is_being_put_back() throws Exception {
    AtomicBoolean done = new AtomicBoolean();
    AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    try (Database db = Database.open(directory.resolve("db"))) {
      Table table = db.getOrCreateTable("t");
      byte[] committed = {0};
      db.run(tx -> {
        for (int i = 0; i < 200; i += 2) {
          tx.put(table, key(i), committed);
        }
      });
      Runnable reads =
          () -> {
            Random mine = new Random(Thread.currentThread().threadId());
            try {
              while (!done.get()) {
                try (Transaction tx = db.begin(TransactionOptions.lazy())) {
                  int i = mine.nextInt(200);
                  byte[] value = tx.get(table, key(i));
                  assertEquals(i % 2 == 0, value != null, "row " + i);
                  assertTrue(value == null || value.length == 1);
                  assertEquals(100, tx.count(table, null, null));
                }
              }
            } catch (Throwable seen) {
              failure.compareAndSet(null, seen);
            }
          };
      List<Thread> readers = List.of(new Thread(reads), new Thread(reads));
      readers.forEach(Thread::start);
      for (int round = 0; round < 3_000; round++) {
        try (Transaction tx = db.begin(TransactionOptions.lazy())) {
          for (int n = 0; n < 6; n++) {
            int i = random.nextInt(200);
            if (random.nextInt(3) == 0) {
              tx.delete(table, key(i));
            } else {
              tx.put(table, key(i), new byte[random.nextInt(300) + 2]);
            }
          }
          tx.rollback();
        }
      }
      done.set(true);
      for (Thread reader : readers) {
        reader.join();
      }
      assertNull(failure.get());
      db.compact(); // and cleans: a rollback that got no credit at once is left to that
      assertEquals(0, db.statistics().commits().abortedPending());
      assertEquals(List.of(), db.check().problems());
    }
  }

  @Test
  void the_option_decides_which_transactions_are_short() {
    DatabaseOptions options = DatabaseOptions.defaults().withShortTransactionRows(0);
    try (Database db = Database.open(directory.resolve("db"), options)) {
      Table table = db.getOrCreateTable("t");
      try (Transaction tx = db.begin()) {
        tx.put(table, key(1), value(1));
        tx.rollback();
      }
      db.run(tx -> assertNull(tx.get(table, key(1))));
      assertEquals(List.of(), db.check().problems());
    }
    assertThrows(
        IllegalArgumentException.class,
        () -> DatabaseOptions.defaults().withShortTransactionRows(-1));
    assertThrows(
        IllegalArgumentException.class,
        () -> DatabaseOptions.defaults().withShortTransactionRows(65_537));
  }
}
