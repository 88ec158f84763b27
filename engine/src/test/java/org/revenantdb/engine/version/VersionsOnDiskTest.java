package org.revenantdb.engine.version;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.testing.CommittedStates.assertRow;
import static org.revenantdb.engine.testing.CommittedStates.key;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.NavigableMap;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.DatabaseStatistics;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.StorageException;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TableOptions;
import org.revenantdb.engine.Transaction;
import org.revenantdb.recovery.testing.Await;
import org.revenantdb.recovery.testing.FaultyFileSystem;
import org.revenantdb.recovery.testing.IoEvent;

/**
 * Old snapshots of a database that is written to many times more than memory for older versions has
 * room (docs/protocols.md §30).
 *
 * <p>{@code -Drevenant.seed=n} repeats a run.
 */
class VersionsOnDiskTest {
  private static final int MIB = 1 << 20;
  private static final int ROWS = 6_000;
  private static final DatabaseOptions OPTIONS =
      DatabaseOptions.defaults()
          .withVersionMemory(MIB)
          .withDurability(Durability.LAZY)
          .withMaxRecoveryPages(1 << 16)
          .withPoolBytes(64L * MIB);

  @TempDir Path directory;

  private final long seed =
      Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));
  private final Random random = new Random(seed);
  private final FaultyFileSystem faulty = new FaultyFileSystem();
  private final NavigableMap<Integer, byte[]> rows = new TreeMap<>();

  VersionsOnDiskTest() {
    System.out.println("VersionsOnDiskTest -Drevenant.seed=" + seed);
  }

  private Path path() {
    return faulty.wrap(directory).resolve("db");
  }

  private byte[] value(int length) {
    byte[] value = new byte[length];
    random.nextBytes(value);
    return value;
  }

  /** Some rows, in transactions of some hundred. */
  private void write(Database db, Table table, int from, int to, int length) {
    for (int first = from; first < to; first += 500) {
      int begin = first;
      NavigableMap<Integer, byte[]> written = new TreeMap<>();
      for (int row = begin; row < Math.min(to, begin + 500); row++) {
        written.put(row, value(row % 500 == 7 ? 9_000 : length));
      }
      db.run(tx -> written.forEach((row, value) -> tx.put(table, key(row), value)));
      rows.putAll(written);
    }
  }

  /** Writes every row some times, and deletes some. */
  private void churn(Database db, Table table, int rounds, int length) {
    for (int round = 0; round < rounds; round++) {
      write(db, table, 0, ROWS, length);
      int deleted = random.nextInt(ROWS - 50);
      db.run(tx -> tx.deleteRange(table, key(deleted), key(deleted + 50)));
      rows.subMap(deleted, deleted + 50).clear();
    }
  }

  private static void assertSees(
      Transaction tx, Table table, NavigableMap<Integer, byte[]> expected) {
    for (int row = 0; row < ROWS + 10; row++) {
      assertRow(row, expected.get(row), tx.get(table, key(row)));
      assertEquals(expected.containsKey(row), tx.exists(table, key(row)));
    }
    assertWalks(tx.scan(table, null, null), expected);
    assertWalks(tx.scanDescending(table, null, null), expected.descendingMap());
    assertEquals(expected.size(), tx.count(table, null, null));
    assertEquals(expected.subMap(100, 2_345).size(), tx.count(table, key(100), key(2_345)));
  }

  private static void assertWalks(Cursor cursor, NavigableMap<Integer, byte[]> expected) {
    try (cursor) {
      expected.forEach((row, value) -> {
        assertTrue(cursor.next(), () -> "ends before row " + row);
        assertEquals(row, ByteBuffer.wrap(cursor.key()).getInt());
        assertArrayEquals(value, cursor.value(), () -> "row " + row);
      });
      assertFalse(cursor.next());
    }
  }

  private List<String> spillFiles() {
    try (Stream<Path> there = Files.list(directory.resolve("db"))) {
      return there
          .map(file -> file.getFileName().toString())
          .filter(name -> name.endsWith(".spill"))
          .toList();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /** Waits until the cleaner and all readers have let go. */
  private void assertGoes(Database db) {
    db.sync();
    while (db.statistics().versions().runs() > 0
        || db.statistics().versions().memoryBytes() > 0
        || !spillFiles().isEmpty()) {
      db.cleanNow();
    }
    assertEquals(0, db.statistics().versions().runBytes());
  }

  /** One of them, drawn by the seed; under {@code -Plong} all. */
  private int[] drawn(int... all) {
    return Boolean.getBoolean("revenant.long")
        ? all
        : new int[] {all[(int) Math.floorMod((long) seed, (long) all.length)]};
  }

  @Test
  void an_old_snapshot_sees_all_rows_when_ten_times_the_budget_was_overwritten_since() {
    for (int partitions : drawn(1, 3)) {
      rows.clear();
      try (Database db = Database.open(path(), OPTIONS)) {
        Table table =
            db.getOrCreateTable(
                "t" + partitions,
                partitions == 1
                    ? TableOptions.defaults()
                    : TableOptions.hashPartitioned(partitions));
        write(db, table, 0, ROWS, 700);
        NavigableMap<Integer, byte[]> oldest = new TreeMap<>(rows);
        try (Transaction first = db.begin()) {
          churn(db, table, 2, 650);
          NavigableMap<Integer, byte[]> later = new TreeMap<>(rows);
          try (Transaction second = db.begin()) {
            churn(db, table, 3, 600);
            DatabaseStatistics statistics = db.statistics();
            assertTrue(statistics.versions().runBytes() > 5L * MIB, statistics::toString);
            assertTrue(statistics.versions().memoryBytes() < 1.3 * MIB, statistics::toString);
            assertSees(first, table, oldest);
            assertSees(second, table, later);
            assertEquals(List.of(), db.check().problems());
            assertThrows(
                ConflictException.class, () -> second.deleteRange(table, key(10), key(20)));
          }
          assertSees(first, table, oldest);
          assertEquals(List.of(), db.check().problems());
        }
        assertGoes(db);
        db.run(tx -> assertSees(tx, table, rows));
        assertEquals(List.of(), db.check().problems());
      }
    }
  }

  @Test
  void old_snapshots_read_on_while_others_write_and_are_interrupted() throws Exception {
    try (Database db = Database.open(path(), OPTIONS)) {
      Table table = db.getOrCreateTable("t");
      write(db, table, 0, ROWS, 300);
      NavigableMap<Integer, byte[]> before = new TreeMap<>(rows);
      AtomicBoolean ended = new AtomicBoolean();
      List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
      List<Thread> readers = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        Random own = new Random(seed + i);
        Transaction tx = db.begin();
        Runnable reads =
            () -> {
              try (tx) {
                while (!ended.get()) {
                  Thread.currentThread().interrupt();
                  int row = own.nextInt(ROWS);
                  assertRow(row, before.get(row), tx.get(table, key(row)));
                  int from = own.nextInt(ROWS - 100);
                  assertEquals(100, tx.count(table, key(from), key(from + 100)));
                  assertTrue(Thread.interrupted());
                }
              } catch (Throwable failure) {
                failures.add(failure);
              }
            };
        readers.add(
            i % 2 == 0 ? Thread.ofVirtual().start(reads) : Thread.ofPlatform().start(reads));
      }
      churn(db, table, 6, 300);
      ended.set(true);
      for (Thread reader : readers) {
        reader.join();
      }
      assertEquals(List.of(), failures);
      assertTrue(db.statistics().versions().spilled() > 0);
      assertGoes(db);
    }
  }

  @Test
  void a_failing_disk_refuses_statements_clearly_and_is_got_over() {
    AtomicBoolean fails = new AtomicBoolean(true);
    faulty.hook(event -> {
      if (fails.get()
          && event.kind() == IoEvent.Kind.WRITE
          && event.file().toString().endsWith(".spill")) {
        throw new IOException("No space left on device");
      }
    });
    try (Database db = Database.open(path(), OPTIONS)) {
      Table table = db.getOrCreateTable("t");
      write(db, table, 0, ROWS, 700);
      NavigableMap<Integer, byte[]> before = new TreeMap<>(rows);
      try (Transaction old = db.begin()) {
        StorageException told =
            assertThrows(StorageException.class, () -> churn(db, table, 4, 700));
        assertTrue(told.getMessage().contains(".spill"), told::getMessage);
        assertTrue(told.getMessage().contains("make room"), told::getMessage);
        assertSees(old, table, before);
        // What needs no such memory goes on, and so do those whose statement failed.
        try (Transaction tx = db.begin()) {
          tx.put(table, key(ROWS + 100), value(10));
          int refused = 0;
          for (int row = 0; row < ROWS && refused == 0; row++) {
            byte[] was = tx.get(table, key(row));
            try {
              tx.put(table, key(row), value(10));
            } catch (StorageException again) {
              refused++;
              assertArrayEquals(was, tx.get(table, key(row)), "nothing has changed");
            }
          }
          assertEquals(1, refused);
          tx.commit();
        }
        fails.set(false);
        boolean written = false;
        while (!written) {
          try {
            db.run(tx -> tx.put(table, key(1), value(10)));
            written = db.statistics().versions().spilled() > 0;
          } catch (StorageException notYet) {
            Await.pause();
          }
        }
        churn(db, table, 2, 700);
        assertSees(old, table, before);
      }
      assertGoes(db);
      assertEquals(List.of(), db.check().problems());
    }
  }

  /** What fails is only what needs the older versions. */
  @Test
  void a_run_that_cannot_be_read_fails_the_read_and_nothing_else() {
    AtomicBoolean fails = new AtomicBoolean();
    faulty.hook(event -> {
      if (fails.get()
          && event.kind() == IoEvent.Kind.READ
          && event.file().toString().endsWith(".spill")) {
        throw new IOException("Input/output error");
      }
    });
    try (Database db = Database.open(path(), OPTIONS)) {
      Table table = db.getOrCreateTable("t");
      write(db, table, 0, ROWS, 700);
      NavigableMap<Integer, byte[]> before = new TreeMap<>(rows);
      try (Transaction old = db.begin()) {
        churn(db, table, 3, 700);
        assertTrue(db.statistics().versions().runs() > 0);
        fails.set(true);
        StorageException told =
            assertThrows(StorageException.class, () -> old.count(table, null, null));
        assertTrue(told.getMessage().contains(".spill"), told::getMessage);
        db.run(tx -> assertSees(tx, table, rows));
        fails.set(false);
        assertSees(old, table, before);
      }
    }
    assertEquals(List.of(), spillFiles());
  }

  /** A file is read with nothing latched, whichever way rows are asked for. */
  @Test
  void no_thread_waits_for_a_reader_that_waits_for_a_file() throws Exception {
    AtomicReference<@Nullable CountDownLatch> reading = new AtomicReference<>();
    AtomicReference<CountDownLatch> goOn = new AtomicReference<>(new CountDownLatch(0));
    faulty.gate(event -> {
      if (event.kind() == IoEvent.Kind.READ
          && Thread.currentThread().getName().equals("revenant-spilled")) {
        CountDownLatch told = reading.get();
        if (told != null) {
          told.countDown();
        }
        try {
          goOn.get().await();
        } catch (InterruptedException e) {
          throw new IOException(e);
        }
      }
    });
    try (Database db = Database.open(path(), OPTIONS)) {
      Table table = db.getOrCreateTable("t");
      write(db, table, 0, ROWS, 700);
      NavigableMap<Integer, byte[]> before = new TreeMap<>(rows);
      try (Transaction old = db.begin()) {
        churn(db, table, 3, 700);
        List<Runnable> ways =
            List.of(
                () ->
                    before.forEach((row, value) -> assertRow(row, value, old.get(table, key(row)))),
                () -> assertEquals(before.size(), old.count(table, null, null)),
                () -> assertWalks(old.scan(table, null, null), before),
                () -> assertWalks(old.scanDescending(table, null, null), before.descendingMap()),
                () ->
                    assertThrows(
                        ConflictException.class, () -> old.deleteRange(table, null, null)));
        for (Runnable way : ways) {
          CountDownLatch begun = new CountDownLatch(1);
          goOn.set(new CountDownLatch(1));
          reading.set(begun);
          AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
          Thread reader =
              Thread.ofPlatform()
                  .start(() -> {
                    try {
                      way.run();
                    } catch (Throwable thrown) {
                      failure.set(thrown);
                    }
                    begun.countDown(); // if it never came there
                  });
          begun.await();
          // In every leaf: if the reader had one latched while it reads a file, this would hang.
          write(db, table, 0, ROWS, 20);
          goOn.get().countDown();
          reader.join();
          assertNull(failure.get());
        }
      }
    }
  }

  @Test
  void what_a_crash_left_is_deleted_unread_and_a_close_leaves_nothing() throws IOException {
    List<IoEvent> seen = Collections.synchronizedList(new ArrayList<>());
    try (Database db = Database.open(path(), OPTIONS)) {
      Table table = db.getOrCreateTable("t");
      write(db, table, 0, ROWS, 700);
      Transaction old = db.begin();
      churn(db, table, 3, 700);
      assertFalse(spillFiles().isEmpty());
      assertEquals(rows.size(), db.begin().count(table, null, null));
      assertTrue(old.count(table, null, null) > 0);
    } // with both still open
    assertEquals(List.of(), spillFiles());
    Path database = directory.resolve("db");
    Files.write(database.resolve("versions-1.spill"), value(5_000));
    Files.write(database.resolve("savepoints-2.spill"), value(10));
    faulty.hook(seen::add);
    try (Database db = Database.open(path(), OPTIONS.withReadOnly(true))) {
      Table table = db.getOrCreateTable("t");
      db.run(tx -> assertSees(tx, table, rows));
      assertEquals(2, spillFiles().size(), "who only reads deletes nothing");
    }
    try (Database db = Database.open(path(), OPTIONS)) {
      assertEquals(List.of(), spillFiles());
      Table table = db.getOrCreateTable("t");
      db.run(tx -> assertSees(tx, table, rows));
    }
    for (IoEvent event : seen) {
      assertTrue(
          !event.file().toString().endsWith(".spill") || event.kind() == IoEvent.Kind.DELETE,
          event::toString);
    }
  }

  @Test
  void without_old_snapshots_there_are_no_files_and_no_memory_is_taken() {
    List<IoEvent> seen = Collections.synchronizedList(new ArrayList<>());
    faulty.hook(event -> {
      if (event.file().toString().endsWith(".spill")) {
        seen.add(event);
      }
    });
    try (Database db = Database.open(path(), OPTIONS)) {
      Table table = db.getOrCreateTable("t");
      churn(db, table, 3, 700);
      assertEquals(0, db.statistics().versions().spilled());
    }
    assertEquals(List.of(), seen);
  }

  @Test
  void the_option_has_a_least_and_a_largest_value() {
    assertEquals(MIB, OPTIONS.withVersionMemory(MIB).versionMemory());
    for (long wrong : new long[] {0, -1, MIB - 1, Long.MAX_VALUE}) {
      IllegalArgumentException told =
          assertThrows(IllegalArgumentException.class, () -> OPTIONS.withVersionMemory(wrong));
      assertTrue(told.getMessage().contains("versionMemory"), told::getMessage);
    }
    long byDefault = DatabaseOptions.defaults().versionMemory();
    assertTrue(byDefault >= MIB && byDefault <= 64L * MIB);
  }
}
