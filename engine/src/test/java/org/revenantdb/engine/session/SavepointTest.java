package org.revenantdb.engine.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.revenantdb.engine.testing.CommittedStates.assertRow;
import static org.revenantdb.engine.testing.CommittedStates.key;
import static org.revenantdb.engine.testing.Refusals.assertRefused;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Savepoint;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionStateException;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.testing.CommittedStates;
import org.revenantdb.engine.testing.TestEngine;

/**
 * Savepoints (R14, docs/protocols.md §28).
 *
 * <p>{@code -Drevenant.seed=n} repeats a run.
 */
class SavepointTest {
  private static final int KEYS = 50;

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
  void R14_the_version_between_the_committed_one_and_the_last_comes_back() {
    try (Database db = Database.open(directory.resolve("db"))) {
      Table table = db.getOrCreateTable("t");
      byte[] committed = value(100);
      db.run(tx -> tx.put(table, key(1), committed));
      byte[] first = value(200);
      try (Transaction tx = db.begin()) {
        tx.put(table, key(1), first);
        Savepoint savepoint = tx.savepoint();
        tx.put(table, key(1), value(300));
        tx.delete(table, key(1));
        tx.put(table, key(2), value(10));
        tx.rollbackTo(savepoint);
        assertRow(1, first, tx.get(table, key(1)));
        assertNull(tx.get(table, key(2)));
        tx.put(table, key(3), first);
        tx.rollbackTo(savepoint);
        assertNull(tx.get(table, key(3)));
        tx.commit();
      }
      db.run(tx -> {
        assertRow(1, first, tx.get(table, key(1)));
        assertNull(tx.get(table, key(2)));
      });
      assertEquals(List.of(), db.check().problems());
    }
  }

  @Test
  void a_row_that_was_first_written_after_it_is_free_for_others_at_once() {
    try (Database db = Database.open(directory.resolve("db"))) {
      Table table = db.getOrCreateTable("t");
      db.run(tx -> tx.put(table, key(1), value(100)));
      try (Transaction tx = db.begin()) {
        Savepoint savepoint = tx.savepoint(); // before its first write
        tx.put(table, key(1), value(100));
        assertThrows(
            ConflictException.class,
            () -> {
              try (Transaction other = db.begin()) {
                other.put(table, key(1), value(1));
              }
            });
        tx.rollbackTo(savepoint);
        byte[] theirs = value(7);
        try (Transaction other = db.begin()) {
          other.put(table, key(1), theirs);
          other.commit();
        }
        tx.put(table, key(2), value(5));
        tx.commit();
        db.run(check -> assertRow(1, theirs, check.get(table, key(1))));
      }
    }
  }

  @Test
  void one_that_is_over_or_anothers_is_refused() {
    try (Database db = Database.open(directory.resolve("db"))) {
      Table table = db.getOrCreateTable("t");
      try (Transaction tx = db.begin();
          Transaction other = db.begin()) {
        Savepoint outer = tx.savepoint();
        tx.put(table, key(1), value(1));
        Savepoint inner = tx.savepoint();
        tx.put(table, key(1), value(2));
        assertThrows(IllegalArgumentException.class, () -> other.rollbackTo(outer));
        tx.rollbackTo(outer);
        assertThrows(IllegalArgumentException.class, () -> tx.rollbackTo(inner));
        Savepoint next = tx.savepoint();
        tx.put(table, key(3), value(3));
        tx.release(outer);
        assertThrows(IllegalArgumentException.class, () -> tx.rollbackTo(next));
        assertThrows(IllegalArgumentException.class, () -> tx.release(outer));
        assertEquals(3, tx.get(table, key(3)).length);
        tx.commit();
        assertRefused(TransactionStateException.Reason.FINISHED, tx::savepoint);
      }
    }
  }

  @Test
  void a_scan_goes_on_with_what_the_rows_are_again() {
    try (Database db = Database.open(directory.resolve("db"))) {
      Table table = db.getOrCreateTable("t");
      db.run(tx -> {
        for (int i = 0; i < 100; i += 2) {
          tx.put(table, key(i), value(10));
        }
      });
      try (Transaction tx = db.begin()) {
        Savepoint savepoint = tx.savepoint();
        for (int i = 1; i < 100; i += 2) {
          tx.put(table, key(i), value(10));
        }
        assertEquals(100, tx.count(table, null, null));
        tx.rollbackTo(savepoint);
        assertEquals(50, tx.count(table, null, null));
        assertEquals(50, tx.deleteRange(table, null, null));
        tx.rollbackTo(savepoint);
        assertEquals(50, tx.count(table, null, null));
        tx.rollback();
      }
      db.run(tx -> assertEquals(50, tx.count(table, null, null)));
      db.compact(); // and cleans
      assertEquals(0, db.statistics().commits().abortedPending());
      assertEquals(List.of(), db.check().problems());
    }
  }

  /** Nested savepoints against a model, large values among the rows; the log may end anywhere. */
  @Test
  void random_transactions_with_savepoints_are_as_in_a_model_wherever_the_log_ends() {
    System.out.println("SavepointTest -Drevenant.seed=" + seed);
    try (TestEngine engine = new TestEngine(directory, 128)) {
      CommittedStates states = new CommittedStates();
      NavigableMap<Integer, byte[]> model = new TreeMap<>();
      Tree tree = engine.table("t");
      for (int i = 0; i < 120 || states.size() <= 20; i++) {
        engine.shortRows = random.nextBoolean() ? 0 : 100;
        TestEngine.Tx tx = engine.begin();
        NavigableMap<Integer, byte[]> now = new TreeMap<>(model);
        List<Integer> savepoints = new ArrayList<>();
        List<NavigableMap<Integer, byte[]>> kept = new ArrayList<>();
        for (int n = 1 + random.nextInt(30); n > 0; n--) {
          int key = random.nextInt(KEYS);
          switch (random.nextInt(10)) {
            case 0 -> {
              savepoints.add(tx.savepoint());
              kept.add(new TreeMap<>(now));
            }
            case 1 -> {
              if (!savepoints.isEmpty()) {
                int to = random.nextInt(savepoints.size());
                tx.goBackTo(savepoints.get(to));
                now = new TreeMap<>(kept.get(to));
                savepoints.subList(to + 1, savepoints.size()).clear();
                kept.subList(to + 1, kept.size()).clear();
                assertRow(key, now.get(key), tx.get(tree, key(key)));
              }
            }
            case 2, 3 -> {
              tx.delete(tree, key(key));
              now.remove(key);
            }
            default -> {
              int length =
                  random.nextInt(6) == 0 ? 1_500 + random.nextInt(9_000) : random.nextInt(900);
              byte[] value = value(length);
              tx.put(tree, key(key), value);
              now.put(key, value);
            }
          }
          if (random.nextInt(20) == 0) {
            engine.pass();
          }
        }
        for (int key = 0; key < KEYS; key++) {
          assertRow(key, now.get(key), tx.get(tree, key(key)));
        }
        switch (random.nextInt(4)) {
          case 0 -> tx.abort();
          case 1 -> tx.putBack();
          default -> {
            states.add(tx.commitDurably(), now);
            model = now;
          }
        }
      }
      engine.check();
      states.assertKeptWhereverTheLogEnds(engine, directory, KEYS, random);
      engine.checkAllClean();
    }
  }
}
