package org.revenantdb.engine.space;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.testing.Refusals.assertRefused;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.revenantdb.engine.BulkLoad;
import org.revenantdb.engine.CheckReport;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.StorageException;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TableOptions;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.lifecycle.DatabaseFiles;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.testing.MemoryJournal;
import org.revenantdb.engine.testing.Replay;
import org.revenantdb.engine.testing.Samples;
import org.revenantdb.engine.testing.TestEngine;
import org.revenantdb.recovery.testing.FaultyFileSystem;
import org.revenantdb.recovery.testing.IoEvent;

/**
 * Space that one user of the file has given back is there for all others, whether the database was
 * restarted in between or not (protocols.md §25): the file does not grow, and as many pages are in
 * use in the end.
 */
class SpaceAfterRestartTest {
  private static final int ROWS = 2_500;

  /** Pages in use may differ by the rest of an extent here and there. */
  private static final int FEW_PAGES = 48;

  /** How the database is restarted. */
  private enum Restart {
    CLOSED,
    KILLED
  }

  /** When it is restarted. */
  private enum Moment {
    BEFORE_SPACE_IS_FREED,
    BEFORE_IT_IS_CLEANED,
    BEFORE_IT_IS_USED_AGAIN
  }

  /** What has used the space, and gives it back. */
  private enum Kind {
    DELETED_ROWS {
      @Override
      void fill(Database db) {
        rows(db, db.getOrCreateTable("u"), 900);
      }

      @Override
      void free(Database db) {
        deleteAll(db);
      }
    },
    DROPPED_TABLE {
      @Override
      void fill(Database db) {
        rows(db, db.getOrCreateTable("u"), 900);
      }

      @Override
      void free(Database db) {
        db.dropTable("u");
      }
    },
    TRUNCATED_TABLE {
      @Override
      void fill(Database db) {
        rows(db, db.getOrCreateTable("u"), 900);
      }

      @Override
      void free(Database db) {
        db.truncateTable("u");
      }
    },
    PARTITIONS {
      @Override
      void fill(Database db) {
        rows(db, db.getOrCreateTable("u", TableOptions.hashPartitioned(4)), 900);
      }

      @Override
      void free(Database db) {
        deleteAll(db);
      }
    },
    CHAINS {
      @Override
      void fill(Database db) {
        Table table = db.getOrCreateTable("u");
        for (int i = 0; i < 20; i++) {
          byte[] key = key(i);
          db.run(tx -> tx.put(table, key, new byte[100_000]));
        }
      }

      @Override
      void free(Database db) {
        deleteAll(db);
      }
    },
    SHARED_VALUES {
      @Override
      void fill(Database db) {
        rows(db, db.getOrCreateTable("u"), 2_600);
      }

      @Override
      void free(Database db) {
        deleteAll(db);
      }
    },
    /** Two of three values of each page stay: what uses the room again are values. */
    ROOM_BESIDE_VALUES {
      @Override
      void fill(Database db) {
        rows(db, db.getOrCreateTable("u"), 2_600);
      }

      @Override
      void free(Database db) {
        Table table = db.getOrCreateTable("u");
        db.run(tx -> {
          for (int i = 0; i < ROWS; i += 3) {
            tx.delete(table, key(i));
          }
        });
      }

      @Override
      void useAgain(Database db) {
        Table table = db.getOrCreateTable("t");
        db.run(tx -> {
          for (int i = 0; i < ROWS / 4; i++) {
            tx.put(table, key(i), new byte[2_500]);
          }
        });
      }
    },
    ROLLED_BACK_ROWS {
      @Override
      void fill(Database db) {
        Table table = db.getOrCreateTable("u");
        try (Transaction tx = db.begin()) {
          for (int i = 0; i < ROWS; i++) {
            tx.put(table, key(i), new byte[900]);
          }
          tx.rollback();
        }
      }

      @Override
      void free(Database db) {}
    },
    ROLLED_BACK_LOAD {
      @Override
      void fill(Database db) {
        Table table = db.getOrCreateTable("u");
        BulkLoad load = db.bulkLoad(table);
        for (int i = 0; i < ROWS; i++) {
          load.add(key(i), new byte[900]);
        }
        load.close();
      }

      @Override
      void free(Database db) {}
    },
    LOADED_ROWS {
      @Override
      void fill(Database db) {
        Table table = db.getOrCreateTable("u");
        try (BulkLoad load = db.bulkLoad(table)) {
          for (int i = 0; i < ROWS; i++) {
            load.add(key(i), new byte[900]);
          }
          load.finish();
        }
      }

      @Override
      void free(Database db) {
        deleteAll(db);
      }
    };

    abstract void fill(Database db);

    abstract void free(Database db);

    /** Less than was there: the file is never so full that it grows ahead of need. */
    void useAgain(Database db) {
      rows(db, db.getOrCreateTable("t"), 675);
    }
  }

  /** Pages in use without a restart: counted once for each kind, and compared with each restart. */
  private static final Map<Kind, Long> WITHOUT_RESTART = new EnumMap<>(Kind.class);

  @TempDir Path directory;

  private FaultyFileSystem files = new FaultyFileSystem();

  private static byte[] key(int i) {
    return ByteBuffer.allocate(4).putInt(i).array();
  }

  private static void rows(Database db, Table table, int valueBytes) {
    db.run(tx -> {
      for (int i = 0; i < ROWS; i++) {
        tx.put(table, key(i), new byte[valueBytes]);
      }
    });
  }

  private static void deleteAll(Database db) {
    Table table = db.getOrCreateTable("u");
    db.run(tx -> tx.deleteRange(table, null, null));
  }

  /** The cleaner ends what was truncated, which is freed when that record is durable, too. */
  private static void clean(Database db) {
    db.cleanNow();
    db.sync();
    db.cleanNow();
  }

  private Database open(String name) {
    return Database.open(files.wrap(directory.resolve(name)), Samples.SMALL);
  }

  /** From now on nothing reaches the disk; then the process, as it were, is gone. */
  private void kill(Database db) {
    db.sync();
    files.hook(event -> {
      if (event.kind() != IoEvent.Kind.READ && event.kind() != IoEvent.Kind.OPEN) {
        throw new IOException("the process is dead");
      }
    });
    try {
      db.close();
    } catch (RuntimeException dead) {
      // what it says of that is not the question here
    }
    files.hook(event -> {});
  }

  private Database restart(Database db, String name, Restart how) {
    if (how == Restart.CLOSED) {
      db.close();
    } else {
      kill(db);
    }
    return open(name);
  }

  /** Returns how many pages are in use in the end; the file has not grown for the last of them. */
  private long run(Kind kind, @Nullable Moment moment, @Nullable Restart how) {
    String name = kind + " " + moment + " " + how;
    Database db = open(name);
    try {
      kind.fill(db);
      clean(db);
      if (moment == Moment.BEFORE_SPACE_IS_FREED) {
        db = restart(db, name, how);
      }
      kind.free(db);
      if (moment == Moment.BEFORE_IT_IS_CLEANED) {
        db = restart(db, name, how);
      }
      clean(db);
      if (moment == Moment.BEFORE_IT_IS_USED_AGAIN) {
        db = restart(db, name, how);
      }
      long before = db.statistics().files().dataFilePages();
      kind.useAgain(db);
      assertEquals(before, db.statistics().files().dataFilePages(), "the file has grown: " + name);
      db.cleanNow();
      CheckReport report = db.check();
      assertEquals(List.of(), report.problems());
      return db.statistics().files().dataFilePages() - report.freePages();
    } finally {
      db.close();
    }
  }

  private static Stream<Arguments> restarts() {
    return Stream.of(Kind.values())
        .flatMap(kind ->
            Stream.of(Moment.values())
                .flatMap(moment ->
                    Stream.of(Restart.values()).map(how -> Arguments.of(kind, moment, how))));
  }

  @ParameterizedTest
  @MethodSource("restarts")
  void a_file_ends_up_with_the_same_size_and_use_with_and_without_a_restart(
      Kind kind, Moment moment, Restart how) {
    long without = WITHOUT_RESTART.computeIfAbsent(kind, k -> run(k, null, null));
    long with = run(kind, moment, how);
    assertEquals(without, with, FEW_PAGES);
  }

  @Test
  void on_a_full_disk_rows_deleted_after_a_restart_make_room_for_another_table() {
    try (Database db = open("full")) {
      rows(db, db.getOrCreateTable("u"), 900);
      db.getOrCreateTable("t");
    }
    try (Database db = open("full")) {
      // The close has cut off what nobody had used; there is room for less than half of t's rows.
      long end = (db.statistics().files().dataFilePages() + 3 * FEW_PAGES) * Page.SIZE;
      files.hook(event -> {
        if (event.is(IoEvent.Kind.WRITE, DatabaseFiles.DATA)
            && event.position() + event.length() > end) {
          throw new IOException("No space left on device");
        }
      });
      Table t = db.getOrCreateTable("t");
      assertRefused(StorageException.Reason.DISK_FULL, () -> rows(db, t, 900));
      deleteAll(db);
      db.cleanNow();
      rows(db, t, 900);
      assertTrue(db.statistics().files().dataFilePages() * Page.SIZE <= end);
      assertEquals(List.of(), db.check().problems());
    } finally {
      files = new FaultyFileSystem();
    }
  }

  /** The empty extents, mixed and of trees, that have not been freed. */
  private static List<Integer> kept(TestEngine engine, List<Tree> trees) {
    Occupancy occupancy = engine.storage.allocator().occupancy();
    List<Integer> kept = new ArrayList<>(occupancy.empty(null));
    for (Tree tree : trees) {
      engine
          .storage
          .allocator()
          .unclaim(tree.unit(), engine.storage.allocator().claim(tree.unit()));
      kept.addAll(occupancy.empty(tree.unit()));
    }
    return kept;
  }

  @Test
  void wherever_the_log_ends_no_tree_keeps_an_empty_extent() {
    try (TestEngine engine = new TestEngine(directory, 600)) {
      Tree tree = engine.table("u");
      TestEngine.Tx tx = engine.begin();
      for (int i = 0; i < 200; i++) {
        tx.put(tree, key(i), new byte[900]);
      }
      tx.commitDurably();
      TestEngine.Tx deletes = engine.begin();
      for (int i = 0; i < 190; i++) {
        deletes.delete(tree, key(i));
      }
      deletes.commitDurably();
      int from = engine.journal.entries().size();
      engine.clean();
      List<MemoryJournal.Entry> log = engine.journal.entries();
      for (int end = from; end <= log.size(); end++) {
        List<MemoryJournal.Entry> rest = log.subList(0, end);
        Map<Integer, byte[]> pages = Replay.newDatabase();
        Replay.redo(pages, rest);
        try (TestEngine next = TestEngine.restart(directory, rest, pages)) {
          next.clean();
          List<Integer> kept = kept(next, List.of(next.table("u")));
          assertTrue(kept.size() <= 1, "behind record " + end + " of " + log.size() + ": " + kept);
          next.checkAllClean();
        }
      }
    }
  }
}
