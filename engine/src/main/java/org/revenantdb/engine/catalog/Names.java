package org.revenantdb.engine.catalog;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.revenantdb.engine.LimitException;

/** Formats keys for messages, and encodes names as keys. */
public final class Names {
  private static final int LONGEST = 40;

  private Names() {}

  /**
   * A name in UTF-8.
   *
   * @param what what has the name, for messages
   * @param longest the greatest number of bytes
   * @throws LimitException with {@link LimitException.Reason#NAME_LENGTH} if it is empty or too
   *     long, {@link LimitException.Reason#NAME_CHARACTERS} if it has no UTF-8
   */
  static byte[] utf8(String what, String name, int longest) {
    byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
    if (!name.equals(new String(bytes, StandardCharsets.UTF_8))) {
      throw new LimitException(
          LimitException.Reason.NAME_CHARACTERS,
          "the name of "
              + what
              + " has half of a surrogate pair, which UTF-8 cannot encode; correct the name");
    }
    demandLength(what, bytes, longest, "bytes of UTF-8");
    return bytes;
  }

  /**
   * Refuses a name that is empty or too long.
   *
   * @param what what has the name, for messages
   * @param longest the greatest number of bytes
   * @param unit the unit of the length, for messages
   * @throws LimitException with {@link LimitException.Reason#NAME_LENGTH}
   */
  public static void demandLength(String what, byte[] name, int longest, String unit) {
    if (name.length == 0 || name.length > longest) {
      throw new LimitException(
          LimitException.Reason.NAME_LENGTH,
          "the name of "
              + what
              + " has 1 to "
              + longest
              + " "
              + unit
              + "; this one has "
              + name.length);
    }
  }

  /** The key in quotes if it is printable ASCII, else in hexadecimal; a long key is cut. */
  public static String of(byte[] key) {
    int length = Math.min(key.length, LONGEST);
    String more = length < key.length ? "..." : "";
    for (int i = 0; i < length; i++) {
      if (key[i] < ' ' || key[i] > '~') {
        return "0x" + HexFormat.of().formatHex(key, 0, length) + more;
      }
    }
    return '"' + new String(key, 0, length, StandardCharsets.US_ASCII) + more + '"';
  }
}
