package org.revenantdb.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.catalog.TableState;
import org.revenantdb.engine.page.Edits;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.testing.History;
import org.revenantdb.engine.testing.MemoryJournal;
import org.revenantdb.engine.testing.Replay;
import org.revenantdb.engine.testing.TestEngine;
import org.revenantdb.engine.version.CleanerSteps;
import org.revenantdb.engine.version.MergedScan;
import org.revenantdb.engine.version.Reading;
import org.revenantdb.engine.version.RowBatch;
import org.revenantdb.engine.version.RowScan;
import org.revenantdb.engine.version.RowSource;
import org.revenantdb.engine.version.RowWriter;
import org.revenantdb.engine.version.Witness;

/**
 * Random transactions against the history of all versions: each snapshot reads just its state, at
 * all times and in both directions; what is left is cleaned without a leak; and redo of all
 * records, from nothing or from pages of any age, gives what is in memory.
 *
 * <p>{@code -Drevenant.seed=n} repeats a run, {@code -Drevenant.rounds=n} makes more of them.
 */
class HistoryFuzzTest {
  private static final int STEPS = 700;

  @TempDir Path directory;

  private final List<TestEngine.Tx> open = new ArrayList<>();
  private History history = new History();
  private byte[][] keys = new byte[0][];
  private Random random = new Random();
  private int rowsAtOnce = 1;
  private TestEngine engine;
  private Table table;
  private TableOptions options = TableOptions.defaults();

  @Test
  void every_snapshot_reads_its_state_and_redo_gives_the_same_pages() {
    long first = Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));
    int rounds =
        Integer.getInteger("revenant.rounds", Boolean.getBoolean("revenant.long") ? 100 : 3);
    for (int round = 0; round < rounds; round++) {
      long seed = first + round;
      System.out.println("HistoryFuzzTest -Drevenant.seed=" + seed);
      try {
        round(seed);
      } catch (Throwable failure) {
        throw new AssertionError(
            "-Drevenant.seed=" + seed + " -Drevenant.rounds=1: " + failure, failure);
      } finally {
        engine.close();
      }
    }
  }

  private void round(long seed) {
    random = new Random(seed);
    history = new History();
    open.clear();
    boolean wide = random.nextInt(3) == 0;
    rowsAtOnce = wide ? 12 : 1;
    keys = keys(wide ? 1500 : 40 + random.nextInt(260));
    engine = new TestEngine(directory, 3000);
    options = TableOptions.hashPartitioned(random.nextBoolean() ? 1 : 2 + random.nextInt(5));
    table = engine.table("t", options);
    int[] weights = {
      6, 2 + random.nextInt(6), 1 + random.nextInt(30), random.nextInt(12), 3, 1 + random.nextInt(2)
    };
    for (int step = 0; step < STEPS; step++) {
      step(weights);
    }
    while (!open.isEmpty()) {
      end(open.getLast());
    }
    readAll();
    engine.checkAllClean();
    readAll();
    redoAll();
    if (Boolean.getBoolean("revenant.counts")) {
      System.out.println(
          "splits "
              + engine.storage.counters().splits.sum()
              + " merges "
              + engine.storage.counters().merges.sum()
              + " reverted "
              + engine.storage.counters().rowsReverted.sum()
              + " dropped "
              + engine.storage.counters().versionsDropped.sum()
              + " overflow "
              + engine.storage.counters().overflowValues.sum()
              + " freed "
              + engine.storage.counters().overflowPagesFreed.sum()
              + " evictions "
              + engine.pool.statistics().evictions()
              + " records "
              + engine.journal.entries().size());
    }
  }

  private void step(int[] weights) {
    int at = random.nextInt(Arrays.stream(weights).sum() + 60);
    int what = 0;
    while (what < weights.length && at >= weights[what]) {
      at -= weights[what++];
    }
    switch (what) {
      case 0 -> {
        if (open.size() < 7) {
          open.add(engine.begin());
        }
      }
      case 1 -> {
        if (!open.isEmpty()) {
          end(open.get(random.nextInt(open.size())));
        }
      }
      case 2 -> CleanerSteps.pass(engine.cleaner, random.nextBoolean());
      case 3 -> {
        if (!open.isEmpty()) {
          scan(open.get(random.nextInt(open.size())));
        }
      }
      case 4 -> engine.journal.force();
      case 5 -> {
        if (random.nextInt(8) == 0) {
          crash();
        } else if (random.nextInt(3) == 0) {
          engine.check();
        }
      }
      default -> {
        if (open.isEmpty()) {
          open.add(engine.begin());
        }
        TestEngine.Tx tx = open.get(random.nextInt(open.size()));
        if (random.nextInt(3) == 0) {
          read(tx, key());
        } else {
          for (int i = random.nextInt(rowsAtOnce); i >= 0; i--) {
            write(tx, key());
          }
        }
      }
    }
  }

  private byte[][] keys(int count) {
    byte[] prefix = new byte[random.nextInt(4) == 0 ? 1000 : random.nextInt(1000)];
    random.nextBytes(prefix);
    byte[][] result = new byte[count][];
    for (int i = 0; i < count; i++) {
      int shared = random.nextInt(3) == 0 ? random.nextInt(prefix.length + 1) : prefix.length;
      int length = Math.min(LeafCell.MAX_KEY, shared + 1 + random.nextInt(24));
      if (random.nextInt(10) == 0) {
        length = LeafCell.MAX_KEY;
      }
      result[i] = new byte[length];
      random.nextBytes(result[i]);
      System.arraycopy(prefix, 0, result[i], 0, Math.min(shared, length));
    }
    return result;
  }

  private byte[] key() {
    return keys[random.nextInt(keys.length)];
  }

  private byte[] value(int keyLength) {
    int limit = LeafCell.maxInlineValue(keyLength);
    int length =
        switch (random.nextInt(12)) {
          case 0 -> 0;
          case 1 -> limit - 1;
          case 2 -> limit;
          case 3 -> limit + 1;
          case 4 -> 8128 + random.nextInt(3) - 1;
          case 5 -> 8124 + 8128 + random.nextInt(3) - 1;
          case 6 -> random.nextInt(80_000);
          default -> random.nextInt(limit / (1 + random.nextInt(20)) + 1);
        };
    byte[] value = new byte[length];
    random.nextBytes(value);
    return value;
  }

  private void read(TestEngine.Tx tx, byte[] key) {
    assertArrayEquals(
        history.get(tx, tx.snapshot, key),
        tx.get(tree(key), key),
        () -> "what transaction " + tx.id + " with snapshot " + tx.snapshot + " reads");
    assertWitnessed(
        history.dependsOn(tx, tx.snapshot, key),
        witness -> {
          Reading reading = tx.freshReading();
          engine.engine.reader().read(tree(key), key, reading);
          witness.saw(reading.witness().lsn());
        });
  }

  /**
   * The witness has exactly the commits on which an answer depends and that are not durable (R10).
   */
  private void assertWitnessed(long dependsOn, Consumer<Witness> reading) {
    Witness witness = new Witness();
    reading.accept(witness);
    long durable = engine.journal.durableLsn();
    if (dependsOn > durable) {
      assertEquals(dependsOn, witness.lsn());
    } else {
      assertTrue(witness.lsn() <= durable, () -> witness.lsn() + " is not durable: " + durable);
    }
  }

  private void write(TestEngine.Tx tx, byte[] key) {
    boolean delete = random.nextInt(4) == 0;
    byte[] value = delete ? null : value(key.length);
    byte[] before = history.get(tx, tx.snapshot, key);
    if (!delete && before != null && random.nextBoolean()) {
      value = Edits.edited(random, before);
    }
    long dependsOn = history.dependsOn(tx, tx.snapshot, key);
    boolean wasMine = history.hasWritten(tx, key);
    RowWriter.Outcome expected = history.write(tx, tx.snapshot, key, value);
    RowWriter.Outcome outcome =
        value == null
            ? tx.delete(tree(key), key)
            : value.length > 20_000 && random.nextBoolean()
                ? tx.putStream(tree(key), key, value)
                : tx.put(tree(key), key, value);
    if (outcome == RowWriter.Outcome.CONFLICT
        && tx.conflictingWriter() == 0
        && history.takeBackRefused(tx, tx.snapshot, key, wasMine)) {
      read(tx, key); // has nothing changed
      return;
    }
    assertEquals(expected, outcome, delete ? "delete" : "put");
    if (delete && outcome != RowWriter.Outcome.CONFLICT) {
      assertWitnessed(dependsOn, witness -> witness.saw(tx.metLsn()));
    }
    read(tx, key);
  }

  private void end(TestEngine.Tx tx) {
    open.remove(tx);
    if (random.nextInt(3) == 0) {
      tx.abort();
      history.abort(tx);
    } else {
      history.commit(tx, tx.commit());
      if (random.nextInt(3) > 0) {
        engine.journal.force();
      }
    }
  }

  private void scan(TestEngine.Tx tx) {
    byte[] from = random.nextInt(3) == 0 ? null : key();
    byte[] to = random.nextInt(3) == 0 ? null : key();
    scan(tx, from, to, random.nextBoolean());
  }

  private void scan(
      TestEngine.Tx tx, byte @Nullable [] from, byte @Nullable [] to, boolean descending) {
    var expected = history.range(tx, tx.snapshot, from, to);
    if (descending) {
      expected = expected.descendingMap();
    }
    Reading reading = tx.freshReading();
    long dependsOn = 0;
    RowSource scan = source(reading, descending, from, to);
    for (byte[] key : history.keys()) {
      boolean inside =
          (from == null || Arrays.compareUnsigned(key, from) >= 0)
              && (to == null || Arrays.compareUnsigned(key, to) < 0);
      dependsOn = inside ? Math.max(dependsOn, history.dependsOn(tx, tx.snapshot, key)) : dependsOn;
    }
    var rows = expected.entrySet().iterator();
    RowBatch batch = new RowBatch();
    for (scan.fill(batch, 0); !batch.isEmpty(); scan.fill(batch, 0)) {
      for (int row = 0; row < batch.size(); row++) {
        assertTrue(rows.hasNext(), "a row too many");
        Map.Entry<byte[], byte[]> next = rows.next();
        assertArrayEquals(next.getKey(), batch.key(row));
        assertArrayEquals(next.getValue(), tx.bytes(batch.value(row)));
      }
    }
    assertTrue(!rows.hasNext(), "a row is missing");
    long told = reading.witness().lsn();
    assertWitnessed(dependsOn, again -> again.saw(told));
  }

  private Tree tree(byte[] key) {
    return TableState.of(table).newest().of(key);
  }

  /** All trees of the table. */
  private RowSource source(
      Reading reading, boolean descending, byte @Nullable [] from, byte @Nullable [] to) {
    List<RowScan> scans = new ArrayList<>();
    for (Tree tree : TableState.of(table).newest().all()) {
      scans.add(
          new RowScan(engine.storage, engine.engine.reader(), tree, reading, descending, from, to));
    }
    return scans.size() == 1
        ? scans.getFirst()
        : new MergedScan(scans, MergedScan.batches(scans.size()), descending);
  }

  private void readAll() {
    engine.journal.force();
    TestEngine.Tx tx = engine.begin();
    scan(tx, null, null, /* descending= */ false);
    scan(tx, null, null, /* descending= */ true);
    tx.abort();
  }

  /** The log ends somewhere after what was durable; pages are of any age since a redo point. */
  private void crash() {
    List<MemoryJournal.Entry> entries = engine.journal.entries();
    long durable = engine.journal.durableLsn();
    int end = entries.size();
    while (end > 0 && entries.get(end - 1).lsn() > durable && random.nextInt(4) > 0) {
      end--;
    }
    List<MemoryJournal.Entry> kept = entries.subList(0, end);
    int from = random.nextInt(end + 1);
    Map<Integer, byte[]> disk = Replay.randomlyFlushed(Replay.newDatabase(), kept, from, random);
    Replay.redo(disk, kept.subList(from, end));
    engine.close();
    open.clear();
    history.crash(kept.isEmpty() ? 0 : kept.getLast().lsn());
    engine = TestEngine.restart(directory, kept, disk);
    table = engine.table("t", options);
    if (random.nextBoolean()) {
      readAll();
    }
  }

  private void redoAll() {
    List<MemoryJournal.Entry> entries = engine.journal.entries();
    Map<Integer, byte[]> memory = engine.memory();
    Map<Integer, byte[]> pages = Replay.newDatabase();
    Replay.redo(pages, entries);
    TestEngine.assertSamePages(memory, pages);
    Replay.redo(pages, entries);
    TestEngine.assertSamePages(memory, pages);
    for (int i = 0; i < 3; i++) {
      int from = random.nextInt(entries.size() + 1);
      Map<Integer, byte[]> disk =
          Replay.randomlyFlushed(Replay.newDatabase(), entries, from, random);
      Replay.redo(disk, entries.subList(from, entries.size()));
      TestEngine.assertSamePages(memory, disk);
    }
  }
}
