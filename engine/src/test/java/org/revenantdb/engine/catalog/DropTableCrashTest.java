package org.revenantdb.engine.catalog;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.CheckReport;
import org.revenantdb.engine.CheckedTable;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TableOptions;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.testing.MemoryJournal;
import org.revenantdb.engine.testing.Replay;
import org.revenantdb.engine.testing.Samples;
import org.revenantdb.engine.testing.TestEngine;
import org.revenantdb.engine.version.CleanerSteps;
import org.revenantdb.engine.version.RowWriter;
import org.revenantdb.recovery.testing.CrashDisk;
import org.revenantdb.testing.Drawn;

/**
 * Dropped tables, cut off behind log records, beside a cleaner that moves only when it is told to
 * (protocols.md §24): the table is there whole, or gone; no page leaks, whatever the age of pages.
 *
 * <p>Behind one record in twelve, drawn at random, and the last one; under {@code -Plong} behind
 * each. {@code -Drevenant.seed=n} repeats a run, {@code -Drevenant.rounds=n} sets the number of
 * rounds of the random one.
 */
class DropTableCrashTest {
  private static final int STEPS = 400;
  private static final boolean LONG = Boolean.getBoolean("revenant.long");

  /** One record in so many is a cut. */
  private static final int EVERY = LONG ? 1 : 12;

  @TempDir Path directory;

  private final long seed =
      Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));
  private Random random = new Random(seed);

  /** Long and different at the end, so that few separators fill a page. */
  private static byte[] key(int number) {
    byte[] key = new byte[900];
    Arrays.fill(key, (byte) 'k');
    System.arraycopy(Samples.bytes("%05d".formatted(number)), 0, key, 890, 5);
    return key;
  }

  private static byte[] value(int number) {
    return Samples.random(number, number % 40 == 3 ? 3_000 + number % 9 * 30_000 : number % 300);
  }

  private static void put(TestEngine.Tx tx, Table table, int number, byte[] value) {
    byte[] key = key(number);
    Tree tree = TableState.of(table).newest().of(key);
    assertEquals(RowWriter.Outcome.DONE, tx.put(tree, key, value));
  }

  private static void delete(TestEngine.Tx tx, Table table, int number) {
    byte[] key = key(number);
    tx.delete(TableState.of(table).newest().of(key), key);
  }

  private static byte[] read(TestEngine engine, Table table, int number) {
    byte[] key = key(number);
    return engine.read(TableState.of(table).newest().of(key), key);
  }

  /** A table with versions of all kinds: replaced, deleted, aborted, in leaves and beside them. */
  private static Table fill(TestEngine engine, String name, int partitions, int rows) {
    Table table = engine.table(name, TableOptions.hashPartitioned(partitions));
    TestEngine.Tx tx = engine.begin();
    for (int i = 0; i < rows; i++) {
      put(tx, table, i, value(i));
    }
    tx.commitDurably();
    tx = engine.begin();
    for (int i = 0; i < rows; i += 13) {
      put(tx, table, i, value(i + 3));
      delete(tx, table, i + 1);
    }
    tx.commitDurably();
    tx = engine.begin();
    for (int i = 0; i < rows; i += 10) {
      put(tx, table, i + 3, value(i + 43)); // over large values, too
      put(tx, table, i + 5, value(i + 3));
      delete(tx, table, i + 8);
    }
    tx.abort();
    return table;
  }

  @Test
  @Drawn(oneIn = 2)
  void a_crash_behind_a_record_leaves_the_table_or_nothing_and_leaks_no_page() {
    crashBehindRecords(1, 700);
  }

  @Test
  @Drawn(oneIn = 2)
  void a_crash_behind_a_record_leaves_all_partitions_or_nothing() {
    crashBehindRecords(3, 300);
  }

  private void crashBehindRecords(int partitions, int rows) {
    System.out.println("DropTableCrashTest -Drevenant.seed=" + seed);
    try (TestEngine engine = new TestEngine(directory, 4096)) {
      Table kept = fill(engine, "kept", 1, 60);
      long keptPages = engine.checkAllClean().treePages();
      Table table = fill(engine, "t", partitions, rows);
      engine.journal.force();
      long levels =
          engine.check().contents().stream().mapToLong(CheckedTable::levels).max().orElseThrow();
      assertTrue(partitions > 1 || levels > 3, levels + " levels");
      int from = engine.journal.entries().size();
      assertEquals(Catalog.Dropped.DONE, engine.catalog.drop(table));
      long dropped = engine.journal.tail();
      assertEquals(dropped, TableState.of(table).droppedAt());
      engine.check();
      engine.journal.force();
      engine.around =
          step -> {
            long changes = step.getAsLong();
            if (random.nextInt(10) == 0) {
              engine.check(); // between any two steps
            }
            return changes;
          };
      assertEquals(keptPages, engine.checkAllClean().treePages());
      engine.around = step -> step.getAsLong();

      List<MemoryJournal.Entry> entries = engine.journal.entries();
      System.out.println((entries.size() - from) + " records of a drop");
      for (int end = from; end <= entries.size(); end++) {
        if (random.nextInt(EVERY) != 0 && end < entries.size()) {
          continue;
        }
        List<MemoryJournal.Entry> part = entries.subList(0, end);
        int redoFrom = random.nextInt(end + 1);
        Map<Integer, byte[]> pages =
            Replay.randomlyFlushed(Replay.newDatabase(), part, redoFrom, random);
        Replay.redo(pages, part.subList(redoFrom, end));
        try (TestEngine restarted = TestEngine.restart(directory, part, pages)) {
          restarted.check();
          Table found = restarted.catalog.find("t");
          assertEquals(part.getLast().lsn() >= dropped, found == null);
          if (found != null) {
            assertArrayEquals(value(2), read(restarted, found, 2));
          } else if (end % 3 == 0) {
            restarted.table("t", TableOptions.hashPartitioned(2)); // beside what is being freed
          }
          CheckReport clean = restarted.checkAllClean();
          if (found == null) {
            assertEquals(keptPages + (end % 3 == 0 ? 2 : 0), clean.treePages());
          }
          assertArrayEquals(value(2), read(restarted, restarted.table("kept", kept.options()), 2));
        } catch (Throwable failure) {
          throw new AssertionError(
              "-Drevenant.seed=" + seed + ", the log ends behind record " + end + ": " + failure,
              failure);
        }
      }
    }
  }

  // ---- random work against a model

  private static final List<String> NAMES = List.of("a", "b", "c", "d");

  /** What a table holds; of a table that was dropped, what it held. */
  private static final class Twin {
    Table table;
    final TreeMap<Integer, byte[]> rows = new TreeMap<>();

    Twin(Table table) {
      this.table = table;
    }
  }

  /** A snapshot, and what it has to see in each table that it knows. */
  private record Reader(TestEngine.Tx tx, Map<Table, TreeMap<Integer, byte[]>> sees) {}

  private final Map<String, Twin> twins = new HashMap<>();
  private final List<Reader> readers = new ArrayList<>();
  private int drops;

  @Test
  @Drawn(oneIn = 2)
  void random_creates_drops_and_crashes_leave_what_the_model_has() {
    int rounds = Integer.getInteger("revenant.rounds", LONG ? 20 : 1);
    for (int round = 0; round < rounds; round++) {
      System.out.println("DropTableCrashTest -Drevenant.seed=" + (seed + round));
      random = new Random(seed + round);
      twins.clear();
      readers.clear();
      TestEngine engine = new TestEngine(directory, 4096);
      try {
        // So many drops in each round, however seldom they are drawn.
        for (int step = 0; step < STEPS || drops <= 10 * (round + 1); step++) {
          engine = step(engine);
        }
        while (!readers.isEmpty()) {
          check(engine, readers.getLast());
          readers.removeLast().tx.abort();
        }
        checkTwins(engine);
        long trees =
            twins.values().stream()
                .mapToLong(twin -> TableState.of(twin.table).newest().all().size())
                .sum();
        assertEquals(twins.size(), engine.checkAllClean().tables());
        checkTwins(engine);
        for (String name : List.copyOf(twins.keySet())) {
          drop(engine, name);
        }
        assertEquals(1, engine.checkAllClean().treePages(), trees + " trees");
      } catch (Throwable failure) {
        throw new AssertionError(
            "-Drevenant.seed=" + (seed + round) + " -Drevenant.rounds=1: " + failure, failure);
      } finally {
        engine.close();
      }
    }
  }

  private TestEngine step(TestEngine engine) {
    String name = NAMES.get(random.nextInt(NAMES.size()));
    switch (random.nextInt(24)) {
      case 0, 1 -> drop(engine, name);
      case 2 -> {
        if (readers.size() < 4) {
          engine.journal.force();
          Map<Table, TreeMap<Integer, byte[]>> sees = new HashMap<>();
          twins.values().forEach(twin -> sees.put(twin.table, new TreeMap<>(twin.rows)));
          readers.add(new Reader(engine.begin(), sees));
        }
      }
      case 3 -> {
        if (!readers.isEmpty()) {
          Reader reader = readers.remove(random.nextInt(readers.size()));
          check(engine, reader);
          reader.tx.abort();
        }
      }
      case 4, 5 -> {
        if (!readers.isEmpty()) {
          check(engine, readers.get(random.nextInt(readers.size())));
        }
      }
      case 6, 7 -> CleanerSteps.pass(engine.cleaner, random.nextBoolean());
      case 8 -> engine.check();
      case 9 -> engine.journal.force();
      case 10 -> {
        if (random.nextInt(3) == 0) {
          return crash(engine);
        }
      }
      default -> write(engine, twin(engine, name));
    }
    return engine;
  }

  private Twin twin(TestEngine engine, String name) {
    return twins.computeIfAbsent(
        name,
        n -> {
          assertNull(engine.catalog.find(n));
          int partitions = random.nextBoolean() ? 1 : 2 + random.nextInt(4);
          return new Twin(engine.table(n, TableOptions.hashPartitioned(partitions)));
        });
  }

  private void write(TestEngine engine, Twin twin) {
    TreeMap<Integer, byte[]> after = new TreeMap<>(twin.rows);
    TestEngine.Tx tx = engine.begin();
    int first = random.nextInt(150);
    for (int i = first + random.nextInt(40); i >= first; i--) {
      if (random.nextInt(4) == 0) {
        delete(tx, twin.table, i);
        after.remove(i);
      } else {
        byte[] value = value(random.nextInt(10_000));
        put(tx, twin.table, i, value);
        after.put(i, value);
      }
    }
    if (random.nextInt(3) == 0) {
      tx.abort();
    } else {
      tx.commitDurably();
      twin.rows.clear();
      twin.rows.putAll(after);
    }
  }

  private void drop(TestEngine engine, String name) {
    Twin twin = twins.remove(name);
    if (twin == null) {
      assertNull(engine.catalog.find(name));
      return;
    }
    assertEquals(Catalog.Dropped.DONE, engine.catalog.drop(twin.table));
    engine.journal.force();
    drops++;
  }

  private static void check(TestEngine engine, Reader reader) {
    reader.sees.forEach((table, rows) -> check(engine, reader.tx, table, rows));
  }

  private static void check(
      TestEngine engine, TestEngine.Tx tx, Table table, TreeMap<Integer, byte[]> rows) {
    for (int i = 0; i < 200; i++) {
      byte[] key = key(i);
      assertArrayEquals(
          rows.get(i), tx.get(TableState.of(table).newest().of(key), key), "row " + i);
    }
  }

  private void checkTwins(TestEngine engine) {
    assertEquals(twins.keySet().stream().sorted().toList(), engine.catalog.names());
    TestEngine.Tx tx = engine.begin();
    twins.values().forEach(twin -> check(engine, tx, twin.table, twin.rows));
    tx.abort();
  }

  private TestEngine crash(TestEngine engine) {
    engine.journal.force();
    List<MemoryJournal.Entry> entries = engine.journal.entries();
    int from = random.nextInt(entries.size() + 1);
    Map<Integer, byte[]> disk = Replay.randomlyFlushed(Replay.newDatabase(), entries, from, random);
    Replay.redo(disk, entries.subList(from, entries.size()));
    engine.close();
    readers.clear();
    TestEngine restarted = TestEngine.restart(directory, entries, disk);
    twins.forEach(
        (name, twin) -> twin.table = Objects.requireNonNull(restarted.catalog.find(name)));
    checkTwins(restarted);
    return restarted;
  }

  // ---- through real files

  @Test
  void R10_a_table_that_was_dropped_is_gone_after_every_power_cut() {
    CrashDisk disk = new CrashDisk();
    CrashDisk image;
    DatabaseOptions options = Samples.SMALL.withMaxLazyDelay(DatabaseOptions.NEVER);
    try (Database db = Database.open(disk.path("/db"), options)) {
      Samples.put(db, "t", "k", "v");
      assertTrue(db.dropTable("t"));
      image = disk.afterPowerCut(sector -> false);
    }
    try (Database db = Database.open(image.path("/db"), options)) {
      assertEquals(List.of(), db.tableNames());
      db.cleanNow();
      assertEquals(1, db.check().treePages());
      assertNotNull(db.getOrCreateTable("t"));
    }
  }
}
