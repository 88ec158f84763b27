package org.revenantdb.recovery.restart;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.format.LogRecordLayout;
import org.revenantdb.recovery.format.SegmentLayout;
import org.revenantdb.recovery.log.Log;
import org.revenantdb.recovery.segment.LogReader;
import org.revenantdb.recovery.segment.SegmentDirectory;
import org.revenantdb.recovery.segment.SegmentPlace;
import org.revenantdb.recovery.segment.UnwrittenLog;
import org.revenantdb.recovery.testing.CrashDisk;

/** The reader of the log returns each field of a record as the bytes of the record have it. */
class FieldsOfRecordsTest {
  private static final int RECORDS = 600;

  /** The buffer of a reader begins with two of these, and grows by one. */
  private static final int BLOCK = LogRecordLayout.MAX_LENGTH;

  /** A record without a body. */
  private static final int SHORTEST = LogRecordLayout.HEADER;

  private static final long FIRST = LogFixture.PAYLOAD;

  @TempDir Path folder;

  @Test
  void a_field_at_any_place_of_a_record_has_the_bytes_that_are_there() {
    long seed = System.nanoTime();
    System.out.println("fields of records: seed " + seed);
    Random random = new Random(seed);
    CrashDisk disk = new CrashDisk();
    try (Log log = LogFixture.create(disk)) {
      for (int i = 0; i < RECORDS; i++) {
        byte[] content = new byte[random.nextInt(900)];
        random.nextBytes(content);
        LogFixture.change(log, random.nextLong(1L << 59), 3 + i, content);
        log.awaitDurable(log.tail());
      }
    }
    SegmentDirectory directory =
        new SegmentDirectory(
            LogFixture.directory(disk), LogFixture.ID, LogFixture.SEGMENT, new IoStatistics());
    int read = 0;
    try (LogReader reader = new LogReader(directory, directory.list()::at)) {
      reader.seek(LogFixture.PAYLOAD);
      while (reader.next()) {
        compare(reader);
        read++;
      }
    }
    assertEquals(RECORDS, read);
  }

  @Test
  void a_record_that_ends_where_the_buffer_ends_has_all_its_fields() {
    Records records = new Records();
    records.fill(2 * BLOCK);
    try (LogReader reader =
        new LogReader(directory(), lsn -> null).with(new UnwrittenLog(FIRST, records.bytes()))) {
      compareAll(reader, records);
      assertEndsWith(reader, 2 * BLOCK);
    }
  }

  @Test
  void a_record_that_ends_where_the_grown_buffer_ends_has_all_its_fields() throws Exception {
    Records records = new Records();
    int kept = (BLOCK + BLOCK / 2) % SHORTEST;
    records.fill(BLOCK + BLOCK / 2 - kept);
    // A record lies across the end of the second read. So the buffer grows and keeps its beginning.
    records.add(SHORTEST);
    records.fill(BLOCK - SHORTEST);
    SegmentPlace place = new SegmentPlace(FIRST, SegmentLayout.HEADER + records.length());
    byte[] file = new byte[place.size()];
    System.arraycopy(records.bytes(), 0, file, SegmentLayout.HEADER, records.length());
    Files.write(directory().file(FIRST), file);
    long unwritten = records.end();
    records.fill(2 * BLOCK);
    byte[] rest =
        Arrays.copyOfRange(records.bytes(), place.size() - SegmentLayout.HEADER, records.length());
    try (LogReader reader =
        new LogReader(directory(), lsn -> lsn < unwritten ? place : null)
            .with(new UnwrittenLog(unwritten, rest))) {
      compareAll(reader, records);
      assertEndsWith(reader, 3 * BLOCK);
    }
  }

  @Test
  void a_field_is_not_read_from_another_record_when_its_own_has_left_the_buffer() {
    Records records = new Records();
    records.fill(2 * BLOCK);
    try (LogReader reader =
        new LogReader(directory(), lsn -> null).with(new UnwrittenLog(FIRST, records.bytes()))) {
      assertGone(reader);
      reader.seek(FIRST);
      assertGone(reader);
      assertTrue(reader.next());
      compare(reader);
      assertFalse(reader.load(records.end() + BLOCK, SHORTEST));
      assertGone(reader);
      while (reader.lsn() < records.end()) {
        assertTrue(reader.next());
        compare(reader);
      }
      assertFalse(reader.next());
      assertGone(reader);
      assertEquals(records.end(), reader.lsn());
    }
  }

  private static void assertGone(LogReader reader) {
    List<Executable> fields =
        List.of(
            reader::type,
            reader::contentLength,
            reader::transactionId,
            reader::durable,
            reader::life,
            reader::segmentsUpTo,
            () -> reader.getLong(0),
            () -> reader.getInt(SHORTEST - Integer.BYTES),
            () -> reader.getShort(SHORTEST - Short.BYTES));
    for (Executable field : fields) {
      assertThrows(IndexOutOfBoundsException.class, field);
    }
  }

  private static void compareAll(LogReader reader, Records records) {
    reader.seek(FIRST);
    while (reader.lsn() < records.end()) {
      assertTrue(reader.next());
      compare(reader);
    }
  }

  /** The current record has no body, and ends with the last byte of a buffer of that length. */
  private static void assertEndsWith(LogReader reader, int length) {
    assertEquals(SHORTEST, reader.length());
    assertEquals(length, reader.array().length);
    assertEquals(length, reader.offset() + reader.length());
  }

  private SegmentDirectory directory() {
    return new SegmentDirectory(folder, LogFixture.ID, LogFixture.SEGMENT, new IoStatistics());
  }

  /** Valid records of random content, most of them without a body. */
  private static final class Records {
    private final Random random;
    private final ByteBuffer bytes = ByteBuffer.allocate(8 * BLOCK).order(ByteOrder.LITTLE_ENDIAN);

    Records() {
      long seed = System.nanoTime();
      System.out.println("fields of records: seed " + seed);
      random = new Random(seed);
    }

    void add(int length) {
      int start = bytes.position();
      byte[] content = new byte[length];
      random.nextBytes(content);
      bytes.put(content);
      bytes.putInt(start + LogRecordLayout.LENGTH, length);
      bytes.putLong(start + LogRecordLayout.LSN, end());
      CRC32C crc = new CRC32C();
      crc.update(bytes.array(), start + LogRecordLayout.LSN, length - LogRecordLayout.LSN);
      bytes.putInt(start + LogRecordLayout.CRC, (int) crc.getValue());
    }

    /** As many bytes of records; the first one takes what the others leave. */
    void fill(int length) {
      int end = bytes.position() + length;
      add(SHORTEST + length % SHORTEST);
      while (bytes.position() < end) {
        add(SHORTEST);
      }
    }

    long end() {
      return FIRST + bytes.position();
    }

    int length() {
      return bytes.position();
    }

    byte[] bytes() {
      return Arrays.copyOf(bytes.array(), bytes.position());
    }
  }

  private static void compare(LogReader reader) {
    ByteBuffer bytes =
        ByteBuffer.wrap(reader.array(), reader.offset(), reader.length())
            .slice()
            .order(ByteOrder.LITTLE_ENDIAN);
    for (int at = 0; at + Short.BYTES <= bytes.limit(); at++) {
      assertEquals(Short.toUnsignedInt(bytes.getShort(at)), reader.getShort(at));
      if (at + Integer.BYTES <= bytes.limit()) {
        assertEquals(bytes.getInt(at), reader.getInt(at));
      }
      if (at + Long.BYTES <= bytes.limit()) {
        assertEquals(bytes.getLong(at), reader.getLong(at));
      }
    }
    assertEquals(bytes.getInt(0), reader.lengthAt(reader.start()));
    assertEquals(bytes.getLong(LogRecordLayout.TRANSACTION), reader.transactionId());
    assertEquals(bytes.getLong(LogRecordLayout.DURABLE), reader.durable());
    assertEquals(bytes.getInt(LogRecordLayout.LIFE), reader.life());
    assertEquals(bytes.get(LogRecordLayout.TYPE), reader.type());
    assertEquals(reader.length() - bytes.get(LogRecordLayout.PADDING), reader.contentLength());
    int ahead = Short.toUnsignedInt(bytes.getShort(LogRecordLayout.AHEAD));
    assertEquals(reader.start() + (long) ahead * LogRecordLayout.AHEAD_UNIT, reader.segmentsUpTo());
  }
}
