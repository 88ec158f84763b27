package org.revenantdb.engine.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.testing.CommittedStates.assertRow;
import static org.revenantdb.engine.testing.CommittedStates.key;
import static org.revenantdb.engine.testing.Refusals.assertRefused;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.revenantdb.engine.CatalogException;
import org.revenantdb.engine.CheckReport;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.LimitException;
import org.revenantdb.engine.ReadOnlyDatabaseException;
import org.revenantdb.engine.Savepoint;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionStateException;
import org.revenantdb.engine.catalog.TableState;
import org.revenantdb.engine.page.Edits;
import org.revenantdb.engine.testing.Samples;
import org.revenantdb.recovery.testing.Await;
import org.revenantdb.recovery.testing.CrashDisk;

/**
 * Transactions that wait for their outcome, across restarts (docs/protocols.md §29).
 *
 * <p>{@code -Drevenant.seed=n} repeats a run, {@code -Drevenant.rounds=n} makes more of them.
 */
class PreparedTest {
  private static final byte[] NAME = Samples.bytes("one");
  private static final byte[] OLD = Samples.random(1, 300);
  private static final byte[] NEW = Samples.random(2, 2_500);

  private final long seed =
      Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));
  private final CrashDisk disk = new CrashDisk();

  private static Database open(CrashDisk disk) {
    return Database.open(disk.path("/db"), Samples.SMALL);
  }

  /** A row that is committed, and a prepared transaction that has changed it and others. */
  private static void prepare(Database db, byte[] name, int first) {
    Table table = db.getOrCreateTable("t");
    db.run(tx -> tx.put(table, key(first), OLD));
    Transaction tx = db.begin();
    tx.put(table, key(first), NEW);
    tx.put(table, key(first + 1), NEW);
    assertTrue(tx.prepare(name));
    tx.close(); // has nothing to do with it any more
  }

  private static void assertLocked(Database db, int first) {
    Table table = db.getOrCreateTable("t");
    db.run(tx -> {
      assertRow(first, OLD, tx.get(table, key(first)));
      assertNull(tx.get(table, key(first + 1)));
    });
    for (int key = first; key < first + 2; key++) {
      byte[] row = key(key);
      try (Transaction tx = db.begin()) {
        assertThrows(ConflictException.class, () -> tx.put(table, row, OLD));
      }
    }
    assertRefused(CatalogException.Reason.IN_USE, () -> db.dropTable("t"));
  }

  private static void assertOutcome(Database db, int first, boolean committed) {
    Table table = db.getOrCreateTable("t");
    db.run(tx -> {
      assertRow(first, committed ? NEW : OLD, tx.get(table, key(first)));
      assertRow(first + 1, committed ? NEW : null, tx.get(table, key(first + 1)));
      tx.put(table, key(first), OLD); // nobody has it locked
    });
    db.cleanNow();
    CheckReport report = db.check();
    assertEquals(List.of(), report.problems());
    if (db.preparedTransactions().isEmpty()) {
      assertEquals(0, report.pagesToClean());
    }
  }

  private static List<String> names(Database db) {
    return db.preparedTransactions().stream().map(Samples::text).sorted().toList();
  }

  @Test
  void its_rows_are_locked_until_it_is_committed_or_rolled_back_by_its_name() {
    try (Database db = open(disk)) {
      prepare(db, NAME, 1);
      prepare(db, Samples.bytes("two"), 11);
      assertEquals(List.of("one", "two"), names(db));
      assertLocked(db, 1);
      assertEquals(List.of(), db.check().problems());
      assertTrue(db.commitPrepared(NAME));
      assertFalse(db.commitPrepared(NAME));
      assertFalse(db.rollbackPrepared(NAME));
      assertLocked(db, 11);
      assertTrue(db.rollbackPrepared(Samples.bytes("two")));
      assertEquals(List.of(), names(db));
      assertOutcome(db, 1, true);
      assertOutcome(db, 11, false);
      assertTrue(db.dropTable("t"));
    }
  }

  @Test
  void R8_it_is_prepared_after_any_number_of_checkpoints_kills_and_clean_closes() {
    CrashDisk now = disk;
    try (Database db = open(now)) {
      prepare(db, NAME, 1);
      prepare(db, Samples.bytes("two"), 11);
      now = now.afterKill();
    }
    for (int life = 0; life < 6; life++) {
      try (Database db = open(now)) {
        assertEquals(List.of("one", "two"), names(db));
        assertLocked(db, 1);
        assertLocked(db, 11);
        Table other = db.getOrCreateTable("other");
        for (int i = 0; i < 20; i++) { // the log goes round
          db.run(tx -> tx.put(other, key(7), Samples.random(3, 500_000)));
        }
        if (life % 2 == 0) {
          db.checkpoint();
        }
        db.cleanNow();
        assertEquals(List.of(), db.check().problems());
        if (life % 3 == 0) {
          now = now.afterKill();
        }
      }
      now = now.afterPowerCut(sector -> false);
    }
    try (Database db = open(now)) {
      assertTrue(db.commitPrepared(NAME));
      now = now.afterPowerCut(sector -> false);
    }
    try (Database db = open(now)) {
      assertOutcome(db, 1, true);
      assertTrue(db.rollbackPrepared(Samples.bytes("two")));
      now = now.afterPowerCut(sector -> false);
    }
    try (Database db = open(now)) {
      assertEquals(List.of(), names(db));
      assertOutcome(db, 11, false);
      assertTrue(db.dropTable("t"));
    }
  }

  @Test
  void a_database_that_is_open_for_reading_lists_it_and_decides_nothing() {
    try (Database db = open(disk)) {
      prepare(db, NAME, 1);
    }
    try (Database db = Database.open(disk.path("/db"), Samples.SMALL.withReadOnly(true))) {
      assertEquals(List.of("one"), names(db));
      Table table = db.getOrCreateTable("t");
      db.run(tx -> assertRow(1, OLD, tx.get(table, key(1))));
      assertThrows(ReadOnlyDatabaseException.class, () -> db.commitPrepared(NAME));
    }
  }

  @Test
  void one_that_has_written_nothing_ends_and_is_not_prepared() {
    try (Database db = open(disk)) {
      Table table = db.getOrCreateTable("t");
      Transaction tx = db.begin();
      assertNull(tx.get(table, key(1)));
      assertFalse(tx.prepare(NAME));
      assertEquals(List.of(), names(db));
      assertRefused(TransactionStateException.Reason.FINISHED, () -> tx.get(table, key(1)));
    }
  }

  @Test
  void a_name_that_is_taken_is_refused_and_the_transaction_goes_on() {
    try (Database db = open(disk)) {
      prepare(db, NAME, 1);
      Table table = db.getOrCreateTable("t");
      try (Transaction tx = db.begin()) {
        tx.put(table, key(5), NEW);
        assertRefused(TransactionStateException.Reason.NOT_PREPARABLE, () -> tx.prepare(NAME));
        assertRefused(LimitException.Reason.NAME_LENGTH, () -> tx.prepare(new byte[0]));
        assertRefused(LimitException.Reason.NAME_LENGTH, () -> tx.prepare(new byte[257]));
        tx.put(table, key(6), NEW);
        tx.commit();
      }
      assertTrue(db.rollbackPrepared(NAME));
      db.run(tx -> assertRow(6, NEW, tx.get(table, key(6))));
    }
  }

  @Test
  void the_object_of_a_prepared_transaction_explains_how_to_decide_it() {
    try (Database db = open(disk)) {
      Table table = db.getOrCreateTable("t");
      Transaction tx = db.begin();
      tx.put(table, key(1), OLD);
      tx.savepoint();
      tx.put(table, key(1), NEW);
      tx.prepare(NAME);
      TransactionStateException told =
          assertRefused(TransactionStateException.Reason.PREPARED, tx::commit);
      assertTrue(told.getMessage().contains("commitPrepared"), told.getMessage());
      assertRefused(TransactionStateException.Reason.PREPARED, () -> tx.put(table, key(2), OLD));
      tx.rollback();
      tx.close();
      assertEquals(List.of("one"), names(db));
      assertTrue(db.commitPrepared(NAME));
      db.run(check -> assertRow(1, NEW, check.get(table, key(1))));
    }
  }

  @Test
  void R17_more_than_the_log_has_room_for_are_refused() {
    CrashDisk now = disk;
    int prepared = 0;
    try (Database db = open(now)) {
      Table table = db.getOrCreateTable("t");
      byte[] long256 = new byte[Database.MAX_PREPARED_NAME_BYTES];
      TransactionStateException told = null;
      while (told == null) {
        long256[0] = (byte) prepared;
        long256[1] = (byte) (prepared >> 8);
        try (Transaction tx = db.begin()) {
          tx.put(table, key(prepared), OLD);
          tx.prepare(long256);
          prepared++;
        } catch (TransactionStateException refused) {
          if (refused.reason() != TransactionStateException.Reason.NOT_PREPARABLE) {
            throw refused;
          }
          told = refused;
        }
        if (prepared % 100 == 0) {
          db.checkpoint();
        }
      }
      assertTrue(prepared > 200, prepared + " transactions");
      assertTrue(told.getMessage().contains("sixteenth"), told.getMessage());
      long tail = db.statistics().files().logTail();
      db.checkpoint();
      long image = db.statistics().files().logTail() - tail;
      assertTrue(image < (1 << 20) / 8, image + " bytes of an image");
      now = now.afterKill();
    }
    try (Database db = open(now)) {
      List<byte[]> names = db.preparedTransactions();
      assertEquals(prepared, names.size());
      names.forEach(db::rollbackPrepared);
      db.cleanNow();
      CheckReport report = db.check();
      assertEquals(List.of(), report.problems());
      assertEquals(0, report.contents().getFirst().rows());
    }
  }

  /** A drop that already waits for the transaction is refused as soon as it is prepared. */
  @Test
  void R16_a_drop_that_waits_for_a_transaction_ends_when_that_is_prepared()
      throws InterruptedException {
    try (Database db = open(disk)) {
      Table table = db.getOrCreateTable("t");
      Transaction tx = db.begin();
      tx.put(table, key(1), OLD);
      List<Throwable> told = new ArrayList<>();
      Thread drops =
          Thread.ofPlatform()
              .start(() -> {
                try {
                  db.dropTable("t");
                } catch (Throwable refused) {
                  told.add(refused);
                }
              });
      while (TableState.of(table).isWritable()) {
        Await.pause();
      }
      tx.prepare(NAME);
      drops.join();
      assertEquals(CatalogException.class, told.getFirst().getClass());
      assertTrue(db.commitPrepared(NAME));
      assertTrue(db.dropTable("t"));
    }
  }

  // Random lives.

  /** What is committed, and what each prepared transaction would change. */
  private record World(
      TreeMap<Integer, byte[]> rows, TreeMap<String, Map<Integer, byte @Nullable []>> prepared) {
    World copy() {
      return new World(new TreeMap<>(rows), new TreeMap<>(prepared));
    }

    void apply(Map<Integer, byte @Nullable []> changes) {
      changes.forEach((key, value) -> {
        if (value == null) {
          rows.remove(key);
        } else {
          rows.put(key, value);
        }
      });
    }

    boolean isLocked(int key) {
      return prepared.values().stream().anyMatch(changes -> changes.containsKey(key));
    }
  }

  /** Between two operations both are the same. */
  private record Moment(World before, World after) {}

  private static final int KEYS = 60;
  private static final int LIVES = 8;
  private static final int STEPS = 40;

  private Random random = new Random(seed);
  private volatile Moment moment = new Moment(nothing(), nothing());
  private volatile @Nullable CrashDisk image;
  private volatile @Nullable Moment atImage;
  private int names;

  private static World nothing() {
    return new World(new TreeMap<>(), new TreeMap<>());
  }

  @Test
  void in_random_lives_that_end_anywhere_all_is_as_promised() {
    System.out.println("PreparedTest -Drevenant.seed=" + seed);
    for (int round = 0; round < Integer.getInteger("revenant.rounds", 4); round++) {
      random = new Random(seed + round);
      try {
        moment = new Moment(nothing(), nothing());
        CrashDisk now = new CrashDisk();
        for (int life = 0; life < LIVES; life++) {
          now = life(now);
        }
      } catch (Throwable failure) {
        throw new AssertionError("-Drevenant.seed=" + (seed + round) + ": " + failure, failure);
      }
    }
  }

  /** One life; what the next one finds. */
  private CrashDisk life(CrashDisk now) {
    image = null;
    int[] left = {random.nextInt(400)};
    Random own = new Random(random.nextLong());
    now.observe(() -> { // from the restart on
      if (left[0]-- == 0) {
        atImage = moment;
        image = own.nextInt(3) == 0 ? now.afterKill() : now.afterPowerCut(own);
      }
    });
    try (Database db = open(now)) {
      Table table = db.getOrCreateTable("t");
      World found = found(db, table);
      moment = new Moment(found, found);
      CheckReport report = db.check();
      assertEquals(List.of(), report.problems());
      for (int step = 0; step < STEPS && image == null; step++) {
        step(db, table);
      }
    }
    now.observe(() -> {});
    CrashDisk cut = image;
    if (cut != null) {
      moment = assertNotNullMoment(atImage);
      return cut;
    }
    return now;
  }

  private static Moment assertNotNullMoment(@Nullable Moment moment) {
    assertNotNull(moment);
    return moment;
  }

  /** Which of the two worlds it is. */
  private World found(Database db, Table table) {
    TreeMap<Integer, byte[]> rows = new TreeMap<>();
    try (Transaction tx = db.begin();
        Cursor cursor = tx.scan(table, null, null)) {
      while (cursor.next()) {
        rows.put(java.nio.ByteBuffer.wrap(cursor.key()).getInt(), cursor.value());
      }
    }
    TreeSet<String> names = new TreeSet<>(names(db));
    for (World world : List.of(moment.before, moment.after)) {
      if (names.equals(world.prepared.keySet())
          && rows.keySet().equals(world.rows.keySet())
          && rows.entrySet().stream()
              .allMatch(row -> Arrays.equals(row.getValue(), world.rows.get(row.getKey())))) {
        return world.copy();
      }
    }
    throw new AssertionError(
        "prepared "
            + names
            + ", rows "
            + rows.keySet()
            + "; expected "
            + moment.before.prepared.keySet()
            + moment.before.rows.keySet()
            + " or "
            + moment.after.prepared.keySet()
            + moment.after.rows.keySet());
  }

  private void step(Database db, Table table) {
    World world = moment.before;
    World after = world.copy();
    List<String> prepared = new ArrayList<>(world.prepared.keySet());
    String one = prepared.isEmpty() ? "" : prepared.get(random.nextInt(prepared.size()));
    switch (random.nextInt(10)) {
      case 0, 1, 2 -> {
        Transaction tx = db.begin();
        after.apply(write(tx, table, world));
        promise(world, after);
        tx.commit();
      }
      case 3 -> {
        Transaction tx = db.begin();
        write(tx, table, world);
        tx.rollback();
      }
      case 4, 5 -> {
        Transaction tx = db.begin();
        String name = "p" + names++;
        after.prepared.put(name, write(tx, table, world));
        promise(world, after);
        assertTrue(tx.prepare(Samples.bytes(name)));
      }
      case 6 -> {
        if (!prepared.isEmpty()) {
          after.apply(after.prepared.remove(one));
          promise(world, after);
          assertTrue(db.commitPrepared(Samples.bytes(one)));
        }
      }
      case 7 -> {
        if (!prepared.isEmpty()) {
          after.prepared.remove(one);
          promise(world, after);
          assertTrue(db.rollbackPrepared(Samples.bytes(one)));
        }
      }
      case 8 -> {
        if (random.nextBoolean()) {
          db.checkpoint();
        } else {
          db.cleanNow();
        }
      }
      default -> {
        for (Map<Integer, byte @Nullable []> changes : world.prepared.values()) {
          byte[] locked = key(changes.keySet().iterator().next());
          try (Transaction tx = db.begin()) {
            assertThrows(ConflictException.class, () -> tx.put(table, locked, NEW));
          }
        }
      }
    }
    moment = new Moment(after, after);
  }

  /** From now on a crash may leave either. */
  private void promise(World before, World after) {
    moment = new Moment(before, after);
  }

  /** Writes some rows that no transaction has locked, at least one; returns the changes. */
  private Map<Integer, byte @Nullable []> write(Transaction tx, Table table, World world) {
    Map<Integer, byte @Nullable []> changes = new HashMap<>();
    int writes = 1 + random.nextInt(random.nextInt(3) == 0 ? 20 : 4);
    Savepoint savepoint = null;
    Map<Integer, byte @Nullable []> atSavepoint = Map.of();
    while (writes > 0 || changes.isEmpty()) {
      int key = random.nextInt(KEYS);
      if (world.isLocked(key)) {
        key = KEYS + names + random.nextInt(KEYS * 10); // there is always one that is free
        if (world.isLocked(key)) {
          continue;
        }
      }
      byte[] before = changes.containsKey(key) ? changes.get(key) : world.rows.get(key);
      if (before != null && random.nextInt(4) == 0) {
        tx.delete(table, key(key));
        changes.put(key, null);
      } else {
        byte[] value =
            before != null && random.nextBoolean()
                ? Edits.edited(random, before)
                : Samples.random(
                    random.nextInt(), random.nextInt(random.nextBoolean() ? 200 : 4_000));
        tx.put(table, key(key), value);
        changes.put(key, value);
      }
      writes--;
      if (savepoint == null && random.nextInt(6) == 0) {
        savepoint = tx.savepoint();
        atSavepoint = new HashMap<>(changes);
      } else if (savepoint != null && random.nextInt(4) == 0) {
        tx.rollbackTo(savepoint);
        changes.clear();
        changes.putAll(atSavepoint);
      }
    }
    return changes;
  }
}
