package org.revenantdb.collections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.Isolation;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;

/** Rows that expire: nobody sees them from their time on, and they are removed. */
class ExpiryTest {
  private static final int STEPS = Boolean.getBoolean("revenant.long") ? 100_000 : 800;

  record Session(String user, long end) {
    @Nullable Instant until() {
      return end == 0 ? null : Instant.ofEpochMilli(end);
    }
  }

  private final AtomicLong millis = new AtomicLong(1_000);
  private final AtomicReference<Runnable> atClock = new AtomicReference<>(() -> {});
  private final InstantSource clock =
      () -> {
        atClock.getAndSet(() -> {}).run();
        return Instant.ofEpochMilli(millis.get());
      };
  private Path directory;
  private Database db;
  private TypedTable<Long, Session> table;

  @BeforeEach
  void open(@TempDir Path folder) {
    directory = folder.resolve("db");
    open();
    table.expire(expiry());
  }

  private void open() {
    db =
        Database.open(
            directory,
            DatabaseOptions.defaults().withPoolBytes(8L << 20).withDurability(Durability.LAZY));
    table = TypedTable.open(db, "sessions", Keys.longs(), Codecs.records(Session.class));
  }

  private Expiry<Session> expiry() {
    return Expiry.at(Session::until).withClock(clock).withRemover(false);
  }

  @AfterEach
  void close() {
    db.close();
  }

  private void put(long key, String user, long end) {
    db.run(tx -> table.put(tx, key, new Session(user, end)));
  }

  private List<Long> keys() {
    return db.read(tx -> table.scan(tx).stream().map(Row::key).toList());
  }

  private long rowsStored() {
    return db.read(tx -> tx.count(table.table(), null, null));
  }

  private long entriesStored() {
    return db.read(
        tx -> tx.count(db.table("revenant.indexes/sessions/revenant.expiry"), null, null));
  }

  @Test
  void a_row_is_not_seen_from_its_time_on() {
    put(1, "ada", 1_500);
    put(2, "bob", 0);
    put(3, "eve", 3_000);
    millis.set(1_499);
    assertEquals(List.of(1L, 2L, 3L), keys());
    millis.set(1_500);
    assertEquals(List.of(2L, 3L), keys());
    db.read(tx -> {
      assertNull(table.get(tx, 1L));
      assertFalse(table.contains(tx, 1L));
      assertEquals(2, table.scan(tx).count());
      assertEquals(1, table.scan(tx).atMost(2L).count());
      assertEquals(2L, table.scan(tx).first().key());
      assertEquals(
          List.of(3L), table.scan(tx).descending().limit(1).stream().map(Row::key).toList());
      assertEquals(List.of(2L, 3L), List.copyOf(table.getAll(tx, List.of(1L, 2L, 3L)).keySet()));
      try (TypedCursor<Long, Session> cursor = table.scan(tx).cursor()) {
        assertTrue(cursor.seek(1L));
        assertEquals(2L, cursor.key());
        assertEquals("bob", cursor.value().user());
      }
      return null;
    });
    assertEquals(2, table.asMap().size());
    assertEquals(2L, table.asMap().firstKey());
    assertEquals(3, rowsStored());
  }

  @Test
  void a_transaction_has_one_time_and_read_committed_statements_that_of_now() {
    put(1, "ada", 1_500);
    try (Transaction tx = db.begin();
        Transaction committed =
            db.begin(TransactionOptions.defaults().withIsolation(Isolation.READ_COMMITTED))) {
      assertEquals(1, table.scan(tx).count());
      assertEquals("ada", table.get(committed, 1L).user());
      millis.set(2_000);
      assertEquals("ada", table.get(tx, 1L).user());
      assertEquals(1, table.scan(tx).count());
      assertNull(table.get(committed, 1L));
    }
    assertEquals(List.of(), keys());
  }

  @Test
  void statements_that_read_and_write_take_an_expired_row_for_none() {
    for (long key = 1; key <= 7; key++) {
      put(key, "old", 1_500);
    }
    millis.set(2_000);
    Session fresh = new Session("new", 9_000);
    db.run(tx -> {
      assertNull(table.putIfAbsent(tx, 1L, fresh));
      assertNull(table.replace(tx, 2L, fresh));
      assertFalse(table.replace(tx, 2L, new Session("old", 1_500), fresh));
      assertNull(
          table.compute(
              tx,
              3L,
              (_, before) -> {
                assertNull(before);
                return null;
              }));
      assertEquals(fresh, table.merge(tx, 4L, fresh, (one, other) -> one));
      assertFalse(table.delete(tx, 5L));
      assertNull(table.remove(tx, 6L));
      table.put(tx, 7L, fresh);
      assertEquals(3, table.scan(tx).count());
    });
    assertEquals(List.of(1L, 4L, 7L), keys());
    long deleted = db.call(tx -> table.scan(tx).delete());
    assertEquals(3, deleted);
    assertEquals(0, rowsStored());
    assertEquals(0, entriesStored());
  }

  @Test
  void indexes_do_not_see_an_expired_row_and_a_unique_one_is_free_again() {
    Index<String, Long, Session> unique =
        table.index("by user", Index.unique(Keys.strings(), Session::user));
    Index<Long, Long, Session> byLength =
        table.index("by length", Index.of(Keys.longs(), row -> (long) row.user().length()));
    put(1, "ada", 1_500);
    put(2, "bob", 9_000);
    millis.set(2_000);
    db.read(tx -> {
      assertNull(unique.get(tx, "ada"));
      assertEquals(1, unique.scan(tx).count());
      assertEquals(2L, unique.scan(tx).limit(1).first().key());
      assertEquals(List.of(2L), byLength.scan(tx).equalTo(3L).keys().toList());
      assertEquals(1, byLength.scan(tx).atLeast(3L).count());
      assertEquals(List.of(), unique.check(tx));
      return null;
    });
    put(3, "ada", 9_000);
    assertEquals(2, rowsStored());
    assertThrows(DuplicateKeyException.class, () -> put(4, "bob", 9_000));
    assertEquals(3L, db.read(tx -> unique.get(tx, "ada")).key());
    assertEquals(List.of(), db.read(unique::check));
    assertEquals(List.of(), db.read(byLength::check));
  }

  @Test
  void a_unique_index_is_built_over_expired_rows() {
    put(1, "ada", 1_500);
    put(2, "ada", 9_000);
    put(3, "bob", 9_000);
    put(4, "bob", 1_500);
    millis.set(2_000);
    Index<String, Long, Session> unique =
        table.index("by user", Index.unique(Keys.strings(), Session::user));
    assertEquals(List.of(), db.read(unique::check));
    assertEquals(List.of(2L, 3L), db.read(tx -> unique.scan(tx).keys().toList()));
  }

  @Test
  void removal_takes_what_has_expired_and_nothing_else() {
    for (long key = 0; key < 700; key++) {
      put(key, "u", key % 2 == 0 ? 1_500 : 5_000);
    }
    assertEquals(0, table.removeExpired());
    millis.set(1_500);
    assertEquals(350, table.removeExpired());
    assertEquals(350, rowsStored());
    assertEquals(350, entriesStored());
    assertEquals(0, table.removeExpired());
    millis.set(Long.MAX_VALUE);
    assertEquals(350, table.removeExpired());
    assertEquals(0, rowsStored());
  }

  @Test
  void a_row_that_is_put_again_lives_on() {
    put(1, "ada", 1_500);
    put(1, "ada", 5_000);
    millis.set(2_000);
    assertEquals(0, table.removeExpired());
    assertEquals(List.of(1L), keys());
    put(1, "ada", 0);
    millis.set(9_000);
    assertEquals(0, table.removeExpired());
    assertEquals(List.of(1L), keys());
    assertEquals(0, entriesStored());
  }

  @Test
  void a_clock_that_jumps_back_shows_what_was_not_removed() {
    put(1, "ada", 1_500);
    put(2, "bob", 2_500);
    millis.set(2_000);
    assertEquals(1, table.removeExpired());
    millis.set(3_000);
    assertEquals(List.of(), keys());
    millis.set(1_000);
    assertEquals(List.of(2L), keys()); // the other one is gone for ever
    assertEquals(0, table.removeExpired());
  }

  @Test
  void a_table_whose_expiry_was_not_declared_since_the_open_is_refused() {
    put(1, "ada", 1_500);
    millis.set(2_000);
    db.close();
    open();
    for (Runnable use :
        List.<Runnable>of(
            this::keys, () -> put(2, "bob", 0), () -> db.read(tx -> table.get(tx, 1L)))) {
      String message = assertThrows(IllegalStateException.class, use::run).getMessage();
      assertTrue(message.contains("declared"), message);
    }
    table.expire(expiry());
    assertEquals(List.of(), keys());
    assertEquals(1, table.removeExpired());
  }

  @Test
  void an_index_is_declared_after_the_expiry() {
    IndexDefinition<String, Session> byUser = Index.unique(Keys.strings(), Session::user);
    Index<String, Long, Session> _ = table.index("by user", byUser);
    put(1, "ada", 1_500);
    db.close();
    open();
    assertThrows(IllegalStateException.class, () -> table.index("by user", byUser));
    table.expire(expiry());
    assertEquals(0, table.removeAndLookAhead()); // nothing can be removed without the index
    millis.set(2_000);
    assertEquals(0, table.removeAndLookAhead());
    assertEquals(1, rowsStored());
    Index<String, Long, Session> _ = table.index("by user", byUser);
    assertEquals(Long.MAX_VALUE, table.removeAndLookAhead());
    assertEquals(0, rowsStored());
  }

  @Test
  void a_row_that_another_transaction_holds_is_left_and_the_others_are_removed() throws Exception {
    for (long key = 1; key <= 5; key++) {
      put(key, "ada", 1_500);
    }
    millis.set(2_000);
    try (Transaction holder = db.begin()) {
      Thread other =
          Thread.ofPlatform().start(() -> table.put(holder, 3L, new Session("bob", 1_600)));
      other.join();
      assertEquals(4, table.removeExpired());
      assertEquals(1, rowsStored());
    }
    assertEquals(1, table.removeExpired());
  }

  @Test
  void a_count_is_never_negative() {
    Index<String, Long, Session> index =
        table.index("by user", Index.of(Keys.strings(), Session::user));
    millis.set(2_000);
    try (Transaction tx =
        db.begin(TransactionOptions.defaults().withIsolation(Isolation.READ_COMMITTED))) {
      atClock.set(() -> put(1, "ada", 1_500)); // it has expired, and was not among all rows
      assertEquals(0, table.scan(tx).count());
      atClock.set(() -> put(2, "ada", 1_500));
      assertEquals(0, index.scan(tx).count());
    }
  }

  @Test
  void dropping_the_expiry_shows_all_rows_again() {
    put(1, "ada", 1_500);
    millis.set(2_000);
    assertTrue(table.dropExpiry());
    assertEquals(List.of(1L), keys());
    assertFalse(table.dropExpiry());
    table.expire(expiry()); // built over what is there
    assertEquals(List.of(), keys());
    assertEquals(1, table.removeExpired());
  }

  @Test
  void a_transaction_from_before_the_declaration_counts_right() {
    table.dropExpiry();
    put(1, "ada", 1_500);
    put(2, "ada", 0);
    millis.set(2_000);
    try (Transaction old = db.begin()) {
      assertEquals(2, table.scan(old).count());
      table.expire(expiry());
      assertEquals(1, table.scan(old).count());
      assertEquals(List.of(2L), table.scan(old).stream().map(Row::key).toList());
    }
  }

  @Test
  void reserved_names_are_refused() {
    assertThrows(
        IllegalArgumentException.class,
        () -> table.index("revenant.expiry", Index.of(Keys.strings(), Session::user)));
    assertThrows(IllegalArgumentException.class, () -> table.dropIndex("revenant.expiry"));
  }

  /** Waits for the thread; that it comes is what is tested, not when. */
  @Test
  void a_thread_removes_what_has_expired() {
    put(1, "ada", 1_500);
    put(2, "bob", 0);
    millis.set(2_000);
    table.expire(expiry().withRemover(true));
    while (rowsStored() > 1) {
      LockSupport.parkNanos(1_000_000);
    }
    assertEquals(List.of(2L), keys());
  }

  @Test
  void each_put_can_say_how_long_its_row_lives() {
    TypedTable<String, Timed<String>> cache =
        TypedTable.open(db, "cache", Keys.strings(), Timed.codec(Codecs.strings()))
            .expire(Expiry.<Timed<String>>at(Timed::until).withClock(clock).withRemover(false));
    db.run(tx -> {
      cache.put(tx, "a", Timed.of("1", Duration.ofMillis(500), clock));
      cache.put(tx, "b", Timed.forever("2"));
      cache.put(tx, "c", Timed.of("3", Duration.ofSeconds(Long.MAX_VALUE), clock));
    });
    assertEquals("1", db.read(tx -> cache.get(tx, "a")).value());
    millis.set(1_500);
    assertNull(db.read(tx -> cache.get(tx, "a")));
    assertEquals("2", db.read(tx -> cache.get(tx, "b")).value());
    assertNull(db.read(tx -> cache.get(tx, "c")).until());
    assertEquals(
        Instant.ofEpochMilli(2), new Timed<>("x", Instant.ofEpochSecond(0, 1_000_001)).until());
  }

  /** Random work beside a model that forgets rows by itself. */
  @Tag("slow")
  @Test
  void random_work_against_a_model() {
    long seed = Long.getLong("revenant.seed", new Random().nextLong());
    System.out.println("ExpiryTest, seed " + seed);
    Random random = new Random(seed);
    Index<String, Long, Session> byUser =
        table.index("by user", Index.of(Keys.strings(), Session::user));
    NavigableMap<Long, Session> model = new TreeMap<>();
    for (int step = 0; step < STEPS; step++) {
      long key = random.nextInt(40);
      Session row =
          new Session(
              "u" + random.nextInt(3),
              random.nextInt(4) == 0 ? 0 : millis.get() + random.nextInt(60));
      switch (random.nextInt(9)) {
        case 0 -> millis.addAndGet(random.nextInt(30));
        case 1 ->
            assertEquals(
                model.remove(key) != null, db.call(tx -> table.delete(tx, key)), "seed " + seed);
        case 2 -> {
          Session before = model.putIfAbsent(key, row);
          assertEquals(before, db.call(tx -> table.putIfAbsent(tx, key, row)), "seed " + seed);
        }
        case 3 -> {
          long _ = table.removeExpired();
          long left = model.values().stream().filter(it -> it.end() != 0).count();
          assertEquals(left, entriesStored(), "seed " + seed);
          assertEquals(model.size(), rowsStored(), "seed " + seed);
        }
        case 4 -> {
          try (Transaction tx = db.begin()) { // rolled back
            table.put(tx, key, row);
            table.scan(tx).greaterThan(20L).delete();
          }
        }
        case 5 -> {
          long deleted = db.call(tx -> table.scan(tx).atLeast(key).lessThan(key + 3).delete());
          Map<Long, Session> gone = model.subMap(key, key + 3);
          assertEquals(gone.size(), deleted, "seed " + seed);
          gone.clear();
        }
        default -> {
          db.run(tx -> table.put(tx, key, row));
          model.put(key, row);
        }
      }
      model.values().removeIf(it -> it.end() != 0 && it.end() <= millis.get());
      compare(model, byUser, key, "seed " + seed + ", step " + step);
    }
  }

  private void compare(
      NavigableMap<Long, Session> model,
      Index<String, Long, Session> byUser,
      long key,
      String where) {
    db.read(tx -> {
      assertEquals(model.get(key), table.get(tx, key), where);
      Map<Long, Session> rows =
          table.scan(tx).stream().collect(Collectors.toMap(Row::key, Row::value));
      assertEquals(model, rows, where);
      assertEquals(model.size(), table.scan(tx).count(), where);
      assertEquals(model.tailMap(key).size(), table.scan(tx).atLeast(key).count(), where);
      List<Long> ofUser =
          model.entrySet().stream()
              .filter(it -> it.getValue().user().equals("u1"))
              .map(Map.Entry::getKey)
              .toList();
      assertEquals(ofUser, byUser.scan(tx).equalTo("u1").keys().toList(), where);
      assertEquals(ofUser.size(), byUser.scan(tx).equalTo("u1").count(), where);
      assertEquals(List.of(), byUser.check(tx), where);
      return null;
    });
  }

  /** The entries are in the order of the times, so a removal reads no other rows. */
  @Test
  void entries_are_in_the_order_of_the_times() {
    put(1, "late", 9_000);
    put(2, "early", 1_500);
    List<Long> order =
        db.read(tx -> {
          List<Long> found = new java.util.ArrayList<>();
          try (Cursor entries =
              tx.scan(db.table("revenant.indexes/sessions/revenant.expiry"), null, null)) {
            while (entries.next()) {
              found.add(Keys.longs().decode(new ByteReader(entries.key())));
            }
          }
          return found;
        });
    assertEquals(List.of(1_500L, 9_000L), order);
  }
}
