package org.revenantdb.collections.feed;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.revenantdb.collections.ByteReader;
import org.revenantdb.collections.ByteWriter;

/**
 * The bytes of a feed's two tables. Numbers in keys have eight bytes, the highest first.
 *
 * <pre>
 * commits   key     position, from 1 on
 *           value   batch (8 bytes)
 *           key 0   the last position that was trimmed (8 bytes); missing if there is none
 *
 * changes   key     batch, number in the batch from 0 on
 *           value   length of the table's name (1 to 5 bytes), name in UTF-8,
 *                   length of the key (1 to 2 bytes), key,
 *                   kind (1 byte): 0 the row was deleted, 1 it was stored: its value follows
 * </pre>
 */
public final class FeedRecord {
  private static final int DELETED = 0;
  private static final int STORED = 1;

  private FeedRecord() {}

  /** A number as a key or value. */
  public static byte[] number(long number) {
    return ByteBuffer.allocate(Long.BYTES).putLong(number).array();
  }

  /** A key or value as a number. */
  public static long number(byte[] bytes) {
    return ByteBuffer.wrap(bytes).getLong();
  }

  static byte[] changeKey(long batch, long index) {
    return ByteBuffer.allocate(2 * Long.BYTES).putLong(batch).putLong(index).array();
  }

  static byte[] change(String table, byte[] key, byte @Nullable [] stored) {
    byte[] name = table.getBytes(StandardCharsets.UTF_8);
    ByteWriter out = new ByteWriter();
    out.writeVarLong(name.length);
    out.writeBytes(name);
    out.writeVarLong(key.length);
    out.writeBytes(key);
    out.writeByte(stored == null ? DELETED : STORED);
    if (stored != null) {
      out.writeBytes(stored);
    }
    return out.toByteArray();
  }

  /** Receives what a change has. */
  @FunctionalInterface
  public interface Reader {
    /**
     * Called with a change.
     *
     * @param value null if the row was deleted
     */
    void change(String table, byte[] key, byte @Nullable [] value);
  }

  /** Reads a change. */
  public static void read(byte[] bytes, Reader reader) {
    ByteReader in = new ByteReader(bytes);
    String table =
        new String(in.readBytes(Math.toIntExact(in.readVarLong())), StandardCharsets.UTF_8);
    byte[] key = in.readBytes(Math.toIntExact(in.readVarLong()));
    int kind = in.readByte();
    if (kind != DELETED && kind != STORED) {
      throw new IllegalArgumentException(
          "a change of table " + table + " has kind " + kind + ": a later version has written it");
    }
    reader.change(table, key, kind == DELETED ? null : in.readBytes(in.remaining()));
  }
}
