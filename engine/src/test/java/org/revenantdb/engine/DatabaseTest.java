package org.revenantdb.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.testing.Refusals.assertRefused;
import static org.revenantdb.engine.testing.Samples.SMALL;
import static org.revenantdb.engine.testing.Samples.bytes;
import static org.revenantdb.engine.testing.Samples.get;
import static org.revenantdb.engine.testing.Samples.open;
import static org.revenantdb.engine.testing.Samples.put;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Opening, creating, closing, tables by name. */
class DatabaseTest {
  @TempDir private Path folder;

  private Path directory() {
    return folder.resolve("db");
  }

  @Test
  void open_createsInDirectoryThatDoesNotExist() {
    try (Database db = open(folder.resolve("a/b/c"))) {
      assertTrue(db.recoveryReport().created());
      put(db, "t", "k", "v");
      assertEquals("v", get(db, "t", "k"));
    }
  }

  @Test
  void open_findsWhatWasStored() {
    try (Database db = open(directory())) {
      put(db, "t", "k", "v");
    }
    try (Database db = open(directory())) {
      assertFalse(db.recoveryReport().created());
      assertTrue(db.recoveryReport().clean());
      assertEquals("v", get(db, "t", "k"));
      assertTrue(db.check().isSound(), () -> db.check().problems().toString());
    }
  }

  @Test
  void open_withoutCreate_refusesWhatIsNotThere() {
    DatabaseOptions existing = SMALL.withCreate(false);
    StorageException refused =
        assertRefused(
            StorageException.Reason.NOT_A_DATABASE,
            () -> Database.open(directory(), existing).close());
    assertEquals(directory(), refused.file());
    assertFalse(Files.exists(directory()), "nothing may be made");
    open(directory()).close();
    Database.open(directory(), existing).close();
  }

  @Test
  void open_usesSegmentSizeOfTheDatabase_notOfTheOptions() {
    try (Database db = open(directory())) {
      put(db, "t", "k", "v");
    }
    try (Database db = Database.open(directory())) {
      assertEquals("v", get(db, "t", "k"));
      put(db, "t", "k2", "v2");
    }
    try (Database db = open(directory())) {
      assertEquals("v2", get(db, "t", "k2"));
    }
  }

  @Test
  void close_twice_doesNothing() {
    Database db = open(directory());
    db.close();
    db.close();
  }

  @Test
  void use_afterClose_isRefused() {
    Database db = open(directory());
    Table table = db.getOrCreateTable("t");
    Transaction tx = db.begin();
    tx.put(table, bytes("k"), bytes("v"));
    Cursor cursor = tx.scan(table, null, null);
    db.close();
    List<Runnable> calls =
        List.of(
            db::begin,
            () -> db.run(t -> {}),
            () -> db.getOrCreateTable("t"),
            () -> db.getOrCreateTable("other"),
            () -> db.findTable("t"),
            db::tableNames,
            db::statistics,
            db::check,
            db::checkpoint,
            db::cleanNow,
            () -> tx.get(table, bytes("k")),
            () -> tx.put(table, bytes("k"), bytes("v")),
            () -> tx.delete(table, bytes("k")),
            () -> tx.scan(table, null, null),
            cursor::next,
            tx::commit);
    for (Runnable call : calls) {
      DatabaseClosedException refused =
          assertThrows(DatabaseClosedException.class, call::run, "call " + calls.indexOf(call));
      assertTrue(refused.getMessage().contains("closed"), refused.getMessage());
    }
    tx.rollback();
    tx.close();
    assertNotNull(db.recoveryReport());
    try (Database again = open(directory())) {
      assertNull(get(again, "t", "k"), "an open transaction is rolled back");
      assertTrue(again.recoveryReport().clean());
    }
  }

  @Test
  void open_ofWhatIsOpenHere_isRefusedAndNamesThisProcess() {
    try (Database db = open(directory())) {
      StorageException refused =
          assertRefused(StorageException.Reason.LOCKED, () -> open(directory()).close());
      assertTrue(
          refused.getMessage().contains(Long.toString(ProcessHandle.current().pid())),
          refused.getMessage());
      assertRefused(
          StorageException.Reason.LOCKED,
          () -> Database.open(directory(), SMALL.withReadOnly(true)).close());
      put(db, "t", "k", "v");
    }
    open(directory()).close();
  }

  @Test
  void open_underAnotherNameOfTheDirectory_isRefused() throws Exception {
    try (Database db = open(directory())) {
      Path link = Files.createSymbolicLink(folder.resolve("link"), directory());
      assertRefused(StorageException.Reason.LOCKED, () -> open(link).close());
      assertRefused(
          StorageException.Reason.LOCKED, () -> open(directory().resolve("../db")).close());
      assertNotNull(db.tableNames());
    }
  }

  @Test
  void open_throughLinkToTheDirectory_worksWhileNoProcessHasIt() throws Exception {
    open(directory()).close();
    Path link = Files.createSymbolicLink(folder.resolve("link"), directory());
    try (Database db = open(link)) {
      put(db, "t", "k", "v");
    }
    try (Database db = open(directory())) {
      assertEquals("v", get(db, "t", "k"));
    }
  }

  @Test
  void readOnly_severalAtOnce_readAndRefuseToWrite() {
    try (Database db = open(directory())) {
      put(db, "t", "k", "v");
    }
    DatabaseOptions readOnly = SMALL.withReadOnly(true);
    try (Database one = Database.open(directory(), readOnly);
        Database two = Database.open(directory(), readOnly)) {
      assertEquals("v", get(one, "t", "k"));
      assertEquals("v", get(two, "t", "k"));
      assertEquals(List.of("t"), one.tableNames());
      Table table = one.getOrCreateTable("t");
      assertThrows(ReadOnlyDatabaseException.class, () -> one.getOrCreateTable("new"));
      assertNull(one.findTable("new"));
      try (Transaction tx = one.begin()) {
        assertThrows(ReadOnlyDatabaseException.class, () -> tx.put(table, bytes("k"), bytes("w")));
        assertThrows(ReadOnlyDatabaseException.class, () -> tx.delete(table, bytes("k")));
        assertThrows(
            ReadOnlyDatabaseException.class,
            () -> tx.put(table, bytes("k"), new java.io.ByteArrayInputStream(new byte[300_000])));
        assertArrayEquals(bytes("v"), tx.get(table, bytes("k")));
        tx.commit();
      }
      assertTrue(one.check().isSound());
      one.checkpoint();
      one.cleanNow();
      assertNotNull(one.statistics());
      assertRefused(StorageException.Reason.LOCKED, () -> open(directory()).close());
    }
    try (Database db = open(directory())) {
      assertTrue(db.recoveryReport().clean());
      assertEquals("v", get(db, "t", "k"));
    }
  }

  @Test
  void readOnly_ofWhatDoesNotExist_isRefusedAndMakesNothing() {
    assertRefused(
        StorageException.Reason.NOT_A_DATABASE,
        () -> Database.open(directory(), SMALL.withReadOnly(true)).close());
    assertFalse(Files.exists(directory()));
  }

  @Test
  void readOnly_changesNoByte() throws Exception {
    try (Database db = open(directory())) {
      put(db, "t", "k", "v");
    }
    List<byte[]> before = contents();
    try (Database db = Database.open(directory(), SMALL.withReadOnly(true))) {
      assertEquals("v", get(db, "t", "k"));
    }
    List<byte[]> after = contents();
    assertEquals(before.size(), after.size());
    for (int i = 0; i < before.size(); i++) {
      assertArrayEquals(before.get(i), after.get(i));
    }
  }

  private List<byte[]> contents() throws Exception {
    List<byte[]> contents = new ArrayList<>();
    try (Stream<Path> files = Files.walk(directory()).sorted()) {
      for (Path file : (Iterable<Path>) files.filter(Files::isRegularFile)::iterator) {
        contents.add(Files.readAllBytes(file));
      }
    }
    return contents;
  }

  @Test
  void table_isCreatedOnce_andStaysTheSame() {
    try (Database db = open(directory())) {
      assertNull(db.findTable("t"));
      assertEquals(List.of(), db.tableNames());
      Table table = db.getOrCreateTable("t");
      assertEquals("t", table.name());
      assertSame(table, db.getOrCreateTable("t"));
      assertSame(table, db.findTable("t"));
      db.getOrCreateTable("a");
      assertEquals(List.of("a", "t"), db.tableNames());
    }
    try (Database db = open(directory())) {
      assertEquals(List.of("a", "t"), db.tableNames());
    }
  }

  @Test
  void table_ofManyNames_areAllFoundAgain() {
    List<String> names = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      names.add("table %04d %s".formatted(i, "x".repeat(i * 3)));
    }
    try (Database db = open(directory())) {
      for (String name : names) {
        db.getOrCreateTable(name);
      }
      for (String name : names) {
        put(db, name, "k", name);
      }
    }
    try (Database db = open(directory())) {
      assertEquals(names, db.tableNames());
      for (String name : names) {
        assertEquals(name, get(db, name, "k"));
      }
      assertTrue(db.check().isSound());
    }
  }

  @Test
  void table_namesAreAnyUnicode() {
    String longest = "ä".repeat(Database.MAX_KEY_BYTES / 2);
    try (Database db = open(directory())) {
      for (String name : List.of("テーブル", "\uD83D\uDC7B", " ", "\0", longest)) {
        put(db, name, "k", name);
        assertEquals(name, get(db, name, "k"));
      }
      assertRefused(LimitException.Reason.NAME_LENGTH, () -> db.getOrCreateTable(""));
      assertRefused(LimitException.Reason.NAME_LENGTH, () -> db.getOrCreateTable(longest + "x"));
      assertThrows(NullPointerException.class, () -> db.getOrCreateTable(null));
      assertThrows(NullPointerException.class, () -> db.findTable(null));
    }
  }

  @Test
  void table_name_with_half_a_surrogate_pair_is_refused_and_does_not_become_a_question_mark() {
    try (Database db = open(directory())) {
      assertRefused(LimitException.Reason.NAME_CHARACTERS, () -> db.getOrCreateTable("\uD83D"));
      assertEquals(List.of(), db.tableNames());
    }
  }

  @Test
  void table_createdByManyThreadsAtOnce_isOne() throws Exception {
    try (Database db = open(directory())) {
      List<Table> tables = new ArrayList<>();
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < 16; i++) {
        threads.add(
            Thread.ofVirtual()
                .start(() -> {
                  Table table = db.getOrCreateTable("t");
                  synchronized (tables) {
                    tables.add(table);
                  }
                }));
      }
      for (Thread thread : threads) {
        thread.join();
      }
      assertEquals(16, tables.size());
      assertEquals(1, tables.stream().distinct().count());
      assertEquals(List.of("t"), db.tableNames());
    }
  }

  @Test
  void files_areForTheirOwnerOnly() throws Exception {
    try (Database db = open(directory())) {
      put(db, "t", "k", "v");
      db.checkpoint();
      try (Stream<Path> all = Files.walk(directory())) {
        for (Path path : (Iterable<Path>) all::iterator) {
          assertEquals(
              Files.isDirectory(path) ? "rwx------" : "rw-------",
              PosixFilePermissions.toString(Files.getPosixFilePermissions(path)),
              path.toString());
        }
      }
    }
  }

  @Test
  void options_thatMakeNoSense_areRefusedWithTheLimit() {
    List<Runnable> wrong =
        List.of(
            () -> SMALL.withLogSegmentBytes(1 << 19),
            () -> SMALL.withLogSegmentBytes((1 << 20) + 1),
            () -> SMALL.withLogSegmentBytes(-1),
            () -> SMALL.withMaxRecoveryLog((4 << 20) - 1),
            () -> SMALL.withMaxRecoveryLog(Long.MAX_VALUE),
            () -> SMALL.withMaxRecoveryLog(Long.MAX_VALUE / 4).withMaxLogSize(1),
            () -> SMALL.withPoolBytes((2 << 20) - 1),
            () -> SMALL.withPoolBytes(1),
            () -> SMALL.withMaxAttempts(0));
    for (Runnable option : wrong) {
      IllegalArgumentException refused = assertThrows(IllegalArgumentException.class, option::run);
      assertTrue(refused.getMessage().contains("not "), refused.getMessage());
    }
    assertThrows(NullPointerException.class, () -> SMALL.withLeakListener(null));
    assertThrows(NullPointerException.class, () -> Database.open(null));
    assertThrows(NullPointerException.class, () -> Database.open(directory(), null));
  }

  @Test
  void options_largestSegmentAndLog_areAcceptedAsNumbers() {
    SMALL.withMaxRecoveryLog(Long.MAX_VALUE / 4).withLogSegmentBytes(1 << 30);
  }

  @Test
  void pool_largerThanTheMachine_isRefusedBeforeAnythingIsMade() {
    LimitException refused =
        assertRefused(
            LimitException.Reason.POOL_TOO_LARGE,
            () -> Database.open(directory(), SMALL.withPoolBytes(1L << 42)).close());
    assertTrue(refused.getMessage().contains("memory"), refused.getMessage());
    assertRefused(
        LimitException.Reason.POOL_TOO_LARGE,
        () -> Database.open(directory(), SMALL.withPoolBytes(1L << 43)).close());
    assertFalse(Files.exists(directory()));
  }

  @Test
  void statistics_countWork() {
    try (Database db = open(directory())) {
      Table table = db.getOrCreateTable("t");
      Random random = new Random(1);
      for (int i = 0; i < 20; i++) {
        int first = i * 200;
        db.run(tx -> {
          for (int j = 0; j < 200; j++) {
            byte[] value = new byte[100];
            random.nextBytes(value);
            tx.put(table, bytes("key%06d".formatted(first + j)), value);
          }
          tx.put(table, bytes("large" + first), new byte[50_000]);
        });
      }
      db.checkpoint();
      DatabaseStatistics statistics = db.statistics();
      assertTrue(statistics.files().splits() > 10, statistics.toString());
      assertTrue(statistics.files().overflowValues() == 20, statistics.toString());
      assertTrue(statistics.files().checkpoints() > 0, statistics.toString());
      assertTrue(statistics.files().pagesWritten() > 100, statistics.toString());
      assertTrue(
          statistics.files().durableLsn() <= statistics.files().logTail(), statistics.toString());
      assertTrue(
          statistics.files().redoPoint() <= statistics.files().logTail(), statistics.toString());
      CheckReport report = db.check();
      assertTrue(report.isSound(), report.toString());
      assertEquals(1, report.tables());
      assertEquals(4_020 + 1, report.rows(), "with the row of the catalogue");
    }
  }
}
