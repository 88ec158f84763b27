package org.revenantdb.engine.catalog;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.revenantdb.engine.testing.Refusals.assertRefused;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.CatalogException;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TableOptions;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.testing.CommittedStates;
import org.revenantdb.engine.testing.MemoryJournal;
import org.revenantdb.engine.testing.Replay;
import org.revenantdb.engine.testing.Samples;
import org.revenantdb.engine.testing.TestEngine;
import org.revenantdb.recovery.log.RecordType;
import org.revenantdb.testing.Drawn;

/**
 * Random transactions that create, drop, truncate and write tables, snapshots beside them, and
 * lives that end behind any record: everything is as a map of maps has it.
 */
class SlogHistoryTest {
  private static final List<String> NAMES = List.of("a", "b", "c", "d");
  private static final int STEPS = 120;

  @TempDir Path directory;

  /** Tables by name, with their rows. */
  private record World(TreeMap<String, TreeMap<Integer, byte[]>> tables) {
    World copy() {
      World copy = new World(new TreeMap<>());
      tables.forEach((name, rows) -> copy.tables.put(name, new TreeMap<>(rows)));
      return copy;
    }
  }

  private record Commit(long lsn, World world) {}

  private record Reader(Transaction tx, World world, Map<String, Table> handles) {}

  private Random random = new Random();
  private TestEngine engine;
  private World world;
  private final List<Commit> commits = new ArrayList<>();
  private final List<Reader> readers = new ArrayList<>();
  private int crashes;

  @Test
  @Drawn(oneIn = 2)
  void in_random_lives_tables_and_rows_are_those_of_what_was_committed() {
    long seed = Long.getLong("revenant.seed", new Random().nextInt(1 << 30));
    int rounds = Integer.getInteger("revenant.rounds", 6);
    for (int round = 0; round < rounds; round++) {
      System.out.println("SlogHistoryTest -Drevenant.seed=" + (seed + round));
      random = new Random(seed + round);
      engine = new TestEngine(directory, 4096);
      world = new World(new TreeMap<>());
      commits.clear();
      readers.clear();
      commits.add(new Commit(0, world));
      try {
        for (int step = 0; step < STEPS; step++) {
          step();
        }
        endReaders();
        engine.checkAllClean();
        assertWorld(world);
      } catch (Throwable failure) {
        throw new AssertionError("-Drevenant.seed=" + (seed + round) + ": " + failure, failure);
      } finally {
        engine.close();
      }
    }
    System.out.println(crashes + " crashes");
  }

  private void step() {
    switch (random.nextInt(12)) {
      case 0 -> read();
      case 1 -> {
        if (!readers.isEmpty()) {
          Reader reader = readers.remove(random.nextInt(readers.size()));
          assertSees(reader);
          reader.tx.rollback();
        }
      }
      case 2 -> engine.pass();
      case 3 -> {
        engine.journal.force();
        engine.check();
      }
      case 4 -> crash();
      default -> transaction();
    }
  }

  private void read() {
    Map<String, Table> handles = new HashMap<>();
    for (String name : NAMES) {
      Table table = engine.catalog.find(name);
      if (table != null) {
        handles.put(name, table);
      }
    }
    readers.add(new Reader(engine.transaction(), world, handles));
  }

  private void assertSees(Reader reader) {
    assertEquals(reader.world.tables.keySet(), reader.handles.keySet());
    reader.handles.forEach(
        (name, table) -> assertRows(reader.tx, table, reader.world.tables.get(name)));
  }

  private static void assertRows(Transaction tx, Table table, @Nullable Map<Integer, byte[]> rows) {
    Map<Integer, byte[]> found = new TreeMap<>();
    try (Cursor cursor = tx.scan(table, null, null)) {
      while (cursor.next()) {
        found.put(ByteBuffer.wrap(cursor.key()).getInt(), cursor.value());
      }
    }
    assertEquals(Objects.requireNonNull(rows).keySet(), found.keySet(), table.name());
    rows.forEach((key, value) -> assertArrayEquals(value, found.get(key)));
  }

  private void assertWorld(World expected) {
    engine.journal.force();
    assertEquals(List.copyOf(expected.tables.keySet()), engine.catalog.names());
    try (Transaction tx = engine.transaction()) {
      for (String name : NAMES) {
        Table table = engine.catalog.find(name);
        assertEquals(expected.tables.containsKey(name), table != null, name);
        if (table != null) {
          assertRows(tx, table, expected.tables.get(name));
        }
      }
    }
  }

  private void transaction() {
    World after = world.copy();
    Transaction tx = engine.transaction();
    int from = engine.journal.entries().size();
    int actions = 1 + random.nextInt(6);
    for (int i = 0; i < actions; i++) {
      act(tx, after);
      if (random.nextInt(8) == 0) {
        engine.pass();
      }
      if (random.nextInt(8) == 0) {
        assertWorld(world); // others see nothing of it
      }
    }
    if (random.nextInt(12) == 0) {
      crash(); // with it open
      return;
    }
    if (random.nextInt(3) == 0) {
      tx.rollback();
    } else {
      tx.commit();
      world = after;
      List<MemoryJournal.Entry> entries = engine.journal.entries();
      entries.subList(from, entries.size()).stream()
          .filter(entry -> entry.is(RecordType.COMMIT))
          .forEach(entry -> commits.add(new Commit(entry.lsn(), after)));
    }
    if (random.nextInt(4) == 0) {
      assertWorld(world);
    }
  }

  private void act(Transaction tx, World mine) {
    String name = NAMES.get(random.nextInt(NAMES.size()));
    TreeMap<Integer, byte[]> rows = mine.tables.get(name);
    Table table = tx.findTable(name);
    assertEquals(rows == null, table == null, name);
    if (table == null || rows == null) {
      int partitions = 1 + random.nextInt(3);
      try {
        Table made = tx.createTable(name, TableOptions.hashPartitioned(partitions));
        mine.tables.put(name, new TreeMap<>());
        write(tx, made, mine.tables.get(name));
      } catch (CatalogException itHasDroppedOne) {
        assertEquals(CatalogException.Reason.EXISTS, itHasDroppedOne.reason());
        assertEquals(true, world.tables.containsKey(name));
      }
      return;
    }
    switch (random.nextInt(7)) {
      case 0 -> {
        tx.dropTable(table);
        mine.tables.remove(name);
        assertRefused(CatalogException.Reason.DROPPED, () -> tx.get(table, new byte[1]));
      }
      case 1, 2 -> {
        tx.truncate(table);
        rows.clear();
      }
      default -> write(tx, table, rows);
    }
    if (mine.tables.containsKey(name) && random.nextInt(3) == 0) {
      assertRows(tx, table, rows);
    }
  }

  private void write(Transaction tx, Table table, TreeMap<Integer, byte[]> rows) {
    int writes = random.nextInt(40);
    for (int i = 0; i < writes; i++) {
      int key = random.nextInt(60);
      if (random.nextInt(4) == 0) {
        assertEquals(rows.remove(key) != null, tx.delete(table, CommittedStates.key(key)));
      } else {
        byte[] value =
            Samples.random(random.nextInt(), random.nextInt(random.nextInt(9) == 0 ? 9_000 : 300));
        tx.put(table, CommittedStates.key(key), value);
        rows.put(key, value);
      }
    }
  }

  private void endReaders() {
    for (Reader reader : readers) {
      assertSees(reader);
      reader.tx.rollback();
    }
    readers.clear();
  }

  /** The log ends behind some record of this life, or of the last thing that was done in it. */
  private void crash() {
    List<MemoryJournal.Entry> entries = engine.journal.entries();
    if (entries.isEmpty()) {
      return;
    }
    crashes++;
    readers.forEach(this::assertSees);
    readers.clear();
    int end = Math.max(1, entries.size() - random.nextInt(random.nextInt(3) == 0 ? 60 : 6));
    List<MemoryJournal.Entry> log = new ArrayList<>(entries.subList(0, end));
    engine.close();
    int redoFrom = random.nextInt(end + 1);
    Map<Integer, byte[]> pages =
        Replay.randomlyFlushed(Replay.newDatabase(), log, redoFrom, random);
    Replay.redo(pages, log.subList(redoFrom, end));
    engine = TestEngine.restart(directory, log, pages);
    long last = log.getLast().lsn();
    commits.removeIf(commit -> commit.lsn > last);
    world = commits.getLast().world;
    if (random.nextBoolean()) {
      engine.check();
    }
    assertWorld(world);
  }
}
