package org.revenantdb.engine.btree;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.testing.TestEngine;
import org.revenantdb.engine.version.RowWriter;

/** Keys that begin alike: their pages have the beginning once. */
class LongPrefixTest {
  private static final int PREFIX = 200;

  @TempDir Path directory;

  private final TreeMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);
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

  private static byte[] key(char group, int row) {
    byte[] key = new byte[PREFIX + 2];
    Arrays.fill(key, (byte) group);
    key[PREFIX] = (byte) (row >> 8);
    key[PREFIX + 1] = (byte) row;
    return key;
  }

  private void put(byte[] key, byte[] value) {
    TestEngine.Tx tx = engine.begin();
    assertEquals(RowWriter.Outcome.DONE, tx.put(tree, key, value));
    tx.commitDurably();
    model.put(key, value);
  }

  private void delete(byte[] key) {
    TestEngine.Tx tx = engine.begin();
    assertEquals(RowWriter.Outcome.DONE, tx.delete(tree, key));
    tx.commitDurably();
    model.remove(key);
  }

  /** Rows in no order, so that pages are split in their middle. */
  private void load(int rows, char... groups) {
    List<byte[]> keys = new ArrayList<>();
    for (char group : groups) {
      for (int row = 0; row < rows; row++) {
        keys.add(key(group, row));
      }
    }
    Collections.shuffle(keys, new Random(7));
    for (byte[] key : keys) {
      put(key, new byte[] {key[0], key[PREFIX], key[PREFIX + 1]});
    }
  }

  private void assertRows() {
    TestEngine.Tx tx = engine.begin();
    for (Map.Entry<byte[], byte[]> row : model.entrySet()) {
      assertArrayEquals(row.getValue(), tx.get(tree, row.getKey()));
      byte[] other = row.getKey().clone();
      other[PREFIX / 2]++; // in what the cell does not have
      assertNull(tx.get(tree, other));
    }
    tx.abort();
    engine.checkAllClean();
  }

  private long merges() {
    return engine.storage.counters().merges.sum();
  }

  @Test
  void the_common_beginning_of_keys_takes_room_once_a_page() {
    load(2_000, 'k');
    long pages = engine.storage.counters().splits.sum();
    int whole = 2_000 * (16 + PREFIX + 2 + 3 + 6) / 8_192;
    assertTrue(pages < whole / 2, pages + " splits, full pages of whole keys are " + whole);
    assertRows();
  }

  /** Whole keys of all rows of the leaf are longer than what fits in a record. */
  @Test
  void a_leaf_full_of_short_rows_with_long_keys_is_reverted() {
    List<byte[]> between = new ArrayList<>();
    for (int row = 0; row < 250; row++) {
      byte[] key = new byte[256];
      Arrays.fill(key, (byte) 'k');
      key[255] = (byte) row;
      if (row < 5 || row == 249) {
        put(key, new byte[1_290]);
      } else {
        between.add(key);
      }
    }
    for (byte[] key : between) {
      put(key, new byte[0]);
    }
    engine.clean();
    for (boolean delete : new boolean[] {false, true}) {
      TestEngine.Tx tx = engine.begin();
      for (byte[] key : between) {
        if (delete) {
          tx.delete(tree, key);
        } else {
          tx.put(tree, key, new byte[0]);
        }
      }
      tx.abort();
      engine.clean();
    }
    for (byte[] key : between) {
      assertArrayEquals(new byte[0], engine.read(tree, key));
    }
    engine.checkAllClean();
  }

  @Test
  void neighbours_merge_only_if_they_fit_with_what_their_keys_do_not_share() {
    load(300, 'a', 'b');
    // In each group remain rows that fit in a page together
    // only if the groups' bytes are not there.
    for (int row = 0; row < 300; row++) {
      if (row % 4 != 0) {
        delete(key('a', row));
        delete(key('b', row));
      }
    }
    engine.clean();
    assertRows();
    assertTrue(merges() > 0);
    for (int row = 0; row < 300; row++) {
      if (row % 4 == 0 && row > 8) {
        delete(key('a', row));
        delete(key('b', row));
      }
    }
    long before = merges();
    engine.clean();
    assertTrue(merges() > before);
    assertRows();
    for (int row = 0; row < 300; row++) {
      put(key('a', row), new byte[10]);
    }
    assertRows();
  }
}
