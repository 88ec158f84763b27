package org.revenantdb.engine.lifecycle;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.CheckReport;
import org.revenantdb.engine.CorruptDataException;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.page.SlottedSearch;
import org.revenantdb.engine.testing.LiveCopy;
import org.revenantdb.engine.testing.Samples;
import org.revenantdb.recovery.testing.FaultyFileSystem;

/**
 * A leaf is updated, and the write of its page is lost: without the LSN of its last flush a read
 * would give the rows as they were, without a word. While the database is open, after a crash to a
 * page that redo spares, and to one that redo changes.
 */
class LostPageWriteTest {
  private static final int ROWS = 2_000;
  private static final byte[] HIT = key(1_000);

  @TempDir Path folder;

  private final FaultyFileSystem faulty = new FaultyFileSystem();

  private static byte[] key(int row) {
    return "key%06d".formatted(row).getBytes();
  }

  private static byte[] value(int fill) {
    byte[] value = new byte[500];
    java.util.Arrays.fill(value, (byte) fill);
    return value;
  }

  /** A database larger than its pool, all of it written. */
  private Database filled() {
    Database database = Database.open(faulty.wrap(folder.resolve("db")), Samples.SMALL);
    for (String name : List.of("t", "other", "more", "much", "most", "last")) {
      Table table = database.getOrCreateTable(name);
      database.run(tx -> {
        for (int row = 0; row < ROWS; row++) {
          tx.put(table, key(row), value(1));
        }
      });
    }
    // Room in the leaf of the row to be hit, or it would be split.
    database.run(tx -> {
      for (int row = 1_001; row < 1_005; row++) {
        tx.delete(database.getOrCreateTable("t"), key(row));
      }
    });
    database.cleanNow();
    database.checkpoint();
    return database;
  }

  /** The leaf of the row to be hit, as the file has it. */
  private int leaf() throws IOException {
    byte[] data = Files.readAllBytes(folder.resolve("db").resolve(DatabaseFiles.DATA));
    for (int id = 5; (id + 1) * Page.SIZE <= data.length; id++) {
      MemorySegment page =
          MemorySegment.ofArray(
              java.util.Arrays.copyOfRange(data, id * Page.SIZE, (id + 1) * Page.SIZE));
      if (Page.type(page) == Page.LEAF
          && Slotted.table(page) == 1
          && SlottedSearch.search(page, HIT) >= 0) {
        return id;
      }
    }
    throw new AssertionError("no leaf has the row");
  }

  /** Updates the row; the write of its page is lost. */
  private void updateAndLose(Database database, int leaf) {
    Table table = database.getOrCreateTable("t");
    faulty.misplace(
        DatabaseFiles.DATA, (long) leaf * Page.SIZE, Page.SIZE, FaultyFileSystem.NOWHERE);
    database.run(tx -> tx.put(table, HIT, value(2)));
    database.cleanNow();
    database.checkpoint();
  }

  private static void readAll(Database database, String name) {
    try (Transaction tx = database.begin();
        Cursor cursor = tx.scan(database.getOrCreateTable(name), null, null)) {
      while (cursor.next()) {
        cursor.value();
      }
    }
  }

  /** Until even the warmest page of another table has left the pool. */
  private static void evictAll(Database database) {
    long enough =
        database.statistics().pool().evictions()
            + 60_000; // scans move the hand of the clock slowly
    while (database.statistics().pool().evictions() < enough) {
      for (String name : List.of("other", "more", "much", "most", "last")) {
        readAll(database, name);
      }
    }
  }

  private static void assertNamed(CorruptDataException told, int leaf) {
    assertEquals((long) leaf * Page.SIZE, told.offset());
    assertTrue(
        told.getMessage().contains("page " + leaf + " is an old version of itself"),
        () -> told.getMessage());
    assertTrue(told.getMessage().contains("that write is lost"), () -> told.getMessage());
  }

  private static void assertReadIsTold(Database database, int leaf) {
    assertNamed(
        assertThrows(
            CorruptDataException.class,
            () -> database.call(tx -> tx.get(database.getOrCreateTable("t"), HIT))),
        leaf);
    CheckReport report = database.check();
    assertEquals(1, report.damage().size(), () -> report.problems().toString());
    assertNamed((CorruptDataException) report.damage().getFirst(), leaf);
  }

  private Path crash() throws IOException {
    return copyOf(folder.resolve("db"), "crashed");
  }

  private Path copyOf(Path from, String name) throws IOException {
    Path copy = folder.resolve(name);
    LiveCopy.copy(from, copy);
    return copy;
  }

  @Test
  void while_the_database_is_open_the_old_page_is_not_given_to_anyone() throws IOException {
    try (Database database = filled()) {
      int leaf = leaf();
      updateAndLose(database, leaf);
      evictAll(database);
      assertReadIsTold(database, leaf);
      database.run(tx -> tx.put(database.getOrCreateTable("other"), HIT, value(3)));
    }
  }

  @Test
  void after_a_crash_a_page_that_redo_spares_is_told_when_it_is_read() throws IOException {
    Path crashed;
    int leaf;
    try (Database database = filled()) {
      leaf = leaf();
      updateAndLose(database, leaf);
      crashed = crash();
    }
    try (Database database = Database.open(crashed, Samples.SMALL)) {
      assertReadIsTold(database, leaf);
    }
  }

  /** Unless the checkpoint names it, the second of these lives reads the row as it was. */
  @Test
  void a_page_that_was_refused_is_refused_in_all_later_lives() throws IOException {
    Path directory;
    int leaf;
    try (Database database = filled()) {
      leaf = leaf();
      updateAndLose(database, leaf);
      directory = crash();
    }
    try (Database database = Database.open(directory, Samples.SMALL)) {
      assertReadIsTold(database, leaf);
    }
    try (Database database = Database.open(directory, Samples.SMALL)) {
      assertReadIsTold(database, leaf);
    }
    // Lives that do not read the page: closed, and killed after a checkpoint.
    for (int life = 0; life < 3; life++) {
      try (Database database = Database.open(directory, Samples.SMALL)) {
        database.run(tx -> tx.put(database.table("other"), HIT, value(3)));
        database.checkpoint();
        database.run(tx -> tx.put(database.table("other"), HIT, value(4)));
        if (life == 1) {
          directory = copyOf(directory, "killed");
        }
      }
    }
    try (Database database = Database.open(directory, Samples.SMALL.withReadOnly(true))) {
      assertReadIsTold(database, leaf);
    }
    try (Database database = Database.open(directory, Samples.SMALL)) {
      assertReadIsTold(database, leaf);
      assertArrayEquals(value(4), database.call(tx -> tx.get(database.table("other"), HIT)));
    }
  }

  @Test
  void a_page_that_was_refused_can_be_used_for_another_table() throws IOException {
    Path directory;
    int leaf;
    try (Database database = filled()) {
      leaf = leaf();
      updateAndLose(database, leaf);
      directory = crash();
    }
    for (int life = 0; life < 3; life++) {
      try (Database database = Database.open(directory, Samples.SMALL)) {
        if (life == 0) {
          assertReadIsTold(database, leaf);
          database.truncateTable("t");
          database.cleanNow();
          Table table = database.table("t");
          database.run(tx -> {
            for (int row = 0; row < ROWS; row++) {
              tx.put(table, key(row), value(5));
            }
          });
          database.checkpoint();
        }
        readAll(database, "t");
        assertArrayEquals(value(5), database.call(tx -> tx.get(database.table("t"), HIT)));
      }
    }
  }

  /** As if log that was durable were missing: the page has what the log does not know. */
  @Test
  void a_page_that_is_ahead_of_the_log_is_refused_in_all_later_lives() throws IOException {
    Path directory = folder.resolve("crashed");
    int leaf = crashWithoutTheLogOfALeaf();
    for (int life = 0; life < 4; life++) {
      try (Database database = Database.open(directory, Samples.SMALL.withReadOnly(life == 2))) {
        if (life != 1) { // nor does it matter whether somebody reads it
          assertAheadIsTold(database, leaf);
        }
        if (life == 0) {
          database.checkpoint(); // with the note
          directory = copyOf(directory, "killed");
        }
      }
    }
  }

  /** A copy in which a leaf has been written, but the log of its last change is missing. */
  private int crashWithoutTheLogOfALeaf() throws IOException {
    Path directory;
    int leaf;
    byte[] ahead = new byte[Page.SIZE];
    try (Database database = filled()) {
      leaf = leaf();
      directory = crash();
      database.run(tx -> tx.put(database.table("t"), HIT, value(2)));
      database.cleanNow();
      database.checkpoint();
      readPage(folder.resolve("db"), leaf, ahead);
    }
    try (FileChannel data =
        FileChannel.open(directory.resolve(DatabaseFiles.DATA), StandardOpenOption.WRITE)) {
      data.write(ByteBuffer.wrap(ahead), (long) leaf * Page.SIZE);
    }
    return leaf;
  }

  private static void assertAheadIsTold(Database database, int leaf) {
    CorruptDataException told =
        assertThrows(
            CorruptDataException.class,
            () -> database.call(tx -> tx.get(database.table("t"), HIT)));
    assertEquals((long) leaf * Page.SIZE, told.offset());
  }

  private static void readPage(Path directory, int id, byte[] into) throws IOException {
    try (FileChannel data = FileChannel.open(directory.resolve(DatabaseFiles.DATA))) {
      assertEquals(into.length, data.read(ByteBuffer.wrap(into), (long) id * Page.SIZE));
    }
  }

  @Test
  void after_a_crash_redo_does_not_change_a_page_that_is_too_old() throws IOException {
    Path crashed;
    int leaf;
    try (Database database = filled()) {
      leaf = leaf();
      updateAndLose(database, leaf);
      database.run(tx -> tx.put(database.getOrCreateTable("t"), HIT, value(3)));
      crashed = crash();
    }
    for (int life = 0; life < 3; life++) {
      try (Database database = Database.open(crashed, Samples.SMALL.withReadOnly(life == 2))) {
        assertReadIsTold(database, leaf);
      }
    }
  }

  @Test
  void without_a_fault_the_same_is_sound() throws IOException {
    Path crashed;
    try (Database database = filled()) {
      updateAndLose(database, Integer.MAX_VALUE / 2);
      readAll(database, "other");
      crashed = crash();
    }
    try (Database database = Database.open(crashed, Samples.SMALL)) {
      assertArrayEquals(value(2), database.call(tx -> tx.get(database.getOrCreateTable("t"), HIT)));
      assertEquals(List.of(), database.check().problems());
    }
  }
}
