package org.revenantdb.engine.session;

import java.util.HexFormat;

/** Formats keys for messages. */
public final class KeyText {
  /** The greatest number of bytes of a key that is shown. */
  private static final int LONGEST = 32;

  private KeyText() {}

  /**
   * A key as text if all of it is printable ASCII, else in hexadecimal.
   *
   * @param key any bytes
   * @return its first 32 bytes, with three dots behind them if there are more
   */
  public static String of(byte[] key) {
    int length = Math.min(key.length, LONGEST);
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < length; i++) {
      if (key[i] < ' ' || key[i] > '~') {
        text.setLength(0);
        text.append("0x").append(HexFormat.of().formatHex(key, 0, length));
        break;
      }
      text.append((char) key[i]);
    }
    return text + (length < key.length ? "..." : "");
  }
}
