package org.revenantdb.suite.model;

import java.io.IOException;
import java.io.InputStream;
import java.util.HexFormat;
import org.revenantdb.chaos.crash.Seeds;

/**
 * Values whose every byte follows from a version number, so that parent and child know them without
 * sending them.
 *
 * <p>Byte {@code p} of a value belongs to word {@code p / 8}. Word 0 is the version itself,
 * big-endian; word {@code i} is a hash of version and {@code i}. So a value of 8 bytes or more
 * contains its version, and a mix of two versions is detected.
 */
final class Values {

  /** The shortest value that contains its version. */
  static final int NAMED = 8;

  private Values() {}

  static byte[] of(long version, int length) {
    byte[] value = new byte[length];
    Words words = new Words(version);
    for (int p = 0; p < length; p++) {
      value[p] = words.at(p);
    }
    return value;
  }

  static InputStream stream(long version, long length) {
    return new Generated(version, length);
  }

  /** Checks every byte and returns the version. */
  static long verify(byte[] value) {
    if (value.length < NAMED) {
      throw new ModelFailure(
          "a value of " + value.length + " bytes is too short to have been written");
    }
    long version = 0;
    for (int p = 0; p < NAMED; p++) {
      version = version << 8 | (value[p] & 0xFF);
    }
    Words words = new Words(version);
    for (int p = NAMED; p < value.length; p++) {
      if (value[p] != words.at(p)) {
        throw corrupt(version, p, value.length);
      }
    }
    return version;
  }

  /** Checks every byte of a stream and returns the version. */
  static long verify(InputStream in) {
    try (in) {
      byte[] head = in.readNBytes(NAMED);
      long version = verify(head);
      Words words = new Words(version);
      byte[] buffer = new byte[8192];
      long p = NAMED;
      for (int n; (n = in.read(buffer)) >= 0; ) {
        for (int i = 0; i < n; i++, p++) {
          if (buffer[i] != words.at(p)) {
            throw corrupt(version, p, -1);
          }
        }
      }
      return version;
    } catch (IOException e) {
      throw new ModelFailure("a value cannot be read to its end", e);
    }
  }

  private static long word(long version, long index) {
    return index == 0 ? version : Seeds.of(version, index);
  }

  private static ModelFailure corrupt(long version, long position, long length) {
    return new ModelFailure(
        "the value that begins as version %s differs from it at byte %,d%s"
            .formatted(
                HexFormat.of().toHexDigits(version), position, length < 0 ? "" : " of " + length));
  }

  /** The word around the last position. */
  private static final class Words {

    private final long version;
    private long index;
    private long word;

    Words(long version) {
      this.version = version;
      this.word = version;
    }

    byte at(long position) {
      long wanted = position >>> 3;
      if (wanted != index) {
        index = wanted;
        word = Values.word(version, wanted);
      }
      return (byte) (word >>> (56 - 8 * (int) (position & 7)));
    }
  }

  private static final class Generated extends InputStream {

    private final Words words;
    private final long length;
    private long position;

    Generated(long version, long length) {
      this.words = new Words(version);
      this.length = length;
    }

    @Override
    public int read() {
      return position < length ? words.at(position++) & 0xFF : -1;
    }

    @Override
    public int read(byte[] target, int offset, int count) {
      if (position >= length) {
        return count == 0 ? 0 : -1;
      }
      int n = (int) Math.min(count, length - position);
      for (int i = 0; i < n; i++) {
        target[offset + i] = words.at(position++);
      }
      return n;
    }
  }
}
