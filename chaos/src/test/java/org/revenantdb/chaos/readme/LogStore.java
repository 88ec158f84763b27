package org.revenantdb.chaos.readme;

import java.io.EOFException;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/** A store as a stranger might have it: a log of records behind a {@link RandomAccessFile}. */
class LogStore implements AutoCloseable {

  private final RandomAccessFile log;
  private final Map<String, String> values = new HashMap<>();

  LogStore(File directory) throws IOException {
    log = new RandomAccessFile(new File(directory, "log"), "rw");
    long end = 0;
    try {
      while (true) {
        byte[] record = new byte[log.readUnsignedShort()];
        log.readFully(record);
        String text = new String(record, StandardCharsets.UTF_8);
        if (log.readInt() != text.hashCode() || text.isEmpty()) {
          break;
        }
        values.put(text.split("=")[0], text.split("=")[1]);
        end = log.getFilePointer();
      }
    } catch (EOFException e) {
      // The last record is not whole.
    }
    log.setLength(end);
    log.seek(end);
    force();
  }

  String get(String key) {
    return values.get(key);
  }

  void put(String key, String value) throws IOException {
    String text = key + "=" + value;
    byte[] record = text.getBytes(StandardCharsets.UTF_8);
    byte[] bytes = new byte[record.length + 6];
    bytes[0] = (byte) (record.length >> 8);
    bytes[1] = (byte) record.length;
    System.arraycopy(record, 0, bytes, 2, record.length);
    for (int i = 0; i < 4; i++) {
      bytes[record.length + 2 + i] = (byte) (text.hashCode() >> 24 - 8 * i);
    }
    append(bytes);
    values.put(key, value);
  }

  void append(byte[] record) throws IOException {
    log.write(record);
    force();
  }

  void force() throws IOException {
    log.getFD().sync();
  }

  RandomAccessFile log() {
    return log;
  }

  @Override
  public void close() throws IOException {
    log.close();
  }
}
