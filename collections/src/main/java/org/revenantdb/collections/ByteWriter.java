package org.revenantdb.collections;

import java.io.OutputStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Objects;

/**
 * Bytes that a codec writes, in a buffer that grows. Numbers are big-endian.
 *
 * <p>A codec receives a writer for one call and does not keep it. It appends and does not change
 * what was there before. Not thread-safe.
 */
public final class ByteWriter {
  private static final int FIRST = 64;

  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN)
          .withInvokeExactBehavior();

  private byte[] buffer;
  private int length;

  /** A writer without bytes. */
  public ByteWriter() {
    buffer = new byte[FIRST];
  }

  /**
   * How many bytes were written.
   *
   * @return bytes
   */
  public int length() {
    return length;
  }

  /**
   * How many bytes there is room for, without another buffer.
   *
   * @return bytes
   */
  public int capacity() {
    return buffer.length;
  }

  /**
   * What was written.
   *
   * @return a copy
   */
  public byte[] toByteArray() {
    return Arrays.copyOf(buffer, length);
  }

  /** The array that begins with what was written; the next write may replace it. */
  byte[] buffer() {
    return buffer;
  }

  /** Forgets what was written. The buffer stays. */
  public void clear() {
    length = 0;
  }

  /**
   * Writes a byte.
   *
   * @param value of which the lowest 8 bits are written
   */
  public void writeByte(int value) {
    int at = length;
    room(1);
    buffer[at] = (byte) value;
  }

  /**
   * Writes two bytes.
   *
   * @param value of which the lowest 16 bits are written
   */
  public void writeShort(int value) {
    writeLowest(value, Short.BYTES);
  }

  /**
   * Writes four bytes.
   *
   * @param value the number
   */
  public void writeInt(int value) {
    writeLowest(value, Integer.BYTES);
  }

  /**
   * Writes eight bytes.
   *
   * @param value the number
   */
  public void writeLong(long value) {
    writeLowest(value, Long.BYTES);
  }

  /**
   * Writes the lowest bytes of a number, the highest of them first.
   *
   * @param value the number
   * @param bytes 0 to 8
   */
  public void writeLowest(long value, int bytes) {
    Objects.checkIndex(bytes, Long.BYTES + 1);
    int at = length;
    room(bytes);
    if (at <= buffer.length - Long.BYTES) {
      LONG.set(
          buffer, at, value << (Long.SIZE - bytes * Byte.SIZE)); // with bytes that do not count
      return;
    }
    for (int shift = (bytes - 1) * Byte.SIZE; shift >= 0; shift -= Byte.SIZE) {
      buffer[at++] = (byte) (value >>> shift);
    }
  }

  /**
   * Writes a number in as few bytes as it needs: seven bits in each, the lowest first, the highest
   * bit of each byte but the last is set. Small numbers need one byte, negative ones ten.
   *
   * @param value the number
   */
  public void writeVarLong(long value) {
    long rest = value;
    while ((rest & ~0x7FL) != 0) {
      writeByte((int) (rest & 0x7F) | 0x80);
      rest >>>= 7;
    }
    writeByte((int) rest);
  }

  /**
   * Writes the bytes of an array.
   *
   * @param bytes all of them are written
   */
  public void writeBytes(byte[] bytes) {
    writeBytes(bytes, 0, bytes.length);
  }

  /**
   * Writes some bytes of an array.
   *
   * @param bytes the array
   * @param offset of the first
   * @param count how many
   */
  public void writeBytes(byte[] bytes, int offset, int count) {
    Objects.checkFromIndexSize(offset, count, bytes.length);
    int at = length;
    room(count);
    System.arraycopy(bytes, offset, buffer, at, count);
  }

  /**
   * Writes a text in UTF-8, without its length.
   *
   * @param text the text
   * @throws IllegalArgumentException if it has half of a surrogate pair, which UTF-8 cannot encode;
   *     nothing is written then
   */
  public void writeUtf8(CharSequence text) {
    int before = length;
    int chars = text.length();
    room(chars); // enough if all are ASCII
    int at = before;
    int i = 0;
    for (; i < chars; i++) {
      char c = text.charAt(i);
      if (c >= 0x80) {
        break;
      }
      buffer[at++] = (byte) c;
    }
    length = at;
    try {
      while (i < chars) {
        i += writeCharacter(text, i);
      }
    } catch (IllegalArgumentException refused) {
      length = before;
      throw refused;
    }
  }

  /**
   * Writes the character of a text that begins at an index.
   *
   * @return 1, or 2 for a surrogate pair
   */
  int writeCharacter(CharSequence text, int index) {
    char c = text.charAt(index);
    if (c < 0x80) {
      writeByte(c);
    } else if (c < 0x800) {
      writeByte(0xC0 | (c >> 6));
      writeByte(0x80 | (c & 0x3F));
    } else if (!Character.isSurrogate(c)) {
      writeByte(0xE0 | (c >> 12));
      writeByte(0x80 | ((c >> 6) & 0x3F));
      writeByte(0x80 | (c & 0x3F));
    } else {
      int character = Character.codePointAt(text, index);
      if (!Character.isSupplementaryCodePoint(character)) {
        throw new IllegalArgumentException(
            "the text has half of a surrogate pair at index "
                + index
                + ", which UTF-8 cannot encode; correct the text");
      }
      writeByte(0xF0 | (character >> 18));
      writeByte(0x80 | ((character >> 12) & 0x3F));
      writeByte(0x80 | ((character >> 6) & 0x3F));
      writeByte(0x80 | (character & 0x3F));
      return 2;
    }
    return 1;
  }

  /**
   * Writes a text in UTF-8 and a zero behind it. A zero inside is followed by FF.
   *
   * @param text the text
   * @throws IllegalArgumentException if it has half of a surrogate pair
   */
  public void writeTerminatedUtf8(CharSequence text) {
    int i = 0;
    while (i < text.length()) {
      if (text.charAt(i) == 0) {
        writeShort(0x00FF);
        i++;
      } else {
        i += writeCharacter(text, i);
      }
    }
    writeByte(0);
  }

  /**
   * Inverts all bytes from a place on.
   *
   * @param from the place
   */
  public void invertFrom(int from) {
    Objects.checkIndex(from, length + 1);
    for (int i = from; i < length; i++) {
      buffer[i] = (byte) ~buffer[i];
    }
  }

  /**
   * Whether one byte was written since a place, and it is a zero.
   *
   * @param from the place
   * @return whether it is so
   */
  public boolean isZeroFrom(int from) {
    return length == from + 1 && buffer[from] == 0;
  }

  /**
   * A stream whose bytes go here, for libraries that write to streams. It need not be closed.
   *
   * @return the stream
   */
  public OutputStream asOutputStream() {
    return new OutputStream() {
      @Override
      public void write(int value) {
        writeByte(value);
      }

      @Override
      public void write(byte[] bytes, int offset, int count) {
        writeBytes(bytes, offset, count);
      }
    };
  }

  private void room(int bytes) {
    int needed = Math.addExact(length, bytes);
    if (needed > buffer.length) {
      buffer = Arrays.copyOf(buffer, (int) Math.min(Integer.MAX_VALUE - 8L, needed * 2L));
    }
    length = needed;
  }

  @Override
  public String toString() {
    return "ByteWriter[" + length + " bytes]";
  }
}
