package org.revenantdb.chaos.oracle;

import java.io.ByteArrayOutputStream;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;

/** A log of promises in a file. */
final class PromiseFile {
  /*
   * magic     8   "PROMISES"
   * version   4   1
   * flags     4   bit 0: the last life was ended by death; the others are zero
   * length    4   of the body
   * checksum  4   CRC-32C of version, flags, length and body
   * body          events, one behind the other
   */

  private static final long MAGIC = 0x50524F4D49534553L;
  private static final int VERSION = 1;
  private static final int DEATH = 1;
  private static final int CHUNK = 1 << 16;

  private PromiseFile() {}

  static void write(List<PromiseEvent> events, boolean death, DataOutput target)
      throws IOException {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    for (PromiseEvent event : events) {
      body.writeBytes(event.encode());
    }
    byte[] bytes = body.toByteArray();
    int flags = death ? DEATH : 0;
    target.writeLong(MAGIC);
    target.writeInt(VERSION);
    target.writeInt(flags);
    target.writeInt(bytes.length);
    target.writeInt(checksum(VERSION, flags, bytes));
    target.write(bytes);
  }

  static PromiseLog read(DataInput source) throws IOException {
    try {
      if (source.readLong() != MAGIC) {
        throw new IOException("this is not a log of promises");
      }
      int version = source.readInt();
      if (version != VERSION) {
        throw new IOException(
            "the log of promises has version %d, only %d is known".formatted(version, VERSION));
      }
      int flags = source.readInt();
      int length = source.readInt();
      int checksum = source.readInt();
      byte[] body = body(source, length);
      if (checksum(version, flags, body) != checksum || (flags & ~DEATH) != 0) {
        throw new IOException("the log of promises is damaged: its checksum is wrong");
      }
      PromiseLog log = PromiseLog.of(events(body));
      return (flags & DEATH) != 0 ? log.cutOffByDeath() : log;
    } catch (EOFException e) {
      throw new IOException("the log of promises is cut short", e);
    }
  }

  /** Reads only existing bytes, so that a wrong length takes no memory. */
  private static byte[] body(DataInput source, int length) throws IOException {
    if (length < 0) {
      throw new IOException("the log of promises is damaged: its length is " + length);
    }
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    byte[] chunk = new byte[Math.min(length, CHUNK)];
    for (int left = length; left > 0; ) {
      int n = Math.min(left, chunk.length);
      source.readFully(chunk, 0, n);
      body.write(chunk, 0, n);
      left -= n;
    }
    return body.toByteArray();
  }

  private static List<PromiseEvent> events(byte[] body) throws IOException {
    List<PromiseEvent> events = new ArrayList<>();
    ByteBuffer source = ByteBuffer.wrap(body);
    try {
      while (source.hasRemaining()) {
        events.add(PromiseEvent.decode(source));
      }
    } catch (IllegalArgumentException e) {
      throw new IOException("the log of promises is damaged: " + e.getMessage(), e);
    }
    return events;
  }

  private static int checksum(int version, int flags, byte[] body) {
    CRC32C crc = new CRC32C();
    crc.update(
        ByteBuffer.allocate(3 * Integer.BYTES)
            .putInt(version)
            .putInt(flags)
            .putInt(body.length)
            .flip());
    crc.update(body);
    return (int) crc.getValue();
  }
}
