package org.revenantdb.engine.catalog;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.CheckReport;
import org.revenantdb.engine.CheckedTable;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.StorageException;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TableOptions;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.lifecycle.DatabaseFiles;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.testing.MemoryJournal;
import org.revenantdb.engine.testing.Replay;
import org.revenantdb.engine.testing.Samples;
import org.revenantdb.engine.testing.TestEngine;
import org.revenantdb.engine.version.RowWriter;
import org.revenantdb.recovery.testing.FaultyFileSystem;
import org.revenantdb.recovery.testing.IoEvent;
import org.revenantdb.testing.Drawn;

/**
 * Tables with partitions, created while the log may end behind any record and pages may be of any
 * age (protocols.md §22): none of a table's trees is there, or all.
 *
 * <p>{@code -Drevenant.seed=n} repeats a run.
 */
class PartitionCreationTest {
  private static final int TABLES = 24;

  @TempDir Path directory;

  /** Long, so that leaves of the catalogue are split on the way. */
  private static String name(int table) {
    return "table %02d ".formatted(table).repeat(110);
  }

  private static TableOptions options(int table) {
    return TableOptions.hashPartitioned(table % 3 == 0 ? 64 : 1 + table % 7);
  }

  @Test
  @Drawn(oneIn = 2)
  void P3_a_crash_behind_each_record_leaves_none_of_a_tables_trees_or_all_and_leaks_no_page() {
    long seed = Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));
    System.out.println("PartitionCreationTest -Drevenant.seed=" + seed);
    Random random = new Random(seed);
    try (TestEngine engine = new TestEngine(directory, 2048)) {
      for (int table = 0; table < TABLES; table++) {
        assertEquals(options(table), engine.table(name(table), options(table)).options());
      }
      engine.checkAllClean();
      List<MemoryJournal.Entry> entries = engine.journal.entries();
      assertTrue(engine.storage.counters().splits.sum() > 1, "the catalogue was split");
      for (int end = 0; end <= entries.size(); end++) {
        List<MemoryJournal.Entry> kept = entries.subList(0, end);
        int redoFrom = random.nextInt(end + 1);
        Map<Integer, byte[]> pages =
            Replay.randomlyFlushed(Replay.newDatabase(), kept, redoFrom, random);
        Replay.redo(pages, kept.subList(redoFrom, end));
        try (TestEngine restarted = TestEngine.restart(directory, kept, pages)) {
          restarted.check();
          int there = restarted.catalog.names().size();
          assertTrue(there <= end, there + " tables");
          for (int table = 0; table < TABLES; table++) {
            Table found = restarted.catalog.find(name(table));
            assertEquals(table < there, found != null);
            if (found != null) {
              assertEquals(options(table), found.options());
            }
          }
          usedAgain(restarted, restarted.table(name(TABLES - 1), options(TABLES - 1)));
        } catch (Throwable failure) {
          throw new AssertionError(
              "-Drevenant.seed=" + seed + ", the log ends behind record " + end + ": " + failure,
              failure);
        }
      }
    }
  }

  private static void usedAgain(TestEngine engine, Table table) {
    for (int i = 0; i < 200; i++) {
      byte[] key = {(byte) i};
      Tree tree = TableState.of(table).newest().of(key);
      assertNull(engine.read(tree, key));
      TestEngine.Tx tx = engine.begin();
      assertEquals(RowWriter.Outcome.DONE, tx.put(tree, key, key));
      tx.commitDurably();
      assertArrayEquals(key, engine.read(tree, key));
    }
    assertEquals(
        200,
        engine.checkAllClean().contents().stream()
            .filter(checked -> checked.name().equals(table.name()))
            .mapToLong(CheckedTable::visibleRows)
            .sum());
  }

  @Test
  void R5_a_creation_for_which_the_disk_is_too_full_leaves_no_claim_behind() {
    FaultyFileSystem faulty = new FaultyFileSystem();
    Path path = faulty.wrap(directory.resolve("db"));
    try (Database db = Database.open(path, Samples.SMALL)) {
      long end = db.statistics().files().dataFilePages() * Page.SIZE;
      faulty.hook(event -> {
        if (event.is(IoEvent.Kind.WRITE, DatabaseFiles.DATA)
            && event.position() + event.length() > end) {
          throw new IOException("No space left on device");
        }
      });
      int large = 0;
      int small = 0;
      while (isCreated(db, "large " + large, TableOptions.hashPartitioned(64))) {
        large++;
      }
      assertNull(db.findTable("large " + large));
      assertTrue(db.check().freePages() > 0);
      while (isCreated(db, "small " + small, TableOptions.defaults())) {
        small++;
      }
      CheckReport full = db.check();
      assertEquals(List.of(), full.problems());
      assertEquals(0, full.freePages(), "pages that are free, and nobody can have them");
      assertEquals(large + small, full.tables());
      faulty.hook(event -> {});
      assertTrue(isCreated(db, "large " + large, TableOptions.hashPartitioned(64)));
      assertEquals(List.of(), db.check().problems());
    }
  }

  private static boolean isCreated(Database db, String name, TableOptions options) {
    try {
      db.getOrCreateTable(name, options);
      return true;
    } catch (StorageException full) {
      if (full.reason() != StorageException.Reason.DISK_FULL) {
        throw full;
      }

      return false;
    }
  }
}
