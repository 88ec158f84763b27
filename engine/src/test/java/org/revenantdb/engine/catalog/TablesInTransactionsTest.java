package org.revenantdb.engine.catalog;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.testing.Refusals.assertRefused;
import static org.revenantdb.engine.testing.Samples.bytes;
import static org.revenantdb.engine.testing.Samples.text;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.CatalogException;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseStatistics;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.ReadOnlyDatabaseException;
import org.revenantdb.engine.Savepoint;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TableOptions;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.engine.TransactionStateException;
import org.revenantdb.engine.testing.Samples;
import org.revenantdb.recovery.testing.Await;

/** Tables that are created, dropped and truncated as part of a transaction (protocols.md §31). */
class TablesInTransactionsTest {
  private static final byte[] K = bytes("k");
  private static final byte[] L = bytes("l");
  private static final byte[] V = bytes("v");

  @TempDir Path directory;

  private Database db;
  private Table table;

  @BeforeEach
  void open() {
    db = Samples.open(directory);
    table = db.getOrCreateTable("t");
    db.run(tx -> tx.put(table, K, V));
  }

  @AfterEach
  void everythingIsRight() {
    assertEquals(List.of(), db.check().problems());
    db.close();
    try (Database again = Samples.open(directory)) {
      assertEquals(List.of(), again.check().problems());
    }
  }

  private @Nullable String get(Transaction tx, Table from, byte[] key) {
    return text(tx.get(from, key));
  }

  private @Nullable String get(Table from, byte[] key) {
    return db.call(tx -> get(tx, from, key));
  }

  /** On a thread of its own. */
  private static <T> Future<T> elsewhere(java.util.concurrent.Callable<T> work) {
    CompletableFuture<T> result = new CompletableFuture<>();
    Thread.ofPlatform()
        .start(() -> {
          try {
            result.complete(work.call());
          } catch (Throwable failure) {
            result.completeExceptionally(failure);
          }
        });
    return result;
  }

  private void awaitWaiterFor(Table awaited) {
    while (TableState.of(awaited).isWritable()) {
      Await.pause();
    }
  }

  @Test
  void a_table_that_is_created_is_there_for_others_when_that_is_committed() {
    Table made;
    try (Transaction tx = db.begin()) {
      made = tx.createTable("new", TableOptions.hashPartitioned(3));
      tx.put(made, K, V);
      assertEquals("v", get(tx, made, K));
      assertSame(made, tx.findTable("new"));
      assertNull(db.findTable("new"));
      assertEquals(List.of("t"), db.tableNames());
      try (Transaction other = db.begin()) {
        assertRefused(CatalogException.Reason.NOT_COMMITTED, () -> other.get(made, K));
        assertRefused(CatalogException.Reason.NOT_COMMITTED, () -> other.put(made, K, V));
      }
      assertEquals(List.of(), db.check().problems());
      tx.commit();
    }
    assertSame(made, db.findTable("new"));
    assertEquals(3, db.getOrCreateTable("new").options().partitions());
    assertEquals("v", get(made, K));
    assertEquals(List.of("new", "t"), db.tableNames());
  }

  @Test
  void a_table_that_is_created_was_never_there_after_a_rollback() {
    Table made;
    try (Transaction tx = db.begin()) {
      made = tx.createTable("new");
      tx.put(made, K, V);
    }
    assertNull(db.findTable("new"));
    try (Transaction tx = db.begin()) {
      assertRefused(CatalogException.Reason.DROPPED, () -> tx.get(made, K));
    }
    assertNull(get(db.getOrCreateTable("new"), K));
  }

  @Test
  void a_table_that_is_dropped_is_read_by_others_until_that_is_committed_and_by_older_ones_after() {
    try (Transaction older = db.begin()) {
      try (Transaction tx = db.begin()) {
        tx.dropTable(table);
        assertRefused(CatalogException.Reason.DROPPED, () -> tx.get(table, K));
        assertNull(tx.findTable("t"));
        assertEquals("v", get(table, K));
        assertThrows(ConflictException.class, () -> older.put(table, L, V));
        assertNotNull(db.findTable("t"));
        tx.commit();
      }
      assertNull(db.findTable("t"));
      assertEquals("v", get(older, table, K));
      try (Transaction newer = db.begin()) {
        assertRefused(CatalogException.Reason.DROPPED, () -> newer.get(table, K));
        assertRefused(CatalogException.Reason.DROPPED, () -> newer.put(table, K, V));
      }
      db.cleanNow();
      assertEquals("v", get(older, table, K));
      assertNull(get(db.getOrCreateTable("t"), K)); // another of that name
    }
  }

  @Test
  void a_table_whose_drop_is_rolled_back_is_as_it_was() {
    try (Transaction tx = db.begin()) {
      tx.put(table, L, V);
      tx.dropTable(table);
    }
    assertEquals("v", get(table, K));
    assertNull(get(table, L));
    db.run(tx -> tx.put(table, L, V));
    assertSame(table, db.findTable("t"));
  }

  @Test
  void a_table_that_is_truncated_stays_the_same_table() {
    try (Transaction older = db.begin()) {
      try (Transaction tx = db.begin()) {
        tx.truncate(table);
        assertNull(get(tx, table, K));
        tx.put(table, L, bytes("new"));
        assertEquals(1, tx.count(table, null, null));
        assertEquals("v", get(table, K));
        tx.commit();
      }
      assertEquals("v", get(older, table, K));
      assertNull(get(older, table, L));
      assertNull(get(table, K));
      assertEquals("new", get(table, L));
      assertSame(table, db.findTable("t"));
      db.cleanNow();
      assertEquals("v", get(older, table, K));
      assertThrows(ConflictException.class, () -> older.put(table, K, V));
      assertThrows(ConflictException.class, () -> older.truncate(table));
      assertThrows(ConflictException.class, () -> older.dropTable(table));
    }
    db.run(tx -> tx.put(table, K, V));
    assertTrue(db.truncateTable("t"));
    assertFalse(db.truncateTable("none"));
    assertNull(get(table, K));
  }

  @Test
  void a_truncation_that_is_rolled_back_has_taken_nothing_away() {
    try (Transaction tx = db.begin()) {
      tx.put(table, L, V);
      tx.truncate(table);
      tx.put(table, K, bytes("other"));
      tx.truncate(table);
    }
    assertEquals("v", get(table, K));
    assertNull(get(table, L));
    db.run(tx -> tx.put(table, L, V));
  }

  @Test
  void two_snapshots_from_before_two_truncations_read_what_there_was_for_each() {
    try (Transaction first = db.begin()) {
      db.run(tx -> {
        tx.truncate(table);
        tx.put(table, K, bytes("two"));
      });
      try (Transaction second = db.begin()) {
        db.truncateTable("t");
        db.cleanNow();
        assertEquals("v", get(first, table, K));
        assertEquals("two", get(second, table, K));
        assertNull(get(table, K));
      }
    }
    db.truncateTable("t");
    assertNull(TableState.of(table).newest().former(), "what nobody can read is let go");
  }

  @Test
  void a_truncation_waits_for_writers_and_takes_what_they_commit() throws Exception {
    Transaction writer = db.begin();
    writer.put(table, L, V);
    Future<@Nullable Void> truncated =
        elsewhere(() -> {
          db.truncateTable("t");
          return null;
        });
    awaitWaiterFor(table);
    assertFalse(truncated.isDone());
    try (Transaction other = db.begin()) {
      assertThrows(ConflictException.class, () -> other.put(table, K, V));
    }
    writer.put(table, K, V); // who has begun goes on
    writer.commit();
    truncated.get();
    assertNull(get(table, L));
    assertNull(get(table, K));
  }

  @Test
  void R16_of_two_that_truncate_a_table_the_second_waits_and_is_in_conflict() throws Exception {
    Transaction first = db.begin();
    Transaction second = db.begin();
    first.truncate(table);
    CountDownLatch begun = new CountDownLatch(1);
    Future<@Nullable Void> waits =
        elsewhere(() -> {
          begun.countDown();
          second.truncate(table);
          return null;
        });
    begun.await();
    first.put(table, K, bytes("first"));
    first.commit();
    ExecutionException told = assertThrows(ExecutionException.class, waits::get);
    assertEquals(ConflictException.class, told.getCause().getClass());
    second.rollback();
    assertEquals("first", get(table, K));
  }

  @Test
  void a_drop_without_a_transaction_waits_for_a_transaction_that_has_truncated_the_table()
      throws Exception {
    Transaction tx = db.begin();
    tx.truncate(table);
    Future<Boolean> dropped = elsewhere(() -> db.dropTable("t"));
    tx.put(table, K, V);
    tx.commit();
    assertTrue(dropped.get());
    assertNull(db.findTable("t"));
  }

  @Test
  void a_wait_for_itself_is_refused() {
    try (Transaction writer = db.begin();
        Transaction tx = db.begin()) {
      writer.put(table, L, V);
      assertRefused(CatalogException.Reason.IN_USE, () -> tx.truncate(table));
      assertRefused(CatalogException.Reason.IN_USE, () -> tx.dropTable(table));
      writer.rollback();
      tx.truncate(table);
      assertRefused(CatalogException.Reason.IN_USE, () -> db.dropTable("t"));
      tx.commit();
    }
  }

  @Test
  void of_two_that_wait_for_each_other_one_is_refused() throws Exception {
    Table other = db.getOrCreateTable("other");
    for (int turn = 0; turn < 20; turn++) {
      Transaction here = db.begin();
      Transaction there = db.begin();
      here.put(table, K, V);
      CountDownLatch written = new CountDownLatch(1);
      Future<Boolean> refusedThere =
          elsewhere(() -> {
            there.put(other, K, V);
            written.countDown();
            boolean isRefused = isRefused(there, table);
            there.rollback();
            return isRefused;
          });
      written.await();
      boolean isRefusedHere = isRefused(here, other);
      here.rollback();
      assertTrue(isRefusedHere | refusedThere.get(), "one of them has to give way");
    }
  }

  private static boolean isRefused(Transaction tx, Table from) {
    try {
      tx.truncate(from);
      return false;
    } catch (CatalogException refused) {
      if (refused.reason() != CatalogException.Reason.IN_USE) {
        throw refused;
      }
      return true;
    }
  }

  @Test
  void of_two_that_have_written_to_a_table_and_want_it_alone_one_is_refused() throws Exception {
    Transaction here = db.begin();
    Transaction there = db.begin();
    here.put(table, K, V);
    CountDownLatch written = new CountDownLatch(1);
    Future<Boolean> refusedThere =
        elsewhere(() -> {
          there.put(table, L, V);
          written.countDown();
          boolean isRefused = isRefused(there, table);
          there.rollback();
          return isRefused;
        });
    written.await();
    boolean isRefusedHere = isRefused(here, table);
    here.rollback();
    assertTrue(isRefusedHere | refusedThere.get());
  }

  @Test
  void a_name_is_created_by_one_at_a_time() {
    try (Transaction tx = db.begin()) {
      Table made = tx.createTable("new");
      assertRefused(CatalogException.Reason.EXISTS, () -> tx.createTable("new"));
      assertRefused(CatalogException.Reason.EXISTS, () -> tx.createTable("t"));
      try (Transaction other = db.begin()) {
        assertThrows(ConflictException.class, () -> other.createTable("new"));
      }
      assertThrows(ConflictException.class, () -> db.getOrCreateTable("new"));
      tx.dropTable(made);
      db.getOrCreateTable("new");
      assertRefused(CatalogException.Reason.DROPPED, () -> tx.truncate(made));
    }
    assertNotNull(db.findTable("new"));
  }

  @Test
  void impossible_statements_are_refused_and_the_transaction_goes_on() {
    try (Transaction tx = db.begin()) {
      Savepoint savepoint = tx.savepoint();
      assertThrows(IllegalStateException.class, () -> tx.createTable("new"));
      assertThrows(IllegalStateException.class, () -> tx.truncate(table));
      tx.release(savepoint);
      tx.truncate(table);
      assertRefused(TransactionStateException.Reason.NOT_PREPARABLE, () -> tx.prepare(bytes("p")));
      Savepoint later = tx.savepoint();
      tx.put(table, L, V);
      tx.rollbackTo(later);
      tx.release(later);
      tx.dropTable(table);
      assertRefused(CatalogException.Reason.DROPPED, () -> tx.dropTable(table));
      assertRefused(CatalogException.Reason.DROPPED, () -> tx.truncate(table));
    }
    try (Transaction tx = db.begin()) {
      tx.put(table, L, V);
      assertTrue(tx.prepare(bytes("p")));
    }
    try (Transaction tx = db.begin()) {
      assertRefused(CatalogException.Reason.IN_USE, () -> tx.truncate(table));
      assertRefused(CatalogException.Reason.IN_USE, () -> tx.dropTable(table));
    }
    db.rollbackPrepared(bytes("p"));
    db.close();
    try (Database readOnly = Database.open(directory, Samples.SMALL.withReadOnly(true));
        Transaction tx = readOnly.begin()) {
      assertThrows(ReadOnlyDatabaseException.class, () -> tx.createTable("new"));
      Table found = readOnly.getOrCreateTable("t");
      assertThrows(ReadOnlyDatabaseException.class, () -> tx.truncate(found));
      assertThrows(ReadOnlyDatabaseException.class, () -> tx.dropTable(found));
    }
    db = Samples.open(directory);
    table = db.getOrCreateTable("t");
  }

  @Test
  void a_cursor_of_the_transaction_itself_goes_on_over_what_it_has_truncated() {
    db.run(tx -> {
      for (int i = 0; i < 2_000; i++) {
        tx.put(table, bytes("key " + i), Samples.random(i, 100));
      }
    });
    try (Transaction tx = db.begin();
        Cursor cursor = tx.scan(table, null, null)) {
      assertTrue(cursor.next());
      tx.truncate(table);
      int rows = 1;
      while (cursor.next()) {
        rows++;
      }
      assertEquals(2_001, rows);
      tx.commit();
    }
    assertEquals(0, db.<Long>call(tx -> tx.count(table, null, null)));
  }

  @Test
  void the_end_of_the_database_rolls_it_back() {
    Transaction tx = db.begin();
    tx.truncate(table);
    tx.createTable("new");
    db.close();
    db = Samples.open(directory);
    table = db.getOrCreateTable("t");
    assertEquals("v", get(table, K));
    assertNull(db.findTable("new"));
  }

  @Test
  void durable_readers_see_a_lazy_commit_when_it_is_durable() {
    Table made;
    try (Transaction tx = db.begin(TransactionOptions.of(Durability.LAZY))) {
      made = tx.createTable("new");
      tx.commit();
    }
    assertSame(made, db.findTable("new"));
    DatabaseStatistics told = db.statistics();
    assertTrue(told.files().durableLsn() >= TableState.of(made).newest().since());
  }
}
