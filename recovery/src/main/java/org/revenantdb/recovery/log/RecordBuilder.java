package org.revenantdb.recovery.log;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.zip.CRC32C;
import org.revenantdb.recovery.format.LogRecordLayout;

/**
 * A log record under construction, in an array that is reused for the next one.
 *
 * <p>Everything that can fail about a record fails in this class, before {@link Log#publish}
 * reserves its place (R18).
 *
 * <p>Threads: one at a time.
 *
 * <p>Failure: {@link IllegalStateException} if the record gets longer than {@link #MAX_RECORD}.
 *
 * {@snippet :
 * builder.begin(RecordType.PAGES, transactionId);
 * builder.beginPart(pageId, PartKind.CHANGE);
 * builder.putShort(slot);
 * builder.putBytes(cell, 0, cell.length);
 * builder.endPart();
 * long lsn = log.publish(builder);
 * }
 */
public final class RecordBuilder {
  /** The longest record, header and padding included; longer work needs several records (R17). */
  public static final int MAX_RECORD = LogRecordLayout.MAX_LENGTH;

  private static final int INITIAL = 1024;

  private static final VarHandle SHORT =
      MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final CRC32C crc = new CRC32C();
  private byte[] array;
  private int position = LogRecordLayout.HEADER;
  private int partStart = -1;
  private int parts;

  /** An empty builder; {@link #begin} comes first. */
  public RecordBuilder() {
    this(INITIAL);
  }

  private RecordBuilder(int initial) {
    array = new byte[initial];
  }

  /**
   * A builder for one record without a body, or with a short one.
   *
   * @return a small one; {@link #begin} comes first
   */
  public static RecordBuilder bare() {
    return new RecordBuilder(LogRecordLayout.HEADER);
  }

  /**
   * Drops the former content and begins a record.
   *
   * @param type the type of the record
   * @param transactionId the transaction, 0 = the system
   * @return this builder
   */
  public RecordBuilder begin(RecordType type, long transactionId) {
    Arrays.fill(array, 0, LogRecordLayout.HEADER, (byte) 0);
    LONG.set(array, LogRecordLayout.TRANSACTION, transactionId);
    array[LogRecordLayout.TYPE] = (byte) type.code();
    position = LogRecordLayout.HEADER;
    partStart = -1;
    parts = 0;
    return this;
  }

  /**
   * The position of the next byte.
   *
   * @return offset in the record
   */
  public int position() {
    return position;
  }

  /**
   * Appends a byte.
   *
   * @param value its low eight bits
   */
  public void putByte(int value) {
    int at = advance(1); // first: it may replace the array
    array[at] = (byte) value;
  }

  /**
   * Appends two bytes.
   *
   * @param value its low sixteen bits
   */
  public void putShort(int value) {
    int at = advance(Short.BYTES);
    SHORT.set(array, at, (short) value);
  }

  /**
   * Appends four bytes.
   *
   * @param value the number
   */
  public void putInt(int value) {
    int at = advance(Integer.BYTES);
    INT.set(array, at, value);
  }

  /**
   * Appends eight bytes.
   *
   * @param value the number
   */
  public void putLong(long value) {
    int at = advance(Long.BYTES);
    LONG.set(array, at, value);
  }

  /**
   * Appends bytes.
   *
   * @param source where they are
   * @param offset the first one
   * @param length how many
   */
  public void putBytes(byte[] source, int offset, int length) {
    int at = advance(length);
    System.arraycopy(source, offset, array, at, length);
  }

  /**
   * Appends bytes.
   *
   * @param source where they are
   * @param offset the first one
   * @param length how many
   */
  public void putSegment(MemorySegment source, long offset, int length) {
    int at = advance(length);
    MemorySegment.copy(source, ValueLayout.JAVA_BYTE, offset, array, at, length);
  }

  /**
   * Replaces two bytes that were appended before.
   *
   * @param at offset in the record
   * @param value its low sixteen bits
   */
  public void setShort(int at, int value) {
    if (at < LogRecordLayout.HEADER || at > position - Short.BYTES) {
      throw new IllegalArgumentException("nothing was written at " + at + " of " + position);
    }
    SHORT.set(array, at, (short) value);
  }

  /**
   * Begins the part of a page. A record has at most one part for each page.
   *
   * @param pageId the page
   * @param kind what happens to it
   */
  public void beginPart(int pageId, PartKind kind) {
    if (partStart >= 0) {
      throw new IllegalStateException("the previous part was not ended");
    }
    int start = advance(LogRecordLayout.PART_HEADER);
    INT.set(array, start + LogRecordLayout.PART_PAGE, pageId);
    SHORT.set(array, start + LogRecordLayout.PART_KIND, (short) kind.code());
    SHORT.set(array, start + LogRecordLayout.PART_LENGTH, (short) 0);
    partStart = start;
    parts++;
  }

  /** Ends the part that was begun last. */
  public void endPart() {
    if (partStart < 0) {
      throw new IllegalStateException("there is no part to end");
    }
    int length = position - partStart - LogRecordLayout.PART_HEADER;
    if (length > 0xFFFF) {
      throw new IllegalStateException("a part of " + length + " bytes; at most 65535 are possible");
    }
    SHORT.set(array, partStart + LogRecordLayout.PART_LENGTH, (short) length);
    partStart = -1;
  }

  /**
   * The bytes so far. The array may be replaced when more bytes are appended.
   *
   * @return the builder's own array
   */
  public byte[] array() {
    return array;
  }

  /**
   * The length of the record so far.
   *
   * @return bytes, header included, padding not
   */
  public int length() {
    return position;
  }

  /**
   * How many parts have been begun.
   *
   * @return the number
   */
  public int parts() {
    return parts;
  }

  /** Pads the record. It is then complete, except for the fields that depend on the reservation. */
  int seal() {
    if (partStart >= 0) {
      throw new IllegalStateException("the last part has no end");
    }
    int length = LogRecordLayout.aligned(position);
    ensure(length);
    Arrays.fill(array, position, length, (byte) 0);
    array[LogRecordLayout.PADDING] = (byte) (length - position);
    INT.set(array, LogRecordLayout.LENGTH, length);
    return length;
  }

  /** Fills in the fields that depend on the reservation. */
  void stamp(int length, long lsn, long durable, int life, int ahead) {
    LONG.set(array, LogRecordLayout.LSN, lsn);
    LONG.set(array, LogRecordLayout.DURABLE, durable);
    INT.set(array, LogRecordLayout.LIFE, life);
    SHORT.set(array, LogRecordLayout.AHEAD, (short) ahead);
    crc.reset();
    crc.update(array, LogRecordLayout.LSN, length - LogRecordLayout.LSN);
    INT.set(array, LogRecordLayout.CRC, (int) crc.getValue());
  }

  private int advance(int bytes) {
    ensure(position + bytes);
    int at = position;
    position += bytes;
    return at;
  }

  private void ensure(int needed) {
    if (needed > array.length) {
      if (needed > MAX_RECORD) {
        throw new IllegalStateException(
            "a log record of " + needed + " bytes; at most " + MAX_RECORD + " are possible");
      }
      array = Arrays.copyOf(array, Math.min(MAX_RECORD, Math.max(needed, array.length * 2)));
    }
  }
}
