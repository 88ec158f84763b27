package org.revenantdb.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.revenantdb.engine.page.DroppedTableRow;
import org.revenantdb.engine.page.SequenceRow;
import org.revenantdb.engine.page.SlogEntry;
import org.revenantdb.recovery.log.PageSpace;
import org.revenantdb.recovery.log.RecordType;

/**
 * Tables that are created, dropped and truncated in transactions (protocols.md §31): the log ends
 * behind each record, then again behind each that the restart has written, and again.
 */
class SlogStepsTest {
  private static final int ROWS = 40;
  private static final int DEPTH = 3;

  @TempDir Path directory;

  private final long seed = Long.getLong("revenant.seed", new Random().nextInt(1 << 30));
  private final Random random = new Random(seed);

  /** What the transaction does; "old" has rows, "twin" too, others are not there. */
  private enum Script {
    CREATE {
      @Override
      void run(Transaction tx, Table old, Table twin) {
        fill(tx, tx.createTable("new", TableOptions.hashPartitioned(3)), 1);
      }
    },
    DROP {
      @Override
      void run(Transaction tx, Table old, Table twin) {
        tx.delete(old, key(3));
        tx.dropTable(old);
      }
    },
    TRUNCATE {
      @Override
      void run(Transaction tx, Table old, Table twin) {
        tx.truncate(old);
        tx.put(old, key(3), value(33));
      }
    },
    TRUNCATE_TWICE {
      @Override
      void run(Transaction tx, Table old, Table twin) {
        tx.truncate(old);
        fill(tx, old, 7);
        tx.truncate(old);
        tx.put(old, key(5), value(55));
      }
    },
    TRUNCATE_AND_DROP {
      @Override
      void run(Transaction tx, Table old, Table twin) {
        tx.truncate(old);
        fill(tx, old, 7);
        tx.dropTable(old);
      }
    },
    CREATE_AND_TRUNCATE {
      @Override
      void run(Transaction tx, Table old, Table twin) {
        Table made = tx.createTable("new");
        fill(tx, made, 2);
        tx.truncate(made);
        tx.put(made, key(4), value(44));
      }
    },
    CREATE_AND_DROP {
      @Override
      void run(Transaction tx, Table old, Table twin) {
        Table made = tx.createTable("new");
        fill(tx, made, 2);
        tx.dropTable(made);
        tx.put(old, key(1), value(11));
      }
    },
    CREATE_DROP_CREATE {
      @Override
      void run(Transaction tx, Table old, Table twin) {
        tx.dropTable(tx.createTable("new"));
        fill(tx, tx.createTable("new", TableOptions.hashPartitioned(2)), 2);
      }
    },
    SEVERAL_NAMES {
      @Override
      void run(Transaction tx, Table old, Table twin) {
        tx.truncate(twin);
        tx.put(twin, key(9), value(99));
        fill(tx, tx.createTable("new"), 3);
        tx.dropTable(old);
        fill(tx, tx.createTable("newer"), 4);
      }
    };

    abstract void run(Transaction tx, Table old, Table twin);
  }

  private static byte[] key(int number) {
    return CommittedStates.key(number);
  }

  private static byte[] value(int number) {
    // Some are large, so they have pages of their own.
    return Samples.random(number, number % 10 == 7 ? 5_000 : 300);
  }

  private static void fill(Transaction tx, Table table, int from) {
    for (int i = 0; i < ROWS; i++) {
      tx.put(table, key(i), value(from + i));
    }
  }

  /** All tables with all their rows, as a transaction of now sees them. */
  private static Map<String, Map<Integer, byte[]>> content(TestEngine engine) {
    engine.journal.force();
    Map<String, Map<Integer, byte[]>> tables = new TreeMap<>();
    try (Transaction tx = engine.transaction()) {
      for (String name : engine.catalog.names()) {
        tables.put(name, rows(tx, Objects.requireNonNull(engine.catalog.find(name), name)));
      }
    }
    return tables;
  }

  private static Map<Integer, byte[]> rows(Transaction tx, Table table) {
    Map<Integer, byte[]> rows = new TreeMap<>();
    try (Cursor cursor = tx.scan(table, null, null)) {
      while (cursor.next()) {
        rows.put(java.nio.ByteBuffer.wrap(cursor.key()).getInt(), cursor.value());
      }
    }
    return rows;
  }

  private static void assertSame(
      Map<String, Map<Integer, byte[]>> expected, Map<String, Map<Integer, byte[]>> found) {
    assertEquals(expected.keySet(), found.keySet());
    expected.forEach((name, rows) -> {
      assertEquals(rows.keySet(), found.get(name).keySet(), name);
      rows.forEach((key, value) -> assertArrayEquals(value, found.get(name).get(key), name + key));
    });
  }

  @ParameterizedTest
  @EnumSource(Script.class)
  void R16_wherever_the_log_ends_all_of_a_transaction_that_commits_is_there_or_nothing(
      Script script) {
    crashBehindEachRecord(script, /* commits= */ true);
  }

  @ParameterizedTest
  @EnumSource(Script.class)
  void R16_wherever_the_log_ends_nothing_of_a_transaction_that_rolls_back_is_there(Script script) {
    crashBehindEachRecord(script, /* commits= */ false);
  }

  private void crashBehindEachRecord(Script script, boolean commits) {
    System.out.println("SlogStepsTest -Drevenant.seed=" + seed);
    try (TestEngine engine = new TestEngine(directory, 4096)) {
      engine.catalog.create("old", TableOptions.hashPartitioned(2));
      engine.catalog.create("twin", TableOptions.defaults());
      Table old = Objects.requireNonNull(engine.catalog.find("old"));
      Table twin = Objects.requireNonNull(engine.catalog.find("twin"));
      try (Transaction tx = engine.transaction()) {
        fill(tx, old, 1);
        fill(tx, twin, 2);
        tx.commit();
      }
      engine.checkAllClean();
      Map<String, Map<Integer, byte[]>> before = content(engine);
      long pagesBefore = engine.check().treePages();
      int from = engine.journal.entries().size();
      Transaction tx = engine.transaction();
      script.run(tx, old, twin);
      engine.check();
      assertSame(before, content(engine)); // others see nothing of it
      if (commits) {
        tx.commit();
      } else {
        tx.rollback();
      }
      Map<String, Map<Integer, byte[]>> after = content(engine);
      if (!commits) {
        assertSame(before, after);
      }
      engine.check();
      assertEquals(0, unfinished(engine));
      long commit = commits ? commitLsn(engine, from) : Long.MAX_VALUE;
      engine.checkAllClean();
      assertEquals(0, engine.storage.transactions().aborted().size());
      assertSame(after, content(engine));
      long pagesAfter = engine.check().treePages();

      List<MemoryJournal.Entry> entries = engine.journal.entries();
      for (int end = from; end <= entries.size(); end++) {
        boolean isThere = entries.get(end - 1).lsn() >= commit;
        try {
          restart(
              entries.subList(0, end),
              isThere ? after : before,
              isThere ? pagesAfter : pagesBefore,
              DEPTH);
        } catch (Throwable failure) {
          throw new AssertionError(
              "-Drevenant.seed=" + seed + ", the log ends behind record " + end + ": " + failure,
              failure);
        }
      }
    }
  }

  private static long commitLsn(TestEngine engine, int from) {
    List<MemoryJournal.Entry> entries = engine.journal.entries();
    return entries.subList(from, entries.size()).stream()
        .filter(entry -> entry.is(RecordType.COMMIT))
        .mapToLong(MemoryJournal.Entry::lsn)
        .findFirst()
        .orElseThrow();
  }

  /** Entries of the SLog that are left in the catalogue. */
  private static int unfinished(TestEngine engine) {
    int[] count = new int[1];
    engine.catalog.forEach(
        DroppedTableRow.firstKey(),
        SequenceRow.firstKey(),
        (key, value) -> count[0] += SlogEntry.is(value) ? 1 : 0);
    return count[0];
  }

  private void restart(
      List<MemoryJournal.Entry> log,
      Map<String, Map<Integer, byte[]>> expected,
      long treePages,
      int depth) {
    int redoFrom = random.nextInt(log.size() + 1);
    Map<Integer, byte[]> pages =
        Replay.randomlyFlushed(Replay.newDatabase(), log, redoFrom, random);
    Replay.redo(pages, log.subList(redoFrom, log.size()));
    List<MemoryJournal.Entry> whole;
    try (TestEngine restarted = TestEngine.restart(directory, log, pages)) {
      restarted.check();
      assertSame(expected, content(restarted)); // before anything is finished
      assertTrue(restarted.catalog.finish());
      assertEquals(0, unfinished(restarted));
      restarted.check();
      assertSame(expected, content(restarted));
      assertEquals(treePages, restarted.checkAllClean().treePages());
      assertEquals(0, restarted.storage.transactions().aborted().size());
      assertSame(expected, content(restarted));
      whole = new ArrayList<>(restarted.journal.entries());
    }
    if (depth > 1 && whole.size() > log.size()) {
      int end = log.size() + 1 + random.nextInt(whole.size() - log.size());
      restart(whole.subList(0, end), expected, treePages, depth - 1);
    }
  }

  @Test
  void R1_an_aborted_transaction_is_not_forgotten_before_its_tables_are_finished() {
    try (TestEngine engine = new TestEngine(directory, 4096)) {
      engine.catalog.create("old", TableOptions.defaults());
      Table old = Objects.requireNonNull(engine.catalog.find("old"));
      Transaction tx = engine.transaction();
      tx.truncate(old);
      tx.createTable("new");
      List<MemoryJournal.Entry> log = new ArrayList<>(engine.journal.entries());
      Map<Integer, byte[]> pages = Replay.newDatabase();
      Replay.redo(pages, log);
      try (TestEngine restarted = TestEngine.restart(directory, log, pages)) {
        assertEquals(1, restarted.storage.transactions().aborted().size());
        assertTrue(restarted.catalog.hasUnfinished());
        long aborted = restarted.storage.transactions().aborted().snapshot()[0];
        assertTrue(restarted.catalog.holds(aborted));
        restarted.pass();
        assertFalse(restarted.catalog.hasUnfinished(), "a pass finishes them first");
        restarted.pass();
        assertEquals(0, restarted.storage.transactions().aborted().size());
        assertNull(restarted.catalog.find("new"));
      }
    }
  }

  @Test
  void R10_who_finds_a_table_empty_that_was_truncated_depends_on_that_commit() {
    try (TestEngine engine = new TestEngine(directory, 4096)) {
      engine.catalog.create("old", TableOptions.defaults());
      Table old = Objects.requireNonNull(engine.catalog.find("old"));
      try (Transaction tx = engine.transaction()) {
        fill(tx, old, 1);
        tx.commit();
      }
      engine.journal.force();
      Transaction tx = engine.transaction();
      tx.truncate(old);
      tx.commit();
      long commit = old.newest().since();
      assertTrue(commit > engine.journal.durableLsn());
      try (Transaction reader = engine.transaction()) {
        byte @Nullable [] found = reader.get(old, key(1));
        assertNull(found);
        assertEquals(commit, reader.core().witness().lsn());
      }
    }
  }

  @Test
  void R16_a_step_on_a_table_that_another_transaction_has_dropped_waits_for_its_end() {
    try (TestEngine engine = new TestEngine(directory, 4096)) {
      engine.catalog.create("old", TableOptions.defaults());
      Table old = Objects.requireNonNull(engine.catalog.find("old"));
      Transaction first = engine.transaction();
      first.dropTable(old);
      // As if both had looked for writers before either had entered.
      try (Transaction second = engine.transaction()) {
        TableSteps steps = engine.engine.tables();
        assertFalse(steps.drop(second.core(), new OwnTables(), old));
        assertFalse(steps.truncate(second.core(), new OwnTables(), old));
      }
      assertEquals(Catalog.Dropped.HELD, engine.catalog.drop(old));
      first.rollback();
      assertEquals(Catalog.Dropped.DONE, engine.catalog.drop(old));
    }
  }

  @Test
  void R25_a_rollback_that_gets_no_room_at_once_leaves_the_entries_to_the_cleaner() {
    PageSpace scarce = new PageSpace(() -> Long.MAX_VALUE, 1_000, 100, () -> {});
    try (TestEngine engine = new TestEngine(directory, 4096, scarce)) {
      engine.catalog.create("old", TableOptions.defaults());
      Table old = Objects.requireNonNull(engine.catalog.find("old"));
      for (boolean commits : new boolean[] {false, true}) {
        Transaction tx = engine.transaction();
        tx.put(old, key(1), value(1));
        tx.truncate(old);
        tx.createTable("new");
        int taken = 0;
        while (scarce.tryAcquire(1)) {
          taken++;
        }
        if (commits) {
          tx.commit();
        } else {
          tx.rollback();
        }
        assertEquals(3, unfinished(engine));
        assertTrue(engine.catalog.hasUnfinished());
        assertEquals(commits, engine.catalog.find("new") != null);
        assertEquals(commits ? 2 : 1, engine.catalog.names().size());
        try (Transaction reader = engine.transaction()) {
          assertNull(reader.get(old, key(1)));
        }
        engine.check();
        scarce.release(taken);
        engine.pass();
        assertEquals(0, unfinished(engine));
        assertEquals(commits ? 2 : 1, engine.checkAllClean().tables());
      }
    }
  }
}
