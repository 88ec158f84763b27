package org.revenantdb.engine.backup;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.revenantdb.engine.BackupOptions;
import org.revenantdb.engine.Database;

/** A backup as a stream, which tests take apart. */
final class Streamed {
  private Streamed() {}

  /** One entry: its header and its content with the zeros behind it. */
  record Entry(byte[] bytes) {
    String name() {
      int end = 0;
      while (bytes[end] != 0) {
        end++;
      }
      return new String(bytes, 0, end, StandardCharsets.US_ASCII);
    }
  }

  static byte[] of(Database db) {
    ByteArrayOutputStream stream = new ByteArrayOutputStream();
    db.backup(stream, BackupOptions.defaults());
    return stream.toByteArray();
  }

  /** The entries in order, without the zeros at the end. */
  static List<Entry> entries(byte[] stream) {
    List<Entry> entries = new ArrayList<>();
    for (int at = 0; stream[at] != 0; ) {
      int size = StreamLayout.size(Arrays.copyOfRange(stream, at, at + StreamLayout.BLOCK));
      int end = at + StreamLayout.BLOCK + StreamLayout.padded(size);
      entries.add(new Entry(Arrays.copyOfRange(stream, at, end)));
      at = end;
    }
    return entries;
  }

  static byte[] stream(List<Entry> entries) {
    ByteArrayOutputStream stream = new ByteArrayOutputStream();
    entries.forEach(entry -> stream.writeBytes(entry.bytes));
    stream.writeBytes(new byte[StreamLayout.ZERO_BLOCKS * StreamLayout.BLOCK]);
    return stream.toByteArray();
  }

  /** Makes checksum and header fit what a test has written into the content. */
  static void seal(byte[] entry) {
    int size = StreamLayout.size(Arrays.copyOf(entry, StreamLayout.BLOCK));
    StreamLayout.littleEndian(entry)
        .putInt(
            StreamLayout.BLOCK + StreamLayout.CRC,
            StreamLayout.crc(entry, StreamLayout.BLOCK, size));
    StreamLayout.putHeader(
        entry, 0, StreamLayout.name(StreamLayout.littleEndian(entry), StreamLayout.BLOCK), size);
  }
}
