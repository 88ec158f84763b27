package org.revenantdb.engine.btree;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.testing.Refusals.assertRefused;
import static org.revenantdb.engine.testing.Samples.bytes;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.BulkLoad;
import org.revenantdb.engine.BulkLoadOptions;
import org.revenantdb.engine.BulkLoadProgress;
import org.revenantdb.engine.CheckReport;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.CorruptDataException;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseClosedException;
import org.revenantdb.engine.LeakedTransaction;
import org.revenantdb.engine.LimitException;
import org.revenantdb.engine.StorageException;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TableOptions;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.engine.TransactionStateException;
import org.revenantdb.engine.testing.Samples;
import org.revenantdb.recovery.testing.CrashDisk;
import org.revenantdb.recovery.testing.FaultyFileSystem;
import org.revenantdb.recovery.testing.IoEvent;

/**
 * Bulk loads of rows that come in any order, by the public API; random ones against a map: {@code
 * -Drevenant.seed=n} repeats a run, {@code -Drevenant.rounds=n} makes more of them.
 */
class UnsortedLoadTest {
  private static final int MIB = 1 << 20;
  private static final BulkLoadOptions LITTLE = BulkLoadOptions.defaults().withSortMemory(MIB);
  private static final int ROUNDS = Integer.getInteger("revenant.rounds", 2);

  @TempDir Path directory;

  private final long seed =
      Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));
  private final Random random = new Random(seed);
  private final FaultyFileSystem faulty = new FaultyFileSystem();

  /** What is in the table. */
  private final TreeMap<byte[], byte[]> rows = new TreeMap<>(Arrays::compareUnsigned);

  UnsortedLoadTest() {
    System.out.println("UnsortedLoadTest -Drevenant.seed=" + seed);
  }

  private Path path() {
    return faulty.wrap(directory).resolve("db");
  }

  private static byte[] key(long number) {
    return ByteBuffer.allocate(8).putLong(number).array();
  }

  private byte[] value(int length) {
    byte[] value = new byte[length];
    random.nextBytes(value);
    return value;
  }

  private static BulkLoad load(Database db, Table table, BulkLoadOptions options) {
    return db.bulkLoad(table, TransactionOptions.durable(), options);
  }

  /** More than there is memory for: ten runs or so. */
  private void addMany(BulkLoad load) {
    for (int i = 0; i < 40_000; i++) {
      load.addUnsorted(key(random.nextLong()), value(180));
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

  private void assertRows(Database db, Table table) {
    db.run(tx -> {
      try (Cursor cursor = tx.scan(table, null, null)) {
        for (Map.Entry<byte[], byte[]> row : rows.entrySet()) {
          assertTrue(cursor.next());
          assertArrayEquals(row.getKey(), cursor.key());
          assertArrayEquals(row.getValue(), cursor.value());
        }
        assertFalse(cursor.next());
      }
    });
  }

  private void assertSound(Database db, Table table) {
    assertRows(db, table);
    db.cleanNow();
    CheckReport report = db.check();
    assertEquals(List.of(), report.problems());
    assertEquals(0, report.pagesToClean());
    assertEquals(rows.size() + 1, report.rows());
    assertRows(db, table);
    assertEquals(List.of(), spillFiles());
  }

  /** Nothing of a load is there, and another one can be made. */
  private void assertNothingLeft(Database db, Table table) {
    assertEquals(List.of(), spillFiles());
    rows.clear();
    assertSound(db, table);
    assertEquals(0, db.check().overflowPages());
    try (BulkLoad again = load(db, table, LITTLE)) {
      again.addUnsorted(key(2), bytes("two"));
      again.addUnsorted(key(1), bytes("one"));
      again.finish();
    }
    rows.put(key(1), bytes("one"));
    rows.put(key(2), bytes("two"));
    assertSound(db, table);
  }

  private void addRandom(BulkLoad load, int count) throws IOException {
    int keys = 1 + random.nextInt(2 * count);
    for (int i = 0; i < count; i++) {
      byte[] key = key(random.nextInt(keys));
      boolean isLarge = random.nextInt(200) == 0;
      byte[] value = value(random.nextInt(isLarge ? 150_000 : 200));
      rows.put(key.clone(), value.clone());
      if (isLarge && random.nextBoolean()) {
        load.addUnsorted(key, new ByteArrayInputStream(value));
      } else {
        load.addUnsorted(key, value);
      }
      Arrays.fill(key, (byte) 0); // the arrays are the caller's
      Arrays.fill(value, (byte) 0);
    }
    assertEquals(count, load.rows());
  }

  @Test
  @Tag("slow")
  void rows_in_any_order_are_loaded_and_of_equal_keys_the_last_one_counts() throws IOException {
    for (int round = 0; round < ROUNDS; round++) {
      rows.clear();
      int partitions = random.nextInt(3) == 0 ? 3 : 1;
      try (Database db = Database.open(path(), Samples.SMALL)) {
        Table table =
            db.getOrCreateTable(
                "t", partitions == 1 ? TableOptions.defaults() : TableOptions.hashPartitioned(3));
        for (int again = 0; again < 2; again++) { // the second over the rows of the first
          BulkLoadOptions options = random.nextInt(4) == 0 ? BulkLoadOptions.defaults() : LITTLE;
          try (BulkLoad load = load(db, table, options)) {
            addRandom(load, random.nextInt(again == 0 ? 30_000 : 3_000));
            load.finish();
          }
          assertRows(db, table);
        }
        assertSound(db, table);
      }
      try (Database db = Database.open(path(), Samples.SMALL)) {
        Table table = db.getOrCreateTable("t");
        assertRows(db, table);
        db.dropTable("t");
      }
    }
  }

  @Test
  void an_unsorted_load_into_an_empty_table_appends_whole_pages() {
    try (Database db = Database.open(path(), Samples.SMALL)) {
      Table table = db.getOrCreateTable("t");
      List<Integer> numbers = new ArrayList<>();
      for (int i = 0; i < 30_000; i++) {
        numbers.add(i);
      }
      Collections.shuffle(numbers, random);
      byte[] value = value(100);
      try (BulkLoad load = load(db, table, LITTLE)) {
        for (int number : numbers) {
          load.addUnsorted(key(number), value);
        }
        assertFalse(spillFiles().isEmpty(), "the memory is too small for all rows");
        load.finish();
        // A row takes 16 + 8 + 100 bytes and a slot of 6.
        double filled = 30_000.0 * (16 + 8 + 100 + 6) / (load.pages() * 8192.0);
        assertTrue(filled > 0.9, load.pages() + " pages are filled to " + filled);
      }
      numbers.forEach(number -> rows.put(key(number), value));
      assertSound(db, table);
    }
  }

  @Test
  void values_of_many_pages_are_loaded_whole_and_the_replaced_ones_leave_nothing()
      throws IOException {
    try (Database db = Database.open(path(), Samples.SMALL)) {
      Table table = db.getOrCreateTable("t");
      try (BulkLoad load = load(db, table, LITTLE)) {
        for (int i = 0; i < 30; i++) {
          byte[] key = key(random.nextInt(12));
          int length = random.nextInt(8) == 0 ? 3 * MIB : random.nextInt(200_000);
          byte[] value = value(length);
          InputStream stream = new ByteArrayInputStream(value);
          load.addUnsorted(key, stream);
          rows.put(key, value);
        }
        assertEquals(0, db.check().overflowPages());
        load.finish();
      }
      assertSound(db, table);
      long pages = rows.values().stream().mapToLong(value -> value.length / 8_000 + 2).sum();
      assertTrue(db.check().overflowPages() <= pages);
    }
  }

  @Test
  void a_load_that_is_closed_at_any_moment_leaves_nothing() {
    try (Database db = Database.open(path(), Samples.SMALL)) {
      Table table = db.getOrCreateTable("t");
      try (BulkLoad load = load(db, table, LITTLE)) {
        addMany(load);
        load.addUnsorted(key(1), new byte[500_000]);
        assertEquals(2, spillFiles().size(), "runs, and a large value");
      }
      assertNothingLeft(db, table);
    }
  }

  @Test
  void sorted_and_unsorted_rows_are_not_mixed() throws IOException {
    try (Database db = Database.open(path(), Samples.SMALL)) {
      Table table = db.getOrCreateTable("t");
      try (BulkLoad load = load(db, table, LITTLE)) {
        load.add(key(1), bytes("one"));
        assertThrows(IllegalStateException.class, () -> load.addUnsorted(key(2), bytes("two")));
        assertThrows(
            IllegalStateException.class,
            () -> load.addUnsorted(key(2), new ByteArrayInputStream(bytes("two"))));
        load.add(key(3), bytes("three"));
        load.finish();
      }
      try (BulkLoad load = load(db, table, LITTLE)) {
        load.addUnsorted(key(5), bytes("five"));
        assertThrows(IllegalStateException.class, () -> load.add(key(6), bytes("six")));
        assertThrows(
            IllegalStateException.class,
            () -> load.add(key(6), new ByteArrayInputStream(bytes("six"))));
        load.addUnsorted(key(4), bytes("four"));
        assertEquals("BulkLoad[t, 2 rows so far]", load.toString());
        load.finish();
        assertRefused(
            TransactionStateException.Reason.FINISHED,
            () -> load.addUnsorted(key(7), bytes("seven")));
        assertRefused(TransactionStateException.Reason.FINISHED, load::finish);
      }
      rows.put(key(1), bytes("one"));
      rows.put(key(3), bytes("three"));
      rows.put(key(4), bytes("four"));
      rows.put(key(5), bytes("five"));
      assertSound(db, table);
    }
  }

  @Test
  void refused_rows_change_nothing_and_the_load_goes_on() throws IOException {
    try (Database db = Database.open(path(), Samples.SMALL)) {
      Table table = db.getOrCreateTable("t");
      try (BulkLoad load = load(db, table, LITTLE)) {
        load.addUnsorted(key(9), bytes("nine"));
        assertRefused(
            LimitException.Reason.KEY_LENGTH, () -> load.addUnsorted(new byte[0], new byte[1]));
        assertRefused(
            LimitException.Reason.KEY_LENGTH, () -> load.addUnsorted(new byte[1025], new byte[1]));
        IOException checked = new IOException("says the test");
        assertEquals(
            checked,
            assertThrows(
                IOException.class, () -> load.addUnsorted(key(8), failing(100_000, checked))));
        RuntimeException unchecked = new RuntimeException("says the test");
        assertEquals(
            unchecked,
            assertThrows(
                RuntimeException.class,
                () -> load.addUnsorted(key(8), failing(200_000, unchecked))));
        load.addUnsorted(key(7), bytes("seven"));
        assertEquals(2, load.rows());
        load.finish();
      }
      rows.put(key(7), bytes("seven"));
      rows.put(key(9), bytes("nine"));
      assertSound(db, table);
    }
  }

  private static InputStream failing(int length, Exception failure) {
    return new SequenceInputStream(
        new ByteArrayInputStream(new byte[length]),
        new InputStream() {
          @Override
          public int read() throws IOException {
            if (failure instanceof IOException checked) {
              throw checked;
            }
            throw (RuntimeException) failure;
          }
        });
  }

  /** The bytes of another value would lie between those of the one that is being read. */
  @Test
  void the_stream_of_a_value_must_not_use_its_load() throws IOException {
    try (Database db = Database.open(path(), Samples.SMALL)) {
      Table table = db.getOrCreateTable("t");
      try (BulkLoad load = load(db, table, LITTLE)) {
        byte[] value = value(300_000);
        for (int at : new int[] {0, 100_000}) {
          InputStream using =
              new SequenceInputStream(
                  new ByteArrayInputStream(value, 0, at),
                  new InputStream() {
                    private final ByteArrayInputStream rest =
                        new ByteArrayInputStream(value, at, value.length - at);

                    @Override
                    public int read() {
                      return rest.read();
                    }

                    @Override
                    public int read(byte[] into, int offset, int most) throws IOException {
                      assertThrows(
                          IllegalStateException.class,
                          () -> load.addUnsorted(key(2), new byte[3 << 16]));
                      assertThrows(IllegalStateException.class, load::finish);
                      return rest.read(into, offset, most);
                    }
                  });
          load.addUnsorted(key(at), using);
          rows.put(key(at), value);
        }
        load.finish();
      }
      assertSound(db, table);
    }
  }

  @Test
  void a_row_of_another_transaction_is_a_conflict_and_the_load_is_given_up() {
    try (Database db = Database.open(path(), Samples.SMALL)) {
      Table table = db.getOrCreateTable("t");
      try (BulkLoad load = load(db, table, LITTLE)) {
        addMany(load);
        load.addUnsorted(key(7), bytes("mine"));
        db.run(tx -> tx.put(table, key(7), bytes("other")));
        ConflictException told = assertThrows(ConflictException.class, load::finish);
        assertEquals(0, told.getSuppressed().length, () -> told.getSuppressed()[0].toString());
        assertEquals(List.of(), spillFiles(), "at the end of the transaction, not at the close");
        assertRefused(TransactionStateException.Reason.FINISHED, load::finish);
      }
      rows.put(key(7), bytes("other"));
      assertSound(db, table);
    }
  }

  @Test
  @Tag("slow")
  void a_full_disk_at_any_write_is_reported_and_the_load_ends_without_a_trace() {
    try (Database db = Database.open(path(), Samples.SMALL)) {
      Table table = db.getOrCreateTable("t");
      int failures = 0;
      for (int failing = 1; failing < 60; failing += 1 + failing / 3) {
        int[] left = {failing};
        boolean[] hasFailed = {false};
        faulty.hook(event -> {
          if (event.kind() == IoEvent.Kind.WRITE
              && event.file().toString().endsWith(".spill")
              && --left[0] == 0) {
            hasFailed[0] = true;
            throw new IOException("No space left on device");
          }
        });
        try (BulkLoad load = load(db, table, LITTLE)) {
          load.addUnsorted(key(1), new byte[300_000]);
          addMany(load);
          load.finish();
          assertFalse(hasFailed[0]);
          faulty.hook(event -> {});
          db.dropTable("t");
          table = db.getOrCreateTable("t");
        } catch (StorageException told) {
          faulty.hook(event -> {});
          failures++;
          assertEquals(StorageException.Reason.DISK_FULL, told.reason());
          assertTrue(told.getMessage().contains("sorts-"), told::getMessage);
          assertEquals(List.of(), spillFiles());
        }
      }
      assertTrue(failures > 4, "failures: " + failures);
      Table now = table;
      db.run(tx -> tx.deleteRange(now, null, null));
      assertNothingLeft(db, now);
    }
  }

  @Test
  void a_damaged_temporary_file_is_reported_and_the_load_ends_without_a_trace() throws IOException {
    try (Database db = Database.open(path(), Samples.SMALL)) {
      Table table = db.getOrCreateTable("t");
      try (BulkLoad load = load(db, table, LITTLE)) {
        addMany(load);
        Path file = directory.resolve("db").resolve(spillFiles().getFirst());
        byte[] bytes = Files.readAllBytes(file);
        bytes[100 + random.nextInt(bytes.length - 100)] ^= 4;
        Files.write(file, bytes);
        StorageException told = assertThrows(StorageException.class, load::finish);
        assertInstanceOf(CorruptDataException.class, told);
        assertTrue(told.getMessage().contains("sorted rows"), told::getMessage);
        assertTrue(told.getMessage().contains("repeat the load"), told::getMessage);
        assertRefused(
            TransactionStateException.Reason.FINISHED, () -> load.add(key(1), new byte[1]));
      }
      assertNothingLeft(db, table);
    }
  }

  @Test
  void what_a_crash_has_left_is_deleted_unread_by_the_next_open_for_writing() throws IOException {
    CrashDisk disk = new CrashDisk();
    CrashDisk left;
    try (Database db = Database.open(disk.path("/db"), Samples.SMALL)) {
      Table table = db.getOrCreateTable("t");
      try (BulkLoad load = load(db, table, LITTLE)) {
        addMany(load);
        load.addUnsorted(key(1), new byte[500_000]);
        left = disk.afterKill();
      }
    }
    assertEquals(2, files(left).size());
    for (String name : files(left)) {
      left.content(name, value(70)); // never read, and never damage
    }
    try (Database db = Database.open(left.path("/db"), Samples.SMALL)) {
      assertEquals(List.of(), files(left));
      assertEquals(List.of(), db.check().problems());
      assertEquals(0, (long) db.call(tx -> tx.count(db.getOrCreateTable("t"), null, null)));
    }
  }

  private static List<String> files(CrashDisk disk) {
    return disk.files().stream().filter(name -> name.contains("sorts-")).toList();
  }

  @Test
  void an_open_that_only_reads_leaves_a_temporary_file_alone() throws IOException {
    try (Database db = Database.open(path(), Samples.SMALL)) {
      Table table = db.getOrCreateTable("t");
      db.run(tx -> tx.put(table, key(1), bytes("one")));
    }
    rows.put(key(1), bytes("one"));
    Path file = directory.resolve("db").resolve("sorts-1.spill");
    Files.write(file, value(1_000));
    List<IoEvent> seen = Collections.synchronizedList(new ArrayList<>());
    faulty.hook(event -> {
      if (event.file().toString().endsWith(".spill")) {
        seen.add(event);
      }
    });
    try (Database db = Database.open(path(), Samples.SMALL.withReadOnly(true))) {
      assertRows(db, db.getOrCreateTable("t"));
    }
    assertEquals(List.of(), seen);
    assertEquals(1_000, Files.size(file));
    try (Database db = Database.open(path(), Samples.SMALL)) {
      assertSound(db, db.getOrCreateTable("t"));
    }
    assertEquals(1, seen.size());
  }

  @Test
  void a_database_that_is_closed_while_a_run_is_written_ends_the_load() throws Exception {
    for (IoEvent.Kind kind : List.of(IoEvent.Kind.OPEN, IoEvent.Kind.WRITE)) {
      Database db = Database.open(path(), Samples.SMALL);
      Table table = db.getOrCreateTable("t");
      Thread closing = new Thread(db::close);
      faulty.hook(event -> {
        if (event.kind() == kind
            && event.file().toString().endsWith(".spill")
            && closing.getState() == Thread.State.NEW) {
          closing.start();
        }
      });
      BulkLoad load = load(db, table, LITTLE);
      assertThrows(
          DatabaseClosedException.class,
          () -> {
            while (true) {
              load.addUnsorted(key(random.nextLong()), value(180));
            }
          });
      closing.join();
      assertEquals(List.of(), spillFiles());
      assertThrows(DatabaseClosedException.class, load::finish);
      load.close();
      assertEquals(List.of(), spillFiles());
      try (Database again = Database.open(path(), Samples.SMALL)) {
        assertNothingLeft(again, again.getOrCreateTable("t"));
        again.dropTable("t");
      }
    }
  }

  @Test
  void an_interrupted_thread_loads_all_rows_and_stays_interrupted() {
    try (Database db = Database.open(path(), Samples.SMALL)) {
      Table table = db.getOrCreateTable("t");
      Thread.currentThread().interrupt();
      try (BulkLoad load = load(db, table, LITTLE)) {
        addMany(load);
        load.addUnsorted(key(1), new byte[500_000]);
        load.finish();
        assertEquals(40_001, load.rows());
      }
      assertTrue(Thread.interrupted());
      assertEquals(40_001, (long) db.call(tx -> tx.count(table, null, null)));
      assertEquals(List.of(), spillFiles());
    }
  }

  @Test
  void two_loads_at_once_have_files_of_their_own() {
    try (Database db = Database.open(path(), Samples.SMALL)) {
      Table table = db.getOrCreateTable("t");
      Table other = db.getOrCreateTable("other");
      try (BulkLoad load = load(db, table, LITTLE);
          BulkLoad givenUp = load(db, other, LITTLE)) {
        for (int i = 0; i < 20_000; i++) {
          byte[] key = key(random.nextLong());
          byte[] value = value(180);
          load.addUnsorted(key, value);
          givenUp.addUnsorted(key, value(180));
          rows.put(key, value);
        }
        assertEquals(2, spillFiles().size());
        givenUp.close();
        assertEquals(1, spillFiles().size());
        load.finish();
      }
      db.dropTable("other");
      assertSound(db, table);
    }
  }

  @Test
  void a_database_that_is_closed_meanwhile_deletes_the_files() {
    Database db = Database.open(path(), Samples.SMALL);
    Table table = db.getOrCreateTable("t");
    BulkLoad load = load(db, table, LITTLE);
    addMany(load);
    assertFalse(spillFiles().isEmpty());
    db.close();
    assertEquals(List.of(), spillFiles());
    assertThrows(DatabaseClosedException.class, () -> addMany(load));
    assertThrows(DatabaseClosedException.class, load::finish);
    load.close();
    try (Database again = Database.open(path(), Samples.SMALL)) {
      assertNothingLeft(again, again.getOrCreateTable("t"));
    }
  }

  @Test
  void the_files_of_a_leaked_load_are_deleted_with_its_transaction() throws Exception {
    List<LeakedTransaction> leaks = Collections.synchronizedList(new ArrayList<>());
    try (Database db = Database.open(path(), Samples.SMALL.withLeakListener(leaks::add))) {
      Table table = db.getOrCreateTable("t");
      leak(db, table);
      while (leaks.isEmpty()) {
        System.gc();
        Thread.sleep(1);
      }
      assertNothingLeft(db, table);
    }
  }

  @SuppressWarnings("MustBeClosed") // leaked on purpose
  private void leak(Database db, Table table) {
    addMany(load(db, table, LITTLE));
    assertFalse(spillFiles().isEmpty());
  }

  @Test
  @Tag("slow")
  void the_listener_sees_rows_come_and_go_to_the_table() throws IOException {
    List<BulkLoadProgress> seen = new ArrayList<>();
    try (Database db = Database.open(path(), Samples.SMALL)) {
      Table table = db.getOrCreateTable("t");
      try (BulkLoad load = load(db, table, LITTLE.withListener(seen::add))) {
        for (int i = 0; i < 140_000; i++) {
          load.addUnsorted(key(random.nextInt(1 << 30)), value(100));
        }
        long before = seen.getLast().sortBytes();
        load.addUnsorted(key(1), new ByteArrayInputStream(value(3 * MIB)));
        assertTrue(seen.getLast().sortBytes() >= before + 3 * MIB, () -> "" + seen.getLast());
        load.addUnsorted(key(2), value(MIB));
        assertTrue(seen.getLast().sortBytes() >= before + 4 * MIB, () -> "" + seen.getLast());
        load.finish();
      }
      for (int i = 1; i < seen.size(); i++) {
        BulkLoadProgress before = seen.get(i - 1);
        BulkLoadProgress now = seen.get(i);
        assertTrue(now.phase().compareTo(before.phase()) >= 0, now + " behind " + before);
        assertTrue(now.rowsAdded() >= before.rowsAdded(), now + " behind " + before);
        assertTrue(now.rowsStored() >= before.rowsStored(), now + " behind " + before);
        assertTrue(now.sortBytes() >= before.sortBytes(), now + " behind " + before);
      }
      for (BulkLoadProgress.Phase phase : BulkLoadProgress.Phase.values()) {
        assertTrue(
            seen.stream().filter(one -> one.phase() == phase).count() > 2, phase + " of " + seen);
      }
      BulkLoadProgress last = seen.getLast();
      assertEquals(140_002, last.rowsAdded());
      assertTrue(last.sortBytes() > 140_000L * 114 + 4 * MIB, last::toString);
      assertEquals(last.rowsStored(), (long) db.call(tx -> tx.count(table, null, null)));
    }
  }

  @Test
  @Tag("slow")
  void a_listener_ends_the_load_in_each_phase() {
    try (Database db = Database.open(path(), Samples.SMALL)) {
      Table table = db.getOrCreateTable("t");
      for (BulkLoadProgress.Phase phase : BulkLoadProgress.Phase.values()) {
        for (boolean throwing : new boolean[] {false, true}) {
          BulkLoadOptions options =
              LITTLE.withListener(progress -> {
                if (throwing && progress.phase() == phase) {
                  throw new IllegalArgumentException("says the test");
                }
                return progress.phase() != phase;
              });
          try (BulkLoad load = load(db, table, options)) {
            assertThrows(
                CancellationException.class,
                () -> {
                  addMany(load);
                  addMany(load);
                  load.finish();
                });
            assertEquals(List.of(), spillFiles());
          }
        }
      }
      assertNothingLeft(db, table);
    }
  }

  /** Nothing that allocates may follow the record of the commit. */
  @Test
  void the_files_are_deleted_before_the_commit() {
    List<List<String>> seen = new ArrayList<>();
    try (Database db = Database.open(path(), Samples.SMALL)) {
      Table table = db.getOrCreateTable("t");
      BulkLoadOptions options = LITTLE.withListener(progress -> seen.add(spillFiles()));
      try (BulkLoad load = load(db, table, options)) {
        addMany(load);
        assertEquals(1, seen.getLast().size());
        load.finish(); // the listener is told before the commit
      }
    }
    assertEquals(List.of(), seen.getLast());
  }

  @Test
  void the_listener_of_a_load_must_not_use_it() {
    try (Database db = Database.open(path(), Samples.SMALL)) {
      Table table = db.getOrCreateTable("t");
      BulkLoad[] used = new BulkLoad[1];
      BulkLoadOptions options =
          LITTLE.withListener(progress -> {
            assertThrows(
                IllegalStateException.class, () -> used[0].addUnsorted(key(1), new byte[1]));
            assertThrows(IllegalStateException.class, () -> used[0].finish());
            return true;
          });
      try (BulkLoad load = load(db, table, options)) {
        used[0] = load;
        load.addUnsorted(key(2), bytes("two"));
        load.finish();
      }
      rows.put(key(2), bytes("two"));
      assertSound(db, table);
    }
  }

  @Test
  @Tag("slow")
  void others_read_and_write_while_rows_are_gathered() {
    try (Database db = Database.open(path(), Samples.SMALL)) {
      Table table = db.getOrCreateTable("t");
      try (Transaction old = db.begin();
          BulkLoad load = load(db, table, LITTLE)) {
        for (int i = 0; i < 40_000; i++) {
          byte[] key = key(2L * random.nextInt(1 << 30));
          byte[] value = value(100);
          load.addUnsorted(key, value);
          rows.put(key, value);
        }
        assertEquals(0, (long) db.call(tx -> tx.count(table, null, null)));
        db.run(tx -> tx.put(table, key(77), bytes("between")));
        assertEquals(List.of(), db.check().problems());
        load.finish();
        assertEquals(0, old.count(table, null, null));
      }
      rows.put(key(77), bytes("between"));
      assertSound(db, table);
    }
  }
}
