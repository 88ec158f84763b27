package org.revenantdb.cli;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * Bytes as printable ASCII and UTF-8 with {@code \xx} for all else and {@code \\} for a backslash:
 * the escapes of the dumps of Berkeley DB and LMDB.
 */
final class Escapes {
  private static final HexFormat HEX = HexFormat.of();

  private Escapes() {}

  static String escaped(byte[] bytes) {
    StringBuilder text = new StringBuilder(bytes.length);
    int at = 0;
    while (at < bytes.length) {
      int length = lengthOfPrintable(bytes, at);
      if (length == 0) {
        text.append('\\').append(HEX.toHexDigits(bytes[at]));
        at++;
      } else {
        String printable = new String(bytes, at, length, StandardCharsets.UTF_8);
        text.append(printable.equals("\\") ? "\\\\" : printable);
        at += length;
      }
    }
    return text.toString();
  }

  /** A name in a line of output: no character of it can disturb the line. */
  static String shown(String name) {
    return escaped(name.getBytes(StandardCharsets.UTF_8));
  }

  /** How many bytes the printable character there has; 0 if there is none. */
  private static int lengthOfPrintable(byte[] bytes, int at) {
    int lead = bytes[at] & 0xFF;
    int length =
        lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
    if (length == 0 || at + length > bytes.length) {
      return 0;
    }
    String text = new String(bytes, at, length, StandardCharsets.UTF_8);
    byte[] encoded = text.getBytes(StandardCharsets.UTF_8);
    boolean isWhole =
        text.codePointCount(0, text.length()) == 1
            && Arrays.equals(encoded, 0, encoded.length, bytes, at, at + length);
    return isWhole && Notation.isPrintable(text.codePointAt(0)) ? length : 0;
  }

  static byte[] bytes(String text) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(text.length());
    int at = 0;
    while (at < text.length()) {
      int next = text.indexOf('\\', at);
      if (next < 0) {
        next = text.length();
      }
      bytes.writeBytes(text.substring(at, next).getBytes(StandardCharsets.UTF_8));
      at = next;
      if (at < text.length()) {
        at += unescaped(text, at, bytes);
      }
    }
    return bytes.toByteArray();
  }

  /** Reads one escape; how many characters it has. */
  private static int unescaped(String text, int at, ByteArrayOutputStream bytes) {
    if (text.startsWith("\\\\", at)) {
      bytes.write('\\');
      return 2;
    }
    if (at + 3 <= text.length()
        && HexFormat.isHexDigit(text.charAt(at + 1))
        && HexFormat.isHexDigit(text.charAt(at + 2))) {
      bytes.write(HexFormat.fromHexDigits(text, at + 1, at + 3));
      return 3;
    }
    throw new NotationException(
        "the backslash at character "
            + (at + 1)
            + " of \""
            + text
            + "\" begins no escape; write \\\\ for a backslash, or \\ and two hexadecimal digits for a byte");
  }
}
