package org.revenantdb.collections.row;

import java.util.Arrays;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/** Keys as messages show them. */
public final class KeyText {
  private static final int CHARACTERS = 100;

  private KeyText() {}

  /** A key. Its own text may throw. */
  public static String of(@Nullable Object key) {
    String text;
    try {
      text = key instanceof byte[] bytes ? HexFormat.of().formatHex(bytes) : String.valueOf(key);
    } catch (RuntimeException broken) {
      text = "of " + (key == null ? "no type" : key.getClass().getName());
    }
    return text.length() <= CHARACTERS ? text : text.substring(0, CHARACTERS) + "...";
  }

  /** The bytes of a key. */
  public static String ofBytes(byte[] key, int length) {
    return "of bytes " + of(Arrays.copyOf(key, length));
  }
}
