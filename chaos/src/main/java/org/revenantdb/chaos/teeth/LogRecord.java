package org.revenantdb.chaos.teeth;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * One change in a log of {@link TinyStore}: a key and its new value.
 *
 * <pre>
 *   0        4        8      9            11       11+k           8+length
 *   | length | crc    | kind | key length | key    | value        |
 *            covered by crc: |<---------- length bytes ---------->|   big-endian
 * </pre>
 *
 * <p>A length of zero is the end of a log: zeros may follow the last record.
 *
 * @param key the key
 * @param value its new value; null: removed
 */
record LogRecord(String key, @Nullable String value) {

  private static final int BODY = 8;
  private static final int BODY_HEADER = 1 + 2;
  private static final byte PUT = 1;
  private static final byte REMOVE = 2;

  /** Returns the record's bytes, ready to be written. */
  ByteBuffer encode() {
    byte[] keyBytes = key.getBytes(StandardCharsets.UTF_8);
    byte[] valueBytes = value == null ? new byte[0] : value.getBytes(StandardCharsets.UTF_8);
    if (keyBytes.length > 0xFFFF) {
      throw new IllegalArgumentException("a key of " + keyBytes.length + " bytes is too long");
    }
    int length = BODY_HEADER + keyBytes.length + valueBytes.length;
    ByteBuffer record = ByteBuffer.allocate(BODY + length);
    record.putInt(length).putInt(0);
    record.put(value == null ? REMOVE : PUT).putShort((short) keyBytes.length);
    record.put(keyBytes).put(valueBytes).flip();
    return record.putInt(4, crcOf(record.slice(BODY, length)));
  }

  /**
   * Reads the next record and moves the position behind it.
   *
   * @param checked whether the checksum must match
   * @return null if there is no further complete record: the end of the log
   */
  static @Nullable LogRecord decode(ByteBuffer log, boolean checked) {
    if (log.remaining() < BODY + BODY_HEADER) {
      return null;
    }
    int start = log.position();
    int length = log.getInt(start);
    if (length < BODY_HEADER || length > log.remaining() - BODY) {
      return null;
    }
    ByteBuffer body = log.slice(start + BODY, length);
    if (checked && crcOf(body.duplicate()) != log.getInt(start + 4)) {
      return null;
    }
    byte kind = body.get();
    int keyLength = Short.toUnsignedInt(body.getShort());
    if (keyLength > body.remaining() || (kind != PUT && kind != REMOVE)) {
      return null;
    }
    log.position(start + BODY + length);
    String key = text(body, keyLength);
    return new LogRecord(key, kind == PUT ? text(body, body.remaining()) : null);
  }

  private static String text(ByteBuffer from, int length) {
    byte[] bytes = new byte[length];
    from.get(bytes);
    return new String(bytes, StandardCharsets.UTF_8);
  }

  private static int crcOf(ByteBuffer bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes);
    return (int) crc.getValue();
  }
}
