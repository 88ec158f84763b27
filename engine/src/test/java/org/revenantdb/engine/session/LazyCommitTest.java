package org.revenantdb.engine.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.testing.Samples.SMALL;
import static org.revenantdb.engine.testing.Samples.bytes;

import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.ConflictReason;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseClosedException;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.DatabaseStoppedException;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionBody;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.engine.access.ApiAccess;
import org.revenantdb.engine.txn.TransactionTable;
import org.revenantdb.recovery.testing.Await;
import org.revenantdb.recovery.testing.FaultyFileSystem;

/**
 * Lazy commits, and what durable transactions see of them. Forces are made only on request, so each
 * wait can be counted.
 */
class LazyCommitTest {
  private static final TransactionOptions LAZY = TransactionOptions.lazy();
  private static final TransactionOptions DURABLE = TransactionOptions.durable();

  private static final int IDS_FORGOTTEN_AT_ONCE = 4096;

  @TempDir private Path folder;

  private Database db;
  private Table table;

  @BeforeEach
  void openDatabase() {
    db = Database.open(folder.resolve("db"), SMALL.withMaxLazyDelay(DatabaseOptions.NEVER));
    table = db.getOrCreateTable("t");
    db.run(tx -> tx.put(table, bytes("old"), bytes("0")));
    db.run(tx -> tx.put(table, bytes("gone"), bytes("0")));
    db.checkpoint();
  }

  @AfterEach
  void closeDatabase() {
    db.close();
  }

  /** Behind the last lazy commit; what the cleaner does later stands behind it. */
  private long lazyTail;

  private boolean isLazyDurable() {
    return db.statistics().files().durableLsn() >= lazyTail;
  }

  private void lazily(TransactionBody body) {
    db.run(LAZY, body);
    lazyTail = db.statistics().files().logTail();
    assertFalse(isLazyDurable(), "forced, and nobody asked for it");
  }

  /** What a transaction does makes it wait, once, until all that was there before is durable. */
  private void waits(TransactionOptions options, Consumer<Transaction> action) {
    long before = db.statistics().commits().durableReadWaits();
    try (Transaction tx = db.begin(options)) {
      action.accept(tx);
      assertEquals(before + 1, db.statistics().commits().durableReadWaits(), "waits");
      assertTrue(isLazyDurable(), "an answer was given that a crash could take back");
    }
  }

  private void doesNotWait(TransactionOptions options, Consumer<Transaction> action) {
    long before = db.statistics().commits().durableReadWaits();
    long durable = db.statistics().files().durableLsn();
    try (Transaction tx = db.begin(options)) {
      action.accept(tx);
      assertEquals(before, db.statistics().commits().durableReadWaits(), "waits");
      assertEquals(durable, db.statistics().files().durableLsn(), "it was forced");
    }
  }

  private String read(Transaction tx, String key) {
    byte[] value = tx.get(table, bytes(key));
    return value == null ? "none" : new String(value, java.nio.charset.StandardCharsets.UTF_8);
  }

  private static int count(Cursor cursor) {
    int rows = 0;
    try (cursor) {
      while (cursor.next()) {
        rows++;
      }
    }
    return rows;
  }

  @Test
  void lazy_commit_is_seen_at_once_and_costs_no_force() {
    lazily(tx -> tx.put(table, bytes("first"), bytes("1"))); // makes the file of the ring
    long forces = db.statistics().files().forces();
    for (int i = 0; i < 100; i++) {
      int n = i;
      db.run(LAZY, tx -> tx.put(table, bytes("k" + n), bytes("1")));
      db.run(LAZY, tx -> assertEquals("1", read(tx, "k" + n)));
    }
    assertEquals(forces, db.statistics().files().forces());
    assertEquals(101, db.statistics().commits().lazy());
  }

  @Test
  void R10_a_durable_get_waits_for_a_lazy_value() {
    lazily(tx -> tx.put(table, bytes("k"), bytes("1")));
    waits(DURABLE, tx -> assertEquals("1", read(tx, "k")));
    doesNotWait(DURABLE, tx -> assertEquals("1", read(tx, "k")));
  }

  @Test
  void R10_a_durable_exists_waits_for_a_lazy_value() {
    lazily(tx -> tx.put(table, bytes("k"), bytes("1")));
    waits(DURABLE, tx -> assertTrue(tx.exists(table, bytes("k"))));
  }

  @Test
  void R10_a_durable_stream_waits_for_a_lazy_value() {
    lazily(tx -> tx.put(table, bytes("k"), new byte[100_000]));
    waits(DURABLE, tx -> assertEquals(100_000, tx.get(table, bytes("k")).length));
  }

  @Test
  void R10_a_durable_get_waits_for_a_lazy_delete() {
    lazily(tx -> tx.delete(table, bytes("gone")));
    waits(DURABLE, tx -> assertEquals("none", read(tx, "gone")));
  }

  @Test
  void R10_a_lazily_deleted_row_is_not_forgotten_by_the_cleaner() {
    lazily(tx -> tx.delete(table, bytes("gone")));
    db.cleanNow();
    assertFalse(isLazyDurable());
    waits(DURABLE, tx -> assertEquals("none", read(tx, "gone")));
    db.cleanNow();
    doesNotWait(DURABLE, tx -> assertEquals("none", read(tx, "gone")));
  }

  /** Ids are forgotten by the thousand; one that is forgotten counts as committed for all. */
  @Test
  void R10_who_committed_lazily_is_not_forgotten_before_that_is_durable() {
    lazily(tx -> tx.put(table, bytes("k"), bytes("1")));
    for (int i = 0; i < 2 * IDS_FORGOTTEN_AT_ONCE; i++) {
      db.run(LAZY, tx -> tx.put(table, bytes("other"), bytes("1")));
    }
    db.cleanNow();
    assertFalse(isLazyDurable(), "the log was forced, so this says nothing");
    waits(DURABLE, tx -> assertEquals("1", read(tx, "k")));
  }

  @Test
  void R10_a_durable_scan_waits_for_lazy_rows_and_for_rows_lazily_deleted() {
    lazily(tx -> tx.put(table, bytes("k"), bytes("1")));
    waits(DURABLE, tx -> assertEquals(3, count(tx.scan(table, null, null))));
    lazily(tx -> tx.delete(table, bytes("gone")));
    waits(DURABLE, tx -> assertEquals(2, count(tx.scanDescending(table, null, null))));
  }

  @Test
  void R10_a_durable_delete_waits_before_it_says_whether_there_was_a_row() {
    lazily(tx -> tx.put(table, bytes("k"), bytes("1")));
    waits(DURABLE, tx -> assertTrue(tx.delete(table, bytes("k"))));
    lazily(tx -> tx.delete(table, bytes("gone")));
    waits(DURABLE, tx -> assertFalse(tx.delete(table, bytes("gone"))));
  }

  @Test
  void R10_a_conflict_is_told_when_the_commit_it_tells_of_is_durable() {
    try (Transaction tx = db.begin(DURABLE)) {
      lazily(other -> other.put(table, bytes("old"), bytes("1")));
      ConflictException conflict =
          assertThrows(ConflictException.class, () -> tx.put(table, bytes("old"), bytes("2")));
      assertEquals(ConflictReason.ROW_CHANGED, conflict.reason());
      assertTrue(isLazyDurable(), "told of a commit that a crash could take back");
    }
  }

  @Test
  void durable_reads_of_what_was_durable_before_do_not_wait() {
    lazily(tx -> tx.put(table, bytes("k"), bytes("1")));
    doesNotWait(DURABLE, tx -> assertEquals("0", read(tx, "old")));
    doesNotWait(DURABLE, tx -> assertEquals("none", read(tx, "never there")));
    doesNotWait(DURABLE, tx -> assertEquals(1, count(tx.scan(table, bytes("o"), null))));
  }

  @Test
  void an_older_snapshot_does_not_wait_for_what_it_does_not_see() {
    try (Transaction tx = db.begin(DURABLE)) {
      lazily(other -> other.put(table, bytes("old"), bytes("1")));
      lazily(other -> other.put(table, bytes("old"), bytes("2")));
      lazily(other -> other.put(table, bytes("k"), bytes("2")));
      long before = db.statistics().commits().durableReadWaits();
      assertEquals("0", read(tx, "old"));
      assertEquals("none", read(tx, "k"));
      assertEquals(before, db.statistics().commits().durableReadWaits());
    }
    assertFalse(isLazyDurable());
  }

  @Test
  void R10_an_older_snapshot_waits_for_the_version_it_sees_which_has_left_the_page() {
    lazily(tx -> tx.put(table, bytes("old"), bytes("1")));
    try (Transaction tx = db.begin(DURABLE)) {
      lazily(other -> other.put(table, bytes("old"), bytes("2")));
      lazily(other -> other.put(table, bytes("old"), bytes("3")));
      long before = db.statistics().commits().durableReadWaits();
      assertEquals("1", read(tx, "old"));
      assertEquals(before + 1, db.statistics().commits().durableReadWaits());
    }
  }

  @Test
  void blind_durable_writes_over_lazy_rows_wait_for_their_own_commit_only() {
    lazily(tx -> tx.put(table, bytes("k"), bytes("1")));
    doesNotWait(DURABLE, tx -> tx.put(table, bytes("k"), bytes("2")));
  }

  @Test
  void lazy_transactions_never_wait() {
    lazily(tx -> tx.put(table, bytes("k"), bytes("1")));
    lazily(tx -> tx.delete(table, bytes("gone")));
    doesNotWait(
        LAZY,
        tx -> {
          assertEquals("1", read(tx, "k"));
          assertEquals("none", read(tx, "gone"));
          assertEquals(2, count(tx.scan(table, null, null)));
          assertTrue(tx.delete(table, bytes("k")));
          tx.commit();
        });
  }

  @Test
  void one_that_acts_after_its_commit_waits_there_and_nowhere_else() {
    TransactionOptions acting = DURABLE.withDeferReadWaitsToCommit(true);
    lazily(tx -> tx.put(table, bytes("k"), bytes("1")));
    doesNotWait(acting, tx -> assertEquals("1", read(tx, "k")));
    waits(
        acting,
        tx -> {
          assertEquals("1", read(tx, "k"));
          tx.commit(); // it has only read
        });
    lazily(tx -> tx.put(table, bytes("k"), bytes("2")));
    db.run(acting, tx -> tx.put(table, bytes("n"), tx.get(table, bytes("k"))));
    assertTrue(isLazyDurable());
  }

  @Test
  void an_asynchronous_commit_reports_when_it_is_durable() {
    Transaction lazy = db.begin(LAZY);
    lazy.put(table, bytes("k"), bytes("1"));
    CompletableFuture<Void> told = lazy.commitAsync().toCompletableFuture();
    lazyTail = db.statistics().files().logTail();
    assertFalse(isLazyDurable(), "asking forced it");
    assertFalse(told.isDone());
    Transaction durable = db.begin(DURABLE);
    durable.put(table, bytes("l"), bytes("1"));
    durable.commitAsync().toCompletableFuture().join();
    assertTrue(isLazyDurable());
    told.join();
    assertTrue(durable.whenDurable().toCompletableFuture().isDone());
  }

  @Test
  void a_reader_that_acts_after_its_commit_can_wait_for_durability_too() {
    lazily(tx -> tx.put(table, bytes("k"), bytes("1")));
    Transaction reader = db.begin(DURABLE.withDeferReadWaitsToCommit(true));
    assertEquals("1", read(reader, "k"));
    reader.commitAsync().toCompletableFuture().join();
    assertTrue(isLazyDurable());
  }

  @Test
  void a_transaction_that_has_not_committed_has_no_durability_to_tell_of() {
    try (Transaction tx = db.begin()) {
      assertThrows(IllegalStateException.class, tx::whenDurable);
      tx.rollback();
      assertThrows(IllegalStateException.class, tx::whenDurable);
    }
  }

  @Test
  void sync_makes_durable_all_that_was_committed_before() {
    lazily(tx -> tx.put(table, bytes("k"), bytes("1")));
    db.sync();
    assertTrue(isLazyDurable());
    db.cleanNow(); // what it writes would have to be forced
    db.sync();
    long forces = db.statistics().files().forces();
    db.sync();
    assertEquals(forces, db.statistics().files().forces(), "there was nothing to force");
  }

  @Test
  void sync_of_a_closed_database_is_refused() {
    db.close();
    assertThrows(DatabaseClosedException.class, db::sync);
  }

  @Test
  void a_durable_commit_takes_earlier_lazy_ones_along() {
    lazily(tx -> tx.put(table, bytes("k"), bytes("1")));
    db.run(DURABLE, tx -> tx.put(table, bytes("other"), bytes("1")));
    assertTrue(isLazyDurable());
  }

  @Test
  void a_clean_close_loses_no_lazy_commit() {
    lazily(tx -> tx.put(table, bytes("k"), bytes("1")));
    db.close();
    db = Database.open(folder.resolve("db"), SMALL);
    table = db.getOrCreateTable("t");
    db.run(tx -> assertEquals("1", read(tx, "k")));
  }

  @Test
  void lazy_commits_become_durable_by_themselves_within_the_delay() throws Exception {
    db.close();
    db = Database.open(folder.resolve("db"), SMALL.withMaxLazyDelay(Duration.ofMillis(1)));
    table = db.getOrCreateTable("t");
    for (int i = 0; i < 20; i++) {
      try (Transaction tx = db.begin(LAZY)) {
        tx.put(table, bytes("k"), bytes("1"));
        tx.commit();
        // Not the end of the log: the cleaner's records may stand there, for which nobody asks.
        tx.whenDurable().toCompletableFuture().get();
      }
    }
  }

  @Test
  void the_default_durability_is_an_option_of_the_database() {
    db.close();
    db =
        Database.open(
            folder.resolve("db"),
            SMALL.withDurability(Durability.LAZY).withMaxLazyDelay(DatabaseOptions.NEVER));
    table = db.getOrCreateTable("t");
    db.run(tx -> tx.put(table, bytes("k"), bytes("1")));
    lazyTail = db.statistics().files().logTail();
    assertFalse(isLazyDurable());
  }

  @Test
  void lazy_delay_that_makes_no_sense_is_refused() {
    for (Duration wrong : new Duration[] {Duration.ofMillis(-1), Duration.ofDays(366)}) {
      IllegalArgumentException refused =
          assertThrows(IllegalArgumentException.class, () -> SMALL.withMaxLazyDelay(wrong));
      assertTrue(refused.getMessage().contains("maxLazyDelay"), refused.getMessage());
    }
  }

  /** It kept the batch whose wait had failed, and handed it out when asked again. */
  @Test
  void R10_a_cursor_gives_nothing_of_a_batch_for_which_the_wait_failed() {
    for (boolean descending : new boolean[] {false, true}) {
      FaultyFileSystem faulty = new FaultyFileSystem();
      Database other =
          Database.open(
              faulty.wrap(folder.resolve("faulty" + descending)),
              SMALL.withMaxLazyDelay(DatabaseOptions.NEVER));
      Table rows = other.getOrCreateTable("t");
      do {
        faulty.failForces(false);
        other.run(LAZY, tx -> tx.put(rows, bytes("a"), bytes("1")));
        faulty.failForces(true);
        // The database may have forced its log for a reason of its own in between.
      } while (other.statistics().files().durableLsn() >= other.statistics().files().logTail());
      Transaction reader = other.begin(DURABLE);
      Cursor cursor =
          descending ? reader.scanDescending(rows, null, null) : reader.scan(rows, null, null);
      assertThrows(DatabaseStoppedException.class, cursor::next);
      assertThrows(IllegalStateException.class, cursor::next);
      assertThrows(IllegalStateException.class, cursor::key);
      assertThrows(RuntimeException.class, other::close);
    }
  }

  @Test
  void R10_what_the_work_throws_after_reading_lazily_waits_as_well() {
    TransactionOptions atCommit = DURABLE.withDeferReadWaitsToCommit(true);
    lazily(tx -> tx.put(table, bytes("k"), bytes("1")));
    assertThrows(
        IllegalArgumentException.class,
        () ->
            db.run(
                atCommit,
                tx -> {
                  throw new IllegalArgumentException(read(tx, "k"));
                }));
    assertTrue(isLazyDurable(), "the caller was told what a crash could take back");
  }

  /** Ids of transactions that had changed nothing were kept for ever: no page, nothing to clean. */
  @Test
  void transactions_that_found_nothing_to_delete_are_forgotten() {
    for (int i = 0; i < 2 * IDS_FORGOTTEN_AT_ONCE; i++) {
      db.run(LAZY, tx -> assertFalse(tx.delete(table, bytes("none"))));
    }
    TransactionTable transactions;
    try (Transaction any = db.begin(LAZY)) {
      transactions = ApiAccess.api().core(any).engine().storage().transactions();
    }
    assertTrue(transactions.mayForget(), "nothing is durable yet");
    db.sync();
    while (transactions.mayForget()) {
      Await.pause(); // until the cleaner has forgotten them
    }
  }
}
