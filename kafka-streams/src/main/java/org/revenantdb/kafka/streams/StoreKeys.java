package org.revenantdb.kafka.streams;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * The keys of the one table that a store has. The engine has no empty key, and the rows that
 * describe the store must not meet those of the user.
 */
final class StoreKeys {
  /*
   * Row                    is
   * 00 00 name             describes the store; a name begins with a letter
   * 00 00 FF               the empty key of the user
   * 00 01 rest             key of the user: 00 rest
   * b rest, b > 00         key of the user: b rest
   *
   * The order of the user's keys is that of their rows, as unsigned bytes. What describes the store comes first, so
   * that the user's rows are appended when they are loaded in their order.
   */
  private static final byte ESCAPE = 0;
  private static final byte OWN = 0;
  private static final byte ZERO = 1;
  private static final byte EMPTY = (byte) 0xFF;
  private static final byte[] NO_ROOM = {};

  /** Is part of the format of a store; with other rows for the same keys it is another one. */
  static final String LAYOUT = "rows-2 ";

  /** The first row that describes the store, and the first behind them. */
  static final byte[] OWN_FROM = {ESCAPE, OWN};

  static final byte[] OWN_TO = {ESCAPE, OWN, EMPTY};

  static final byte[] INCARNATION = own("incarnation");

  /** Is there if the marker file is durable. */
  static final byte[] MARKED = own("marked");

  static final byte[] POSITION = own("position");

  /** The time of a store whose rows expire. */
  static final byte[] TIME = own("time");

  /** Is there if offsets were removed: Kafka Streams has declared the store corrupted. */
  static final byte[] CLEARED = own("cleared");

  private static final byte[] OFFSET = own("offset ");
  static final byte[] OFFSETS_FROM = OFFSET;
  static final byte[] OFFSETS_TO = incremented(OFFSET);

  private StoreKeys() {}

  private static byte[] own(String name) {
    byte[] text = name.getBytes(StandardCharsets.UTF_8);
    byte[] key = new byte[text.length + 2];
    key[0] = ESCAPE;
    key[1] = OWN;
    System.arraycopy(text, 0, key, 2, text.length);
    return key;
  }

  /** The row of a key of the user. */
  static byte[] row(byte[] key) {
    boolean isItsOwnRow = key.length > 0 && key[0] != ESCAPE;
    return isItsOwnRow ? key : row(key, 0, key.length, NO_ROOM);
  }

  /**
   * The row of a key that is in other bytes.
   *
   * @param room is used if it has the right length
   */
  static byte[] row(byte[] in, int from, int length, byte[] room) {
    if (length == 0) {
      return OWN_TO.clone();
    }
    boolean isEscaped = in[from] == ESCAPE;
    int rowLength = isEscaped ? length + 1 : length;
    byte[] row = room.length == rowLength ? room : new byte[rowLength];
    if (isEscaped) {
      row[0] = ESCAPE;
      row[1] = ZERO;
      System.arraycopy(in, from + 1, row, 2, length - 1);
    } else {
      System.arraycopy(in, from, row, 0, length);
    }
    return row;
  }

  static int rowLength(byte[] key) {
    return key.length == 0 ? OWN_TO.length : key[0] == ESCAPE ? key.length + 1 : key.length;
  }

  /** The key of the user in a row; null if the row describes the store. */
  static byte @Nullable [] key(byte[] row) {
    if (row[0] != ESCAPE) {
      return row;
    }
    if (row[1] == OWN) {
      return row[2] == EMPTY ? new byte[0] : null;
    }
    byte[] key = new byte[row.length - 1];
    System.arraycopy(row, 2, key, 1, key.length - 1);
    return key;
  }

  /** The first row behind that of a key. */
  static byte[] behind(byte[] key) {
    byte[] row = row(key);
    return Arrays.copyOf(row, row.length + 1);
  }

  /** The first row behind those of keys with a prefix; null if there is no such bound. */
  static byte @Nullable [] behindPrefix(byte[] prefix) {
    for (int i = prefix.length - 1; i >= 0; i--) {
      if (prefix[i] != (byte) 0xFF) {
        return row(incremented(Arrays.copyOf(prefix, i + 1)));
      }
    }
    return null;
  }

  private static byte[] incremented(byte[] bytes) {
    byte[] next = bytes.clone();
    next[next.length - 1]++;
    return next;
  }

  static byte[] offset(TopicPartition partition) {
    return own("offset " + partition.partition() + " " + partition.topic());
  }

  static TopicPartition partition(byte[] offsetRow) {
    String text =
        new String(
            offsetRow, OFFSET.length, offsetRow.length - OFFSET.length, StandardCharsets.UTF_8);
    int end = text.indexOf(' ');
    return new TopicPartition(text.substring(end + 1), Integer.parseInt(text.substring(0, end)));
  }
}
