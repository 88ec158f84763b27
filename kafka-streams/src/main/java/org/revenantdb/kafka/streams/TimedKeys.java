package org.revenantdb.kafka.streams;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.apache.kafka.common.utils.Bytes;
import org.jspecify.annotations.Nullable;

/** Keys with times, in the format of Kafka's changelogs: the user's key and two numbers. */
enum TimedKeys {
  /** Key, start of the window (8 bytes), number of a duplicate (4 bytes). */
  WINDOW(Long.BYTES + Integer.BYTES) {
    @Override
    byte[] first(Bytes key, long from) {
      return window(key, Math.max(0, from), 0);
    }

    @Override
    byte[] last(Bytes key, long to) {
      return window(key, Math.max(0, to), -1); // all bits
    }

    @Override
    boolean isInTime(byte[] key, long from, long to) {
      long time = time(key);
      return time >= from && time <= to;
    }
  },

  /** Key, end of the session (8 bytes), its start (8 bytes). */
  SESSION(2 * Long.BYTES) {
    @Override
    byte[] first(Bytes key, long from) {
      return session(key, 0, Math.max(0, from));
    }

    @Override
    byte[] last(Bytes key, long to) {
      return session(key, to, Long.MAX_VALUE);
    }

    @Override
    boolean isInTime(byte[] key, long from, long to) {
      return time(key) >= from && start(key) <= to;
    }
  };

  private final int suffix;

  TimedKeys(int suffix) {
    this.suffix = suffix;
  }

  static byte[] window(Bytes key, long start, int duplicate) {
    byte[] of = key.get();
    return ByteBuffer.allocate(of.length + WINDOW.suffix)
        .put(of)
        .putLong(start)
        .putInt(duplicate)
        .array();
  }

  static byte[] session(Bytes key, long start, long end) {
    byte[] of = key.get();
    return ByteBuffer.allocate(of.length + SESSION.suffix)
        .put(of)
        .putLong(end)
        .putLong(start)
        .array();
  }

  /** The first key that a row of this key and not before this time can have. */
  abstract byte[] first(Bytes key, long from);

  /** The last one. */
  abstract byte[] last(Bytes key, long to);

  /**
   * The first row behind those of all keys up to one; null if there is no such bound. Rows of a key
   * that is the beginning of this one can lie behind those of this one.
   */
  byte @Nullable [] behind(byte[] key, long to) {
    byte[] end = StoreKeys.behindPrefix(key);
    for (int length = 0; length < key.length && end != null; length++) {
      byte[] beginning = last(Bytes.wrap(Arrays.copyOf(key, length)), Math.max(0, to));
      byte[] behind = StoreKeys.behind(beginning);
      if (Arrays.compareUnsigned(behind, end) > 0) {
        end = behind;
      }
    }
    return end;
  }

  /** Whether the time of a row, or a part of it, is in a range. */
  abstract boolean isInTime(byte[] key, long from, long to);

  /** Whether a row of a later segment can reach back to any time. */
  boolean hasLongTimes() {
    return this == SESSION;
  }

  /** The time that decides on the segment, and on when the row is over. */
  long time(byte[] key) {
    return ByteBuffer.wrap(key).getLong(key.length - suffix);
  }

  /** The start of a session. */
  long start(byte[] key) {
    return ByteBuffer.wrap(key).getLong(key.length - Long.BYTES);
  }

  /** The key of the user. */
  byte[] key(byte[] key) {
    return Arrays.copyOf(key, key.length - suffix);
  }

  boolean isIn(byte[] key, @Nullable Bytes keyFrom, @Nullable Bytes keyTo, long from, long to) {
    int length = key.length - suffix;
    return (keyFrom == null || compare(key, length, keyFrom.get()) >= 0)
        && (keyTo == null || compare(key, length, keyTo.get()) <= 0)
        && isInTime(key, from, to);
  }

  private static int compare(byte[] key, int length, byte[] other) {
    return Arrays.compareUnsigned(key, 0, length, other, 0, other.length);
  }
}
