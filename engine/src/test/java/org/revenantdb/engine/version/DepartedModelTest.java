package org.revenantdb.engine.version;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.testing.Samples;
import org.revenantdb.engine.testing.TestEngine;
import org.revenantdb.engine.testing.TestEngine.Tx;
import org.revenantdb.engine.version.RowWriter.Outcome;

/**
 * Rows that are deleted, leave their leaves and come again beside snapshots of any age, against
 * sorted maps, one for each snapshot (docs/protocols.md §48).
 */
class DepartedModelTest {
  private static final int KEYS = 2_000;
  private static final int STEPS = 6_000;

  @TempDir Path directory;

  private final Random random;
  private final List<Old> open = new ArrayList<>();
  private final NavigableMap<byte[], byte[]> now = new TreeMap<>(Arrays::compareUnsigned);

  /** For each key the number of the step in which its last change was committed. */
  private final Map<Integer, Integer> changed = new HashMap<>();

  private int step;

  DepartedModelTest() {
    long seed = Long.getLong("revenant.seed", new Random().nextLong());
    System.out.println("DepartedModelTest -Drevenant.seed=" + seed);
    random = new Random(seed);
  }

  /** A transaction and what it has to see. */
  private record Old(Tx tx, NavigableMap<byte[], byte[]> rows, int begun, boolean writes) {}

  /** Leaves have prefixes of different lengths, as keys of some bytes have. */
  private static byte[] key(int i) {
    return new byte[] {'k', (byte) (i >> 8), (byte) i};
  }

  @Test
  void each_snapshot_sees_what_it_saw_whatever_has_left() {
    try (TestEngine engine = new TestEngine(directory, 512)) {
      Tree tree = engine.table("t");
      for (step = 1; step <= STEPS; step++) {
        switch (random.nextInt(14)) {
          case 0, 1, 2 -> change(engine, tree, random.nextInt(KEYS), /* delete= */ false);
          case 3, 4 -> change(engine, tree, random.nextInt(KEYS), /* delete= */ true);
          case 5 -> drain(engine, tree);
          case 6 -> begin(engine, tree);
          case 7 -> end();
          case 8 -> engine.pass();
          case 9 -> aborted(engine, tree);
          case 10 -> conflict(tree);
          case 11 -> block(engine, tree);
          case 12 -> engine.pass();
          default -> read(engine, tree);
        }
      }
      for (Old old : open) {
        compare(engine, tree, old, /* from= */ null, /* to= */ null);
        old.tx.abort();
      }
      engine.checkAllClean();
      assertEquals(0, engine.storage.versions().departed().size());
      assertEquals(0, engine.storage.versions().memoryBytes());
    }
  }

  private void change(TestEngine engine, Tree tree, int row, boolean delete) {
    Tx tx = engine.begin();
    if (delete) {
      boolean isThere = now.remove(key(row)) != null;
      assertEquals(isThere ? Outcome.DONE : Outcome.NOTHING, tx.delete(tree, key(row)));
      if (!isThere) {
        tx.abort();
        return;
      }
    } else {
      byte[] value = Samples.random(step, 20 + random.nextInt(60));
      assertEquals(Outcome.DONE, tx.put(tree, key(row), value));
      now.put(key(row), value);
    }
    changed.put(row, step);
    if (random.nextInt(4) > 0) {
      tx.commitDurably();
    } else {
      tx.commit();
    }
  }

  /** Deletes the first rows, as the consumer of a queue does, or the last ones. */
  private void drain(TestEngine engine, Tree tree) {
    boolean first = random.nextBoolean();
    Tx tx = engine.begin();
    for (int i = random.nextInt(60); i > 0 && !now.isEmpty(); i--) {
      byte[] key = first ? now.firstKey() : now.lastKey();
      assertEquals(Outcome.DONE, tx.delete(tree, key));
      now.remove(key);
      changed.put(numberOf(key), step);
    }
    tx.commitDurably();
  }

  private static int numberOf(byte[] key) {
    return (key[1] & 0xff) << 8 | key[2] & 0xff;
  }

  /** Writes or deletes all rows of a piece of the table. */
  private void block(TestEngine engine, Tree tree) {
    boolean delete = random.nextBoolean();
    int from = random.nextInt(KEYS);
    int to = Math.min(KEYS, from + random.nextInt(300));
    Tx tx = engine.begin();
    for (int row = from; row < to; row++) {
      if (delete) {
        boolean isThere = now.remove(key(row)) != null;
        assertEquals(isThere ? Outcome.DONE : Outcome.NOTHING, tx.delete(tree, key(row)));
        if (!isThere) {
          continue;
        }
      } else {
        byte[] value = Samples.random(step + row, 30);
        assertEquals(Outcome.DONE, tx.put(tree, key(row), value));
        now.put(key(row), value);
      }
      changed.put(row, step);
    }
    tx.commitDurably();
  }

  private void begin(TestEngine engine, Tree tree) {
    if (open.size() == 8) {
      return;
    }
    Tx tx = engine.begin();
    boolean writes = random.nextInt(3) == 0;
    NavigableMap<byte[], byte[]> rows = new TreeMap<>(now);
    if (writes) {
      assertEquals(Outcome.DONE, tx.put(tree, key(KEYS + step), new byte[3]));
      engine.snapshots.writes(tx.slot);
      rows.put(key(KEYS + step), new byte[3]);
    }
    open.add(new Old(tx, rows, step, writes));
  }

  private void end() {
    if (!open.isEmpty()) {
      open.remove(random.nextInt(open.size())).tx.abort();
    }
  }

  private void aborted(TestEngine engine, Tree tree) {
    Tx tx = engine.begin();
    for (int i = random.nextInt(5); i >= 0; i--) {
      int row = random.nextInt(KEYS);
      if (random.nextBoolean()) {
        tx.put(tree, key(row), new byte[30]);
      } else {
        tx.delete(tree, key(row));
      }
    }
    tx.abort();
  }

  /**
   * An old transaction is refused for each row that was changed since; one that has declared that
   * it writes, for no other.
   */
  private void conflict(Tree tree) {
    if (open.isEmpty()) {
      return;
    }
    Old old = open.get(random.nextInt(open.size()));
    for (int i = 0; i < 20; i++) {
      int row = random.nextInt(KEYS);
      boolean isChanged = changed.getOrDefault(row, 0) > old.begun;
      if (isChanged) {
        assertEquals(Outcome.CONFLICT, old.tx.put(tree, key(row), new byte[4]), "row " + row);
      } else if (old.writes && !old.rows.containsKey(key(row))) {
        assertEquals(Outcome.NOTHING, old.tx.delete(tree, key(row)), "row " + row);
      }
    }
  }

  private void read(TestEngine engine, Tree tree) {
    if (open.isEmpty()) {
      return;
    }
    Old old = open.get(random.nextInt(open.size()));
    byte[] from = random.nextInt(3) == 0 ? null : key(random.nextInt(KEYS));
    byte[] to = random.nextInt(3) == 0 ? null : key(random.nextInt(KEYS));
    compare(engine, tree, old, from, to);
    for (int i = 0; i < 10; i++) {
      byte[] key = key(random.nextInt(KEYS));
      assertArrayEquals(old.rows.get(key), old.tx.get(tree, key));
    }
  }

  private void compare(
      TestEngine engine, Tree tree, Old old, byte @Nullable [] from, byte @Nullable [] to) {
    if (from != null && to != null && Arrays.compareUnsigned(from, to) >= 0) {
      return;
    }
    NavigableMap<byte[], byte[]> expected = old.rows;
    if (from != null) {
      expected = expected.tailMap(from, /* inclusive= */ true);
    }
    if (to != null) {
      expected = expected.headMap(to, /* inclusive= */ false);
    }
    Reading reading = old.tx.reading.at(old.tx.snapshot);
    RowReader reader = engine.engine.reader();
    for (boolean descending : new boolean[] {false, true}) {
      RowScan scan = new RowScan(engine.storage, reader, tree, reading, descending, from, to);
      RowBatch batch = new RowBatch();
      var rows = (descending ? expected.descendingMap() : expected).entrySet().iterator();
      int most = 1 + random.nextInt(RowScan.BATCH);
      for (scan.fill(batch, most); !batch.isEmpty(); scan.fill(batch, most)) {
        for (int row = 0; row < batch.size(); row++) {
          Map.Entry<byte[], byte[]> next = rows.next();
          assertArrayEquals(next.getKey(), batch.key(row));
          assertArrayEquals(next.getValue(), batch.value(row).bytes());
        }
      }
      assertEquals(false, rows.hasNext(), "rows that the scan has not seen");
    }
    RowRange counted = new RowRange(engine.storage, reader, tree, reading, from, to);
    int count = 0;
    while (counted.hasMore()) {
      count += counted.count();
    }
    assertEquals(expected.size(), count);
    RowRange listed = new RowRange(engine.storage, reader, tree, reading, from, to);
    List<byte[]> keys = new ArrayList<>();
    while (listed.hasMore()) {
      keys.addAll(listed.keys());
    }
    assertEquals(expected.size(), keys.size());
    var next = expected.keySet().iterator();
    keys.forEach(key -> assertArrayEquals(next.next(), key));
  }
}
