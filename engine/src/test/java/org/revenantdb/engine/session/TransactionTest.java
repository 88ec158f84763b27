package org.revenantdb.engine.session;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.testing.Refusals.assertRefused;
import static org.revenantdb.engine.testing.Samples.SMALL;
import static org.revenantdb.engine.testing.Samples.bytes;
import static org.revenantdb.engine.testing.Samples.get;
import static org.revenantdb.engine.testing.Samples.keys;
import static org.revenantdb.engine.testing.Samples.put;
import static org.revenantdb.engine.testing.Samples.rows;
import static org.revenantdb.engine.testing.Samples.text;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.CheckReport;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseClosedException;
import org.revenantdb.engine.LimitException;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionStateException;
import org.revenantdb.engine.testing.Samples;

/** Rows, scans, isolation, conflicts, the ends of transactions. */
class TransactionTest {
  @TempDir private Path folder;

  private Database db;
  private Table table;

  @BeforeEach
  void openDatabase() {
    db = Database.open(folder.resolve("db"), SMALL.withMaxAttempts(20));
    table = db.getOrCreateTable("t");
  }

  @AfterEach
  void closeDatabase() {
    CheckReport report = null;
    try {
      report = db.check();
    } catch (DatabaseClosedException e) {
      return; // the test was about that
    } finally {
      db.close();
    }
    assertTrue(report.isSound(), report.toString());
  }

  // ---------------------------------------------------------------------------------- rows

  /** The row's own, its predecessor's, and that of an older version in memory. */
  @Test
  void a_returned_array_is_not_shared() {
    List<Transaction> snapshots = new ArrayList<>();
    for (String value : new String[] {"1", "2", "3", "4"}) {
      db.run(tx -> tx.put(table, bytes("k"), bytes(value)));
      snapshots.add(db.begin());
    }
    for (int i = 0; i < snapshots.size(); i++) {
      Transaction tx = snapshots.get(i);
      byte[] expected = bytes(Integer.toString(i + 1));
      for (int again = 0; again < 2; again++) {
        byte[] value = tx.get(table, bytes("k"));
        assertArrayEquals(expected, value);
        value[0] = 'x';
        Cursor cursor = tx.scan(table, null, null);
        assertTrue(cursor.next());
        assertArrayEquals(expected, cursor.value());
        cursor.value()[0] = 'x';
        assertArrayEquals(expected, cursor.value());
      }
      tx.close();
    }
  }

  @Test
  void put_get_exists_delete() {
    try (Transaction tx = db.begin()) {
      assertNull(tx.get(table, bytes("k")));
      assertNull(tx.open(table, bytes("k")));
      assertFalse(tx.exists(table, bytes("k")));
      assertFalse(tx.delete(table, bytes("k")));
      tx.put(table, bytes("k"), bytes("v"));
      assertArrayEquals(bytes("v"), tx.get(table, bytes("k")));
      assertTrue(tx.exists(table, bytes("k")));
      tx.put(table, bytes("k"), bytes("w"));
      assertArrayEquals(bytes("w"), tx.get(table, bytes("k")));
      assertTrue(tx.delete(table, bytes("k")));
      assertFalse(tx.delete(table, bytes("k")));
      assertNull(tx.get(table, bytes("k")));
      tx.put(table, bytes("k"), bytes("x"));
      tx.commit();
    }
    assertEquals("x", get(db, "t", "k"));
  }

  @Test
  void get_returnsACopy() {
    put(db, "t", "k", "v");
    try (Transaction tx = db.begin()) {
      byte[] first = tx.get(table, bytes("k"));
      first[0] = 'X';
      assertArrayEquals(bytes("v"), tx.get(table, bytes("k")));
      Cursor cursor = tx.scan(table, null, null);
      assertTrue(cursor.next());
      cursor.key()[0] = 'X';
      cursor.value()[0] = 'X';
      assertArrayEquals(bytes("k"), cursor.key());
      assertArrayEquals(bytes("v"), cursor.value());
      assertNotSame(cursor.key(), cursor.key());
    }
  }

  @Test
  void empty_value_is_a_value() {
    put(db, "t", "k", "");
    try (Transaction tx = db.begin()) {
      assertArrayEquals(new byte[0], tx.get(table, bytes("k")));
      assertTrue(tx.exists(table, bytes("k")));
    }
  }

  @Test
  void several_tables_in_one_transaction_commit_together_or_not_at_all() {
    Table other = db.getOrCreateTable("u");
    try (Transaction tx = db.begin()) {
      tx.put(table, bytes("k"), bytes("1"));
      tx.put(other, bytes("k"), bytes("2"));
      tx.commit();
    }
    assertEquals("1", get(db, "t", "k"));
    assertEquals("2", get(db, "u", "k"));
    try (Transaction tx = db.begin()) {
      tx.put(table, bytes("k"), bytes("3"));
      tx.delete(other, bytes("k"));
      tx.rollback();
    }
    assertEquals("1", get(db, "t", "k"));
    assertEquals("2", get(db, "u", "k"));
  }

  @Test
  void keys_outOfBounds_areRefused_andTheTransactionGoesOn() {
    byte[] longest = new byte[Database.MAX_KEY_BYTES];
    byte[] tooLong = new byte[Database.MAX_KEY_BYTES + 1];
    try (Transaction tx = db.begin()) {
      for (byte[] key : List.of(new byte[0], tooLong)) {
        assertRefused(LimitException.Reason.KEY_LENGTH, () -> tx.put(table, key, bytes("v")));
        assertRefused(
            LimitException.Reason.KEY_LENGTH,
            () -> tx.put(table, key, new ByteArrayInputStream(bytes("v"))));
        assertRefused(LimitException.Reason.KEY_LENGTH, () -> tx.get(table, key));
        assertRefused(LimitException.Reason.KEY_LENGTH, () -> tx.open(table, key));
        assertRefused(LimitException.Reason.KEY_LENGTH, () -> tx.exists(table, key));
        assertRefused(LimitException.Reason.KEY_LENGTH, () -> tx.delete(table, key));
      }
      assertTrue(
          assertRefused(LimitException.Reason.KEY_LENGTH, () -> tx.get(table, tooLong))
              .getMessage()
              .contains("1025"));
      tx.put(table, longest, bytes("v"));
      tx.put(table, new byte[1], bytes("w"));
      assertArrayEquals(bytes("v"), tx.get(table, longest));
      tx.commit();
    }
  }

  @Test
  void nulls_areRefused_andTheTransactionGoesOn() {
    try (Transaction tx = db.begin()) {
      assertThrows(NullPointerException.class, () -> tx.put(null, bytes("k"), bytes("v")));
      assertThrows(NullPointerException.class, () -> tx.put(table, null, bytes("v")));
      assertThrows(NullPointerException.class, () -> tx.put(table, bytes("k"), (byte[]) null));
      assertThrows(NullPointerException.class, () -> tx.put(table, bytes("k"), (InputStream) null));
      assertThrows(NullPointerException.class, () -> tx.get(null, bytes("k")));
      assertThrows(NullPointerException.class, () -> tx.get(table, null));
      assertThrows(NullPointerException.class, () -> tx.open(table, null));
      assertThrows(NullPointerException.class, () -> tx.exists(table, null));
      assertThrows(NullPointerException.class, () -> tx.delete(table, null));
      assertThrows(NullPointerException.class, () -> tx.scan(null, null, null));
      tx.put(table, bytes("k"), bytes("v"));
      tx.commit();
    }
    assertThrows(NullPointerException.class, () -> db.run(null));
    assertThrows(NullPointerException.class, () -> db.call(null));
    assertEquals("v", get(db, "t", "k"));
  }

  @Test
  void table_ofAnotherDatabase_isRefused() {
    try (Database other = Samples.open(folder.resolve("other"));
        Transaction tx = db.begin()) {
      Table foreign = other.getOrCreateTable("t");
      for (Runnable call :
          List.<Runnable>of(
              () -> tx.get(foreign, bytes("k")),
              () -> tx.put(foreign, bytes("k"), bytes("v")),
              () -> tx.delete(foreign, bytes("k")),
              () -> tx.exists(foreign, bytes("k")),
              () -> tx.scan(foreign, null, null),
              () -> tx.scanDescending(foreign, null, null))) {
        IllegalArgumentException refused = assertThrows(IllegalArgumentException.class, call::run);
        assertTrue(refused.getMessage().contains("another database"), refused.getMessage());
      }
      tx.put(table, bytes("k"), bytes("v"));
      tx.commit();
    }
  }

  // --------------------------------------------------------------------------------- scans

  @Test
  void scan_ordersKeysAsUnsignedBytes_inBothDirections() {
    List<byte[]> keys = new ArrayList<>();
    for (String hex :
        List.of(
            "00", "0000", "0001", "01", "7f", "7fff", "80", "8000", "fe", "ff", "ff00", "ffff")) {
      keys.add(HexFormat.of().parseHex(hex));
    }
    List<byte[]> shuffled = new ArrayList<>(keys);
    Collections.shuffle(shuffled, new Random(7));
    db.run(tx -> {
      for (byte[] key : shuffled) {
        tx.put(table, key, key);
      }
    });
    try (Transaction tx = db.begin()) {
      List<String> found = new ArrayList<>();
      try (Cursor cursor = tx.scan(table, null, null)) {
        while (cursor.next()) {
          assertArrayEquals(cursor.key(), cursor.value());
          found.add(HexFormat.of().formatHex(cursor.key()));
        }
        assertFalse(cursor.next(), "at the end it stays at the end");
      }
      assertEquals(keys.stream().map(HexFormat.of()::formatHex).toList(), found);
      List<String> backwards = new ArrayList<>();
      try (Cursor cursor = tx.scanDescending(table, null, null)) {
        while (cursor.next()) {
          backwards.add(HexFormat.of().formatHex(cursor.key()));
        }
        assertFalse(cursor.next());
      }
      assertEquals(found.reversed(), backwards);
    }
  }

  @Test
  void scan_ofEveryRange_isThatOfASortedMap() {
    // Many leaves, some of them emptied, so that bounds meet fences.
    TreeMap<String, String> model = new TreeMap<>();
    Random random = new Random(11);
    for (int round = 0; round < 3; round++) {
      boolean deletes = round == 1;
      db.run(tx -> {
        for (int i = 0; i < 3_000; i++) {
          if (deletes && i > 800 && i < 2_200) {
            String key = "%05d".formatted(i);
            assertEquals(model.remove(key) != null, tx.delete(table, bytes(key)));
          } else if (!deletes && random.nextInt(3) > 0) {
            String key = "%05d".formatted(i);
            String value = "v" + random.nextInt(1_000_000) + "x".repeat(random.nextInt(60));
            tx.put(table, bytes(key), bytes(value));
            model.put(key, value);
          }
        }
      });
      db.cleanNow();
      try (Transaction tx = db.begin()) {
        for (int i = 0; i < 300; i++) {
          String from = bound(random);
          String to = bound(random);
          List<String> expected = new ArrayList<>();
          model.forEach((key, value) -> {
            if ((from == null || key.compareTo(from) >= 0)
                && (to == null || key.compareTo(to) < 0)) {
              expected.add(key + "=" + value);
            }
          });
          byte[] low = from == null ? null : bytes(from);
          byte[] high = to == null ? null : bytes(to);
          String range = "from " + from + " to " + to;
          assertEquals(expected, rows(tx.scan(table, low, high)), range);
          assertEquals(expected.reversed(), rows(tx.scanDescending(table, low, high)), range);
        }
      }
    }
  }

  /** No bound, an empty one, one that may be a key, one between keys, one longer than any key. */
  private static String bound(Random random) {
    String key = "%05d".formatted(random.nextInt(3_100));
    return switch (random.nextInt(8)) {
      case 0 -> null;
      case 1 -> "";
      case 2 -> key + "5";
      case 3 -> key.substring(0, 1 + random.nextInt(4));
      case 4 -> key + "x".repeat(2_000);
      default -> key;
    };
  }

  @Test
  void scan_emptyRanges_areEmpty() {
    put(db, "t", "b", "1");
    try (Transaction tx = db.begin()) {
      for (List<String> range :
          List.of(
              List.of("b", "b"),
              List.of("c", "a"),
              List.of("b", "a"),
              List.of("", ""),
              List.of("a", "b"),
              List.of("c", "d"))) {
        byte[] from = bytes(range.get(0));
        byte[] to = bytes(range.get(1));
        assertEquals(List.of(), keys(tx.scan(table, from, to)), range.toString());
        assertEquals(List.of(), keys(tx.scanDescending(table, from, to)), range.toString());
      }
      assertEquals(List.of(), keys(tx.scan(db.getOrCreateTable("empty"), null, null)));
      assertEquals(List.of(), keys(tx.scanDescending(db.getOrCreateTable("empty"), null, null)));
    }
  }

  @Test
  void scan_boundsMayChangeAfterwards() {
    for (String key : List.of("a", "b", "c")) {
      put(db, "t", key, key);
    }
    try (Transaction tx = db.begin()) {
      byte[] from = bytes("a");
      byte[] to = bytes("c");
      Cursor up = tx.scan(table, from, to);
      Cursor down = tx.scanDescending(table, from, to);
      from[0] = 'z';
      to[0] = 'a';
      assertEquals(List.of("a", "b"), keys(up));
      assertEquals(List.of("b", "a"), keys(down));
    }
  }

  @Test
  void scan_seesOwnWrites_andNotOthers() {
    put(db, "t", "a", "1");
    put(db, "t", "c", "1");
    try (Transaction tx = db.begin()) {
      put(db, "t", "b", "other");
      put(db, "t", "c", "other");
      tx.put(table, bytes("d"), bytes("own"));
      tx.delete(table, bytes("a"));
      assertEquals(List.of("c=1", "d=own"), rows(tx.scan(table, null, null)));
      assertEquals(List.of("d=own", "c=1"), rows(tx.scanDescending(table, null, null)));
    }
  }

  @Test
  void cursor_outsideOfRows_isRefused() {
    put(db, "t", "k", "v");
    try (Transaction tx = db.begin()) {
      Cursor cursor = tx.scan(table, null, null);
      assertThrows(IllegalStateException.class, cursor::key);
      assertThrows(IllegalStateException.class, cursor::value);
      assertTrue(cursor.next());
      assertEquals(1, cursor.valueLength());
      assertFalse(cursor.next());
      assertThrows(IllegalStateException.class, cursor::key);
      cursor.close();
      cursor.close();
      assertThrows(IllegalStateException.class, cursor::next);
    }
  }

  @Test
  void cursor_ofAFinishedTransaction_isRefused_alsoOnARow() throws IOException {
    put(db, "t", "k", "v");
    db.run(tx -> tx.put(table, bytes("l"), new byte[100_000]));
    Transaction tx = db.begin();
    Cursor cursor = tx.scan(table, null, null);
    assertTrue(cursor.next());
    InputStream large = tx.open(table, bytes("l"));
    assertEquals(0, large.read());
    tx.commit();
    assertRefused(TransactionStateException.Reason.FINISHED, cursor::next);
    assertRefused(TransactionStateException.Reason.FINISHED, cursor::key);
    assertRefused(TransactionStateException.Reason.FINISHED, cursor::value);
    assertRefused(TransactionStateException.Reason.FINISHED, cursor::openValue);
    assertRefused(TransactionStateException.Reason.FINISHED, large::readAllBytes);
  }

  // ----------------------------------------------------------------------------- isolation

  @Test
  void snapshot_staysAsItWas_whateverOthersDo() {
    for (int i = 0; i < 200; i++) {
      put(db, "t", "%03d".formatted(i), "0");
    }
    List<Transaction> snapshots = new ArrayList<>();
    List<List<String>> expected = new ArrayList<>();
    TreeMap<String, String> model = new TreeMap<>();
    for (int i = 0; i < 200; i++) {
      model.put("%03d".formatted(i), "0");
    }
    Random random = new Random(3);
    for (int round = 1; round <= 8; round++) {
      snapshots.add(db.begin());
      List<String> rows = new ArrayList<>();
      model.forEach((key, value) -> rows.add(key + "=" + value));
      expected.add(rows);
      String value = "" + round;
      db.run(tx -> {
        for (int i = 0; i < 60; i++) {
          String key = "%03d".formatted(random.nextInt(300));
          if (random.nextInt(3) == 0) {
            tx.delete(table, bytes(key));
            model.remove(key);
          } else {
            tx.put(table, bytes(key), bytes(value));
            model.put(key, value);
          }
        }
      });
      if (round % 3 == 0) {
        db.cleanNow();
      }
      for (int i = 0; i < snapshots.size(); i++) {
        assertEquals(
            expected.get(i), rows(snapshots.get(i).scan(table, null, null)), "round " + round);
      }
    }
    // In any order they end: each of the others still sees its own.
    Collections.shuffle(snapshots, random);
    for (Transaction snapshot : snapshots) {
      snapshot.close();
      db.cleanNow();
    }
  }

  @Test
  void key_array_changed_by_its_owner_after_put_does_not_lose_older_versions() {
    byte[] key = bytes("k");
    put(db, "t", "k", "0");
    try (Transaction old = db.begin()) {
      for (int i = 1; i <= 3; i++) {
        byte[] value = bytes("" + i);
        db.run(tx -> tx.put(table, key, value));
      }
      key[0] = 'X';
      assertEquals("0", text(old.get(table, bytes("k"))));
    }
  }

  @Test
  void id_isThatWhichConflictsName_fromTheFirstWriteOn_alsoAfterItsEnd() {
    Transaction unused = db.begin();
    assertEquals(0, unused.id());
    unused.commit();
    assertEquals(0, unused.id());
    Transaction reader = db.begin();
    assertNull(reader.get(table, bytes("k")));
    assertEquals(0, reader.id());
    Transaction writer = db.begin();
    writer.put(table, bytes("k"), bytes("v"));
    long id = writer.id();
    assertTrue(id > 0);
    ConflictException conflict =
        assertThrows(ConflictException.class, () -> reader.put(table, bytes("k"), bytes("w")));
    assertTrue(
        conflict.getMessage().startsWith("transaction " + id + " is changing"),
        conflict.getMessage());
    assertTrue(reader.id() > 0, "it has tried to write");
    assertNotEquals(id, reader.id());
    reader.rollback();
    writer.put(table, bytes("l"), bytes("v"));
    writer.commit();
    assertEquals(id, writer.id());
  }

  @Test
  void secondUpdater_ofARowNotYetCommitted_getsAConflict_andNothingHasChanged() {
    put(db, "t", "k", "0");
    try (Transaction first = db.begin();
        Transaction second = db.begin()) {
      first.put(table, bytes("k"), bytes("1"));
      ConflictException conflict =
          assertThrows(ConflictException.class, () -> second.put(table, bytes("k"), bytes("2")));
      assertTrue(conflict.getMessage().contains("table t"), conflict.getMessage());
      assertThrows(ConflictException.class, () -> second.delete(table, bytes("k")));
      assertThrows(
          ConflictException.class,
          () -> second.put(table, bytes("k"), new ByteArrayInputStream(new byte[200_000])));
      assertThrows(ConflictException.class, () -> second.put(table, bytes("k"), new byte[20_000]));
      assertEquals("0", text(second.get(table, bytes("k"))));
      second.put(table, bytes("other"), bytes("2"));
      first.commit();
      assertEquals("0", text(second.get(table, bytes("k"))));
      assertThrows(ConflictException.class, () -> second.put(table, bytes("k"), bytes("2")));
      second.commit();
    }
    assertEquals("1", get(db, "t", "k"));
    assertEquals("2", get(db, "t", "other"));
    db.cleanNow();
    assertEquals(0, db.check().overflowPages(), "what was streamed in is given back");
  }

  @Test
  void secondUpdater_ofARowCommittedMeanwhile_getsAConflict() {
    put(db, "t", "k", "0");
    try (Transaction late = db.begin()) {
      put(db, "t", "k", "1");
      assertThrows(ConflictException.class, () -> late.put(table, bytes("k"), bytes("2")));
      assertEquals("0", text(late.get(table, bytes("k"))));
    }
    assertEquals("1", get(db, "t", "k"));
  }

  @Test
  void insertOfTheSameKey_byTwo_isAConflict() {
    try (Transaction first = db.begin();
        Transaction second = db.begin()) {
      first.put(table, bytes("k"), bytes("1"));
      assertThrows(ConflictException.class, () -> second.put(table, bytes("k"), bytes("2")));
      assertNull(second.get(table, bytes("k")));
      first.rollback();
      second.put(table, bytes("k"), bytes("2"));
      second.commit();
    }
    assertEquals("2", get(db, "t", "k"));
  }

  @Test
  void deletedMeanwhile_isAConflict() {
    put(db, "t", "k", "0");
    try (Transaction late = db.begin()) {
      db.run(tx -> tx.delete(table, bytes("k")));
      db.cleanNow();
      assertEquals("0", text(late.get(table, bytes("k"))));
      assertThrows(ConflictException.class, () -> late.put(table, bytes("k"), bytes("2")));
      assertThrows(ConflictException.class, () -> late.delete(table, bytes("k")));
    }
    assertNull(get(db, "t", "k"));
  }

  @Test
  void overAnAbortedVersion_theRowIsWritten_andRolledBackAgain() {
    put(db, "t", "k", "0");
    for (int i = 0; i < 3; i++) {
      try (Transaction tx = db.begin()) {
        tx.put(table, bytes("k"), bytes("aborted" + i));
        tx.put(table, bytes("new" + i), bytes("aborted"));
      }
      assertEquals("0", get(db, "t", "k"));
    }
    put(db, "t", "k", "1");
    try (Transaction tx = db.begin()) {
      tx.delete(table, bytes("k"));
    }
    assertEquals("1", get(db, "t", "k"));
    db.cleanNow();
    try (Transaction tx = db.begin()) {
      assertEquals(List.of("k=1"), rows(tx.scan(table, null, null)));
    }
    assertEquals(0, db.statistics().commits().abortedPending());
  }

  @Test
  void writeSkew_isPossible_asTheIsolationSays() {
    put(db, "t", "a", "1");
    put(db, "t", "b", "1");
    try (Transaction one = db.begin();
        Transaction two = db.begin()) {
      assertEquals("1", text(one.get(table, bytes("b"))));
      assertEquals("1", text(two.get(table, bytes("a"))));
      one.put(table, bytes("a"), bytes("0"));
      two.put(table, bytes("b"), bytes("0"));
      one.commit();
      two.commit();
    }
    assertEquals("0", get(db, "t", "a"));
    assertEquals("0", get(db, "t", "b"));
  }

  // -------------------------------------------------------------------------- run and call

  @Test
  void run_repeatsAfterAConflict_withAFreshSnapshot() {
    put(db, "t", "k", "0");
    AtomicInteger attempts = new AtomicInteger();
    List<String> seen = new ArrayList<>();
    db.run(tx -> {
      seen.add(text(tx.get(table, bytes("k"))));
      if (attempts.incrementAndGet() <= 3) {
        put(db, "t", "k", "other " + attempts.get());
      }
      tx.put(table, bytes("k"), bytes("mine"));
    });
    assertEquals(List.of("0", "other 1", "other 2", "other 3"), seen);
    assertEquals("mine", get(db, "t", "k"));
  }

  @Test
  void run_givesUpAfterTheAttemptsThatWereAllowed() {
    AtomicInteger attempts = new AtomicInteger();
    assertThrows(
        ConflictException.class,
        () ->
            db.run(tx -> {
              put(db, "t", "k", "other " + attempts.incrementAndGet());
              tx.put(table, bytes("k"), bytes("v"));
            }));
    assertEquals(20, attempts.get());
  }

  @Test
  void run_ofACountedUp_row_byManyThreads_losesNone() throws Exception {
    try (Database many = Samples.open(folder.resolve("many"))) {
      Table counters = many.getOrCreateTable("c");
      List<Thread> threads = new ArrayList<>();
      List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
      for (int t = 0; t < 8; t++) {
        Thread thread =
            new Thread(() -> {
              for (int i = 0; i < 25; i++) {
                many.run(tx -> {
                  byte[] old = tx.get(counters, bytes("n"));
                  int n = old == null ? 0 : Integer.parseInt(text(old));
                  tx.put(counters, bytes("n"), bytes("" + (n + 1)));
                });
              }
            });
        thread.setUncaughtExceptionHandler((t1, e) -> failures.add(e));
        thread.start();
        threads.add(thread);
      }
      for (Thread thread : threads) {
        thread.join();
      }
      assertEquals(List.of(), failures);
      assertEquals("200", get(many, "c", "n"));
    }
  }

  @Test
  void exceptionOfTheUser_rollsBackAndComesOutAsItIs() {
    for (Exception thrown :
        List.of(new IOException("checked"), new IllegalStateException("unchecked"))) {
      Exception caught =
          assertThrows(
              Exception.class,
              () ->
                  db.runThrowing(tx -> {
                    tx.put(table, bytes("k"), bytes("v"));
                    throw thrown;
                  }));
      assertSame(thrown, caught);
      assertEquals(0, caught.getSuppressed().length);
    }
    AssertionError error = new AssertionError("error");
    assertSame(
        error,
        assertThrows(
            AssertionError.class,
            () ->
                db.run(tx -> {
                  tx.put(table, bytes("k"), bytes("v"));
                  throw error;
                })));
    assertNull(get(db, "t", "k"));
  }

  @Test
  void call_returnsWhatTheWorkReturned_alsoNull() throws Exception {
    put(db, "t", "k", "v");
    assertEquals("v", db.call(tx -> text(tx.get(table, bytes("k")))));
    assertNull(db.call(tx -> tx.get(table, bytes("none"))));
    byte[] streamed = db.callThrowing(tx -> tx.open(table, bytes("k")).readAllBytes());
    assertArrayEquals(bytes("v"), streamed);
  }

  // --------------------------------------------------------------------------------- ends

  @Test
  void finished_transaction_isRefused_withTheWayItEnded() {
    Transaction committed = db.begin();
    committed.put(table, bytes("k"), bytes("v"));
    committed.commit();
    Transaction rolledBack = db.begin();
    rolledBack.put(table, bytes("k"), bytes("w"));
    rolledBack.rollback();
    for (Transaction tx : List.of(committed, rolledBack)) {
      String how = tx == committed ? "committed" : "rolled back";
      for (Runnable call :
          List.<Runnable>of(
              () -> tx.get(table, bytes("k")),
              () -> tx.exists(table, bytes("k")),
              () -> tx.open(table, bytes("k")),
              () -> tx.put(table, bytes("k"), bytes("x")),
              () -> tx.delete(table, bytes("k")),
              () -> tx.scan(table, null, null),
              () -> tx.scanDescending(table, null, null),
              tx::commit)) {
        TransactionStateException refused =
            assertRefused(TransactionStateException.Reason.FINISHED, call::run);
        assertTrue(refused.getMessage().contains(how), refused.getMessage());
      }
      assertRefused(
          TransactionStateException.Reason.FINISHED,
          () -> tx.put(table, bytes("k"), new ByteArrayInputStream(new byte[300_000])));
      tx.rollback();
      tx.close();
      tx.close();
    }
    assertEquals("v", get(db, "t", "k"));
  }

  @Test
  void commit_ofNothingWritten_works() {
    try (Transaction tx = db.begin()) {
      tx.commit();
    }
    try (Transaction tx = db.begin()) {
      assertFalse(tx.delete(table, bytes("none")));
      tx.commit();
    }
  }

  @Test
  void close_withoutCommit_rollsBack() {
    try (Transaction tx = db.begin()) {
      tx.put(table, bytes("k"), bytes("v"));
    }
    assertNull(get(db, "t", "k"));
  }

  @Test
  void rollback_ofManyRows_takesAllBack_andGivesTheSpaceBack() {
    put(db, "t", "stays", "v");
    TreeSet<String> expected = new TreeSet<>(List.of("stays"));
    try (Transaction tx = db.begin()) {
      for (int i = 0; i < 3_000; i++) {
        tx.put(table, bytes("key%05d".formatted(i)), new byte[i % 200]);
      }
      tx.put(table, bytes("large"), new byte[2_000_000]);
      tx.delete(table, bytes("stays"));
    }
    try (Transaction tx = db.begin()) {
      assertEquals(List.copyOf(expected), keys(tx.scan(table, null, null)));
    }
    db.cleanNow();
    CheckReport report = db.check();
    assertTrue(report.isSound(), report.toString());
    assertEquals(0, report.overflowPages());
    assertEquals(0, report.pagesToClean());
    assertTrue(report.treePages() < 10, report.toString());
    try (Transaction tx = db.begin()) {
      assertEquals(List.copyOf(expected), keys(tx.scan(table, null, null)));
    }
  }

  @Test
  void history_of_random_transactions_is_that_of_a_sorted_map() {
    TreeMap<String, byte[]> model = new TreeMap<>();
    Random random = new Random(23);
    for (int round = 0; round < 60; round++) {
      TreeMap<String, byte[]> next = new TreeMap<>(model);
      boolean commit = random.nextInt(3) > 0;
      try (Transaction tx = db.begin()) {
        for (int i = 0; i < 40; i++) {
          String key = "k" + random.nextInt(500);
          if (random.nextInt(4) == 0) {
            assertEquals(next.remove(key) != null, tx.delete(table, bytes(key)));
          } else {
            byte[] value =
                new byte[random.nextInt(20) == 0 ? random.nextInt(60_000) : random.nextInt(300)];
            random.nextBytes(value);
            tx.put(table, bytes(key), value);
            next.put(key, value);
          }
        }
        if (commit) {
          tx.commit();
          model = next;
        }
      }
      if (round % 20 == 19) {
        db.close();
        db = Database.open(folder.resolve("db"), SMALL);
        table = db.getOrCreateTable("t");
      }
    }
    try (Transaction tx = db.begin()) {
      assertEquals(List.copyOf(model.keySet()), keys(tx.scan(table, null, null)));
      model.forEach((key, value) ->
          assertTrue(Arrays.equals(value, tx.get(table, bytes(key))), "value of " + key));
    }
  }
}
