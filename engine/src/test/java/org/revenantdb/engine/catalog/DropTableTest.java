package org.revenantdb.engine.catalog;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.testing.Refusals.assertRefused;
import static org.revenantdb.engine.testing.Samples.bytes;
import static org.revenantdb.engine.testing.Samples.random;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.CatalogException;
import org.revenantdb.engine.CheckReport;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseClosedException;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TableOptions;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.engine.testing.Samples;
import org.revenantdb.recovery.testing.Await;

/** What users see of dropped tables. */
class DropTableTest {
  @TempDir Path directory;

  private static byte[] key(int number) {
    return bytes("key%06d".formatted(number));
  }

  private static void fill(Database db, Table table, int rows) {
    db.run(tx -> {
      for (int row = 0; row < rows; row++) {
        tx.put(table, key(row), random(row, row % 50 == 7 ? 20_000 + 777 * row : 200));
      }
    });
  }

  private static CheckReport checkClean(Database db) {
    db.cleanNow();
    CheckReport report = db.check();
    assertEquals(List.of(), report.problems());
    assertEquals(0, report.pagesToClean());
    return report;
  }

  @Test
  void a_dropped_table_is_gone_with_all_its_pages_and_its_name_is_free() {
    try (Database db = Samples.open(directory.resolve("db"))) {
      db.getOrCreateTable("other");
      CheckReport before = checkClean(db);
      for (TableOptions options :
          List.of(TableOptions.defaults(), TableOptions.hashPartitioned(5))) {
        Table table = db.getOrCreateTable("t", options);
        fill(db, table, 1_000);
        assertTrue(db.dropTable("t"));
        assertFalse(db.dropTable("t"));
        assertNull(db.findTable("t"));
        assertEquals(List.of("other"), db.tableNames());
        CheckReport after = checkClean(db);
        assertEquals(before.treePages(), after.treePages());
        assertEquals(0, after.overflowPages());
        assertEquals(1, after.rows());
      }
      Table again = db.getOrCreateTable("t");
      db.run(tx -> assertNull(tx.get(again, key(1))));
      fill(db, again, 10);
    }
    try (Database db = Samples.open(directory.resolve("db"))) {
      assertEquals(List.of("other", "t"), db.tableNames());
      assertEquals(2 + 10, checkClean(db).rows());
    }
  }

  @Test
  void transactions_from_before_the_drop_go_on_reading_and_others_are_refused() {
    try (Database db = Samples.open(directory.resolve("db"))) {
      Table old = db.getOrCreateTable("t");
      fill(db, old, 300);
      Transaction reader = db.begin();
      Cursor cursor = reader.scan(old, null, null);
      assertTrue(cursor.next());
      assertTrue(db.dropTable("t"));
      Table fresh = db.getOrCreateTable("t");
      assertNotSame(old, fresh);
      fill(db, fresh, 5);
      db.cleanNow();
      assertEquals(List.of(), db.check().problems());
      int rows = 1;
      while (cursor.next()) {
        rows++;
      }
      assertEquals(300, rows);
      assertArrayEquals(random(7, 20_000 + 777 * 7), reader.get(old, key(7)));
      assertEquals(300, reader.count(old, null, null));
      assertNull(reader.get(fresh, key(1)));
      assertRefused(CatalogException.Reason.DROPPED, () -> reader.put(old, key(1), new byte[1]));
      assertRefused(CatalogException.Reason.DROPPED, () -> reader.delete(old, key(1)));
      assertRefused(CatalogException.Reason.DROPPED, () -> reader.deleteRange(old, null, null));
      reader.put(fresh, bytes("mine"), new byte[1]);
      try (Transaction younger = db.begin()) {
        assertRefused(CatalogException.Reason.DROPPED, () -> younger.get(old, key(1)));
        assertRefused(
            CatalogException.Reason.DROPPED, () -> younger.get(old, key(1), new byte[9], 0));
        assertRefused(CatalogException.Reason.DROPPED, () -> younger.scan(old, null, null));
        assertRefused(CatalogException.Reason.DROPPED, () -> younger.count(old, null, null));
        assertRefused(CatalogException.Reason.DROPPED, () -> younger.put(old, key(1), new byte[1]));
        assertArrayEquals(random(1, 200), younger.get(fresh, key(1)));
      }
      assertRefused(CatalogException.Reason.DROPPED, () -> db.bulkLoad(old));
      reader.commit();
      CheckReport after = checkClean(db);
      assertEquals(2, after.treePages());
      assertEquals(1 + 6, after.rows());
    }
  }

  // ---- R16

  /** Waits until the dropping thread waits for the writers of the table, or has ended. */
  private static void awaitDropper(Table table, Thread dropper) {
    while (TableState.of(table).isWritable() && dropper.isAlive()) {
      Await.pause();
    }
    while (dropper.getState() != Thread.State.TIMED_WAITING && dropper.isAlive()) {
      Await.pause();
    }
  }

  private static Thread dropper(Database db, String table, CompletableFuture<Boolean> dropped) {
    return Thread.ofPlatform()
        .start(() -> {
          try {
            dropped.complete(db.dropTable(table));
          } catch (Throwable failure) {
            dropped.completeExceptionally(failure);
          }
        });
  }

  @Test
  void R16_a_drop_waits_for_the_end_of_those_who_have_written_and_refuses_new_ones()
      throws Exception {
    for (boolean commits : new boolean[] {true, false}) {
      try (Database db = Samples.open(directory.resolve("db" + commits))) {
        Table table = db.getOrCreateTable("t");
        fill(db, table, 100);
        Transaction writer = db.begin();
        writer.put(table, bytes("before"), random(1, 50_000));
        CompletableFuture<Boolean> dropped = new CompletableFuture<>();
        Thread thread = dropper(db, "t", dropped);
        awaitDropper(table, thread);
        assertSame(table, db.findTable("t"));
        try (Transaction late = db.begin()) {
          assertThrows(ConflictException.class, () -> late.put(table, bytes("late"), new byte[1]));
          assertArrayEquals(random(1, 200), late.get(table, key(1)));
          late.put(db.getOrCreateTable("other"), bytes("late"), new byte[1]); // it goes on
          late.commit();
        }
        assertThrows(ConflictException.class, () -> db.bulkLoad(table));
        writer.put(table, bytes("after"), new byte[9]); // it has the table
        assertFalse(dropped.isDone());
        if (commits) {
          writer.commit();
        } else {
          writer.rollback();
        }
        assertTrue(dropped.get());
        assertNull(db.findTable("t"));
        CheckReport report = checkClean(db);
        assertEquals(1, report.tables());
        assertEquals(2, report.treePages());
      }
    }
  }

  @Test
  void R16_the_pages_of_a_dropped_table_are_used_again_only_when_no_older_snapshot_is_left() {
    try (Database db = Samples.open(directory.resolve("db"))) {
      Table old = db.getOrCreateTable("t", TableOptions.hashPartitioned(3));
      fill(db, old, 400);
      Transaction reader = db.begin();
      assertTrue(db.dropTable("t"));
      db.cleanNow();
      long used = db.check().treePages();
      fill(db, db.getOrCreateTable("t"), 2_000);
      db.cleanNow();
      for (int row = 0; row < 400; row++) {
        byte[] value = random(row, row % 50 == 7 ? 20_000 + 777 * row : 200);
        assertArrayEquals(value, reader.get(old, key(row)));
      }
      reader.commit();
      assertTrue(used > 15, used + " pages");
      CheckReport report = checkClean(db);
      assertEquals(2_000, report.contents().getFirst().rows());
      assertEquals(report.contents().getFirst().treePages() + 1, report.treePages());
    }
  }

  @Test
  void R16_writers_and_droppers_of_one_name_never_lose_a_page() throws Exception {
    try (Database db = Samples.open(directory.resolve("db"))) {
      AtomicInteger running = new AtomicInteger(3);
      AtomicInteger told = new AtomicInteger();
      List<Throwable> failures = new CopyOnWriteArrayList<>();
      List<Thread> threads = new ArrayList<>();
      for (int t = 0; t < 3; t++) {
        int own = t;
        Runnable work =
            () -> {
              try {
                for (int done = 0; done < 150; ) {
                  int row = done;
                  try (Transaction tx = db.begin(TransactionOptions.lazy())) {
                    Table table = db.getOrCreateTable("t");
                    tx.put(table, key(own * 1000 + row), random(row, row % 20 == 0 ? 9_000 : 90));
                    tx.get(table, key(row));
                    if (row % 7 > 0) {
                      tx.commit();
                    }
                    done++;
                  } catch (ConflictException dropped) {
                    told.getAndIncrement();
                  } catch (CatalogException dropped) {
                    if (dropped.reason() != CatalogException.Reason.DROPPED) {
                      throw dropped;
                    }
                    told.getAndIncrement();
                  }
                }
              } catch (Throwable failure) {
                failures.add(failure);
              } finally {
                running.getAndDecrement();
              }
            };
        threads.add(t == 0 ? Thread.ofVirtual().start(work) : Thread.ofPlatform().start(work));
      }
      int drops = 0;
      while (running.get() > 0) {
        drops += db.dropTable("t") ? 1 : 0;
        if (drops % 10 == 9) {
          assertEquals(List.of(), db.check().problems());
        }
      }
      for (Thread thread : threads) {
        thread.join();
      }
      System.out.println(drops + " drops, " + told + " were told");
      assertEquals(List.of(), failures);
      db.dropTable("t");
      assertEquals(1, checkClean(db).treePages());
    }
  }

  @Test
  void R16_who_has_written_to_a_table_in_an_open_transaction_is_refused_at_once() {
    try (Database db = Samples.open(directory.resolve("db"))) {
      Transaction tx = db.begin();
      List<Table> tables = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        Table table = db.getOrCreateTable("t" + i);
        tables.add(table);
        tx.put(table, key(i), new byte[1]);
      }
      for (Table table : tables) {
        tx.put(table, key(1), new byte[2]);
        assertRefused(CatalogException.Reason.IN_USE, () -> db.dropTable(table.name()));
        tx.put(table, key(2), new byte[2]); // it was not dropped
      }
      assertTrue(db.getOrCreateTable("free").options().partitions() == 1 && db.dropTable("free"));
      tx.commit();
      for (Table table : tables) {
        assertTrue(db.dropTable(table.name()));
      }
      assertEquals(1, checkClean(db).treePages());
    }
  }

  @Test
  void of_two_threads_that_drop_what_the_other_has_written_one_is_refused() throws Exception {
    try (Database db = Samples.open(directory.resolve("db"))) {
      Table a = db.getOrCreateTable("a");
      Table b = db.getOrCreateTable("b");
      CompletableFuture<Boolean> dropped = new CompletableFuture<>();
      CountDownLatch written = new CountDownLatch(1);
      Thread other =
          Thread.ofPlatform()
              .start(() -> {
                try (Transaction tx = db.begin()) {
                  tx.put(b, key(1), new byte[1]);
                  written.await();
                  dropped.complete(db.dropTable("a"));
                } catch (Throwable failure) {
                  dropped.completeExceptionally(failure);
                }
              });
      try (Transaction tx = db.begin()) {
        tx.put(a, key(1), new byte[1]);
        written.countDown();
        awaitDropper(a, other);
        CatalogException refused =
            assertRefused(CatalogException.Reason.IN_USE, () -> db.dropTable("b"));
        assertTrue(refused.getMessage().contains("table a"), refused.getMessage());
        tx.commit();
      }
      assertTrue(dropped.get());
      other.join();
      assertTrue(db.dropTable("b"));
      assertEquals(1, checkClean(db).treePages());
    }
  }

  @Test
  void two_threads_that_drop_the_same_table_both_return_and_one_has_dropped_it() throws Exception {
    try (Database db = Samples.open(directory.resolve("db"))) {
      Table table = db.getOrCreateTable("t");
      Transaction writer = db.begin();
      writer.put(table, key(1), new byte[1]);
      List<CompletableFuture<Boolean>> answers = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        CompletableFuture<Boolean> answer = new CompletableFuture<>();
        answers.add(answer);
        awaitDropper(table, dropper(db, "t", answer));
      }
      writer.commit();
      assertNotEquals(answers.get(0).get(), answers.get(1).get());
      assertNull(db.findTable("t"));
    }
  }

  @Test
  void a_drop_that_waits_ends_with_the_database_and_keeps_the_interrupt() throws Exception {
    Database db = Samples.open(directory.resolve("db"));
    Table table = db.getOrCreateTable("t");
    Transaction writer = db.begin();
    writer.put(table, key(1), new byte[1]);
    CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
    CompletableFuture<Throwable> told = new CompletableFuture<>();
    Thread thread =
        Thread.ofPlatform()
            .start(() -> {
              Thread.currentThread().interrupt();
              try {
                db.dropTable("t");
              } catch (RuntimeException closed) {
                told.complete(closed);
              }
              interrupted.complete(Thread.interrupted());
            });
    awaitDropper(table, thread);
    db.close();
    assertTrue(interrupted.get());
    assertInstanceOf(DatabaseClosedException.class, told.get());
  }

  // ---- space

  @Test
  void a_table_that_is_dropped_and_made_again_many_times_does_not_let_the_file_grow() {
    try (Database db = Samples.open(directory.resolve("db"))) {
      long pages = 0;
      for (int round = 0; round < 60; round++) {
        fill(db, db.getOrCreateTable("t", TableOptions.hashPartitioned(1 + round % 4)), 150);
        assertTrue(db.dropTable("t"));
        db.cleanNow();
        if (round == 10) {
          pages = db.statistics().files().dataFilePages();
        }
      }
      assertEquals(pages, db.statistics().files().dataFilePages());
      assertEquals(1, checkClean(db).treePages());
    }
  }

  /** It was looked for after it had been created, and not found: a NullPointerException. */
  @Test
  void a_table_that_another_thread_drops_as_soon_as_it_is_created_is_created_again() {
    try (Database db = Samples.open(directory.resolve("db"))) {
      AtomicInteger drops = new AtomicInteger();
      CompletableFuture<Void> creating =
          CompletableFuture.runAsync(() -> {
            while (drops.get() < 50) {
              assertEquals("t", db.getOrCreateTable("t").name());
            }
          });
      while (drops.get() < 50 && !creating.isDone()) {
        if (db.dropTable("t")) {
          drops.getAndIncrement();
        }
      }
      creating.join();
      db.dropTable("t");
      checkClean(db);
    }
  }

  @Test
  void the_catalogue_shrinks_when_many_tables_with_long_names_are_dropped() {
    try (Database db = Samples.open(directory.resolve("db"))) {
      List<String> names = new ArrayList<>();
      for (int i = 0; i < 60; i++) {
        names.add("%03d".formatted(i * 7 % 60) + "n".repeat(800));
        db.getOrCreateTable(names.getLast());
      }
      Transaction reader = db.begin();
      long before = db.check().treePages();
      assertTrue(before > 60 + 5, before + " pages");
      names.forEach(name -> assertTrue(db.dropTable(name)));
      assertEquals(List.of(), db.tableNames());
      assertEquals(List.of(), db.check().problems());
      reader.commit();
      long after = checkClean(db).treePages();
      assertTrue(after <= 2, after + " pages");
    }
  }

  @Test
  void a_compaction_beside_dropped_tables_leaves_a_sound_database() {
    try (Database db = Samples.open(directory.resolve("db"))) {
      Table kept = db.getOrCreateTable("kept");
      Table old = db.getOrCreateTable("t");
      fill(db, old, 800);
      fill(db, kept, 200);
      Transaction reader = db.begin();
      assertTrue(db.dropTable("t"));
      db.compact();
      assertEquals(List.of(), db.check().problems());
      assertArrayEquals(random(1, 200), reader.get(old, key(1)));
      assertEquals(800, reader.count(old, null, null));
      reader.commit();
      db.compact();
      CheckReport report = checkClean(db);
      long pages = report.treePages() + report.overflowPages();
      assertTrue(db.statistics().files().dataFilePages() < 2 * pages, "the file has not been cut");
      try (Transaction tx = db.begin()) {
        assertEquals(200, tx.count(kept, null, null));
      }
    }
  }

  /** Regression: a tree that had only just become large had no list, so no page of it was moved. */
  @Test
  void a_compaction_moves_a_tree_of_any_size_to_the_room_of_a_dropped_one() {
    for (int rows = 100; rows <= 260; rows += 8) {
      try (Database db = Samples.open(directory.resolve("db" + rows))) {
        int kept = rows;
        Table old = db.getOrCreateTable("t");
        Table table = db.getOrCreateTable("kept");
        db.run(tx -> {
          for (int row = 0; row < 2_000; row++) {
            tx.put(old, key(row), random(row, 200));
          }
        });
        db.run(tx -> {
          for (int row = 0; row < kept; row++) {
            tx.put(table, key(row), random(row, 200));
          }
        });
        assertTrue(db.dropTable("t"));
        db.compact();
        checkClean(db);
        long pages = db.statistics().files().dataFilePages();
        assertTrue(pages <= 24, rows + " rows are in a file of " + pages + " pages");
      }
    }
  }
}
