package org.revenantdb.collections;

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;

/**
 * Bytes that a codec reads, from the first to the last. Numbers are big-endian.
 *
 * <p>A codec receives a reader for one call and does not keep it, nor what {@link #asByteBuffer}
 * and {@link #asInputStream} return: the bytes are overwritten afterwards. A read behind the last
 * byte throws {@link IllegalArgumentException}. Not thread-safe.
 */
public final class ByteReader {
  private byte[] buffer;

  /** Where the bytes begin in the buffer. */
  private int origin;

  private int position;
  private int end;

  /**
   * A reader of an array.
   *
   * @param bytes what is read; not copied
   */
  public ByteReader(byte[] bytes) {
    this.buffer = bytes;
    this.end = bytes.length;
  }

  /**
   * Begins again, with other bytes.
   *
   * @param bytes what is read; not copied
   * @param length how many of them
   * @return this reader
   */
  public ByteReader reset(byte[] bytes, int length) {
    return reset(bytes, 0, length);
  }

  /**
   * Begins again, with a part of an array.
   *
   * @param bytes the array; not copied
   * @param offset of the first byte that is read
   * @param length how many bytes are read
   * @return this reader
   */
  @SuppressWarnings("ReferenceEquality") // which array it is
  public ByteReader reset(byte[] bytes, int offset, int length) {
    Objects.checkFromIndexSize(offset, length, bytes.length);
    if (buffer != bytes) { // a reference is stored for the garbage collector, too
      buffer = bytes;
    }
    origin = offset;
    position = offset;
    end = offset + length;
    return this;
  }

  /**
   * How many bytes were read.
   *
   * @return bytes
   */
  public int position() {
    return position - origin;
  }

  /**
   * How many bytes are left.
   *
   * @return bytes
   */
  public int remaining() {
    return end - position;
  }

  /**
   * The next byte, which stays the next one.
   *
   * @return 0 to 255; -1 if no byte is left
   */
  public int peek() {
    return position < end ? buffer[position] & 0xFF : -1;
  }

  /**
   * Reads a byte.
   *
   * @return 0 to 255
   */
  public int readByte() {
    return buffer[take(1)] & 0xFF;
  }

  /**
   * Reads two bytes.
   *
   * @return 0 to 65,535
   */
  public int readShort() {
    return (int) readLowest(Short.BYTES);
  }

  /**
   * Reads four bytes.
   *
   * @return the number
   */
  public int readInt() {
    return (int) readLowest(Integer.BYTES);
  }

  /**
   * Reads eight bytes.
   *
   * @return the number
   */
  public long readLong() {
    return readLowest(Long.BYTES);
  }

  /**
   * Reads the lowest bytes of a number, the highest of them first.
   *
   * @param bytes 0 to 8
   * @return the number; the bytes above are zero
   */
  public long readLowest(int bytes) {
    Objects.checkIndex(bytes, Long.BYTES + 1);
    int at = take(bytes);
    long value = 0;
    for (int i = 0; i < bytes; i++) {
      value = (value << Byte.SIZE) | (buffer[at + i] & 0xFF);
    }
    return value;
  }

  /**
   * Reads a number as {@link ByteWriter#writeVarLong} writes it.
   *
   * @return the number
   */
  public long readVarLong() {
    long value = 0;
    for (int shift = 0; shift < Long.SIZE; shift += 7) {
      int next = readByte();
      value |= (long) (next & 0x7F) << shift;
      if (next < 0x80) {
        return value;
      }
    }
    throw new IllegalArgumentException("a number has more than ten bytes");
  }

  /**
   * Reads bytes.
   *
   * @param count how many
   * @return a copy
   */
  public byte[] readBytes(int count) {
    int at = take(count);
    return Arrays.copyOfRange(buffer, at, at + count);
  }

  /**
   * Reads a text in UTF-8.
   *
   * @param bytes how many bytes it has
   * @return the text
   * @throws IllegalArgumentException if the bytes are not UTF-8
   */
  public String readUtf8(int bytes) {
    int at = take(bytes);
    return text(buffer, at, bytes);
  }

  /**
   * Reads bytes up to a zero, as {@link ByteWriter#writeTerminatedUtf8} writes them.
   *
   * @return the text before the zero
   * @throws IllegalArgumentException if there is no zero, or the bytes are not UTF-8
   */
  public String readTerminatedUtf8() {
    int start = position;
    int length = terminated();
    if (position - start == length + 1) {
      return text(buffer, start, length);
    }
    byte[] bytes = unescaped(start, length);
    return text(bytes, 0, bytes.length);
  }

  /**
   * Reads bytes up to a zero. A zero that is followed by FF is one of the bytes.
   *
   * @return the bytes before the zero
   * @throws IllegalArgumentException if there is no zero
   */
  public byte[] readTerminatedBytes() {
    int start = position;
    return unescaped(start, terminated());
  }

  /** Goes behind the zero; returns how many bytes are before it, without those that escape. */
  private int terminated() {
    int escapes = 0;
    for (int i = position; i < end; i++) {
      if (buffer[i] == 0) {
        if (i + 1 < end && buffer[i + 1] == (byte) 0xFF) {
          escapes++;
          i++;
        } else {
          int length = i - position - escapes;
          position = i + 1;
          return length;
        }
      }
    }
    throw new IllegalArgumentException("a text or an array of bytes has no end");
  }

  private byte[] unescaped(int start, int length) {
    byte[] bytes = new byte[length];
    int from = start;
    for (int i = 0; i < length; i++) {
      bytes[i] = buffer[from];
      from += buffer[from] == 0 ? 2 : 1;
    }
    return bytes;
  }

  private static String text(byte[] bytes, int offset, int length) {
    String text = new String(bytes, offset, length, StandardCharsets.UTF_8);
    if (text.indexOf('\uFFFD') >= 0) { // it may stand for what is not UTF-8
      try {
        StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes, offset, length));
      } catch (CharacterCodingException malformed) {
        throw new IllegalArgumentException("the bytes are not UTF-8", malformed);
      }
    }
    return text;
  }

  /**
   * A reader of what is left, with all bytes inverted.
   *
   * @return the reader, of a copy
   */
  public ByteReader inverted() {
    byte[] rest = Arrays.copyOfRange(buffer, position, end);
    for (int i = 0; i < rest.length; i++) {
      rest[i] = (byte) ~rest[i];
    }
    return new ByteReader(rest);
  }

  /**
   * Skips bytes.
   *
   * @param count how many
   */
  public void skip(int count) {
    take(count);
  }

  /**
   * The bytes that are left, for libraries that read buffers. Reading it does not move this reader.
   *
   * @return a read-only view
   */
  public ByteBuffer asByteBuffer() {
    return ByteBuffer.wrap(buffer, position, end - position).slice().asReadOnlyBuffer();
  }

  /**
   * The bytes that are left, for libraries that read streams. Reading it does not move this reader.
   *
   * @return a stream, which need not be closed
   */
  public InputStream asInputStream() {
    return new ByteArrayInputStream(buffer, position, end - position);
  }

  private int take(int count) {
    if (count < 0 || count > end - position) {
      throw new IllegalArgumentException(
          "the bytes end too early: "
              + count
              + " are needed after "
              + position()
              + ", and there are "
              + (end - position));
    }
    int at = position;
    position += count;
    return at;
  }

  @Override
  public String toString() {
    return "ByteReader[" + position() + " of " + (end - origin) + " bytes read]";
  }
}
