package org.revenantdb.collections;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.revenantdb.collections.expiry.Expiring;
import org.revenantdb.engine.Cursor;

/**
 * The rows of a range in order, like a {@link Cursor} of the engine. It decodes a key or a value
 * only when the caller asks for it, and allocates nothing else.
 *
 * <p>Valid until its transaction ends; used by one thread at a time.
 *
 * @param <K> type of the keys
 * @param <V> type of the values
 */
public final class TypedCursor<K, V> implements AutoCloseable {
  private final TypedTable<K, V> table;
  private final Cursor cursor;
  private final ByteReader reader = new ByteReader(new byte[0]);
  private final long limit;
  private final @Nullable Expiring<V> expiring;
  private final long moment;
  private byte[] key = new byte[64];
  private int keyLength = -1;
  private byte[] value = new byte[256];
  private long rows;

  /** The value of the row, if that was read to see whether it has expired. */
  private @Nullable V read;

  /** A cursor that passes over rows that have expired at a moment. */
  TypedCursor(
      TypedTable<K, V> table,
      Cursor cursor,
      long limit,
      @Nullable Expiring<V> expiring,
      long moment) {
    this.table = table;
    this.cursor = cursor;
    this.limit = limit;
    this.expiring = expiring;
    this.moment = moment;
  }

  /**
   * Goes to the next row.
   *
   * @return false when there is none, or when the limit of the scan is reached
   */
  public boolean next() {
    return rows < limit && on(cursor.next());
  }

  /**
   * Goes to the row with this key, or to the next one in the direction of the scan, as {@link
   * Cursor#seek} does. A row counts for the limit whenever the cursor goes to it.
   *
   * @param to the key
   * @return false when there is none, or when the limit of the scan is reached
   */
  public boolean seek(K to) {
    return rows < limit && on(cursor.seek(table.keyBytes(to)));
  }

  private boolean on(boolean isOnRow) {
    boolean isOn = isOnRow;
    keyLength = -1;
    if (expiring != null) {
      while (isOn && expiring.isOver(readValue(), moment)) {
        isOn = cursor.next();
        keyLength = -1;
      }
    }
    rows += isOn ? 1 : 0;
    return isOn;
  }

  private V readValue() {
    read = null;
    V now = decodeValue();
    read = now;
    return now;
  }

  /** Copies the bytes of the key into the array. */
  private int readKey() {
    if (keyLength < 0) {
      int length = cursor.key(key, 0);
      if (length > key.length) {
        key = new byte[length];
        length = cursor.key(key, 0);
      }
      keyLength = length;
    }
    return keyLength;
  }

  /**
   * The key of the row.
   *
   * @return the key
   * @throws CodecException if the codec throws; the cursor stays on the row
   */
  public K key() {
    int length = readKey(); // may replace the array
    return table.key(reader.reset(key, length), key, length);
  }

  /** The bytes of the key. */
  byte[] keyBytes() {
    readKey();
    return Arrays.copyOf(key, keyLength);
  }

  /**
   * The value of the row.
   *
   * @return the value
   * @throws CodecException if the codec throws; the cursor stays on the row
   */
  public V value() {
    V now = read;
    return expiring != null && now != null ? now : decodeValue();
  }

  private V decodeValue() {
    int length = cursor.value(value, 0);
    byte[] bytes = value;
    if (length > value.length) {
      bytes = new byte[length];
      length = cursor.value(bytes, 0);
      if (length <= 64 << 10) {
        value = bytes;
      }
    }
    readKey();
    return table.value(reader.reset(bytes, length), key, keyLength);
  }

  /**
   * The row.
   *
   * @return key and value
   */
  public Row<K, V> row() {
    return new Row<>(key(), value());
  }

  /** The next row; null at the end, where the cursor is closed. */
  @Nullable Row<K, V> nextRow() {
    if (next()) {
      return row();
    }
    close();
    return null;
  }

  /** Ends the cursor. */
  @Override
  public void close() {
    cursor.close();
  }

  @Override
  public String toString() {
    return "TypedCursor[" + table.name() + ", " + rows + " rows]";
  }
}
