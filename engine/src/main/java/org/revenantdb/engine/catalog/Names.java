package org.revenantdb.engine.catalog;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.revenantdb.engine.LimitException;

/** Keys in messages, and names as keys. */
public final class Names {
  private static final int LONGEST = 40;

  private Names() {}

  /**
   * A name in UTF-8.
   *
   * @param what of what it is the name, for messages
   * @param longest most bytes
   * @throws LimitException with {@link LimitException.Reason#KEY_LENGTH} if it has no UTF-8, or is
   *     too short or too long
   */
  static byte[] utf8(String what, String name, int longest) {
    byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
    if (!name.equals(new String(bytes, StandardCharsets.UTF_8))) {
      throw new LimitException(
          LimitException.Reason.KEY_LENGTH,
          "the name of " + what + " has characters that are half of a pair, and have no UTF-8");
    }
    if (bytes.length == 0 || bytes.length > longest) {
      throw new LimitException(
          LimitException.Reason.KEY_LENGTH,
          "the name of "
              + what
              + " has 1 to "
              + longest
              + " bytes of UTF-8; this one has "
              + bytes.length);
    }
    return bytes;
  }

  /** The key in quotes if it is printable ASCII, else in hex; cut off where it is long. */
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
