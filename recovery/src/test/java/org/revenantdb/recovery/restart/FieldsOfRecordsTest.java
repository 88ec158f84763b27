package org.revenantdb.recovery.restart;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.log.Log;
import org.revenantdb.recovery.segment.LogReader;
import org.revenantdb.recovery.segment.SegmentDirectory;
import org.revenantdb.recovery.testing.CrashDisk;

/** The reader of the log returns each field of a record as the bytes of the record have it. */
class FieldsOfRecordsTest {
  private static final int RECORDS = 600;

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

  private static void compare(LogReader reader) {
    ByteBuffer bytes =
        ByteBuffer.wrap(reader.array(), reader.offset(), reader.length())
            .slice()
            .order(ByteOrder.LITTLE_ENDIAN);
    for (int at = 0; at + Long.BYTES <= bytes.limit(); at++) {
      assertEquals(bytes.getLong(at), reader.getLong(at));
      assertEquals(bytes.getInt(at), reader.getInt(at));
      assertEquals(Short.toUnsignedInt(bytes.getShort(at)), reader.getShort(at));
    }
    assertEquals(bytes.getInt(0), reader.lengthAt(reader.start()));
  }
}
