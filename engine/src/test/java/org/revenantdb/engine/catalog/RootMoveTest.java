package org.revenantdb.engine.catalog;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TableOptions;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.access.ApiAccess;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.session.Engine;
import org.revenantdb.engine.testing.MemoryJournal;
import org.revenantdb.engine.testing.Replay;
import org.revenantdb.engine.testing.TestEngine;
import org.revenantdb.engine.version.Cleaner;
import org.revenantdb.engine.version.CleanerSteps;
import org.revenantdb.recovery.file.DamagedFileException;
import org.revenantdb.testing.Drawn;

/**
 * Roots that move from page to page (protocols.md §18): by a record that has the catalogue's row
 * name the new page, under readers, writers, scans, splits, merges and drops.
 *
 * <p>{@code -Drevenant.seed=n} repeats the choices, though not the schedule.
 */
class RootMoveTest {
  private static final int WRITERS = 4;
  private static final int ROUNDS = Boolean.getBoolean("revenant.long") ? 250 : 120;
  private static final int MOVES = Boolean.getBoolean("revenant.long") ? 300 : 140;

  /** Offset of the low byte of the id of its table in a page of a tree. */
  private static final int TABLE_OF_PAGE = 24;

  @TempDir Path directory;

  private final long seed =
      Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));

  private static byte[] key(int i) {
    return ByteBuffer.allocate(4).putInt(i).array();
  }

  /** Where there are two free pages or more, the root goes from one to the other, and back. */
  private static boolean move(Catalog catalog, Tree tree) {
    int before = tree.root();
    boolean moved = catalog.moveRoot(tree, Integer.MAX_VALUE);
    assertEquals(moved, before != tree.root());
    return moved;
  }

  private static void put(TestEngine engine, Tree tree, int from, int to) {
    TestEngine.Tx tx = engine.begin();
    for (int i = from; i < to; i++) {
      tx.put(tree, key(i), new byte[700]);
    }
    tx.commitDurably();
  }

  private static void put(TestEngine engine, Table table, int from, int to) {
    for (int i = from; i < to; i++) {
      put(engine, TableState.of(table).newest().of(key(i)), i, i + 1);
    }
  }

  private static void assertRows(TestEngine engine, Tree tree, int rows) {
    for (int i = 0; i < rows; i++) {
      assertArrayEquals(new byte[700], engine.read(tree, key(i)), "row " + i);
    }
  }

  private static final TableOptions THREE = TableOptions.hashPartitioned(3);

  @Test
  void a_root_that_turns_out_to_be_another_page_is_not_moved_and_the_claim_is_given_back() {
    try (TestEngine engine = new TestEngine(directory, 256)) {
      Tree tree = engine.table("small");
      put(engine, tree, 0, 5);
      engine.clean();
      int root = tree.root();
      engine.catalog.trees();
      int records = engine.journal.entries().size();
      record Change(int offset, int right, int wrong) {}
      for (Change change :
          List.of(
              new Change(Page.TYPE, Page.LEAF, Page.OVERFLOW_DATA),
              new Change(Page.TYPE, Page.LEAF, Page.IAM),
              new Change(TABLE_OF_PAGE, tree.table(), tree.table() + 1))) {
        edit(engine, root, change.offset, change.wrong);
        DamagedFileException told =
            assertThrows(
                DamagedFileException.class, () -> engine.catalog.moveRoot(tree, Integer.MAX_VALUE));
        assertEquals((long) root * Page.SIZE, told.offset());
        edit(engine, root, change.offset, change.right);
        assertEquals(root, tree.root());
      }
      assertEquals(records, engine.journal.entries().size(), "records");
      engine.checkAllClean();
      assertTrue(move(engine.catalog, tree));
      assertRows(engine, tree, 5);
      engine.checkAllClean();
    }
  }

  private static void edit(TestEngine engine, int page, int offset, int value) {
    int frame = engine.pool.fixExclusive(page);
    try {
      Page.putByte(engine.pool.page(frame), offset, value);
    } finally {
      engine.pool.unfixExclusive(frame);
    }
  }

  @Test
  @Drawn(oneIn = 2)
  void the_log_may_end_after_each_record_while_roots_move_and_grow() {
    System.out.println("RootMoveTest -Drevenant.seed=" + seed);
    Random random = new Random(seed);
    try (TestEngine engine = new TestEngine(directory, 256)) {
      Tree small = engine.table("small");
      Tree large = engine.table("large");
      Table parts = engine.table("parts", THREE);
      put(engine, small, 0, 5);
      put(engine, large, 0, 120);
      put(engine, parts, 0, 9);
      engine.clean();
      List<Tree> all = engine.catalog.trees();
      int from = engine.journal.entries().size();
      for (int round = 0; round < 4; round++) {
        for (Tree tree : all) {
          assertEquals(tree != engine.catalog.tree(), move(engine.catalog, tree));
        }
        put(engine, small, 5 + 20 * round, 25 + 20 * round); // grows a root in the first round
        put(engine, large, 120 + 20 * round, 140 + 20 * round);
        put(engine, parts, 9 + round, 10 + round);
      }
      engine.checkAllClean();
      assertRows(engine, small, 85);
      assertRows(engine, large, 200);
      List<MemoryJournal.Entry> log = engine.journal.entries();
      for (int end = from; end <= log.size(); end++) {
        List<MemoryJournal.Entry> kept = log.subList(0, end);
        int redoFrom = random.nextInt(end + 1);
        Map<Integer, byte[]> pages =
            Replay.randomlyFlushed(Replay.newDatabase(), kept, redoFrom, random);
        Replay.redo(pages, kept.subList(redoFrom, end));
        try (TestEngine next = TestEngine.restart(directory, kept, pages)) {
          next.check();
          for (Tree tree : next.catalog.trees()) {
            move(next.catalog, tree);
          }
          next.checkAllClean();
          assertRows(next, next.table("small"), 5);
          assertRows(next, next.table("large"), 120);
          Table found = next.table("parts", THREE);
          for (int i = 0; i < 9; i++) {
            assertArrayEquals(
                new byte[700], next.read(TableState.of(found).newest().of(key(i)), key(i)));
          }
        } catch (Throwable failure) {
          throw new AssertionError("seed " + seed + ", end " + end + ": " + failure, failure);
        }
      }
    }
  }

  @Test
  void R2_rows_of_an_aborted_transaction_move_with_their_root_and_are_still_taken_back() {
    try (TestEngine engine = new TestEngine(directory, 128)) {
      Tree tree = engine.table("t");
      put(engine, tree, 0, 3);
      engine.clean();
      engine.catalog.trees();
      TestEngine.Tx writer = engine.begin();
      for (int i = 0; i < 6; i++) {
        writer.put(tree, key(i), new byte[] {1});
      }
      writer.abort();
      assertTrue(move(engine.catalog, tree));
      engine.check(); // the space maps tell a restart of the rows
      engine.checkAllClean();
      assertRows(engine, tree, 3);
      assertNull(engine.read(tree, key(5)));
    }
  }

  @Test
  void a_root_stays_while_a_transaction_is_changing_its_table_and_when_it_was_dropped() {
    try (TestEngine engine = new TestEngine(directory, 128)) {
      Table table = engine.table("t", TableOptions.defaults());
      Tree tree = TableState.of(table).newest().all().getFirst();
      engine.catalog.trees();
      int root = tree.root();
      try (Transaction tx = engine.transaction()) {
        tx.truncate(table);
        assertFalse(move(engine.catalog, tree));
        tx.rollback();
      }
      engine.clean();
      assertTrue(move(engine.catalog, tree));
      assertNotEquals(root, tree.root());
      assertEquals(Catalog.Dropped.DONE, engine.catalog.drop(table));
      assertFalse(move(engine.catalog, tree));
      engine.checkAllClean();
      Table again = engine.table("t", TableOptions.defaults());
      assertFalse(move(engine.catalog, tree), "of a table of that name before");
      put(engine, TableState.of(again).newest().all().getFirst(), 0, 3);
      engine.checkAllClean();
    }
  }

  /** Until each waits, or is done without the root; how many wait. */
  private static int awaitWaiting(List<Thread> threads) {
    int waiting = 0;
    for (Thread thread : threads) {
      Thread.State state = thread.getState();
      while (state != Thread.State.WAITING
          && state != Thread.State.TIMED_WAITING
          && state != Thread.State.TERMINATED) {
        Thread.yield();
        state = thread.getState();
      }
      waiting += state == Thread.State.TERMINATED ? 0 : 1;
    }
    return waiting;
  }

  /**
   * They have read the former page's id, and wait for its latch while the record is made; but for
   * those who append, and need no root then.
   */
  @Test
  void a_waiter_for_the_latch_of_a_moving_root_uses_the_new_root() throws Exception {
    for (int rows : new int[] {5, 100}) { // a leaf, and an inner page
      try (TestEngine engine = new TestEngine(directory, 256)) {
        Tree tree = engine.table("t");
        put(engine, tree, 0, rows);
        engine.clean();
        engine.catalog.trees();
        int former = tree.root();
        ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 8; t++) {
          int number = t;
          threads.add(
              new Thread(() -> {
                try {
                  switch (number % 4) {
                    case 0 -> assertArrayEquals(new byte[700], engine.read(tree, key(number)));
                    case 1 -> put(engine, tree, 1000 + number, 1001 + number);
                    case 2 -> {
                      int frame = tree.unit().fixRootShared(engine.pool);
                      int page = engine.pool.pageIdOf(frame);
                      engine.pool.unfixShared(frame);
                      assertNotEquals(former, page);
                    }
                    default -> {
                      int frame = tree.unit().fixRootExclusive(engine.pool);
                      int page = engine.pool.pageIdOf(frame);
                      engine.pool.unfixExclusive(frame);
                      assertNotEquals(former, page);
                    }
                  }
                } catch (Throwable failure) {
                  failures.add(failure);
                }
              }));
        }
        engine.journal.gate =
            record -> {
              engine.journal.gate = other -> {};
              threads.forEach(Thread::start);
              assertTrue(awaitWaiting(threads) >= 3, "they do not need the root");
            };
        assertTrue(move(engine.catalog, tree));
        for (Thread thread : threads) {
          thread.join();
        }
        assertEquals(List.of(), List.copyOf(failures));
        assertNotEquals(former, tree.root());
        for (int t = 1; t < 8; t += 4) {
          assertArrayEquals(new byte[700], engine.read(tree, key(1000 + t)), "row " + t);
        }
        assertRows(engine, tree, rows);
        engine.checkAllClean();
      }
    }
  }

  // ---- beside others

  /** What one writer has in one table. */
  private record Own(Table table, NavigableMap<byte[], byte[]> rows, int first) {}

  @Test
  @Tag("slow")
  void readers_writers_scans_and_drops_go_on_while_roots_move() throws Exception {
    System.out.println("RootMoveTest -Drevenant.seed=" + seed);
    DatabaseOptions options =
        DatabaseOptions.defaults()
            .withPoolBytes(4L << 20)
            .withDurability(Durability.LAZY)
            .withCleanerThreads(2);
    AtomicInteger working = new AtomicInteger(WRITERS);
    try (Database db = Database.open(directory.resolve("db"), options);
        ExecutorService threads = Executors.newCachedThreadPool()) {
      List<Table> tables = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        tables.add(db.getOrCreateTable("small " + i)); // its root is a leaf for most of the time
      }
      tables.add(db.getOrCreateTable("middle"));
      tables.add(db.getOrCreateTable("parts", THREE));
      Engine engine;
      try (Transaction tx = db.begin()) {
        engine = ApiAccess.api().core(tx).engine();
      }
      List<Future<List<Own>>> writers = new ArrayList<>();
      for (int w = 0; w < WRITERS; w++) {
        int writer = w;
        writers.add(
            threads.submit(() -> {
              try {
                return write(db, tables, writer);
              } finally {
                working.decrementAndGet();
              }
            }));
      }
      int moves = moveRoots(db, engine, working);
      System.out.println(moves + " roots were moved");
      List<Own> all = new ArrayList<>();
      for (Future<List<Own>> writer : writers) {
        all.addAll(writer.get());
      }
      db.sync();
      db.cleanNow();
      assertEquals(List.of(), db.check().problems());
      all.forEach(own -> assertScan(db, own));
      db.compact();
      all.forEach(own -> assertScan(db, own));
      assertEquals(List.of(), db.check().problems());
    }
  }

  /** Back and forth, by the cleaner's thread, until all writers are done. */
  private static int moveRoots(Database db, Engine engine, AtomicInteger working) {
    Cleaner cleaner = Objects.requireNonNull(engine.cleaner());
    Catalog catalog = engine.tables().catalog();
    int moves = 0;
    for (int round = 0; working.get() > 0 || moves < MOVES; round++) {
      moves +=
          (int)
              CleanerSteps.between(
                  cleaner,
                  () -> {
                    long moved = 0;
                    for (Tree tree : engine.inside(catalog::trees)) {
                      moved += engine.inside(() -> move(catalog, tree) ? 1 : 0);
                    }
                    return moved;
                  });
      if (round % 16 == 3) {
        db.compact();
      }
      if (round % 16 == 7) {
        assertEquals(List.of(), db.check().problems());
      }
    }
    return moves;
  }

  private List<Own> write(Database db, List<Table> tables, int writer) {
    Random random = new Random(seed + writer);
    List<Own> all = new ArrayList<>();
    for (Table table : tables) {
      all.add(new Own(table, new TreeMap<>(Arrays::compareUnsigned), writer * 10_000));
    }
    for (int round = 0; round < ROUNDS; round++) {
      Own own = all.get(random.nextInt(all.size()));
      boolean isSmall = own.table().name().startsWith("small");
      int i = own.first() + random.nextInt(isSmall ? 5 : 200);
      switch (random.nextInt(9)) {
        case 0 -> {
          db.run(tx -> tx.deleteRange(own.table(), key(own.first()), key(own.first() + 10_000)));
          own.rows().clear();
        }
        case 1 -> {
          for (int n = 0; n < (isSmall ? 3 : 60); n++) {
            byte[] key = key(i + n);
            byte[] value = new byte[random.nextInt(700)];
            db.run(tx -> tx.put(own.table(), key, value));
            own.rows().put(key, value);
          }
        }
        case 2 -> assertScan(db, own);
        case 3 -> {
          try (Transaction tx = db.begin()) {
            tx.put(own.table(), key(i), new byte[600]);
            tx.rollback();
          }
        }
        case 4 -> dropped(db, "gone " + writer);
        default -> {
          byte[] key = key(i);
          byte[] value = new byte[random.nextInt(500)];
          random.nextBytes(value);
          db.run(tx -> tx.put(own.table(), key, value));
          own.rows().put(key, value);
          try (Transaction tx = db.begin()) {
            assertArrayEquals(value, tx.get(own.table(), key));
          }
        }
      }
    }
    return all;
  }

  private static void dropped(Database db, String name) {
    Table table = db.getOrCreateTable(name);
    db.run(tx -> {
      for (int i = 0; i < 20; i++) {
        tx.put(table, key(i), new byte[500]);
      }
    });
    db.run(tx -> assertEquals(20, tx.count(table, null, null)));
    db.dropTable(name);
  }

  private static void assertScan(Database db, Own own) {
    try (Transaction tx = db.begin();
        Cursor rows = tx.scan(own.table(), key(own.first()), key(own.first() + 10_000))) {
      for (Map.Entry<byte[], byte[]> row : own.rows().entrySet()) {
        assertTrue(rows.next(), own.table().name());
        assertArrayEquals(row.getKey(), rows.key());
        assertArrayEquals(row.getValue(), rows.value());
      }
      assertFalse(rows.next(), own.table().name());
    }
  }
}
