package org.revenantdb.chaos.oracle;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/**
 * Bytes in readable form, for messages.
 *
 * <p>Text stands in quotes. If other bytes are between or behind the text, for instance in a name
 * padded with zeros, the text stands there with these bytes escaped, followed by all bytes in
 * hexadecimal. So it can be compared with a text and with numbers. Everything else is hexadecimal.
 *
 * {@snippet :
 * "value 1"
 * "value 1\0\0" (0x76616c756520310000)
 * 0x00ff
 * }
 */
final class ByteText {

  /** Longer ones are shortened. */
  private static final int SHOWN = 60;

  private static final int HEAD = 36;
  private static final int TAIL = SHOWN - HEAD;

  /** Up to this many zeros in a row are shown one by one. */
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
    // Numbers also contain a printable byte now and then.
    return printable > 0 && 3 * strange <= printable ? escaped(text.toString()) : hex();
  }

  /** A long text is shown with its end, which often contains other bytes. */
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

  /** Decodes UTF-8, and escapes invalid bytes and characters that are not visible. */
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
