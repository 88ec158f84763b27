package org.revenantdb.engine.session;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.Isolation.READ_COMMITTED;
import static org.revenantdb.engine.Isolation.SERIALIZABLE;
import static org.revenantdb.engine.Isolation.SNAPSHOT;
import static org.revenantdb.engine.testing.Refusals.assertRefused;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.revenantdb.engine.BulkLoad;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.ConflictReason;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Isolation;
import org.revenantdb.engine.Savepoint;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TableOptions;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.engine.TransactionStateException;
import org.revenantdb.engine.access.ApiAccess;
import org.revenantdb.engine.txn.RowWaiters;
import org.revenantdb.recovery.testing.Await;

/**
 * The anomalies of the literature on each level of isolation, prevented where that is promised,
 * shown where it is not; and what statements that read committed do (protocols.md §33, §34).
 */
class IsolationTest {
  private static final Duration LONG = Duration.ofMinutes(2);

  @TempDir Path dir;

  private Database db;
  private Table table;

  @BeforeEach
  void open() {
    db = Database.open(dir.resolve("db"));
    table = db.getOrCreateTable("t");
    db.run(tx -> {
      put(tx, "x", "0");
      put(tx, "y", "0");
    });
  }

  @AfterEach
  void close() {
    db.close();
  }

  private Transaction begin(Isolation isolation) {
    return db.begin(TransactionOptions.lazy().withIsolation(isolation));
  }

  private void put(Transaction tx, String key, String value) {
    tx.put(table, bytes(key), bytes(value));
  }

  private String get(Transaction tx, String key) {
    byte[] value = tx.get(table, bytes(key));
    return value == null ? null : new String(value, US_ASCII);
  }

  private String now(String key) {
    return db.call(tx -> get(tx, key));
  }

  private static byte[] bytes(String text) {
    return text.getBytes(US_ASCII);
  }

  private void commits(String key, String value) {
    db.run(tx -> put(tx, key, value));
  }

  // Dirty write and dirty read: never.

  @ParameterizedTest
  @EnumSource
  void dirty_write_is_refused_on_each_level(Isolation isolation) {
    try (Transaction one = begin(isolation);
        Transaction two = begin(isolation)) {
      put(one, "x", "1");
      assertThrows(ConflictException.class, () -> put(two, "x", "2"));
      put(one, "y", "1");
      one.commit();
    }
    assertEquals("1", now("x"));
    assertEquals("1", now("y"));
  }

  @ParameterizedTest
  @EnumSource
  void uncommitted_changes_are_seen_by_no_other_transaction(Isolation isolation) {
    try (Transaction writer = begin(isolation);
        Transaction reader = begin(isolation)) {
      put(writer, "x", "1");
      assertEquals("1", get(writer, "x"));
      assertEquals("0", get(reader, "x"));
      writer.rollback();
      assertEquals("0", get(reader, "x"));
    }
  }

  // Read skew, lost update.

  @Test
  void read_skew_is_there_where_each_statement_has_its_snapshot_and_nowhere_else() {
    for (Isolation isolation : Isolation.values()) {
      commits("x", "0");
      commits("y", "0");
      try (Transaction reader = begin(isolation)) {
        assertEquals("0", get(reader, "x"));
        db.run(tx -> {
          put(tx, "x", "1");
          put(tx, "y", "1");
        });
        assertEquals(isolation == READ_COMMITTED ? "1" : "0", get(reader, "y"), "at " + isolation);
        assertEquals(isolation == READ_COMMITTED ? "1" : "0", get(reader, "x"), "at " + isolation);
        reader.commit();
      }
    }
  }

  @Test
  void lost_update_happens_under_read_committed() {
    try (Transaction one = begin(READ_COMMITTED)) {
      int read = Integer.parseInt(get(one, "x"));
      commits("x", "7");
      put(one, "x", "" + (read + 1));
      one.commit();
    }
    assertEquals("1", now("x"), "the 7 is lost");
  }

  @ParameterizedTest
  @EnumSource(names = {"SNAPSHOT", "SERIALIZABLE"})
  void lost_update_is_a_conflict_under_snapshot_isolation(Isolation isolation) {
    try (Transaction one = begin(isolation)) {
      get(one, "x");
      commits("x", "7");
      assertThrows(ConflictException.class, () -> put(one, "x", "1"));
    }
    assertEquals("7", now("x"));
  }

  // Write skew, phantoms, the read-only anomaly.

  /** Each reads what the other writes. The second commit is refused, or it is not. */
  private boolean bothCommit(Isolation isolation) {
    try (Transaction one = begin(isolation);
        Transaction two = begin(isolation)) {
      get(one, "x");
      get(two, "y");
      put(one, "y", "1");
      put(two, "x", "2");
      one.commit();
      return commits(two);
    }
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

  @Test
  void write_skew_is_prevented_among_serializable_ones_alone() {
    assertTrue(bothCommit(READ_COMMITTED));
    assertTrue(bothCommit(SNAPSHOT));
    assertFalse(bothCommit(SERIALIZABLE));
  }

  @Test
  void write_skew_over_rows_that_are_not_there_is_prevented() {
    try (Transaction one = begin(SERIALIZABLE);
        Transaction two = begin(SERIALIZABLE)) {
      assertNull(get(one, "a"));
      assertFalse(two.exists(table, bytes("b")));
      put(one, "b", "1");
      put(two, "a", "2");
      one.commit();
      assertFalse(commits(two));
    }
    assertNull(now("a"));
  }

  @Test
  void a_delete_that_found_nothing_has_read_that() {
    try (Transaction one = begin(SERIALIZABLE)) {
      assertFalse(one.delete(table, bytes("a")));
      put(one, "x", "1");
      commits("a", "1");
      assertFalse(commits(one));
    }
  }

  @Test
  void a_delete_that_was_taken_back_has_read_all_the_same() {
    try (Transaction one = begin(SERIALIZABLE)) {
      Savepoint before = one.savepoint();
      assertTrue(one.delete(table, bytes("x")));
      one.rollbackTo(before);
      db.run(tx -> tx.delete(table, bytes("x")));
      put(one, "y", "x was there");
      assertFalse(commits(one));
    }
  }

  /** Reads a range in one of the ways there are. */
  private interface RangeRead {
    void read(Transaction tx, byte[] from, byte[] to);
  }

  private void assertPhantomsAreFound(String how, RangeRead read) {
    commits("c", "row");
    commits("e", "row");
    String[] inside = {"b", "bb", "c", "d", "e", "ez"};
    String[] outside = {"a", "az", "f", "g", "x"};
    for (String key : inside) {
      try (Transaction one = begin(SERIALIZABLE)) {
        read.read(one, bytes("b"), bytes("f"));
        put(one, "y", "1");
        commits(key, "phantom");
        assertFalse(commits(one), how + ", " + key);
      }
      if (!key.equals("c") && !key.equals("e")) {
        db.run(tx -> tx.delete(table, bytes(key)));
      }
    }
    for (String key : outside) {
      try (Transaction one = begin(SERIALIZABLE)) {
        read.read(one, bytes("b"), bytes("f"));
        put(one, "y", "1");
        commits(key, "no phantom");
        assertTrue(commits(one), how + ", " + key);
      }
    }
    try (Transaction one = begin(SERIALIZABLE)) {
      read.read(one, bytes("b"), bytes("f"));
      put(one, "y", "1");
      db.run(tx -> tx.delete(table, bytes("c")));
      assertFalse(commits(one), how + ", a row that went");
    }
  }

  @Test
  void phantoms_within_a_range_and_at_its_ends_are_found_and_rows_beside_it_are_not() {
    assertPhantomsAreFound("count", (tx, from, to) -> tx.count(table, from, to));
    assertPhantomsAreFound(
        "scan",
        (tx, from, to) -> {
          try (Cursor rows = tx.scan(table, from, to)) {
            while (rows.next()) {
              rows.key();
            }
          }
        });
    assertPhantomsAreFound(
        "backwards",
        (tx, from, to) -> {
          try (Cursor rows = tx.scanDescending(table, from, to)) {
            while (rows.next()) {
              rows.key();
            }
          }
        });
  }

  @Test
  void phantoms_are_let_through_by_a_snapshot_and_seen_where_each_statement_has_its_own() {
    commits("c", "row");
    try (Transaction one = begin(SNAPSHOT)) {
      assertEquals(1, one.count(table, bytes("b"), bytes("f")));
      put(one, "y", "1");
      commits("b", "phantom");
      commits("ez", "phantom");
      assertEquals(1, one.count(table, bytes("b"), bytes("f")), "it does not see them");
      assertTrue(commits(one), "though it would count three by now");
    }
    try (Transaction one = begin(READ_COMMITTED)) {
      assertEquals(3, one.count(table, bytes("b"), bytes("f")));
      put(one, "y", "1");
      commits("d", "phantom");
      assertEquals(4, one.count(table, bytes("b"), bytes("f")));
      assertTrue(commits(one));
    }
  }

  @Test
  void a_cursor_has_read_up_to_the_row_that_it_stands_on_and_no_further() {
    for (String key : new String[] {"b", "d", "f"}) {
      commits(key, "row");
    }
    try (Transaction one = begin(SERIALIZABLE);
        Cursor rows = one.scan(table, bytes("a"), null)) {
      assertTrue(rows.next());
      assertTrue(rows.next()); // d
      put(one, "y", "1");
      commits("e", "behind it");
      commits("f", "behind it");
      assertTrue(commits(one));
    }
    try (Transaction one = begin(SERIALIZABLE);
        Cursor rows = one.scan(table, bytes("a"), null)) {
      assertTrue(rows.next());
      assertTrue(rows.next()); // d
      put(one, "y", "1");
      commits("c", "before it");
      assertFalse(commits(one));
    }
    try (Transaction one = begin(SERIALIZABLE);
        Cursor rows = one.scanDescending(table, null, bytes("g"))) {
      assertTrue(rows.seek(bytes("e")) || true); // on e
      put(one, "y", "1");
      commits("f", "it was passed by");
      commits("a", "it is not there yet");
      assertTrue(commits(one));
    }
    try (Transaction one = begin(SERIALIZABLE);
        Cursor rows = one.scan(table, bytes("a"), bytes("z"))) {
      assertFalse(rows.seek(bytes("yy")));
      put(one, "y", "1");
      commits("yz", "where it has found none");
      assertFalse(commits(one));
    }
  }

  @Test
  void deleteRange_has_read_its_range() {
    try (Transaction one = begin(SERIALIZABLE)) {
      assertEquals(0, one.deleteRange(table, bytes("a"), bytes("c")));
      put(one, "x", "1");
      commits("b", "1");
      assertFalse(commits(one));
    }
  }

  @Test
  void what_is_read_of_a_table_with_partitions_is_read_of_the_table() {
    Table several = db.getOrCreateTable("several", TableOptions.hashPartitioned(4));
    for (int i = 0; i < 8; i++) {
      int round = i;
      byte[] key = bytes("k" + round);
      try (Transaction one = begin(SERIALIZABLE)) {
        assertEquals(round, one.count(several, bytes("k"), bytes("l")));
        put(one, "x", "1");
        db.run(tx -> tx.put(several, key, key));
        assertFalse(commits(one), "round " + round);
      }
      try (Transaction one = begin(SERIALIZABLE)) {
        one.get(several, bytes("m" + round));
        put(one, "x", "1");
        db.run(tx -> tx.put(several, bytes("n" + round), key));
        assertTrue(commits(one), "round " + round);
      }
    }
  }

  /**
   * Fekete, O'Neil, O'Neil: a reader sees the deposit and not the withdrawal that was begun before
   * it; under snapshot isolation all three commit.
   */
  private boolean readOnlyAnomaly(Isolation isolation) {
    commits("x", "0");
    commits("y", "0");
    try (Transaction withdrawal = begin(isolation)) {
      get(withdrawal, "x");
      get(withdrawal, "y");
      try (Transaction deposit = begin(isolation)) {
        get(deposit, "y");
        put(deposit, "y", "20");
        deposit.commit();
      }
      try (Transaction reader = begin(isolation)) {
        assertEquals("0", get(reader, "x"));
        assertEquals("20", get(reader, "y"));
        reader.commit();
      }
      put(withdrawal, "x", "-11");
      return commits(withdrawal);
    }
  }

  @Test
  void the_read_only_anomaly_is_prevented_among_serializable_ones_alone() {
    assertTrue(readOnlyAnomaly(SNAPSHOT));
    assertFalse(readOnlyAnomaly(SERIALIZABLE));
  }

  @Test
  void one_that_has_only_read_is_never_refused() {
    try (Transaction reader = begin(SERIALIZABLE)) {
      assertEquals("0", get(reader, "x"));
      commits("x", "1");
      commits("y", "1");
      assertEquals("0", get(reader, "y"));
      assertEquals(2, reader.count(table, null, null));
      reader.commit();
    }
  }

  @Test
  void one_that_cannot_be_serialized_can_only_be_rolled_back_and_run_does_it_again() {
    try (Transaction one = begin(SERIALIZABLE)) {
      Savepoint before = one.savepoint();
      get(one, "x");
      put(one, "y", "1");
      commits("x", "1");
      assertRefused(ConflictReason.NOT_SERIALIZABLE, one::commit);
      assertRefused(TransactionStateException.Reason.ROLLBACK_ONLY, () -> get(one, "x"));
      assertRefused(TransactionStateException.Reason.ROLLBACK_ONLY, one::commit);
      assertRefused(TransactionStateException.Reason.ROLLBACK_ONLY, () -> one.prepare(bytes("p")));
      assertRefused(TransactionStateException.Reason.ROLLBACK_ONLY, () -> one.rollbackTo(before));
      one.rollback();
    }
    int[] attempts = {0};
    db.run(
        TransactionOptions.durable().withIsolation(SERIALIZABLE),
        tx -> {
          String x = get(tx, "x");
          put(tx, "y", x);
          if (attempts[0]++ == 0) {
            commits("x", "2");
          }
        });
    assertEquals(2, attempts[0]);
    assertEquals("2", now("y"));
  }

  // What statements that read committed do.

  @Test
  void a_statement_that_reads_committed_sees_what_is_committed_when_it_begins_and_its_own() {
    try (Transaction one = begin(READ_COMMITTED)) {
      for (int i = 1; i < 5; i++) {
        commits("x", "" + i);
        assertEquals("" + i, get(one, "x"));
        assertEquals(2, one.count(table, null, null));
        put(one, "y", "own " + i);
        assertEquals("own " + i, get(one, "y"));
      }
      one.commit();
    }
    assertEquals("own 4", now("y"));
  }

  @Test
  void a_delete_that_reads_committed_deletes_the_row_as_it_is() {
    try (Transaction one = begin(READ_COMMITTED)) {
      get(one, "x");
      commits("x", "1");
      assertTrue(one.delete(table, bytes("x")));
      db.run(tx -> tx.delete(table, bytes("y")));
      assertFalse(one.delete(table, bytes("y")));
      one.commit();
    }
    assertNull(now("x"));
  }

  @Test
  void lockForUpdate_that_reads_committed_returns_what_it_locks() throws Exception {
    TransactionOptions waits =
        TransactionOptions.lazy().withIsolation(READ_COMMITTED).withLockTimeout(LONG);
    CompletableFuture<String> locked;
    try (Transaction first = begin(SNAPSHOT)) {
      put(first, "x", "1");
      locked =
          CompletableFuture.supplyAsync(() ->
              db.call(
                  waits,
                  tx -> {
                    String value = new String(tx.lockForUpdate(table, bytes("x")), US_ASCII);
                    put(tx, "x", value + "+");
                    return value;
                  }));
      while (waiters().sleeping() == 0 && !locked.isDone()) {
        Await.pause();
      }
      first.commit();
    }
    assertEquals("1", locked.get());
    assertEquals("1+", now("x"));
  }

  private Engine engine() {
    try (Transaction tx = db.begin()) {
      return ApiAccess.api().core(tx).engine();
    }
  }

  private RowWaiters waiters() {
    return engine().storage().transactions().rowWaiters();
  }

  private int snapshots() {
    return engine().snapshots().active();
  }

  @Test
  void increments_by_lockForUpdate_under_read_committed_are_all_there() {
    TransactionOptions waits =
        TransactionOptions.lazy().withIsolation(READ_COMMITTED).withLockTimeout(LONG);
    int threads = 4;
    int each = 300;
    CompletableFuture<?>[] all = new CompletableFuture<?>[threads];
    for (int i = 0; i < threads; i++) {
      all[i] =
          CompletableFuture.runAsync(() -> {
            for (int n = 0; n < each; n++) {
              try (Transaction tx = db.begin(waits)) {
                int value =
                    Integer.parseInt(new String(tx.lockForUpdate(table, bytes("x")), US_ASCII));
                put(tx, "x", "" + (value + 1));
                tx.commit();
              }
            }
          });
    }
    CompletableFuture.allOf(all).join();
    assertEquals("" + threads * each, now("x"));
  }

  @Test
  void a_cursor_that_reads_committed_goes_on_in_its_snapshot_while_statements_go_on_in_theirs() {
    db.run(tx -> {
      for (int i = 0; i < 1_000; i++) {
        tx.put(table, bytes("k%04d".formatted(i)), bytes("0"));
      }
    });
    try (Transaction one = begin(READ_COMMITTED);
        Cursor rows = one.scan(table, bytes("k"), bytes("l"))) {
      int count = 0;
      while (rows.next()) {
        byte[] key = rows.key();
        if (count % 100 == 0) {
          db.run(tx -> {
            for (int i = 0; i < 1_000; i++) {
              tx.put(table, bytes("k%04d".formatted(i)), bytes("later"));
            }
          });
          db.cleanNow();
          assertEquals("later", new String(one.get(table, key), US_ASCII));
        }
        assertEquals("0", new String(rows.value(), US_ASCII), "row " + count);
        count++;
      }
      assertEquals(1_000, count);
    }
  }

  @Test
  void a_cursor_that_reads_committed_goes_on_over_a_table_that_was_truncated_meanwhile() {
    db.run(tx -> {
      for (int i = 0; i < 2_000; i++) {
        tx.put(table, bytes("k%04d".formatted(i)), bytes("old"));
      }
    });
    try (Transaction one = begin(READ_COMMITTED);
        Cursor rows = one.scan(table, bytes("k"), bytes("l"))) {
      assertTrue(rows.next());
      db.truncateTable("t");
      assertEquals(0, one.count(table, null, null));
      db.cleanNow();
      db.run(tx -> {
        for (int i = 0; i < 2_000; i++) {
          tx.put(table, bytes("k%04d".formatted(i)), bytes("new"));
        }
      });
      int count = 1;
      while (rows.next()) {
        assertEquals("old", new String(rows.value(), US_ASCII), "row " + count);
        count++;
      }
      assertEquals(2_000, count);
    }
    db.cleanNow();
    assertTrue(db.check().isSound());
  }

  @Test
  void a_table_of_another_database_is_refused_and_holds_nothing() {
    try (Database other = Database.open(dir.resolve("other"))) {
      Table foreign = other.getOrCreateTable("t");
      for (Isolation isolation : Isolation.values()) {
        try (Transaction one = begin(isolation)) {
          assertThrows(
              IllegalArgumentException.class, () -> one.put(foreign, bytes("x"), bytes("1")));
          assertEquals(0, ApiAccess.api().core(one).id());
          one.commit();
        }
      }
    }
  }

  @Test
  void a_cursor_that_is_asked_again_at_its_end_has_read_no_more() {
    try (Transaction one = begin(SERIALIZABLE);
        Cursor rows = one.scan(table, bytes("y"), null)) {
      while (rows.next()) {
        rows.key();
      }
      assertFalse(rows.next());
      assertFalse(rows.next());
      put(one, "y", "1");
      commits("a", "1");
      assertTrue(commits(one));
    }
  }

  @Test
  void a_stream_that_reads_committed_is_whole_whatever_becomes_of_its_row() throws IOException {
    byte[] large = new byte[300_000];
    Arrays.fill(large, (byte) 7);
    db.run(tx -> tx.put(table, bytes("large"), large));
    try (Transaction one = begin(READ_COMMITTED)) {
      try (InputStream stream = one.open(table, bytes("large"))) {
        byte[] half = stream.readNBytes(150_000);
        db.runThrowing(
            tx -> tx.put(table, bytes("large"), new ByteArrayInputStream(new byte[200_000])));
        assertEquals(200_000, one.get(table, bytes("large")).length);
        db.cleanNow();
        db.run(tx -> tx.put(table, bytes("other"), new byte[280_000])); // over what was freed
        byte[] rest = stream.readAllBytes();
        assertEquals(300_000, half.length + rest.length);
        assertEquals(7, rest[rest.length - 1]);
        stream.close();
        assertThrows(IOException.class, stream::read, "not the end of the value");
      }
      db.cleanNow();
      one.commit();
    }
    assertTrue(db.check().isSound());
  }

  @Test
  void what_was_given_back_keeps_no_snapshot() throws IOException {
    db.run(tx -> tx.put(table, bytes("large"), new byte[100_000]));
    try (Transaction one = begin(READ_COMMITTED)) {
      int open = snapshots();
      try (Cursor rows = one.scan(table, null, null);
          InputStream stream = one.open(table, bytes("large"))) {
        assertTrue(rows.next());
        assertEquals(open + 2, snapshots());
        stream.read();
      }
      assertEquals(open, snapshots());
      one.get(table, bytes("x"));
      one.open(table, bytes("x")).close();
      assertEquals(open, snapshots());
      Cursor left = one.scan(table, null, null);
      assertTrue(left.next());
    }
    assertEquals(0, snapshots());
  }

  @Test
  void deleteRange_that_reads_committed_deletes_what_was_there_when_it_began() {
    db.run(tx -> {
      for (int i = 0; i < 600; i++) {
        tx.put(table, bytes("k%04d".formatted(i)), bytes("0"));
      }
    });
    try (Transaction one = begin(READ_COMMITTED)) {
      long rows =
          ApiAccess.api()
              .deleteRange(
                  one,
                  table,
                  bytes("k"),
                  bytes("l"),
                  () ->
                      db.run(tx -> {
                        tx.put(table, bytes("k0010"), bytes("changed"));
                        tx.delete(table, bytes("k0500"));
                        tx.put(table, bytes("k0500x"), bytes("new"));
                      }));
      assertEquals(599, rows);
      one.commit();
    }
    assertEquals(1, (long) db.call(tx -> tx.count(table, bytes("k"), bytes("l"))));
    assertEquals("new", now("k0500x"));
  }

  @Test
  void a_truncation_is_seen_by_the_next_statement_that_reads_committed_and_it_may_write() {
    try (Transaction one = begin(READ_COMMITTED)) {
      assertEquals(2, one.count(table, null, null));
      db.truncateTable("t");
      assertEquals(0, one.count(table, null, null));
      put(one, "z", "1");
      assertEquals("1", get(one, "z"));
      one.commit();
    }
    assertEquals("1", now("z"));
  }

  @Test
  void a_bulk_load_takes_options_of_each_level() {
    for (Isolation isolation : Isolation.values()) {
      try (BulkLoad load =
          db.bulkLoad(table, TransactionOptions.durable().withIsolation(isolation))) {
        load.add(bytes("z" + isolation), bytes("1"));
        load.finish();
      }
    }
    assertEquals(3, (long) db.call(tx -> tx.count(table, bytes("z"), null)));
  }
}
