package org.revenantdb.cli;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * How bytes are written at the shell. What a verb shows can be typed as an argument of another, and
 * names the same bytes, in each notation.
 *
 * <p>Threads: stateless.
 */
enum Notation {
  /**
   * Text where the bytes are UTF-8 that can be printed and do not look like hexadecimal; else hex.
   */
  AUTO {
    @Override
    String show(byte[] bytes) {
      String text = printable(bytes);
      return text == null || text.startsWith(PREFIX) ? PREFIX + HEX_DIGITS.formatHex(bytes) : text;
    }

    @Override
    byte[] read(String text) {
      return text.startsWith(PREFIX) ? HEX.read(text) : TEXT.read(text);
    }
  },
  /** UTF-8, whatever the bytes are; what is not UTF-8 or cannot be printed becomes {@code \xx}. */
  TEXT {
    @Override
    String show(byte[] bytes) {
      return Escapes.escaped(bytes);
    }

    @Override
    byte[] read(String text) {
      return Escapes.bytes(text);
    }
  },
  /** Hexadecimal digits behind {@code 0x}. */
  HEX {
    @Override
    String show(byte[] bytes) {
      return PREFIX + HEX_DIGITS.formatHex(bytes);
    }

    @Override
    byte[] read(String text) {
      String digits = text.startsWith(PREFIX) ? text.substring(PREFIX.length()) : text;
      try {
        return HEX_DIGITS.parseHex(digits);
      } catch (IllegalArgumentException wrong) {
        throw new NotationException(
            "\"" + text + "\" is not hexadecimal: an even number of digits 0 to 9 and a to f");
      }
    }
  },
  /** The keys of typed tables: {@code ("Berlin", 4711)}. */
  TUPLE {
    @Override
    String show(byte[] bytes) {
      return TupleText.show(bytes);
    }

    @Override
    byte[] read(String text) {
      return TupleText.read(text);
    }
  };

  private static final String PREFIX = "0x";

  private static final HexFormat HEX_DIGITS = HexFormat.of();

  /** Bytes as this notation shows them. */
  abstract String show(byte[] bytes);

  /**
   * The bytes of a typed text.
   *
   * @throws NotationException if it is not of this notation
   */
  abstract byte[] read(String text);

  /** The text that the bytes encode; null if they are not UTF-8, or some cannot be printed. */
  static @Nullable String printable(byte[] bytes) {
    try {
      String text =
          StandardCharsets.UTF_8
              .newDecoder()
              .onMalformedInput(CodingErrorAction.REPORT)
              .decode(ByteBuffer.wrap(bytes))
              .toString();
      return text.indexOf('\\') < 0 && text.codePoints().allMatch(Notation::isPrintable)
          ? text
          : null;
    } catch (CharacterCodingException notText) {
      return null;
    }
  }

  static boolean isPrintable(int codePoint) {
    return switch (Character.getType(codePoint)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.SURROGATE,
          Character.PRIVATE_USE,
          Character.UNASSIGNED,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR ->
          false;
      default -> true;
    };
  }
}
