package org.revenantdb.chaos.oracle;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/**
 * Bytes as a person reads them in a message.
 *
 * <p>Text stands in quotes. Text with something between it or behind it, a name padded with zeros
 * for instance, stands there with that escaped, and in hexadecimal beside it: so it can be compared
 * with a text as well as with what is shown as numbers only. All else is hexadecimal.
 *
 * {@snippet :
 * "value 1"
 * "value 1\0\0" (0x76616c756520310000)
 * 0x00ff
 * }
 */
final class ByteText {

  /** Longer ones are cut. */
  private static final int SHOWN = 60;

  private static final int HEAD = 36;
  private static final int TAIL = SHOWN - HEAD;

  /** As many zeros in a row are still shown one by one. */
  private static final int FEW = 4;

  private final byte[] content;
  private final StringBuilder text = new StringBuilder();
  private int zeros;
  private boolean padded;
  private int printable;
  private int strange;

  private ByteText(byte[] content) {
    this.content = content;
  }

  static String of(byte[] content) {
    return new ByteText(content).shown();
  }

  private String shown() {
    escape();
    if (strange == 0 && !padded) {
      return quoted(StandardCharsets.UTF_8.decode(ByteBuffer.wrap(content)).toString());
    }
    // Numbers have a printable byte here and there, too.
    return printable > 0 && 3 * strange <= printable ? escaped(text.toString()) : hex();
  }

  /** Of a long one the end is shown, too: that is where it often is no text. */
  private String escaped(String all) {
    return all.length() <= SHOWN
        ? '"' + all + "\" (" + hex() + ")"
        : '"' + all.substring(0, HEAD) + "…" + all.substring(all.length() - TAIL) + '"' + length();
  }

  private String quoted(String all) {
    return all.length() <= SHOWN
        ? '"' + all + '"'
        : '"' + all.substring(0, SHOWN) + "…\"" + length();
  }

  private String hex() {
    int shown = Math.min(content.length, SHOWN / 2);
    String hex = "0x" + HexFormat.of().formatHex(content, 0, shown);
    return shown == content.length ? hex : hex + "…" + length();
  }

  private String length() {
    return " (" + content.length + " bytes)";
  }

  /** Decodes what is UTF-8, and escapes what is none and what has no shape. */
  private void escape() {
    CharsetDecoder decoder = StandardCharsets.UTF_8.newDecoder();
    ByteBuffer rest = ByteBuffer.wrap(content);
    CharBuffer chars = CharBuffer.allocate(content.length);
    while (rest.hasRemaining()) {
      CoderResult result = decoder.reset().decode(rest, chars, /* endOfInput= */ true);
      for (char c : chars.flip().toString().toCharArray()) {
        add(c);
      }
      chars.clear();
      for (int i = 0; result.isError() && i < result.length(); i++) {
        addStrange(rest.get() & 0xFF);
      }
    }
    endZeros();
  }

  private void add(char c) {
    if (c == 0) {
      zeros++;
      padded = true;
    } else if (Character.isISOControl(c)) {
      addStrange(c);
    } else {
      endZeros();
      printable++;
      text.append(c == '\\' ? "\\\\" : c);
    }
  }

  private void addStrange(int value) {
    endZeros();
    strange++;
    text.append("\\x").append(HexFormat.of().toHexDigits((byte) value));
  }

  private void endZeros() {
    text.append(zeros <= FEW ? "\\0".repeat(zeros) : "\\0×" + zeros);
    zeros = 0;
  }
}
