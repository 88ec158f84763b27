package org.revenantdb.engine.catalog;

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
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TableOptions;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.access.ApiAccess;
import org.revenantdb.engine.page.DroppedTableRow;
import org.revenantdb.engine.page.SequenceRow;
import org.revenantdb.engine.page.SlogEntry;
import org.revenantdb.engine.session.OwnTables;
import org.revenantdb.engine.session.TableSteps;
import org.revenantdb.engine.testing.CommittedStates;
import org.revenantdb.engine.testing.Contents;
import org.revenantdb.engine.testing.CrashScript;
import org.revenantdb.engine.testing.MemoryJournal;
import org.revenantdb.engine.testing.RecordCuts;
import org.revenantdb.engine.testing.Replay;
import org.revenantdb.engine.testing.Samples;
import org.revenantdb.engine.testing.Scene;
import org.revenantdb.engine.testing.TestEngine;
import org.revenantdb.recovery.log.PageSpace;

/**
 * Tables that are created, dropped and truncated in transactions (protocols.md §31): the log ends
 * behind each record, then again behind one that the restart has written, and again.
 */
public class SlogStepsTest {
  private static final int ROWS = 40;

  @TempDir Path directory;

  private final long seed = Long.getLong("revenant.seed", new Random().nextInt(1 << 30));

  /** What the transaction does; "old" has rows, "twin" too, others are not there. */
  private enum Script {
    CREATE {
      @Override
      void run(Scene.Session tx) {
        tx.create("new", TableOptions.hashPartitioned(3));
        fill(tx, "new", 1);
      }
    },
    DROP {
      @Override
      void run(Scene.Session tx) {
        tx.delete("old", 3);
        tx.drop("old");
      }
    },
    TRUNCATE {
      @Override
      void run(Scene.Session tx) {
        tx.truncate("old");
        tx.put("old", 3, value(33));
      }
    },
    TRUNCATE_TWICE {
      @Override
      void run(Scene.Session tx) {
        tx.truncate("old");
        fill(tx, "old", 7);
        tx.truncate("old");
        tx.put("old", 5, value(55));
      }
    },
    TRUNCATE_AND_DROP {
      @Override
      void run(Scene.Session tx) {
        tx.truncate("old");
        fill(tx, "old", 7);
        tx.drop("old");
      }
    },
    CREATE_AND_TRUNCATE {
      @Override
      void run(Scene.Session tx) {
        tx.create("new", TableOptions.defaults());
        fill(tx, "new", 2);
        tx.truncate("new");
        tx.put("new", 4, value(44));
      }
    },
    CREATE_AND_DROP {
      @Override
      void run(Scene.Session tx) {
        tx.create("new", TableOptions.defaults());
        fill(tx, "new", 2);
        tx.drop("new");
        tx.put("old", 1, value(11));
      }
    },
    CREATE_DROP_CREATE {
      @Override
      void run(Scene.Session tx) {
        tx.create("new", TableOptions.defaults());
        tx.drop("new");
        tx.create("new", TableOptions.hashPartitioned(2));
        fill(tx, "new", 2);
      }
    },
    SEVERAL_NAMES {
      @Override
      void run(Scene.Session tx) {
        tx.truncate("twin");
        tx.put("twin", 9, value(99));
        tx.create("new", TableOptions.defaults());
        fill(tx, "new", 3);
        tx.drop("old");
        tx.create("newer", TableOptions.defaults());
        fill(tx, "newer", 4);
      }
    };

    abstract void run(Scene.Session tx);
  }

  /** A script in a transaction that ends so. */
  private record Steps(Script script, boolean commits) implements CrashScript {
    @Override
    public void setUp(Scene scene) {
      scene.create("old", TableOptions.hashPartitioned(2));
      scene.create("twin", TableOptions.defaults());
      Scene.Session tx = scene.session();
      fill(tx, "old", 1);
      fill(tx, "twin", 2);
      tx.commit();
    }

    @Override
    public void run(Scene scene) {
      scene.point("steps of a transaction");
      Scene.Session tx = scene.session();
      script.run(tx);
      scene.look(); // others see nothing of it
      scene.point("its end");
      if (commits) {
        tx.commit();
      } else {
        tx.rollBack();
      }
    }
  }

  /** Entries of the SLog are finished, and tables have as many pages as without a crash. */
  private static final class Cuts extends RecordCuts {
    private record Pages(Contents contents, long count) {}

    private final List<Pages> expected = new ArrayList<>();

    Cuts(Path directory, long seed) {
      super(directory, seed);
    }

    @Override
    public void begin(TestEngine engine, Contents contents) {
      expected.add(new Pages(contents, engine.checkAllClean().treePages()));
    }

    @Override
    public void ran(TestEngine engine) {
      assertEquals(0, unfinished(engine));
    }

    @Override
    public void restarted(TestEngine engine) {
      assertTrue(engine.catalog.finish());
      assertEquals(0, unfinished(engine));
      engine.check();
    }

    @Override
    public void cleaned(TestEngine engine, Contents contents) {
      long pages = engine.check().treePages();
      expected.stream()
          .filter(known -> known.contents.isSame(contents))
          .findFirst()
          .ifPresentOrElse(
              known -> assertEquals(known.count, pages, "pages of trees"),
              () -> expected.add(new Pages(contents, pages)));
    }
  }

  private static byte[] key(int number) {
    return CommittedStates.key(number);
  }

  private static byte[] value(int number) {
    // Some are large, so they have pages of their own.
    return Samples.random(number, number % 10 == 7 ? 5_000 : 300);
  }

  private static void fill(Scene.Session tx, String table, int from) {
    for (int i = 0; i < ROWS; i++) {
      tx.put(table, i, value(from + i));
    }
  }

  @ParameterizedTest
  @EnumSource(Script.class)
  void R16_wherever_the_log_ends_all_of_a_transaction_that_commits_is_there_or_nothing(
      Script script) {
    new Cuts(directory, seed).cut(new Steps(script, /* commits= */ true));
  }

  @ParameterizedTest
  @EnumSource(Script.class)
  void R16_wherever_the_log_ends_nothing_of_a_transaction_that_rolls_back_is_there(Script script) {
    new Cuts(directory, seed).cut(new Steps(script, /* commits= */ false));
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
        tx.put(old, key(1), value(1));
        tx.commit();
      }
      engine.journal.force();
      Transaction tx = engine.transaction();
      tx.truncate(old);
      tx.commit();
      long commit = TableState.of(old).newest().since();
      assertTrue(commit > engine.journal.durableLsn());
      try (Transaction reader = engine.transaction()) {
        byte @Nullable [] found = reader.get(old, key(1));
        assertNull(found);
        assertEquals(commit, ApiAccess.api().core(reader).witness().lsn());
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
        assertFalse(steps.drop(ApiAccess.api().core(second), new OwnTables(), old));
        assertFalse(steps.truncate(ApiAccess.api().core(second), new OwnTables(), old));
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
