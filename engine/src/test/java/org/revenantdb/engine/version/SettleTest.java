package org.revenantdb.engine.version;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.testing.TestEngine;

/**
 * Writers that need room take away the predecessors that no snapshot needs. There is no cleaner
 * here.
 */
class SettleTest {
  private static final int ROWS = 200;

  @TempDir Path directory;

  private TestEngine engine;
  private Tree tree;

  @BeforeEach
  void open() {
    engine = new TestEngine(directory, 200);
    tree = engine.table("t");
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private static byte[] key(int row) {
    return new byte[] {'k', (byte) (row >> 8), (byte) row};
  }

  private static byte[] value(int row, int version) {
    byte[] value = new byte[100];
    Arrays.fill(value, (byte) (row * 31 + version));
    return value;
  }

  private void put(int row, int version) {
    TestEngine.Tx tx = engine.begin();
    assertEquals(RowWriter.Outcome.DONE, tx.put(tree, key(row), value(row, version)));
    tx.commitDurably();
  }

  private void load() {
    for (int row = 0; row < ROWS; row++) {
      put(row, 0);
    }
  }

  private long splits() {
    return engine.storage.counters().splits.sum();
  }

  private void assertRows(int version) {
    TestEngine.Tx tx = engine.begin();
    for (int row = 0; row < ROWS; row++) {
      assertArrayEquals(value(row, version), tx.get(tree, key(row)), "row " + row);
    }
    tx.abort();
    engine.checkAllClean();
  }

  @Test
  void rows_in_key_order_that_are_updated_again_and_again_split_no_leaf() {
    load();
    long before = splits();
    for (int version = 1; version <= 20; version++) {
      for (int row = 0; row < ROWS; row++) {
        put((row * 67) % ROWS, version);
      }
    }
    assertEquals(before, splits(), "leaves that were split for versions that nobody needs");
    assertRows(20);
  }

  @Test
  void what_an_open_snapshot_sees_is_not_taken_away_to_make_room() {
    load();
    TestEngine.Tx old = engine.begin();
    long before = splits();
    for (int version = 1; version <= 3; version++) {
      for (int row = 0; row < ROWS; row++) {
        put(row, version);
      }
    }
    assertTrue(splits() > before, "the test is about leaves that are full");
    for (int row = 0; row < ROWS; row++) {
      assertArrayEquals(value(row, 0), old.get(tree, key(row)), "row " + row);
    }
    old.abort();
    assertRows(3);
  }

  @Test
  void the_predecessor_under_an_undecided_version_stays_whatever_room_is_needed() {
    load();
    TestEngine.Tx undecided = engine.begin();
    for (int row = 0; row < ROWS; row += 10) {
      undecided.put(tree, key(row), value(row, 99));
    }
    for (int version = 1; version <= 5; version++) {
      for (int row = 0; row < ROWS; row++) {
        if (row % 10 != 0) {
          put(row, version);
        }
      }
    }
    undecided.abort();
    TestEngine.Tx tx = engine.begin();
    for (int row = 0; row < ROWS; row++) {
      assertArrayEquals(value(row, row % 10 == 0 ? 0 : 5), tx.get(tree, key(row)), "row " + row);
    }
    tx.abort();
  }

  @Test
  void a_deleted_row_stays_deleted_when_its_former_value_is_taken_away() {
    load();
    for (int row = 0; row < ROWS; row += 2) {
      TestEngine.Tx tx = engine.begin();
      assertEquals(RowWriter.Outcome.DONE, tx.delete(tree, key(row)));
      tx.commitDurably();
    }
    for (int version = 1; version <= 5; version++) {
      for (int row = 1; row < ROWS; row += 2) {
        put(row, version);
      }
    }
    TestEngine.Tx tx = engine.begin();
    for (int row = 0; row < ROWS; row++) {
      byte[] found = tx.get(tree, key(row));
      if (row % 2 == 0) {
        assertNull(found, "row " + row);
      } else {
        assertArrayEquals(value(row, 5), found, "row " + row);
      }
    }
    tx.abort();
  }
}
