package org.revenantdb.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.testing.Samples.SMALL;
import static org.revenantdb.engine.testing.Samples.bytes;
import static org.revenantdb.engine.testing.Samples.get;
import static org.revenantdb.engine.testing.Samples.put;
import static org.revenantdb.engine.testing.Samples.random;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.revenantdb.engine.lifecycle.DirectoryState;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.testing.LiveCopy;
import org.revenantdb.engine.testing.OtherProcess;
import org.revenantdb.engine.testing.Samples;
import org.revenantdb.recovery.format.FileHeaderLayout;
import org.revenantdb.recovery.testing.CrashDisk;
import org.revenantdb.recovery.testing.FaultyFileSystem;
import org.revenantdb.recovery.testing.IoEvent;

/**
 * What a user can do wrong and what a machine can: each gets its own exception, with file, place,
 * reason and cure, and leaves the database usable or cleanly stopped.
 */
class BadInputTest {
  @TempDir private Path folder;

  private Path directory() {
    return folder.resolve("db");
  }

  private static StorageException told(StorageException.Reason reason, Runnable call) {
    StorageException told = told(call);
    assertEquals(reason, told.reason(), told.getMessage());
    return told;
  }

  private static StorageException told(Runnable call) {
    StorageException told = assertThrows(StorageException.class, call::run);
    assertTrue(told.getMessage().startsWith(told.file().toString()), told.getMessage());
    assertFalse(told.problem().isBlank());
    assertFalse(told.cure().isBlank());
    return told;
  }

  private void refused(StorageException.Reason type, Path file) {
    StorageException told = told(type, () -> Samples.open(directory()).close());
    assertEquals(file, told.file(), told.getMessage());
  }

  /** A few thousand rows and some large values; closed. */
  private void fill() {
    try (Database db = Samples.open(directory())) {
      fill(db);
    }
  }

  private static void fill(Database db) {
    Table table = db.getOrCreateTable("t");
    for (int i = 0; i < 10; i++) {
      int first = 300 * i;
      db.run(tx -> {
        for (int j = first; j < first + 300; j++) {
          tx.put(table, bytes("key%05d".formatted(j)), random(j, 100));
        }
        tx.put(table, bytes("large" + first), random(first, 40_000));
      });
    }
  }

  private static void assertFilled(Database db) {
    Table table = db.findTable("t");
    db.run(tx -> {
      for (int j = 0; j < 3_000; j++) {
        assertArrayEquals(random(j, 100), tx.get(table, bytes("key%05d".formatted(j))));
      }
      for (int first = 0; first < 3_000; first += 300) {
        assertArrayEquals(random(first, 40_000), tx.get(table, bytes("large" + first)));
      }
    });
  }

  /** The database as a kill would leave it now, in another directory. */
  private void copyTo(Path target) throws IOException {
    LiveCopy.copy(directory(), target);
  }

  private List<Path> segments() throws IOException {
    try (Stream<Path> files = Files.list(directory().resolve("log"))) {
      return files.sorted().toList();
    }
  }

  private static void change(Path file, long offset, byte[] bytes) throws IOException {
    try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "rw")) {
      open.seek(offset);
      open.write(bytes);
    }
  }

  private static void flip(Path file, long offset, int bit) throws IOException {
    try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "rw")) {
      open.seek(offset);
      int old = open.read();
      open.seek(offset);
      open.write(old ^ 1 << bit);
    }
  }

  // ---------------------------------------------------------------------------- no database

  @Test
  void directory_withForeignFiles_isNoDatabase_andStaysAsItIs() throws IOException {
    Files.createDirectories(directory());
    Files.writeString(directory().resolve("notes.txt"), "mine");
    StorageException told =
        told(StorageException.Reason.NOT_A_DATABASE, () -> Samples.open(directory()).close());
    assertTrue(told.getMessage().contains("notes.txt"), told.getMessage());
    assertEquals("mine", Files.readString(directory().resolve("notes.txt")));
    try (Stream<Path> left = Files.list(directory())) {
      assertEquals(1, left.count(), "not even a lock file is left");
    }
  }

  @Test
  void file_insteadOfADirectory_isNoDatabase() throws IOException {
    Files.writeString(directory(), "mine");
    refused(StorageException.Reason.NOT_A_DATABASE, directory());
    told(
        StorageException.Reason.NOT_A_DATABASE,
        () -> Database.open(directory(), SMALL.withReadOnly(true)).close());
    assertEquals("mine", Files.readString(directory()));
  }

  @Test
  void path_throughAFile_isRefused() throws IOException {
    Files.writeString(directory(), "mine");
    told(() -> Samples.open(directory().resolve("db")).close());
  }

  @Test
  void dataFile_thatIsNone_isNoDatabase() throws IOException {
    fill();
    Files.write(directory().resolve("revenant.data"), random(1, 100_000));
    refused(StorageException.Reason.NOT_A_DATABASE, directory().resolve("revenant.data"));
    Files.write(directory().resolve("revenant.data"), new byte[0]);
    told(() -> Samples.open(directory()).close());
  }

  // --------------------------------------------------------------------------- other version

  @Test
  void version_ofTheDataFile_isNamed() throws IOException {
    fill();
    Path file = directory().resolve("revenant.data");
    byte[] page = new byte[8192];
    try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "r")) {
      open.readFully(page);
    }
    ByteBuffer header = ByteBuffer.wrap(page).order(ByteOrder.LITTLE_ENDIAN);
    for (int version : new int[] {0, 1, 2, 3, 4, 77}) {
      header.putInt(16, version);
      CRC32C crc = new CRC32C();
      crc.update(page, 4, 8188);
      header.putInt(0, (int) crc.getValue());
      change(file, 0, page);
      versionIsNamed(file, version, FileHeaderLayout.CURRENT_VERSION);
    }
  }

  @Test
  void version_ofTheDoubleWriteFile_isNamed() throws IOException {
    fill();
    Path file = directory().resolve("revenant.dw");
    byte[] page = new byte[8192];
    try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "r")) {
      open.readFully(page);
    }
    ByteBuffer header = ByteBuffer.wrap(page).order(ByteOrder.LITTLE_ENDIAN);
    header.putInt(4, 9);
    CRC32C crc = new CRC32C();
    crc.update(page, 4, 8188);
    header.putInt(0, (int) crc.getValue());
    change(file, 0, page);
    versionIsNamed(file, 9, 1);
  }

  @Test
  void version_ofALogSegment_isNamed() throws IOException {
    fill();
    Path file = segments().getLast();
    byte[] page = new byte[512];
    try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "r")) {
      open.readFully(page);
    }
    ByteBuffer header = ByteBuffer.wrap(page).order(ByteOrder.LITTLE_ENDIAN);
    header.putInt(4, 3);
    CRC32C crc = new CRC32C();
    crc.update(page, 4, 508);
    header.putInt(0, (int) crc.getValue());
    change(file, 0, page);
    versionIsNamed(file, 3, 2);
  }

  private void versionIsNamed(Path file, int version, int supported) {
    StorageException told =
        told(StorageException.Reason.FORMAT_VERSION, () -> Samples.open(directory()).close());
    assertEquals(file, told.file());
    assertTrue(told.getMessage().contains("version " + version), told.getMessage());
    assertTrue(told.getMessage().contains("version " + supported), told.getMessage());
  }

  // --------------------------------------------------------------------------- flipped bit

  /** The page ids of the leaves of a table of a closed database, by reading the file. */
  private List<Integer> leaves(int table) throws IOException {
    byte[] data = Files.readAllBytes(directory().resolve("revenant.data"));
    List<Integer> leaves = new ArrayList<>();
    for (int id = 5; (id + 1) * 8192L <= data.length; id++) {
      MemorySegment page = MemorySegment.ofArray(data).asSlice(id * 8192L, 8192);
      if (Page.type(page) == Page.LEAF && Slotted.table(page) == table) {
        leaves.add(id);
      }
    }
    return leaves;
  }

  @Test
  void flippedBit_inAPage_isFoundWhenItIsRead_andOtherPagesStayUsable() throws IOException {
    fill();
    Path file = directory().resolve("revenant.data");
    List<Integer> leaves = leaves(1);
    assertTrue(leaves.size() > 20, leaves.toString());
    int victim = leaves.get(leaves.size() / 2);
    flip(file, victim * 8192L + 5_000, 3);
    int lost = 0;
    Set<String> readable = new HashSet<>();
    try (Database db = Samples.open(directory())) {
      Table table = db.getOrCreateTable("t");
      try (Transaction tx = db.begin()) {
        for (int j = 0; j < 3_000; j++) {
          String key = "key%05d".formatted(j);
          try {
            assertArrayEquals(random(j, 100), tx.get(table, bytes(key)));
            readable.add(key);
          } catch (CorruptDataException told) {
            lost++;
            assertEquals(file, told.file());
            assertEquals(victim * 8192L, told.offset());
            assertTrue(told.getMessage().contains("page " + victim), told.getMessage());
          }
        }
        assertTrue(lost > 0 && lost < 100, "rows of one page are lost, and not " + lost);
        assertThrows(
            CorruptDataException.class,
            () -> {
              try (Cursor all = tx.scan(table, null, null)) {
                while (all.next()) {
                  all.key();
                }
              }
            });
        // The transaction and the rest of the database go on.
        for (String key : readable) {
          tx.put(table, bytes(key), bytes("new"));
        }
        tx.commit();
      }
      CheckReport report = db.check();
      assertFalse(report.isSound());
      assertTrue(
          report.problems().stream().anyMatch(p -> p.contains("page " + victim)),
          report.toString());
      assertEquals(report.problems().size(), report.damage().size(), report.toString());
    }
    try (Database db = Samples.open(directory())) {
      for (String key : readable) {
        assertEquals("new", get(db, "t", key));
      }
    }
  }

  @Test
  void page_that_the_cleaner_cannot_read_stays_marked_and_its_aborted_rows_stay_aborted()
      throws IOException {
    fill();
    Path file = directory().resolve("revenant.data");
    // Killed with an open transaction that wrote to many leaves, all of them on disk.
    Path killed = folder.resolve("killed");
    try (Database db = Samples.open(directory());
        Transaction open = db.begin()) {
      Table table = db.getOrCreateTable("t");
      for (int j = 0; j < 3_000; j += 10) {
        open.put(table, bytes("key%05d".formatted(j)), bytes("aborted"));
      }
      db.checkpoint();
      put(db, "elsewhere", "k", "v");
      db.checkpoint(); // another batch: the pages cannot come back from the double-write file
      LiveCopy.copy(directory(), killed);
    }
    List<Integer> leaves = leaves(1);
    long place = leaves.get(leaves.size() / 2) * 8192L + 5_000;
    flip(killed.resolve(file.getFileName()), place, 3);
    for (int round = 0; round < 2; round++) {
      try (Database db = Samples.open(killed)) {
        Table table = db.getOrCreateTable("t");
        db.cleanNow();
        assertEquals(1, db.statistics().commits().abortedPending(), "it is not forgotten");
        put(db, "t", "other" + round, "v");
        assertArrayEquals(
            random(0, 100), db.call(tx -> tx.get(table, bytes("key00000"))), "it is aborted");
      }
    }
    flip(killed.resolve(file.getFileName()), place, 3); // the page was brought back
    try (Database db = Samples.open(killed)) {
      db.cleanNow();
      assertEquals(0, db.statistics().commits().abortedPending());
      assertFilled(db);
      assertTrue(db.check().isSound());
    }
  }

  @Test
  void truncatedDataFile_isReported() throws IOException {
    fill();
    Path file = directory().resolve("revenant.data");
    try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "rw")) {
      open.setLength(open.length() / 2 / 8192 * 8192 + 100);
    }
    StorageException told =
        told(() -> {
          try (Database db = Samples.open(directory())) {
            assertFilled(db);
          }
        });
    assertEquals(file, told.file());
  }

  // --------------------------------------------------------------------------- missing files

  /** A killed database with several segments that its restart needs. */
  private void killedWithSegments() throws IOException {
    Path alive = folder.resolve("alive");
    try (Database db =
        Database.open(alive, SMALL.withMaxRecoveryLog(64 << 20).withPoolBytes(64 << 20))) {
      Table table = db.getOrCreateTable("t");
      for (int i = 0; i < 50; i++) {
        int n = i;
        db.run(tx -> tx.put(table, bytes("k" + n), random(n, 80_000)));
      }
      LiveCopy.copy(alive, directory());
    }
    assertTrue(segments().size() >= 4, segments().toString());
  }

  @ParameterizedTest
  @ValueSource(strings = {"first", "middle"})
  void missingSegment_isNamed(String which) throws IOException {
    killedWithSegments();
    List<Path> segments = segments();
    Path victim = segments.get(which.equals("first") ? 0 : segments.size() / 2 - 1);
    byte[] content = Files.readAllBytes(victim);
    Files.delete(victim);
    refused(StorageException.Reason.MISSING_FILE, victim);
    Files.write(victim, content);
    try (Database db = Samples.open(directory())) {
      for (int n = 0; n < 50; n++) {
        int i = n;
        db.run(tx ->
            assertArrayEquals(random(i, 80_000), tx.get(db.getOrCreateTable("t"), bytes("k" + i))));
      }
    }
  }

  /** A segment may begin inside a record, of whose bytes the first ones may be 0. */
  private static boolean hasRecords(Path segment) throws IOException {
    byte[] content = Files.readAllBytes(segment);
    for (int i = 4096; i < content.length; i++) {
      if (content[i] != 0) {
        return true;
      }
    }
    return false;
  }

  @Test
  void missingSegment_atTheEndOfACleanLog_isNamed() throws IOException {
    fill();
    Path victim = segments().getLast();
    long used = 0;
    for (Path segment : segments()) {
      if (hasRecords(segment)) {
        victim = segment; // the last one that holds records; there may be one prepared after it
        used++;
      }
    }
    assertTrue(used > 0, "no segment has records: " + segments());
    Files.delete(victim);
    // If the close has left a segment before it, that one tells where the lost one began. Usually
    // nothing is left of the log before it, and the directory is named.
    refused(StorageException.Reason.MISSING_FILE, used > 1 ? victim : directory().resolve("log"));
  }

  @Test
  void missingDataFile_isNamed() throws IOException {
    fill();
    Files.delete(directory().resolve("revenant.data"));
    refused(StorageException.Reason.MISSING_FILE, directory().resolve("revenant.data"));
    assertTrue(Files.exists(directory().resolve("revenant.dw")), "nothing is deleted");
    assertFalse(segments().isEmpty());
  }

  @Test
  void missingDoubleWriteFile_isMadeAgainAfterACleanClose() throws IOException {
    fill();
    Files.delete(directory().resolve("revenant.dw"));
    try (Database db = Samples.open(directory())) {
      assertFilled(db);
    }
    assertTrue(Files.exists(directory().resolve("revenant.dw")));
  }

  @Test
  void missingLogDirectory_isReported() throws IOException {
    fill();
    for (Path segment : segments()) {
      Files.delete(segment);
    }
    told(StorageException.Reason.MISSING_FILE, () -> Samples.open(directory()).close());
    Files.delete(directory().resolve("log"));
    told(StorageException.Reason.MISSING_FILE, () -> Samples.open(directory()).close());
  }

  @Test
  void segment_ofAnotherDatabase_isReported() throws IOException {
    fill();
    Path mine = segments().getFirst();
    try (Database other = Samples.open(folder.resolve("other"))) {
      fill(other);
    }
    Path foreign = folder.resolve("other/log").resolve(mine.getFileName());
    Files.write(mine, Files.readAllBytes(foreign));
    told(() -> Samples.open(directory()).close());
  }

  @Test
  void unclean_database_isReadByAReader_whichLeavesItAsItIs() throws IOException {
    killedWithSegments();
    DirectoryState before = DirectoryState.of(directory());
    try (Database db = Database.open(directory(), SMALL.withReadOnly(true))) {
      assertFalse(db.recoveryReport().clean());
      assertNull(get(db, "t", "none"));
      assertTrue(db.check().isSound());
    }
    assertEquals(before, DirectoryState.of(directory()));
    Samples.open(directory()).close();
    try (Database db = Database.open(directory(), SMALL.withReadOnly(true))) {
      assertTrue(db.recoveryReport().clean());
      assertNull(get(db, "t", "none"));
    }
  }

  // --------------------------------------------------------------------- read-only directory

  @Test
  void readOnlyDirectory_isRefusedForAWriter_andReadByAReader() {
    FaultyFileSystem faulty = new FaultyFileSystem();
    Path directory = faulty.wrap(directory());
    faulty.readOnly(true);
    told(StorageException.Reason.ACCESS_DENIED, () -> Database.open(directory, SMALL).close());
    faulty.readOnly(false);
    try (Database db = Database.open(directory, SMALL)) {
      fill(db);
    }
    faulty.readOnly(true);
    StorageException told =
        told(StorageException.Reason.ACCESS_DENIED, () -> Database.open(directory, SMALL).close());
    assertTrue(told.cure().contains("read-only"), told.cure());
    try (Database db = Database.open(directory, SMALL.withReadOnly(true))) {
      assertFilled(db);
    }
    faulty.readOnly(false);
    try (Database db = Database.open(directory, SMALL)) {
      assertFilled(db);
    }
  }

  // ------------------------------------------------------------------------------- full disk

  private static boolean hasCause(Throwable thrown, Class<?> type) {
    for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
      if (type.isInstance(cause)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Writes until the disk is full at a file, whatever that stops; makes room; goes on or opens
   * again. What was acknowledged is there, what was refused is not.
   */
  @ParameterizedTest
  @ValueSource(strings = {".log", "revenant.data", "revenant.dw"})
  void fullDisk_losesNothingThatWasAcknowledged(String victim) {
    FaultyFileSystem faulty = new FaultyFileSystem();
    Path directory = faulty.wrap(directory());
    TreeMap<String, Integer> acknowledged = new TreeMap<>();
    TreeMap<String, Integer> unknown = new TreeMap<>();
    int failures = 0;
    int number = 0;
    for (int round = 0; round < 4; round++) {
      Database db = Database.open(directory, SMALL);
      boolean stopped = false;
      try {
        Table table = db.getOrCreateTable("t");
        for (int part = 0; part < 3 && !stopped; part++) {
          faulty.hook(event -> {
            if (event.kind() == IoEvent.Kind.WRITE && event.file().toString().endsWith(victim)) {
              throw new IOException("No space left on device");
            }
          });
          boolean failed = false;
          for (int i = 0; i < 400 && !failed; i++) {
            String key = "k" + number;
            int seed = number++;
            try {
              db.run(tx -> tx.put(table, bytes(key), random(seed, seed % 4 == 0 ? 30_000 : 100)));
              acknowledged.put(key, seed);
              if (i % 50 == 49) {
                db.checkpoint();
              }
            } catch (StorageException e) {
              assertEquals(StorageException.Reason.DISK_FULL, e.reason());
              assertTrue(e.file().toString().endsWith(victim), e.getMessage());
              failed = true;
            } catch (OutcomeUnknownException e) {
              assertTrue(
                  hasCause(e, org.revenantdb.recovery.file.DiskFullException.class), e.toString());
              unknown.put(key, seed);
              failed = true;
              stopped = true;
            } catch (DatabaseStoppedException e) {
              assertTrue(
                  hasCause(e, org.revenantdb.recovery.file.DiskFullException.class), e.toString());
              assertTrue(e.getMessage().contains("full"), e.getMessage());
              failed = true;
              stopped = true;
            }
          }
          assertTrue(failed, "the disk was full, and nobody noticed");
          failures++;
          faulty.hook(event -> {});
          if (!stopped) {
            // Room again: the database goes on, unless a checkpoint in the background has met the
            // full disk, too.
            String key = "room" + number;
            int seed = number++;
            try {
              db.run(tx -> tx.put(table, bytes(key), random(seed, 100)));
              acknowledged.put(key, seed);
            } catch (DatabaseStoppedException e) {
              assertTrue(
                  hasCause(e, org.revenantdb.recovery.file.DiskFullException.class), e.toString());
              stopped = true;
            }
          }
          if (stopped) {
            assertThrows(DatabaseStoppedException.class, () -> put(db, "t", "late", "v"));
          }
        }
      } finally {
        faulty.hook(event -> {});
        try {
          db.close();
        } catch (RuntimeException e) {
          assertTrue(stopped, e.toString());
        }
      }
      try (Database again = Database.open(directory, SMALL)) {
        verify(again, acknowledged, unknown);
        unknown.clear();
      }
    }
    assertTrue(failures >= 4);
  }

  private static void verify(
      Database db, TreeMap<String, Integer> acknowledged, TreeMap<String, Integer> unknown) {
    Table table = db.getOrCreateTable("t");
    TreeMap<String, Integer> left = new TreeMap<>(acknowledged);
    try (Transaction tx = db.begin();
        Cursor cursor = tx.scan(table, null, null)) {
      while (cursor.next()) {
        String key = Samples.text(cursor.key());
        Integer seed = left.remove(key);
        if (seed == null) {
          seed = unknown.get(key);
          if (seed != null) {
            acknowledged.put(key, seed); // it is committed after all
          }
        }
        assertTrue(seed != null, "a row that was refused is there: " + key);
        assertArrayEquals(
            random(seed, seed % 4 == 0 && key.startsWith("k") ? 30_000 : 100), cursor.value());
      }
    }
    assertEquals(Set.of(), left.keySet(), "acknowledged, and lost");
    db.cleanNow();
    CheckReport report = db.check();
    assertTrue(report.isSound(), report.toString());
  }

  @Test
  void fullDisk_whileADatabaseIsCreated_leavesNothingInTheWay() {
    FaultyFileSystem faulty = new FaultyFileSystem();
    Path directory = faulty.wrap(directory());
    Random random = new Random(5);
    for (long room = 0; room < 4_000_000; room += 1 + random.nextInt(400_000)) {
      faulty.diskFullAfter(room);
      try {
        Database.open(directory, SMALL).close();
        break; // it was enough
      } catch (StorageException told) {
        assertEquals(StorageException.Reason.DISK_FULL, told.reason(), "room for " + room);
      }
    }
    faulty.diskFullAfter(Long.MAX_VALUE);
    try (Database db = Database.open(directory, SMALL)) {
      put(db, "t", "k", "v");
    }
  }

  // ----------------------------------------------------------------------------- failed force

  @Test
  void failedForce_ofACommit_reportsAnUnknownOutcome_andStopsTheDatabase() {
    for (int round = 0; round < 6; round++) {
      CrashDisk disk = new CrashDisk();
      Path directory = disk.path("/db");
      Database db = Database.open(directory, SMALL);
      put(db, "t", "k", "before");
      db.cleanNow();
      Transaction open = db.begin();
      open.put(db.getOrCreateTable("t"), bytes("open"), bytes("v"));
      disk.failForcesAfter(0);
      OutcomeUnknownException unknown =
          assertThrows(OutcomeUnknownException.class, () -> put(db, "t", "k", "after"));
      assertTrue(unknown.getMessage().contains("unknown"), unknown.getMessage());
      List<Runnable> later =
          List.of(
              () -> put(db, "t", "k", "later"),
              () -> db.getOrCreateTable("new"),
              () -> open.put(db.getOrCreateTable("t"), bytes("open"), bytes("w")),
              db::checkpoint);
      for (Runnable call : later) {
        RuntimeException stopped =
            assertThrows(DatabaseStoppedException.class, call::run, "call " + later.indexOf(call));
        assertTrue(
            hasCause(stopped, org.revenantdb.recovery.file.FileException.class),
            stopped.toString());
        assertTrue(stopped.getMessage().contains("open it again"), stopped.getMessage());
      }
      open.rollback();
      try {
        db.close();
      } catch (RuntimeException e) {
        assertTrue(hasCause(e, org.revenantdb.recovery.file.FileException.class), e.toString());
      }
      CrashDisk after = round % 2 == 0 ? disk.afterKill() : disk.afterPowerCut(new Random(round));
      try (Database again = Database.open(after.path("/db"), SMALL)) {
        String found = get(again, "t", "k");
        assertTrue("before".equals(found) || "after".equals(found), found);
        assertNull(get(again, "t", "open"));
        assertFalse(again.recoveryReport().clean());
        assertTrue(again.check().isSound());
      }
    }
  }

  @Test
  void failedForce_everywhereInTurn_losesNothingThatWasAcknowledged() {
    for (int forces = 0; forces < 60; forces++) {
      CrashDisk disk = new CrashDisk();
      Path directory = disk.path("/db");
      Database.open(directory, SMALL).close();
      disk.failForcesAfter(forces);
      TreeMap<String, Integer> acknowledged = new TreeMap<>();
      TreeMap<String, Integer> unknown = new TreeMap<>();
      try (Database db = Database.open(directory, SMALL)) {
        Table table = db.getOrCreateTable("t");
        for (int n = 1; n < 12; n++) {
          String key = "room" + n;
          int seed = n;
          try {
            db.run(tx -> tx.put(table, bytes(key), random(seed, 100)));
            acknowledged.put(key, seed);
          } catch (OutcomeUnknownException e) {
            unknown.put(key, seed);
            throw e;
          }
          if (n % 4 == 0) {
            db.checkpoint();
          }
        }
      } catch (RuntimeException e) {
        assertTrue(
            hasCause(e, org.revenantdb.recovery.file.FileException.class),
            "force " + forces + ": " + e);
      }
      CrashDisk after = forces % 2 == 0 ? disk.afterKill() : disk.afterPowerCut(new Random(forces));
      try (Database again = Database.open(after.path("/db"), SMALL)) {
        verify(again, acknowledged, unknown);
      } catch (Throwable wrong) {
        throw new AssertionError("force " + forces, wrong);
      }
    }
  }

  // ------------------------------------------------------------------------------ two openers

  @Test
  void open_whileAnotherProcessHasIt_namesThatProcess() throws Exception {
    try (OtherProcess other = OtherProcess.start(Holder.class, directory().toString())) {
      assertEquals("open", other.readLine());
      StorageException refused =
          told(StorageException.Reason.LOCKED, () -> Samples.open(directory()).close());
      assertTrue(refused.getMessage().contains("process " + other.pid()), refused.getMessage());
      other.kill();
    }
    try (Database db = Samples.open(directory())) {
      assertEquals("v", get(db, "t", "k"));
      assertFalse(db.recoveryReport().clean());
    }
  }

  /** Another process: opens the database, says so, and waits for its end. */
  static final class Holder {
    private Holder() {}

    public static void main(String[] arguments) throws IOException {
      try (Database db = Samples.open(Path.of(arguments[0]))) {
        put(db, "t", "k", "v");
        System.out.println("open");
        while (System.in.read() >= 0) {
          // until the parent ends
        }
      }
    }
  }
}
