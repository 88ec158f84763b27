package org.revenantdb.chaos.oracle;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A key or a value: immutable bytes, equal by content, ordered as unsigned bytes. A text is its
 * UTF-8 bytes.
 *
 * <p>Threads: any.
 */
public final class Bytes implements Comparable<Bytes> {

  private final byte[] content;
  private final int hash;

  private Bytes(byte[] content) {
    this.content = content;
    this.hash = Arrays.hashCode(content);
  }

  /**
   * Copies bytes.
   *
   * @param content the bytes
   * @return a key or value
   */
  public static Bytes of(byte[] content) {
    return new Bytes(content.clone());
  }

  /**
   * Encodes a text.
   *
   * @param text the text
   * @return its UTF-8 bytes
   */
  public static Bytes of(String text) {
    return new Bytes(text.getBytes(StandardCharsets.UTF_8));
  }

  static @Nullable Bytes ofNullable(byte @Nullable [] content) {
    return content == null ? null : of(content);
  }

  static @Nullable Bytes ofNullable(@Nullable String text) {
    return text == null ? null : of(text);
  }

  /** Reads a number of bytes from a buffer. */
  static Bytes take(ByteBuffer source, int length) {
    byte[] content = new byte[length];
    source.get(content);
    return new Bytes(content);
  }

  void putInto(ByteBuffer target) {
    target.put(content);
  }

  /**
   * Returns the number of bytes.
   *
   * @return a count
   */
  public int length() {
    return content.length;
  }

  /**
   * Copies the bytes into a new array.
   *
   * @return the new array
   */
  public byte[] toArray() {
    return content.clone();
  }

  /**
   * Decodes the text.
   *
   * @return the bytes as UTF-8
   */
  public String text() {
    return new String(content, StandardCharsets.UTF_8);
  }

  /** All bytes, for hashes of 64 bits. */
  long hash64() {
    long hash = content.length;
    for (byte b : content) {
      hash = (hash ^ b) * 0x9E3779B97F4A7C15L;
      hash ^= hash >>> 32;
    }
    return hash;
  }

  @Override
  public int compareTo(Bytes other) {
    return Arrays.compareUnsigned(content, other.content);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Bytes bytes
        && hash == bytes.hash
        && Arrays.equals(content, bytes.content);
  }

  @Override
  public int hashCode() {
    return hash;
  }

  /** For messages, in the form of {@link ByteText}. */
  @Override
  public String toString() {
    return ByteText.of(content);
  }
}
