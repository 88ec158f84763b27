package org.revenantdb.recovery.restart;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.recovery.file.DamagedFileException;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.FormatVersionException;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.file.MissingFileException;
import org.revenantdb.recovery.format.LittleEndian;
import org.revenantdb.recovery.format.LogRecordLayout;
import org.revenantdb.recovery.format.RingLayout;
import org.revenantdb.recovery.format.SegmentLayout;
import org.revenantdb.recovery.log.Log;
import org.revenantdb.recovery.log.LogHolds;
import org.revenantdb.recovery.log.LogOptions;
import org.revenantdb.recovery.log.PartKind;
import org.revenantdb.recovery.log.RecordBuilder;
import org.revenantdb.recovery.log.RecordType;
import org.revenantdb.recovery.log.RingFile;
import org.revenantdb.recovery.segment.SegmentDirectory;
import org.revenantdb.recovery.segment.SegmentMap;
import org.revenantdb.recovery.testing.FaultyFileSystem;

/** What a restart takes from the ring of a killed process, and what it makes of it (§46). */
class RingTailTest {
  @TempDir Path directory;

  private Path database() {
    return directory.resolve("db");
  }

  private Path copy(String name) throws IOException {
    return RingFixture.killed(database(), directory.resolve(name));
  }

  private static List<Integer> upTo(int page) {
    return IntStream.rangeClosed(1, page).boxed().toList();
  }

  private static void publish(Log log, int from, int to, int length) {
    for (int page = from; page <= to; page++) {
      LogFixture.change(log, 0, page, LogFixture.bytes(length));
    }
  }

  /** Closes a log of which a copy was taken. */
  private static void end(Log log) {
    log.close();
  }

  @Test
  void what_no_segment_has_is_taken_and_durable_before_the_life_begins() throws IOException {
    Log log = RingFixture.create(database());
    publish(log, 1, 5, 100);
    Path killed = copy("killed");
    end(log);

    assertEquals(
        List.of(),
        RingFixture.pagesWithoutRing(
            RingFixture.killed(killed, directory.resolve("cut")), LogFixture.firstState()));
    Restart restart = RingFixture.analyse(killed);
    assertEquals(log.tail(), restart.result().endOfLog());
    Log second = restart.startLife(RingFixture.options());
    assertEquals(upTo(5), LogFixture.pages(restart));
    Path later = RingFixture.killed(killed, directory.resolve("later"));
    second.close();
    assertEquals(upTo(5), RingFixture.pagesWithoutRing(later, LogFixture.firstStateOf(2)));
  }

  /** A read-only open starts no life: redo reads the records behind the segments from memory. */
  @Test
  void redo_reads_it_without_a_new_life() throws IOException {
    Log log = RingFixture.create(database());
    log.awaitDurable(LogFixture.change(log, 0, 1, LogFixture.bytes(100)));
    publish(log, 2, 9, 700);
    Path killed = copy("killed");
    end(log);
    assertEquals(upTo(9), LogFixture.pages(RingFixture.analyse(killed)));
    assertTrue(Files.exists(killed.resolve(RingFile.NAME)));
  }

  /** A segment that redo has opened before the seal is not the file that has the end of the log. */
  @Test
  void redo_that_began_before_the_seal_goes_on_behind_it() throws IOException {
    Log log = RingFixture.create(database());
    log.awaitDurable(LogFixture.change(log, 0, 1, LogFixture.bytes(100)));
    publish(log, 2, 9, 700);
    Path killed = copy("killed");
    end(log);
    Restart restart = RingFixture.analyse(killed);
    assertEquals(upTo(9), LogFixture.pages(restart));
    try (Log second = restart.startLife(RingFixture.options())) {
      assertEquals(upTo(9), LogFixture.pages(restart));
      assertEquals(2, second.life());
    }
  }

  /** Half of the ring is more than the segments that the writer has begun. */
  @Test
  void segments_that_the_writer_had_not_begun_are_made() throws IOException {
    Log log = RingFixture.create(database());
    log.awaitDurable(LogFixture.change(log, 0, 1, LogFixture.bytes(100)));
    publish(log, 2, 16, 1000);
    Path killed = copy("killed");
    long tail = log.tail();
    end(log);
    assertTrue(
        new SegmentDirectory(
                    killed.resolve("log"), LogFixture.ID, RingFixture.SEGMENT, new IoStatistics())
                .list()
                .at(tail - 1)
            == null,
        "the writer has not begun it");

    Restart restart = RingFixture.analyse(killed);
    Log second = restart.startLife(RingFixture.options());
    assertEquals(upTo(16), LogFixture.pages(restart));
    publish(second, 17, 17, 100);
    second.awaitDurable(second.tail());
    Path later = RingFixture.killed(killed, directory.resolve("later"));
    second.close();
    assertEquals(upTo(17), RingFixture.pagesWithoutRing(later, LogFixture.firstStateOf(2)));
  }

  private static final int FULL = 1 << 18;

  private static LogOptions growing() {
    return new LogOptions(FULL, 1 << 19, 1 << 24, "grow", new IoStatistics());
  }

  private static Restart analyseGrowing(Path database, int life) {
    return Restart.analyse(
        database.resolve("log"),
        LogFixture.ID,
        FULL,
        LogFixture.firstStateOf(life),
        PageRange.ANY,
        new IoStatistics(),
        RestartProgress.NONE);
  }

  private static List<Integer> sizes(Path database) {
    SegmentMap segments =
        new SegmentDirectory(database.resolve("log"), LogFixture.ID, FULL, new IoStatistics())
            .list();
    return List.copyOf(segments.sizes().values());
  }

  /** What one ring has can fill several segments, each larger than the one before (§45). */
  @Test
  void segments_that_are_made_grow_as_the_writer_would_have_made_them() throws IOException {
    Files.createDirectories(database());
    Log log =
        RingFixture.inFile(
            Restart.createFirst(database().resolve("log"), LogFixture.ID, growing()));
    log.awaitDurable(LogFixture.change(log, 0, 1, LogFixture.bytes(100)));
    publish(log, 2, 200, 1000);
    Path killed = copy("killed");
    assertEquals(List.of(1 << 15), sizes(killed), "the writer has begun no other");
    end(log);
    assertEquals(upTo(200), LogFixture.pages(analyseGrowing(killed, 1)), "no new life");
    assertEquals(List.of(1 << 15), sizes(killed), "nothing was changed");

    Restart restart = analyseGrowing(killed, 1);
    assertEquals(log.tail(), restart.result().endOfLog());
    try (Log second = restart.startLife(growing())) {
      restart.pending().map();
      assertEquals(upTo(200), LogFixture.pages(restart));
      publish(second, 201, 201, 100);
      second.awaitDurable(second.tail());
    }
    assertEquals(
        List.of(1 << 15, 1 << 15, 1 << 16, 1 << 17, 1 << 17), sizes(killed), "and the next life's");
    Files.deleteIfExists(killed.resolve(RingFile.NAME));
    assertEquals(upTo(201), LogFixture.pages(analyseGrowing(killed, 2)));
  }

  /** Segments have a name before all of them are there: the next restart makes the same ones. */
  @Test
  void some_of_the_segments_that_grow_are_there_after_a_kill_or_a_power_cut() throws IOException {
    Files.createDirectories(database());
    Log log =
        RingFixture.inFile(
            Restart.createFirst(database().resolve("log"), LogFixture.ID, growing()));
    log.awaitDurable(LogFixture.change(log, 0, 1, LogFixture.bytes(100)));
    publish(log, 2, 200, 1000);
    Path killed = copy("killed");
    end(log);
    Path begun = RingFixture.killed(killed, directory.resolve("begun"));
    analyseGrowing(begun, 1).startLife(growing()).close();
    List<Long> made =
        List.copyOf(
            new SegmentDirectory(begun.resolve("log"), LogFixture.ID, FULL, new IoStatistics())
                .list()
                .sizes()
                .keySet());
    assertEquals(5, made.size());
    for (int there = 0;
        there < 1 << 3;
        there++) { // the seal, the fourth one, comes after all names
      Path attempt = RingFixture.killed(killed, directory.resolve("attempt" + there));
      for (int i = 0; i < 3; i++) {
        if ((there >> i & 1) != 0) {
          String name = String.format("%016x.log", made.get(i));
          Files.copy(
              begun.resolve("log").resolve(name),
              attempt.resolve("log").resolve(name),
              StandardCopyOption.REPLACE_EXISTING);
        }
      }
      Restart restart = analyseGrowing(attempt, 1);
      assertEquals(log.tail(), restart.result().endOfLog(), "files " + there);
      restart.startLife(growing()).close();
      Files.deleteIfExists(attempt.resolve(RingFile.NAME));
      assertEquals(upTo(200), LogFixture.pages(analyseGrowing(attempt, 2)), "files " + there);
    }
  }

  /** Another thread was killed between its reservation and the copy of its record. */
  @Test
  void it_ends_at_a_reservation_that_was_not_filled() throws Exception {
    Log log = RingFixture.create(database());
    publish(log, 1, 2, 100);
    try (HeldPublication held = new HeldPublication(log)) {
      publish(log, 4, 4, 100);
      assertEquals(List.of(1, 2), LogFixture.pages(RingFixture.analyse(copy("killed"))));
      held.close();
    }
    assertEquals(List.of(1, 2, 3, 4), LogFixture.pages(RingFixture.analyse(copy("later"))));
    end(log);
  }

  /** A thread that has its place in the log and has not copied its record of page 3. */
  private static final class HeldPublication implements AutoCloseable {
    private final CountDownLatch reserved = new CountDownLatch(1);
    private final CountDownLatch goOn = new CountDownLatch(1);
    private final Thread thread;

    HeldPublication(Log log) throws InterruptedException {
      thread =
          Thread.ofPlatform()
              .start(() -> {
                RecordBuilder record = new RecordBuilder().begin(RecordType.PAGES, 0);
                record.beginPart(3, PartKind.CHANGE);
                record.endPart();
                LogHolds.publish(log, record, reserved, goOn);
              });
      reserved.await();
    }

    @Override
    public void close() throws InterruptedException {
      goOn.countDown();
      thread.join();
    }
  }

  @Test
  void a_torn_record_is_the_end() throws IOException {
    Log log = RingFixture.create(database());
    publish(log, 1, 2, 100);
    long torn = log.tail();
    publish(log, 3, 4, 100);
    Path killed = copy("killed");
    end(log);
    change(killed, RingLayout.offset(torn, RingFixture.CAPACITY) + 90, 1);
    assertEquals(List.of(1, 2), LogFixture.pages(RingFixture.analyse(killed)));
  }

  @Test
  void a_ring_of_a_former_life_is_not_read() throws IOException {
    Log log = RingFixture.create(database());
    publish(log, 1, 2, 100);
    Path killed = copy("killed");
    end(log);
    Log second = RingFixture.inFile(RingFixture.analyse(killed).startLife(RingFixture.options()));
    publish(second, 3, 3, 100);
    Path later = RingFixture.killed(killed, directory.resolve("later"));
    second.close();
    assertEquals(
        List.of(1, 2, 3), LogFixture.pages(RingFixture.analyse(later, LogFixture.firstStateOf(2))));
    header(
        later,
        bytes -> {
          bytes.putInt(RingLayout.LIFE, 1);
          bytes.putLong(RingLayout.FIRST_LSN, LogFixture.PAYLOAD);
        });
    assertEquals(
        List.of(1, 2), LogFixture.pages(RingFixture.analyse(later, LogFixture.firstStateOf(2))));
  }

  @Test
  void a_record_of_another_life_is_not_taken() throws IOException {
    Log log = RingFixture.create(database());
    publish(log, 1, 2, 100);
    long foreign = log.tail();
    publish(log, 3, 3, 100);
    Path killed = copy("killed");
    int length = (int) (log.tail() - foreign);
    end(log);
    Path ring = killed.resolve(RingFile.NAME);
    byte[] bytes = Files.readAllBytes(ring);
    int at = (int) RingLayout.offset(foreign, RingFixture.CAPACITY);
    LittleEndian.putInt(bytes, at + LogRecordLayout.LIFE, 2);
    CRC32C crc = new CRC32C();
    crc.update(bytes, at + LogRecordLayout.LSN, length - LogRecordLayout.LSN);
    LittleEndian.putInt(bytes, at + LogRecordLayout.CRC, (int) crc.getValue());
    Files.write(ring, bytes);
    assertEquals(List.of(1, 2), LogFixture.pages(RingFixture.analyse(killed)));
    SegmentCatalog catalog =
        new SegmentCatalog(
            new SegmentDirectory(
                killed.resolve("log"), LogFixture.ID, RingFixture.SEGMENT, new IoStatistics()));
    assertEquals(foreign, RingTail.open(catalog).behind(LogFixture.PAYLOAD, 1).end());
    assertNull(RingTail.open(catalog).behind(LogFixture.PAYLOAD, 2), "the ring is of life 1");
  }

  @Test
  void a_ring_that_is_not_there_is_what_a_power_cut_leaves() throws IOException {
    Log log = RingFixture.create(database());
    log.awaitDurable(LogFixture.change(log, 0, 1, LogFixture.bytes(100)));
    publish(log, 2, 2, 100);
    Path killed = copy("killed");
    end(log);
    assertEquals(List.of(1), RingFixture.pagesWithoutRing(killed, LogFixture.firstState()));
  }

  /** Each restart before the seal is durable finds the same, whatever the former one has copied. */
  @Test
  void a_restart_that_was_killed_at_any_file_of_its_copies_is_repeated() throws IOException {
    Log log = RingFixture.create(database());
    log.awaitDurable(LogFixture.change(log, 0, 1, LogFixture.bytes(100)));
    publish(log, 2, 16, 1000);
    Path killed = copy("killed");
    end(log);
    Path begun = RingFixture.killed(killed, directory.resolve("begun"));
    RingFixture.analyse(begun).startLife(RingFixture.options()).close();
    List<String> names = new ArrayList<>();
    try (var files = Files.list(begun.resolve("log"))) {
      files.map(file -> String.valueOf(file.getFileName())).sorted().forEach(names::add);
    }
    int made = 0;
    for (int copies = 0; copies < names.size() - 1; copies++) {
      Path attempt = RingFixture.killed(killed, directory.resolve("attempt" + copies));
      for (String name : names.subList(0, copies)) {
        Files.copy(
            begun.resolve("log").resolve(name),
            attempt.resolve("log").resolve(name),
            StandardCopyOption.REPLACE_EXISTING);
        made++;
      }
      Restart restart = RingFixture.analyse(attempt);
      assertEquals(log.tail(), restart.result().endOfLog());
      restart.startLife(RingFixture.options()).close();
      assertEquals(upTo(16), RingFixture.pagesWithoutRing(attempt, LogFixture.firstStateOf(2)));
    }
    assertTrue(made > 0);
  }

  /** The end of a life that a restart has named is the end, whatever the ring has behind it. */
  @Test
  void nothing_is_taken_behind_a_seal() throws IOException {
    Log log = RingFixture.create(database());
    publish(log, 1, 2, 100);
    Path killed = copy("killed");
    publish(log, 3, 3, 100);
    Path later = copy("later");
    end(log);
    RingFixture.analyse(killed).startLife(RingFixture.options()).close();
    Path sealed = directory.resolve("sealed");
    Files.createDirectories(sealed.resolve("log"));
    Path first =
        killed.resolve("log").resolve(String.format("%016x.log", SegmentLayout.FIRST_BEGIN));
    Files.copy(first, sealed.resolve("log").resolve(first.getFileName()));
    Files.copy(later.resolve(RingFile.NAME), sealed.resolve(RingFile.NAME));
    assertEquals(List.of(1, 2), LogFixture.pages(RingFixture.analyse(sealed)));
  }

  // What is refused

  private static void change(Path killed, long offset, int mask) throws IOException {
    try (RandomAccessFile file =
        new RandomAccessFile(killed.resolve(RingFile.NAME).toFile(), "rw")) {
      file.seek(offset);
      int old = file.read();
      file.seek(offset);
      file.write(old ^ mask);
    }
  }

  /** Changes the header, and makes its checksum good again. */
  private static void header(Path killed, Consumer<ByteBuffer> change) throws IOException {
    Path ring = killed.resolve(RingFile.NAME);
    byte[] bytes = Files.readAllBytes(ring);
    ByteBuffer header = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    change.accept(header);
    CRC32C crc = new CRC32C();
    crc.update(bytes, RingLayout.VERSION, RingLayout.CHECKED - RingLayout.VERSION);
    header.putInt(RingLayout.CRC, (int) crc.getValue());
    Files.write(ring, bytes);
  }

  /** A damage of the file, and the exception that tells it. */
  private static <T extends FileException> void assertRefused(
      Path killed, Class<T> type, String reason) {
    T told = assertThrows(type, () -> RingFixture.analyse(killed));
    assertEquals(killed.resolve(RingFile.NAME), told.file());
    assertTrue(told.getMessage().contains(reason), told.getMessage());
  }

  @Test
  void a_file_that_no_life_has_left_is_refused() throws IOException {
    Log log = RingFixture.create(database());
    publish(log, 1, 2, 100);
    AtomicInteger copies = new AtomicInteger();
    List<Consumer<ByteBuffer>> changes =
        List.of(
            bytes -> bytes.put(RingLayout.DATABASE_ID, (byte) 9),
            bytes -> bytes.putInt(RingLayout.LIFE, 2),
            bytes -> bytes.putInt(RingLayout.LIFE, 0),
            bytes -> bytes.putInt(RingLayout.CAPACITY, 1 << 14),
            bytes -> bytes.putInt(RingLayout.CAPACITY, 100),
            bytes -> bytes.putLong(RingLayout.FIRST_LSN, 8192),
            bytes -> bytes.putLong(RingLayout.FIRST_LSN, 3),
            bytes -> bytes.put(RingLayout.END, (byte) 1));
    List<String> reasons =
        List.of(
            "belongs to another database",
            "the ring is of life 2, but the log ends in life 1",
            "the life cannot be 0",
            "its header says 20480",
            "the size of the ring cannot be 100",
            "begins at position 8192, that of the log at 4096",
            "the first LSN of the life cannot be 3",
            "a reserved byte cannot be 1");
    for (int i = 0; i < changes.size(); i++) {
      Path killed = copy("killed" + copies.incrementAndGet());
      header(killed, changes.get(i));
      assertRefused(killed, DamagedFileException.class, reasons.get(i));
    }
    Path flipped = copy("flipped");
    change(flipped, RingLayout.LIFE, 4);
    assertRefused(flipped, DamagedFileException.class, "the header of the ring is damaged");
    for (long length : new long[] {0, 100, RingLayout.HEADER}) {
      Path zeros = copy("zeros" + length);
      Files.write(zeros.resolve(RingFile.NAME), new byte[(int) length]);
      assertRefused(zeros, DamagedFileException.class, "the header of the ring is damaged");
    }
    Path version = copy("version");
    header(version, bytes -> bytes.putInt(RingLayout.VERSION, 2));
    assertRefused(version, FormatVersionException.class, "2");
    Path longer = copy("longer");
    setLength(longer, RingLayout.fileSize(RingFixture.CAPACITY) + 1);
    assertRefused(longer, DamagedFileException.class, "but its header says 36864");
    end(log);
  }

  private static void setLength(Path killed, long length) throws IOException {
    try (RandomAccessFile file =
        new RandomAccessFile(killed.resolve(RingFile.NAME).toFile(), "rw")) {
      file.setLength(length);
    }
  }

  /** Only the header was forced: the other bytes and the length may not be durable. */
  @Test
  void what_a_power_cut_leaves_of_the_file_is_not_refused() throws IOException {
    Log log = RingFixture.create(database());
    log.awaitDurable(LogFixture.change(log, 0, 1, LogFixture.bytes(100)));
    publish(log, 2, 2, 100);
    long third = log.tail();
    publish(log, 3, 3, 100);
    for (long length : new long[] {RingLayout.CHECKED, RingLayout.HEADER, RingLayout.HEADER + 1}) {
      Path cut = copy("cut" + length);
      setLength(cut, length);
      assertEquals(List.of(1), LogFixture.pages(RingFixture.analyse(cut)));
    }
    Path inside = copy("inside");
    setLength(inside, RingLayout.offset(third, RingFixture.CAPACITY) + 8);
    assertEquals(List.of(1, 2), LogFixture.pages(RingFixture.analyse(inside)));
    end(log);
  }

  /** The ring names as durable what the segments beside it do not have: they are damaged. */
  @Test
  void R7_log_that_the_ring_names_as_durable_and_no_segment_has_is_damage() throws IOException {
    Log log = RingFixture.create(database());
    publish(log, 1, 1, 100);
    Path killed = copy("killed");
    log.awaitDurable(log.tail());
    publish(log, 2, 2, 100);
    Files.copy(
        database().resolve(RingFile.NAME),
        killed.resolve(RingFile.NAME),
        StandardCopyOption.REPLACE_EXISTING);
    end(log);
    DamagedFileException told =
        assertThrows(DamagedFileException.class, () -> RingFixture.analyse(killed));
    assertTrue(told.getMessage().contains("its ring goes on"), told.getMessage());
  }

  /** A segment is named only when its file is durable: it was deleted, or is of another moment. */
  @Test
  void R7_a_missing_segment_that_only_the_ring_names_is_damage() throws IOException {
    Log log = RingFixture.create(database());
    log.awaitDurable(LogFixture.change(log, 0, 1, LogFixture.bytes(100)));
    log.ensureSegments(log.tail() + RingFixture.SEGMENT);
    publish(log, 2, 2, 100);
    Path killed = copy("killed");
    end(log);
    assertEquals(List.of(1, 2), LogFixture.pages(RingFixture.analyse(killed)));
    long first =
        new SegmentDirectory(
                killed.resolve("log"), LogFixture.ID, RingFixture.SEGMENT, new IoStatistics())
            .list().sizes().keySet().stream()
                .filter(begin -> begin > LogFixture.PAYLOAD)
                .min(Long::compare)
                .orElseThrow();
    Path missing = killed.resolve("log").resolve(String.format("%016x.log", first));
    Files.delete(missing);
    MissingFileException told =
        assertThrows(MissingFileException.class, () -> RingFixture.analyse(killed));
    assertEquals(missing, told.file());
  }

  /**
   * The records of the ring are read again from the segments that were made of them, before the
   * former life is over. The ring itself would prove nothing.
   */
  @Test
  void records_that_a_seal_has_lost_are_noticed_before_the_life_begins() throws IOException {
    Log log = RingFixture.create(database());
    log.awaitDurable(LogFixture.change(log, 0, 1, LogFixture.bytes(100)));
    long second = log.tail();
    publish(log, 2, 3, 100);
    Path killed = copy("killed");
    end(log);
    FaultyFileSystem faulty = new FaultyFileSystem();
    String name = String.format("%016x.log.tmp", LogFixture.PAYLOAD);
    long offset = SegmentLayout.HEADER + second - LogFixture.PAYLOAD;
    faulty.misplace(name, offset, 100, FaultyFileSystem.NOWHERE);
    Restart restart = RingFixture.analyse(faulty.wrap(killed));
    DamagedFileException told =
        assertThrows(
            DamagedFileException.class, () -> restart.startLife(RingFixture.options()).close());
    assertTrue(told.getMessage().contains("analysis read it up to"), told.getMessage());
    faulty.misplace("", 0, 0, FaultyFileSystem.NOWHERE);
  }
}
