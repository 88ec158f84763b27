package org.revenantdb.engine.cli;

import java.util.Arrays;
import java.util.HexFormat;

/**
 * Formats bytes for people: as text if they are ASCII, else in hexadecimal; long values are cut.
 */
final class Shown {
  private static final int LONGEST = 48;

  private Shown() {}

  static String key(byte[] key) {
    return key.length == 0 ? "none" : bytes(key);
  }

  static String bytes(byte[] bytes) {
    byte[] shown = Arrays.copyOf(bytes, Math.min(LONGEST, bytes.length));
    boolean ascii = true;
    StringBuilder text = new StringBuilder();
    for (byte b : shown) {
      ascii &= b >= ' ' && b < 0x7F;
      text.append((char) b);
    }
    String rest = bytes.length > LONGEST ? "... (" + bytes.length + " bytes)" : "";
    return (ascii ? "\"" + text + "\"" : HexFormat.of().formatHex(shown)) + rest;
  }
}
