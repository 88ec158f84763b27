package org.revenantdb.engine.backup;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.zip.CRC32C;
import org.revenantdb.engine.page.Page;

/** The bytes of a backup in a stream; {@code docs/format.md} §13 has the drawing. */
final class StreamLayout {
  /*
   * Stream      block of 512 bytes with the header of tar | content, filled up with zeros to whole blocks | ... | two
   *             blocks of zeros
   *
   * Content     0 crc of all that follows | 4 kind | 8 number of the entry | 16 id of the copy | 32 body
   *
   * A header of tar follows from the content: its name from the kind and the position, its size from the length. All
   * else in it is constant. So a reader makes the header again, and compares all of its bytes.
   */
  static final int BLOCK = 512;
  static final int ZERO_BLOCKS = 2;

  static final int CRC = 0;
  static final int KIND = CRC + Integer.BYTES;
  static final int NUMBER = KIND + Integer.BYTES;
  static final int ID = NUMBER + Long.BYTES;
  static final int ID_SIZE = 16;
  static final int BODY = ID + ID_SIZE;

  static final int MANIFEST = 1;
  static final int PAGES = 2;
  static final int LOG = 3;
  static final int END = 4;
  static final int CHANGED = 5;

  static final int MAGIC = BODY;
  static final int VERSION = MAGIC + Long.BYTES;
  static final int PAGE_SIZE = VERSION + Integer.BYTES;
  static final int SEGMENT_SIZE = PAGE_SIZE + Integer.BYTES;
  static final int LIFE = SEGMENT_SIZE + Integer.BYTES;
  static final int CREATED = LIFE + Integer.BYTES;
  static final int REDO_POINT = CREATED + Long.BYTES;
  static final int BASE_ID = REDO_POINT + Long.BYTES;
  static final int BASE_POSITION = BASE_ID + ID_SIZE;
  static final int MANIFEST_SIZE = BASE_POSITION + Long.BYTES;

  /** "RVNTBKUP". */
  static final long MAGIC_VALUE = 0x50554b42_544e5652L;

  static final int CURRENT_VERSION = 1;

  static final int FIRST_PAGE = BODY;
  static final int PAGE_COUNT = FIRST_PAGE + Integer.BYTES;
  static final int PAGE_BYTES = PAGE_COUNT + Integer.BYTES;

  static final int CHANGED_COUNT = BODY;
  static final int CHANGED_RESERVED = CHANGED_COUNT + Integer.BYTES;
  static final int CHANGED_IDS = CHANGED_RESERVED + Integer.BYTES;

  static final int LOG_FROM = BODY;
  static final int LOG_LENGTH = LOG_FROM + Long.BYTES;
  static final int SEGMENT_COUNT = LOG_LENGTH + Integer.BYTES;
  static final int SEGMENTS = SEGMENT_COUNT + Integer.BYTES;
  static final int SEGMENT_BYTES = 44;

  static final int END_ANALYSIS = BODY;
  static final int END_CHECKPOINT = END_ANALYSIS + Long.BYTES;
  static final int END_OF_LOG = END_CHECKPOINT + Long.BYTES;
  static final int END_PAGES = END_OF_LOG + Long.BYTES;
  static final int END_LOG_BYTES = END_PAGES + Long.BYTES;
  static final int END_CRCS = END_LOG_BYTES + Long.BYTES;
  static final int END_RESERVED = END_CRCS + Integer.BYTES;
  static final int END_SIZE = END_RESERVED + Integer.BYTES;

  /** The greatest content, which a reader keeps in memory. */
  static final int MAX_CONTENT = CHANGED_IDS + PageCopy.AT_ONCE * (Integer.BYTES + Page.SIZE);

  /**
   * So many pages of zeros at the end of an increment, which its base has not got, need not be in
   * it: as many as a file grows at once.
   */
  static final int MOST_ZEROS = 2_048;

  private static final String FOLDER = "revenant-backup/";
  private static final int NAME_FIELD = 100;
  private static final int SIZE_AT = 124;
  private static final int SIZE_DIGITS = 11;
  private static final int CHECKSUM_AT = 148;
  private static final int CHECKSUM_FIELD = 8;

  private StreamLayout() {}

  static ByteBuffer littleEndian(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** How many bytes a content has with the zeros behind it. */
  static int padded(int length) {
    return (length + BLOCK - 1) / BLOCK * BLOCK;
  }

  static int crc(byte[] bytes, int from, int length) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, from + KIND, length - KIND);
    return (int) crc.getValue();
  }

  /** The name of an entry; empty if there is no such kind. */
  static String name(ByteBuffer content, int at) {
    return switch (content.getInt(at + KIND)) {
      case MANIFEST -> FOLDER + "manifest";
      case PAGES -> {
        long first = content.getInt(at + FIRST_PAGE);
        yield FOLDER
            + "pages-%010d-%010d".formatted(first, first + content.getInt(at + PAGE_COUNT) - 1);
      }
      case CHANGED -> {
        int count = content.getInt(at + CHANGED_COUNT);
        int last = at + CHANGED_IDS + (count - 1) * Integer.BYTES;
        yield FOLDER
            + "changed-%010d-%010d"
                .formatted(content.getInt(at + CHANGED_IDS), content.getInt(last));
      }
      case LOG -> FOLDER + "log-%020d".formatted(content.getLong(at + LOG_FROM));
      case END -> FOLDER + "end";
      default -> "";
    };
  }

  /** Writes the header of tar. */
  static void putHeader(byte[] to, int at, String name, int size) {
    Arrays.fill(to, at, at + BLOCK, (byte) 0);
    put(to, at, name);
    put(to, at + NAME_FIELD, "0000600"); // mode
    put(to, at + 108, "0000000"); // user
    put(to, at + 116, "0000000"); // group
    put(to, at + SIZE_AT, octal(size, SIZE_DIGITS));
    put(to, at + 136, "00000000000"); // time
    put(to, at + CHECKSUM_AT, " ".repeat(CHECKSUM_FIELD));
    put(to, at + 156, "0"); // an ordinary file
    put(to, at + 257, "ustar");
    put(to, at + 263, "00"); // version
    put(to, at + 329, "0000000"); // device
    put(to, at + 337, "0000000");
    int sum = 0;
    for (int i = 0; i < BLOCK; i++) {
      sum += Byte.toUnsignedInt(to[at + i]);
    }
    put(to, at + CHECKSUM_AT, octal(sum, 6));
    to[at + CHECKSUM_AT + 6] = 0;
  }

  /** The size in a header; -1 if it is none that a backup can have. */
  static int size(byte[] header) {
    long size = 0;
    for (int i = SIZE_AT; i < SIZE_AT + SIZE_DIGITS; i++) {
      if (header[i] < '0' || header[i] > '7') {
        return -1;
      }
      size = size * 8 + header[i] - '0';
    }
    return size >= BODY && size <= MAX_CONTENT ? (int) size : -1;
  }

  private static String octal(int value, int digits) {
    String text = Integer.toOctalString(value);
    return "0".repeat(digits - text.length()) + text;
  }

  private static void put(byte[] to, int at, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
    System.arraycopy(bytes, 0, to, at, bytes.length);
  }
}
