package org.revenantdb.engine.session;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.testing.Refusals.assertRefused;

import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.BulkLoad;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.ConflictReason;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseClosedException;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Isolation;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.engine.access.ApiAccess;
import org.revenantdb.engine.serial.Certifier;
import org.revenantdb.engine.txn.RowWaiters;
import org.revenantdb.recovery.testing.Await;

/** Serializable transactions beside everything else that there is (protocols.md §34, R20). */
@Tag("stress")
class SerializableTest {
  private static final TransactionOptions SERIALIZABLE =
      TransactionOptions.lazy().withIsolation(Isolation.SERIALIZABLE);
  private static final TransactionOptions ALONE = SERIALIZABLE.withReadOnly(true);
  private static final TransactionOptions WAITING =
      SERIALIZABLE.withLockTimeout(Duration.ofMinutes(2));

  @TempDir Path dir;

  private Database db;
  private Table table;

  @BeforeEach
  void open() {
    db = Database.open(dir.resolve("db"));
    table = db.getOrCreateTable("t");
    if (db.call(tx -> get(tx, "y")) == null) {
      commits("x", "0");
      commits("y", "0");
    }
  }

  @AfterEach
  void close() {
    db.close();
  }

  private Transaction begin() {
    return db.begin(SERIALIZABLE);
  }

  private void put(Transaction tx, String key, String value) {
    tx.put(table, bytes(key), bytes(value));
  }

  private String get(Transaction tx, String key) {
    byte[] value = tx.get(table, bytes(key));
    return value == null ? null : new String(value, US_ASCII);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(US_ASCII);
  }

  private void commits(String key, String value) {
    db.run(TransactionOptions.lazy(), tx -> put(tx, key, value));
  }

  private static boolean commits(Transaction tx) {
    try {
      tx.commit();
      return true;
    } catch (ConflictException refused) {
      if (refused.reason() != ConflictReason.NOT_SERIALIZABLE) {
        throw refused;
      }
      return false;
    }
  }

  // Those of whom nobody has remembered what they wrote.

  /** More than a transaction remembers, none of them read but perhaps one. */
  private void manyRows(String prefix) {
    db.run(
        TransactionOptions.lazy(),
        tx -> {
          for (int i = 0; i < 1_000; i++) {
            put(tx, prefix + i, "1");
          }
        });
  }

  @Test
  void R20_rows_are_read_again_where_it_is_not_known_what_was_written() {
    try (Transaction one = begin()) {
      assertNull(get(one, "many7"));
      put(one, "y", "1");
      manyRows("many");
      assertFalse(commits(one));
    }
    try (Transaction one = begin()) {
      assertNull(get(one, "other7"));
      assertEquals("1", get(one, "many7"));
      assertEquals(0, one.count(table, bytes("o"), bytes("p")));
      put(one, "y", "1");
      manyRows("o");
      assertFalse(commits(one));
    }
    try (Transaction one = begin()) {
      assertEquals("1", get(one, "many7"));
      assertEquals(0, one.count(table, bytes("p"), bytes("q")));
      put(one, "y", "1");
      manyRows("q");
      assertTrue(commits(one));
    }
  }

  @Test
  void R20_a_bulk_load_into_a_range_that_was_read_is_found() {
    for (boolean meets : new boolean[] {true, false}) {
      Table loaded = db.getOrCreateTable("loaded " + meets);
      try (Transaction one = begin()) {
        assertEquals(0, one.count(loaded, bytes("a"), bytes("b")));
        put(one, "y", "1");
        try (BulkLoad load = db.bulkLoad(loaded)) {
          for (int i = 0; i < 2_000; i++) {
            load.add(bytes((meets ? "a" : "b") + "%05d".formatted(i)), bytes("row"));
          }
          load.finish();
        }
        assertEquals(!meets, commits(one));
      }
    }
  }

  @Test
  void R20_a_row_that_was_deleted_and_cleaned_up_is_missed_when_it_is_read_again() {
    manyRows("many");
    try (Transaction one = begin()) {
      assertEquals("1", get(one, "many7"));
      put(one, "y", "1");
      db.run(tx -> {
        tx.delete(table, bytes("many7"));
        for (int i = 0; i < 500; i++) {
          put(tx, "z" + i, "1");
        }
      });
      db.cleanNow();
      assertFalse(commits(one));
    }
  }

  @Test
  void R20_what_was_rolled_back_over_a_later_commit_does_not_hide_that() {
    try (Transaction one = begin()) {
      assertEquals("0", get(one, "x"));
      put(one, "y", "1");
      commits("x", "1");
      try (Transaction open = db.begin()) {
        put(open, "x", "2"); // the committed one is its predecessor now
        manyRows("many"); // so that rows are looked at
        assertFalse(commits(one));
      }
    }
    DatabaseOptions rolledBackByTheCleaner = DatabaseOptions.defaults().withShortTransactionRows(0);
    try (Database other = Database.open(dir.resolve("other"), rolledBackByTheCleaner)) {
      Table rows = other.getOrCreateTable("t");
      other.run(tx -> tx.put(rows, bytes("x"), bytes("0")));
      try (Transaction one = other.begin(SERIALIZABLE)) {
        one.get(rows, bytes("x"));
        one.put(rows, bytes("y"), bytes("1"));
        try (Transaction aborted = other.begin()) {
          aborted.put(rows, bytes("x"), bytes("2"));
        }
        other.run(tx -> tx.put(rows, bytes("q"), bytes("1")));
        assertTrue(commits(one), "nobody has changed x");
      }
      try (Transaction one = other.begin(SERIALIZABLE)) {
        one.get(rows, bytes("x"));
        one.put(rows, bytes("y"), bytes("1"));
        other.run(tx -> tx.put(rows, bytes("x"), bytes("3")));
        try (Transaction aborted = other.begin()) {
          aborted.put(rows, bytes("x"), bytes("4"));
        }
        assertFalse(commits(one));
      }
    }
  }

  @Test
  void R20_commits_that_are_not_kept_any_longer_are_not_missed() {
    for (String changed : new String[] {"x", "none"}) {
      try (Transaction one = begin()) {
        get(one, "x");
        one.findTable("new");
        put(one, "y", "1");
        commits(changed, "1");
        byte[] key = new byte[1_000];
        for (int i = 0; i < 500; i++) { // more than the list may take
          int number = i;
          db.run(
              TransactionOptions.lazy(),
              tx -> {
                for (int n = 0; n < 24; n++) {
                  key[0] = (byte) 'z';
                  key[997] = (byte) n;
                  key[998] = (byte) number;
                  key[999] = (byte) (number >>> 8);
                  tx.put(table, key, new byte[0]);
                }
              });
        }
        assertEquals(changed.equals("none"), commits(one), changed);
      }
    }
  }

  // Which tables there are.

  @Test
  void R20_what_becomes_of_a_table_that_was_read_is_a_change() {
    Table other = db.getOrCreateTable("other");
    db.run(tx -> tx.put(other, bytes("k"), bytes("1")));
    try (Transaction one = begin()) {
      assertEquals(1, one.count(other, null, null));
      put(one, "y", "1");
      db.truncateTable("other");
      assertFalse(commits(one));
    }
    try (Transaction one = begin()) {
      assertEquals(0, one.count(other, null, null));
      put(one, "y", "1");
      db.dropTable("other");
      assertFalse(commits(one));
    }
    try (Transaction one = begin()) {
      assertNull(one.findTable("other"));
      put(one, "y", "1");
      db.getOrCreateTable("other");
      assertFalse(commits(one));
    }
    try (Transaction one = begin()) {
      assertNull(one.findTable("a"));
      put(one, "y", "1");
      db.getOrCreateTable("b");
      assertTrue(commits(one));
    }
  }

  @Test
  void R20_one_that_has_only_read_and_was_told_which_tables_there_are_now_is_validated() {
    try (Transaction one = begin()) {
      assertEquals("0", get(one, "y"));
      db.run(tx -> {
        put(tx, "y", "1");
        tx.createTable("new");
      });
      one.findTable("new"); // there, by a transaction whose y it has not seen
      assertFalse(commits(one));
    }
    try (Transaction one = begin()) {
      one.findTable("new");
      assertEquals("1", get(one, "y"));
      commits("x", "1");
      assertTrue(commits(one));
    }
  }

  @Test
  void tables_that_are_made_in_serializable_transactions_are_made_once() {
    try (Transaction one = begin();
        Transaction two = begin()) {
      one.createTable("mine");
      assertThrows(ConflictException.class, () -> two.createTable("mine"));
      get(one, "x");
      commits("x", "1");
      assertFalse(commits(one));
    }
    assertNull(db.findTable("mine"));
    db.run(SERIALIZABLE, tx -> tx.createTable("mine"));
    assertTrue(db.findTable("mine") != null);
    assertTrue(db.check().isSound());
  }

  // Prepared transactions.

  @Test
  void R20_write_skew_through_a_transaction_that_is_prepared_is_prevented() {
    try (Transaction one = begin();
        Transaction two = begin()) {
      get(one, "x");
      get(two, "y");
      put(one, "y", "1");
      put(two, "x", "2");
      one.prepare(bytes("one"));
      assertFalse(commits(two), "it counts as committed");
    }
    assertTrue(db.commitPrepared(bytes("one")));
  }

  @Test
  void R20_a_prepared_one_is_validated_when_it_is_prepared_and_not_again() {
    try (Transaction one = begin()) {
      get(one, "x");
      put(one, "y", "1");
      commits("x", "1");
      assertRefused(ConflictReason.NOT_SERIALIZABLE, () -> one.prepare(bytes("too late")));
    }
    assertEquals(0, db.preparedTransactions().size());
    try (Transaction one = begin()) {
      get(one, "x");
      put(one, "y", "1");
      one.prepare(bytes("in time"));
    }
    commits("x", "2");
    assertTrue(db.commitPrepared(bytes("in time")));
    assertEquals("1", db.call(tx -> get(tx, "y")));
  }

  @Test
  void R20_who_meets_a_row_of_a_prepared_one_is_in_conflict_or_waits_for_what_becomes_of_it()
      throws Exception {
    for (boolean commits : new boolean[] {true, false}) {
      byte[] name = bytes("prepared " + commits);
      try (Transaction prepared = db.begin()) {
        put(prepared, "x", "prepared");
        put(prepared, "new", "prepared");
        prepared.prepare(name);
      }
      try (Transaction one = begin()) {
        assertEquals("0", get(one, "y"));
        assertThrows(ConflictException.class, () -> get(one, "x"));
        assertThrows(ConflictException.class, () -> get(one, "new"));
        assertThrows(ConflictException.class, () -> one.count(table, null, null));
      }
      try (Transaction snapshot = db.begin()) {
        assertEquals("0", get(snapshot, "x"), "not so below");
      }
      CompletableFuture<String> waits =
          CompletableFuture.supplyAsync(() -> {
            try (Transaction one = db.begin(WAITING)) {
              String x = get(one, "x");
              one.commit();
              return x;
            }
          });
      while (waiters().sleeping() == 0 && !waits.isDone()) {
        Await.pause();
      }
      if (commits) {
        db.commitPrepared(name);
        ExecutionException refused = assertThrows(ExecutionException.class, () -> waits.get());
        assertEquals(ConflictException.class, refused.getCause().getClass());
        assertEquals("prepared", db.call(SERIALIZABLE, tx -> get(tx, "x")));
        db.run(tx -> {
          put(tx, "x", "0");
          tx.delete(table, bytes("new"));
        });
      } else {
        db.rollbackPrepared(name);
        assertEquals("0", waits.get());
      }
    }
  }

  private RowWaiters waiters() {
    try (Transaction tx = db.begin()) {
      return ApiAccess.api().core(tx).engine().storage().transactions().rowWaiters();
    }
  }

  @Test
  void R20_one_that_was_prepared_before_and_commits_behind_the_snapshot_is_not_passed_over() {
    try (Transaction prepared = db.begin()) {
      put(prepared, "x", "1");
      prepared.prepare(bytes("p"));
    }
    try (Transaction one = begin()) {
      assertEquals("0", get(one, "y"));
      db.commitPrepared(bytes("p"));
      assertRefused(ConflictReason.NOT_SERIALIZABLE, () -> get(one, "x"));
    }
  }

  /** The page shows only the two last writers; the prepared transaction is neither of them. */
  @Test
  void R20_who_has_only_read_misses_no_prepared_one_whose_row_was_written_twice_since() {
    Transaction prepared = begin();
    get(prepared, "y");
    put(prepared, "x", "prepared");
    prepared.prepare(bytes("p"));
    commits("y", "1"); // the prepared one has not seen it
    try (Transaction one = begin()) {
      assertEquals("1", get(one, "y"));
      db.commitPrepared(bytes("p"));
      commits("x", "2");
      commits("x", "3");
      try {
        assertEquals("0", get(one, "x"));
      } catch (ConflictException found) {
        if (found.reason() != ConflictReason.NOT_SERIALIZABLE) {
          throw found;
        }
        return;
      }
      assertFalse(commits(one));
    }
  }

  @Test
  void R20_a_prepared_one_of_a_former_life_is_not_passed_over() {
    try (Transaction prepared = db.begin()) {
      put(prepared, "x", "1");
      prepared.prepare(bytes("p"));
    }
    db.close();
    open();
    try (Transaction one = begin()) {
      assertThrows(ConflictException.class, () -> get(one, "x"));
      assertRefused(
          ConflictReason.LOCK_TIMEOUT,
          () -> db.run(SERIALIZABLE.withLockTimeout(Duration.ofMillis(1)), tx -> get(tx, "x")));
      db.commitPrepared(bytes("p"));
      assertRefused(ConflictReason.NOT_SERIALIZABLE, () -> get(one, "x"));
    }
    assertEquals("1", db.call(SERIALIZABLE, tx -> get(tx, "x")));
  }

  // Those that say that they only read.

  private static boolean isGated(Transaction tx) {
    return ApiAccess.api().core(tx).engine().certifier().mustEnter(Certifier.UNGATED);
  }

  @Test
  void R20_one_that_was_begun_to_read_alone_happens_at_its_snapshot_and_is_nothing_to_others() {
    try (Transaction one = db.begin(ALONE)) {
      assertEquals("0", get(one, "x"));
      commits("x", "1");
      commits("y", "1");
      assertEquals("0", get(one, "y"));
      assertEquals(2, one.count(table, null, null));
      assertFalse(isGated(one), "nobody commits in turn because of it");
      one.commit();
    }
  }

  @Test
  void R20_one_that_was_begun_to_read_alone_does_not_wait_for_who_is_prepared_behind_it() {
    try (Transaction one = db.begin(ALONE);
        Transaction prepared = db.begin()) {
      put(prepared, "x", "1");
      prepared.prepare(bytes("p"));
      assertEquals("0", get(one, "x"));
      db.commitPrepared(bytes("p"));
      assertEquals("0", get(one, "x"));
      assertEquals("0", get(one, "y"));
      one.commit();
    }
  }

  @Test
  void R20_one_that_was_begun_to_read_alone_passes_over_nobody_who_was_prepared_before() {
    try (Transaction prepared = db.begin()) {
      put(prepared, "x", "1");
      prepared.prepare(bytes("p"));
    }
    try (Transaction one = db.begin(ALONE)) {
      assertTrue(isGated(one));
      assertThrows(ConflictException.class, () -> get(one, "x"));
      db.commitPrepared(bytes("p"));
      assertRefused(ConflictReason.NOT_SERIALIZABLE, () -> get(one, "x"));
    }
    try (Transaction one = db.begin(ALONE)) {
      assertEquals("1", get(one, "x"));
      Transaction other = db.begin();
      put(other, "x", "2");
      other.prepare(bytes("q"));
      assertEquals("1", get(one, "x"), "it came later");
      one.commit();
      db.rollbackPrepared(bytes("q"));
    }
  }

  /** A crash may take the rollback back, and the next life may commit what was prepared. */
  @Test
  void R10_one_that_was_begun_to_read_alone_ends_when_a_rollback_it_has_relied_on_is_durable() {
    try (Transaction prepared = db.begin()) {
      put(prepared, "x", "1");
      prepared.prepare(bytes("p"));
    }
    TransactionOptions durable =
        TransactionOptions.durable().withIsolation(Isolation.SERIALIZABLE).withReadOnly(true);
    try (Transaction other = db.begin()) {
      Engine engine = ApiAccess.api().core(other).engine();
      long rolledBack = engine.prepared().rollback(bytes("p")); // published, and not forced
      try (Transaction one = db.begin(durable)) {
        assertFalse(isGated(one));
        assertEquals("0", get(one, "x"));
        one.commit();
        assertTrue(engine.storage().log().durableLsn() >= rolledBack);
      }
    }
  }

  @Test
  void R20_one_that_was_begun_to_read_alone_is_told_no_name_of_a_table_that_came_later() {
    try (Transaction one = db.begin(ALONE)) {
      assertEquals(table, one.findTable("t"));
      assertNull(one.findTable("later"));
      db.getOrCreateTable("later");
      assertRefused(ConflictReason.NOT_SERIALIZABLE, () -> one.findTable("later"));
      assertEquals("0", get(one, "y"), "it goes on");
      one.commit();
    }
    assertNotNull(db.call(ALONE, tx -> tx.findTable("later")));
  }

  @Test
  void a_database_may_be_closed_while_a_transaction_waits_for_a_prepared_one() throws Exception {
    try (Transaction prepared = db.begin()) {
      put(prepared, "x", "1");
      prepared.prepare(bytes("p"));
    }
    CompletableFuture<String> waits =
        CompletableFuture.supplyAsync(() -> db.call(WAITING, tx -> get(tx, "x")));
    RowWaiters waiters = waiters();
    while (waiters.sleeping() == 0 && !waits.isDone()) {
      Await.pause();
    }
    db.close();
    ExecutionException refused = assertThrows(ExecutionException.class, () -> waits.get());
    assertEquals(DatabaseClosedException.class, refused.getCause().getClass());
  }
}
