package org.revenantdb.engine.version;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.btree.Descent;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.testing.Samples;
import org.revenantdb.engine.testing.TestEngine;
import org.revenantdb.engine.testing.TestEngine.Tx;
import org.revenantdb.engine.version.RowWriter.Outcome;

/** Deleted rows that no snapshot sees, beside snapshots from before (docs/protocols.md §41). */
class UnseenDeletesTest {
  /** Of which nearly every word knows one. */
  private static final int MANY = 30_000;

  @TempDir Path directory;

  private static byte[] key(int i) {
    return new byte[] {'k', (byte) (i >> 8), (byte) i};
  }

  private static byte[] value(int i) {
    return Samples.random(i, 50);
  }

  /** Rows in the leaf of the first key, deleted ones as well. */
  private static int rows(TestEngine engine, Tree tree) {
    int frame = tree.leafShared(key(0), new Descent());
    try {
      return Slotted.count(engine.pool.page(frame));
    } finally {
      engine.pool.unfixShared(frame);
    }
  }

  private static void put(TestEngine engine, Tree tree, int row, int value) {
    Tx tx = engine.begin();
    assertEquals(Outcome.DONE, tx.put(tree, key(row), value(value)));
    tx.commitDurably();
  }

  private static void delete(TestEngine engine, Tree tree, int row) {
    Tx tx = engine.begin();
    assertEquals(Outcome.DONE, tx.delete(tree, key(row)));
    tx.commitDurably();
  }

  @Test
  void aRowThatCameAndWentBesideALongReader_isTakenAway_andItsKeyIsNotKept() {
    try (TestEngine engine = new TestEngine(directory, 64)) {
      Tree tree = engine.table("t");
      put(engine, tree, 0, 0);
      Tx reader = engine.begin();
      put(engine, tree, 1, 1);
      delete(engine, tree, 1);
      assertEquals(2, rows(engine, tree));
      engine.pass();
      assertEquals(1, rows(engine, tree));
      assertEquals(0, engine.storage.versions().departed().size());
      assertArrayEquals(value(0), reader.get(tree, key(0)));
      assertNull(reader.get(tree, key(1)));
      engine.check();
      reader.abort();
      engine.checkAllClean();
    }
  }

  @Test
  void aRowThatItsOwnTransactionHasDeleted_wasSeenByNoSnapshot() {
    try (TestEngine engine = new TestEngine(directory, 64)) {
      Tree tree = engine.table("t");
      Tx reader = engine.begin();
      Tx tx = engine.begin();
      tx.put(tree, key(0), value(0));
      tx.delete(tree, key(0));
      engine.pass();
      assertEquals(1, rows(engine, tree), "it may yet be rolled back");
      tx.commitDurably();
      engine.pass();
      assertEquals(0, rows(engine, tree));
      reader.abort();
      engine.checkAllClean();
    }
  }

  @Test
  void R10_aRowStaysUntilItsDeleteIsDurable() {
    try (TestEngine engine = new TestEngine(directory, 64)) {
      Tree tree = engine.table("t");
      Tx reader = engine.begin();
      put(engine, tree, 0, 0);
      Tx tx = engine.begin();
      tx.delete(tree, key(0));
      tx.commit();
      engine.pass();
      assertEquals(1, rows(engine, tree));
      engine.journal.force();
      engine.pass();
      assertEquals(0, rows(engine, tree));
      reader.abort();
      engine.checkAllClean();
    }
  }

  @Test
  void aTransactionFromBeforeTheDelete_isInConflict_thoughTheRowIsGone() {
    try (TestEngine engine = new TestEngine(directory, 64)) {
      Tree tree = engine.table("t");
      put(engine, tree, 9, 9);
      Tx old = engine.begin();
      put(engine, tree, 0, 0);
      put(engine, tree, 20, 0);
      delete(engine, tree, 0);
      delete(engine, tree, 20);
      engine.pass();
      assertEquals(1, rows(engine, tree));
      assertEquals(Outcome.DONE, old.put(tree, key(5), value(1)), "one that was never there");
      assertEquals(Outcome.CONFLICT, old.put(tree, key(0), value(1)));
      assertEquals(Outcome.CONFLICT, old.put(tree, key(20), value(1)), "at the right edge");
      assertEquals(Outcome.CONFLICT, old.put(tree, key(0), Samples.random(1, 20_000)));
      assertEquals(Outcome.CONFLICT, old.delete(tree, key(20)));
      assertEquals(Outcome.NOTHING, old.delete(tree, key(6)));
      Tx young = engine.begin();
      assertEquals(Outcome.DONE, young.put(tree, key(0), value(2)));
      young.commitDurably();
      assertEquals(Outcome.CONFLICT, old.put(tree, key(0), value(1)));
      old.abort();
      engine.checkAllClean();
      assertArrayEquals(value(2), engine.read(tree, key(0)));
    }
  }

  @Test
  void aLoadThatBeganBeforeTheDelete_isInConflict() {
    try (TestEngine engine = new TestEngine(directory, 64)) {
      Tree tree = engine.table("t");
      Tx old = engine.begin();
      put(engine, tree, 100, 0);
      delete(engine, tree, 100);
      engine.pass();
      assertEquals(0, rows(engine, tree));
      assertEquals(Outcome.CONFLICT, load(old, tree, 2_000));
      old.abort();
      engine.checkAllClean();
    }
  }

  /**
   * Found by reading the code: the place of the row was taken, so it was not checked whether the
   * row had been there.
   */
  @Test
  void aTransactionFromBeforeTheDelete_isInConflict_thoughAnAbortedInsertIsInTheRowsPlace() {
    try (TestEngine engine = new TestEngine(directory, 64)) {
      Tree tree = engine.table("t");
      Tx old = engine.begin();
      for (int row = 1; row < 4; row++) {
        put(engine, tree, row, row);
        delete(engine, tree, row);
      }
      engine.pass();
      assertEquals(0, rows(engine, tree));
      Tx aborted = engine.begin();
      for (int row = 1; row < 4; row++) {
        assertEquals(Outcome.DONE, aborted.put(tree, key(row), value(5)));
      }
      aborted.abort();
      assertEquals(3, rows(engine, tree), "not put back");
      assertEquals(Outcome.CONFLICT, old.put(tree, key(1), value(1)));
      assertEquals(Outcome.CONFLICT, old.delete(tree, key(2)));
      assertEquals(Outcome.CONFLICT, load(old, tree, 5));
      old.abort();
      engine.checkAllClean();
      assertEquals(0, rows(engine, tree));
    }
  }

  private static Outcome load(Tx tx, Tree tree, int rows) {
    RowLoader loader = tx.loader(tree);
    Outcome outcome = Outcome.DONE;
    for (int row = 0; row < rows && outcome == Outcome.DONE; row++) {
      outcome = loader.add(key(row), value(row));
    }
    return outcome == Outcome.DONE ? loader.finish() : outcome;
  }

  /** The second attempt begins as a writer; else each attempt would be refused like the first. */
  @Test
  void aLongReaderThatThenWrites_isRefusedByChanceAtMostOnce() {
    try (Database database = Database.open(directory, DatabaseOptions.defaults())) {
      Table queue = database.getOrCreateTable("queue");
      int[] attempts = {0};
      database.run(tx -> {
        attempts[0]++;
        assertNull(tx.get(queue, key(0)));
        database.run(other -> {
          for (int row = 0; row < MANY; row++) {
            other.put(queue, key(row), value(0));
          }
        });
        database.run(other -> {
          for (int row = 0; row < MANY; row++) {
            other.delete(queue, key(row));
          }
        });
        database.cleanNow();
        for (int row = MANY; row < MANY + 100; row++) {
          tx.put(queue, key(row), value(0));
        }
      });
      assertEquals(2, attempts[0]);
    }
  }
}
