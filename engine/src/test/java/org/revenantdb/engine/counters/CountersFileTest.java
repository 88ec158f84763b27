package org.revenantdb.engine.counters;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.testing.FaultyFileSystem;
import org.revenantdb.recovery.testing.IoEvent;

/** The bytes of the counters file, when they are written, and the reports about damaged files. */
class CountersFileTest {
  private static final byte[] ID = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  private static final long[] COUNTERS = {1, 2, 3};
  private static final long[] WAITS = {4, 5, 6, 7, 8, 9};

  @TempDir private Path directory;

  private final FaultyFileSystem faulty = new FaultyFileSystem();
  private final AtomicLong now = new AtomicLong(1_000);
  private final InstantSource clock = () -> Instant.ofEpochMilli(now.get());

  private CountersFile file() {
    return new CountersFile(faulty.wrap(directory), ID, 7, clock);
  }

  private Path path() {
    return directory.resolve(CountersFile.FILE_NAME);
  }

  private StoredCounters read() {
    return Objects.requireNonNull(StoredCounters.read(directory, ID));
  }

  @Test
  void whatIsWritten_isRead() {
    try (CountersFile file = file()) {
      assertNull(StoredCounters.read(directory, ID));
      now.set(5_000);
      assertTrue(file.write(COUNTERS, WAITS, null));
      StoredCounters stored = read();
      assertEquals(ProcessHandle.current().pid(), stored.pid());
      assertEquals(Instant.ofEpochMilli(1_000), stored.opened());
      assertEquals(Instant.ofEpochMilli(5_000), stored.written());
      assertEquals(7, stored.life());
      assertEquals(List.of(1L, 2L, 3L), stored.counters());
      assertEquals(
          List.of(new StoredCounters.Times(4, 5, 6), new StoredCounters.Times(7, 8, 9)),
          stored.waits());
    }
  }

  @Test
  void theNameOfTheOldestSnapshot_isWrittenWhenItChanges_andIsRead() {
    String longest = "\u20ac".repeat(100); // three bytes each
    try (CountersFile file = file()) {
      for (String name : List.of("nightly report", longest, "x")) {
        assertTrue(file.write(COUNTERS, WAITS, name));
        assertEquals(name, read().oldestSnapshotName());
      }
      assertTrue(file.write(COUNTERS, WAITS, null));
      assertEquals("", read().oldestSnapshotName());
    }
  }

  @Test
  void bytes_areThoseOfTheDrawing() throws IOException {
    try (CountersFile file = file()) {
      now.set(0x0102);
      file.write(COUNTERS, WAITS, null);
      byte[] bytes = Files.readAllBytes(path());
      assertEquals(4096, bytes.length);
      assertEquals(3, bytes[4]);
      assertEquals("RVNTCNTR", new String(bytes, 8, 8));
      assertTrue(Arrays.equals(bytes, 16, 32, ID, 0, 16));
      assertEquals(2, bytes[48]);
      assertEquals(1, bytes[49]);
      assertEquals(7, bytes[56]);
      assertEquals(3, bytes[60]);
      assertEquals(2, bytes[62]);
      assertEquals(1, bytes[64]);
      assertEquals(3, bytes[80]);
      assertEquals(4, bytes[88]);
      assertEquals(9, bytes[128]);
      for (int at = 136; at < bytes.length; at++) {
        assertEquals(0, bytes[at], "byte " + at);
      }
    }
  }

  @Test
  void restart_isWrittenWithoutCounters_andGoneWhenTheDatabaseIsOpen() throws IOException {
    try (CountersFile file = file()) {
      assertTrue(file.writeRestart(2, 100, 400));
      StoredCounters stored = read();
      assertEquals(new StoredCounters.RestartNumbers(/* phase= */ 2, 100, 400), stored.restart());
      assertEquals(List.of(), stored.counters());
      assertEquals(2, Files.readAllBytes(path())[4072]);
      file.life(8);
      assertTrue(file.write(COUNTERS, WAITS, null));
      stored = read();
      assertNull(stored.restart());
      assertEquals(8, stored.life());
      assertEquals(List.of(1L, 2L, 3L), stored.counters());
    }
  }

  @Test
  void numbersThatHaveNotChanged_areNotWrittenAgain_andNothingIsForced() {
    try (CountersFile file = file()) {
      for (int i = 0; i < 5; i++) {
        now.incrementAndGet();
        assertTrue(file.write(COUNTERS.clone(), WAITS.clone(), null));
      }
      assertEquals(1, file.writes());
      assertEquals(1_001, read().written().toEpochMilli());
      assertTrue(file.write(new long[] {1, 2, 4}, WAITS, null));
      assertTrue(file.write(new long[] {1, 2, 4}, new long[] {4, 5, 6, 7, 8, 10}, null));
      assertEquals(3, file.writes());
      assertEquals(4, read().counters().get(2));
      assertEquals(10, read().waits().get(1).maxNanos());
      assertEquals(3, faulty.count(IoEvent.Kind.WRITE, CountersFile.FILE_NAME));
      assertEquals(0, faulty.count(IoEvent.Kind.FORCE, CountersFile.FILE_NAME));
    }
  }

  @Test
  void close_deletesIt_alsoOneThatACrashHasLeft_andItIsNotWrittenAnyMore() {
    CountersFile killed = file();
    killed.write(COUNTERS, WAITS, null);
    assertTrue(Files.exists(path()));
    CountersFile next = file();
    next.close();
    assertFalse(Files.exists(path()));
    assertFalse(next.write(COUNTERS, WAITS, null));
    next.close();
    assertFalse(Files.exists(path()));
    killed.close();
  }

  @Test
  void oneThatACrashHasLeft_isOverwritten() throws IOException {
    Files.write(path(), new byte[] {1, 2, 3});
    try (CountersFile file = file()) {
      assertTrue(file.write(COUNTERS, WAITS, null));
      assertEquals(List.of(1L, 2L, 3L), read().counters());
    }
  }

  @Test
  void writeThatFails_stopsNothing_andIsTriedAgain() {
    try (CountersFile file = file()) {
      AtomicBoolean fails = new AtomicBoolean(true);
      faulty.hook(event -> {
        if (fails.get() && event.is(IoEvent.Kind.WRITE, CountersFile.FILE_NAME)) {
          throw new IOException("not now");
        }
      });
      assertFalse(file.write(COUNTERS, WAITS, null));
      assertFalse(file.write(COUNTERS, WAITS, null));
      fails.set(false);
      assertTrue(
          file.write(COUNTERS, WAITS, null), "the same numbers: they are not in the file yet");
      assertEquals(List.of(1L, 2L, 3L), read().counters());
      fails.set(true);
      assertFalse(file.write(new long[] {9, 9, 9}, WAITS, null));
      fails.set(false);
      long writes = file.writes();
      assertTrue(
          file.write(COUNTERS, WAITS, null), "as before: but half of the others may be there");
      assertEquals(writes + 1, file.writes());
    }
  }

  @Test
  void fileThatCannotBeMade_stopsNothing() throws IOException {
    Files.createDirectory(path());
    try (CountersFile file = file()) {
      assertFalse(file.write(COUNTERS, WAITS, null));
    }
  }

  @Test
  void a_file_that_this_user_may_not_look_at_is_not_taken_for_a_missing_one() {
    CountersFile file = file();
    assertTrue(file.write(COUNTERS, WAITS, null));
    faulty.deny(CountersFile.FILE_NAME);
    FileException refused =
        assertThrows(FileException.class, () -> StoredCounters.read(faulty.wrap(directory), ID));
    assertTrue(refused.reason().contains("no permission"), refused.reason());
    try (CountersFile next = file()) {
      assertFalse(next.write(COUNTERS, WAITS, null));
    }
    file.close(); // logs that the file stays; which logger gets it depends on the modules there are
    assertTrue(Files.exists(path()));
  }

  @Test
  void damage_isReported_whereverItIs() throws IOException {
    try (CountersFile file = file()) {
      file.write(COUNTERS, WAITS, null);
      byte[] good = Files.readAllBytes(path());
      for (int at = 0; at < good.length; at += at < 140 ? 1 : 101) {
        byte[] bad = good.clone();
        bad[at] ^= 4;
        Files.write(path(), bad);
        assertTold("counters file");
      }
      for (int length : new int[] {0, 3, 64, 4095}) {
        Files.write(path(), Arrays.copyOf(good, length));
        assertTold("it has " + length + " bytes");
      }
      for (int version : new int[] {1, 4}) {
        byte[] other = good.clone();
        other[4] = (byte) version;
        Files.write(path(), other);
        assertTold("has format version " + version + ", and this program reads version 3");
      }
      Files.write(path(), good);
      assertEquals(List.of(1L, 2L, 3L), read().counters());
    }
  }

  @Test
  void fileOfAnotherDatabase_isReported() {
    try (CountersFile file = file()) {
      file.write(COUNTERS, WAITS, null);
      FileException told =
          assertThrows(FileException.class, () -> StoredCounters.read(directory, new byte[16]));
      assertTrue(told.reason().contains("belongs to another database, 0102"), told.reason());
      assertTrue(told.cure().startsWith("delete it"), told.cure());
    }
  }

  private void assertTold(String what) {
    FileException told = assertThrows(FileException.class, this::read);
    assertTrue(told.reason().contains(what), told.reason());
    assertEquals(path(), told.file());
  }

  /** A reader sees the content of a single write, however many writes there are meanwhile. */
  @Test
  void readersBesideAWriter_seeWholeFiles() throws InterruptedException {
    long seed = Long.getLong("revenant.seed", new Random().nextLong());
    System.out.println("counters.seed=" + seed);
    Random random = new Random(seed);
    try (CountersFile file = file()) {
      file.write(new long[] {0, 0, 0}, WAITS, null);
      AtomicBoolean done = new AtomicBoolean();
      AtomicReference<Throwable> failure = new AtomicReference<>();
      Thread reader =
          new Thread(() -> {
            try {
              while (!done.get()) {
                List<Long> seen = read().counters();
                assertEquals(seen.getFirst(), seen.getLast());
              }
            } catch (Throwable failed) {
              failure.set(failed);
            }
          });
      reader.start();
      for (int i = 0; i < 2_000; i++) {
        long number = random.nextLong();
        file.write(new long[] {number, number, number}, WAITS, null);
      }
      done.set(true);
      reader.join();
      assertNull(failure.get());
    }
  }
}
