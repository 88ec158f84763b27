package org.revenantdb.cli;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.UUID;
import java.util.regex.Pattern;
import org.revenantdb.collections.ByteReader;
import org.revenantdb.collections.ByteWriter;
import org.revenantdb.collections.CodecException;
import org.revenantdb.collections.KeyCodec;
import org.revenantdb.collections.Keys;

/**
 * Keys of typed tables as text: {@code ("Berlin", 4711, null)}, or the element alone if there is
 * one.
 *
 * <pre>
 * null true false      -12                integers of any size
 * "text"               escapes as in JSON
 * 1.5e0  1.5f          double (with a point, an exponent, NaN or Infinity), float
 * 1.5m                 decimal number
 * 0x00ff               bytes
 * 8-4-4-4-12 digits    UUID
 * (a, b)               a tuple inside
 * desc(a)              an element in descending order
 * </pre>
 */
final class TupleText {
  /*
   * The codes of the elements are FoundationDB's and those that the package collections.tuple adds. A codec decodes one
   * element and leaves the reader behind it, so the code alone must be known here.
   */
  private static final int NULL = 0x00;
  private static final int BYTES = 0x01;
  private static final int TEXT = 0x02;
  private static final int NESTED = 0x05;
  private static final int LEAST_INTEGER = 0x0B;
  private static final int GREATEST_INTEGER = 0x1D;
  private static final int FLOAT = 0x20;
  private static final int DOUBLE = 0x21;
  private static final int FALSE = 0x26;
  private static final int TRUE = 0x27;
  private static final int UUID_CODE = 0x30;
  private static final int DESCENDING = 0x40;
  private static final int DECIMAL = 0x41;
  private static final int NEVER = 0xFF;

  private TupleText() {}

  // ------------------------------------------------------------------------------- showing

  /** A key as text; hexadecimal, marked as no tuple, if it is none. */
  static String show(byte[] key) {
    ByteReader in = new ByteReader(key);
    StringBuilder text = new StringBuilder("(");
    int elements = 0;
    try {
      while (in.remaining() > 0) {
        text.append(elements == 0 ? "" : ", ");
        element(in, text);
        elements++;
      }
    } catch (CodecException | IllegalArgumentException noTuple) {
      return noTuple(key);
    }
    String shown = elements == 1 ? text.substring(1) : text.append(')').toString();
    // Other bytes may decode to the same elements, as an integer with leading zeros does.
    return Arrays.equals(read(shown), key) ? shown : noTuple(key);
  }

  private static String noTuple(byte[] key) {
    return "bytes(0x" + HexFormat.of().formatHex(key) + ")";
  }

  private static void element(ByteReader in, StringBuilder text) {
    int code = in.peek();
    if (code >= LEAST_INTEGER && code <= GREATEST_INTEGER) {
      text.append(Keys.bigIntegers().decode(in));
      return;
    }
    switch (code) {
      case NULL -> {
        in.skip(1);
        text.append("null");
      }
      case FALSE, TRUE -> text.append(Keys.booleans().decode(in));
      case BYTES -> text.append("0x").append(HexFormat.of().formatHex(Keys.bytes().decode(in)));
      case TEXT -> JsonText.append(Keys.strings().decode(in), text);
      case FLOAT -> text.append(Keys.floats().decode(in)).append('f');
      case DOUBLE -> text.append(Keys.doubles().decode(in));
      case UUID_CODE -> text.append(Keys.uuids().decode(in));
      case DECIMAL -> text.append(Keys.bigDecimals().decode(in)).append('m');
      case NESTED -> nested(in, text);
      case DESCENDING -> descending(in, text);
      default -> throw new IllegalArgumentException("no element begins with " + code);
    }
  }

  private static void nested(ByteReader in, StringBuilder text) {
    in.skip(1);
    text.append('(');
    for (int i = 0; ; i++) {
      if (in.peek() == NULL) {
        in.skip(1);
        if (in.peek() != NEVER) {
          text.append(')');
          return;
        }
        in.skip(1);
        text.append(i == 0 ? "" : ", ").append("null");
      } else {
        text.append(i == 0 ? "" : ", ");
        element(in, text);
      }
    }
  }

  private static void descending(ByteReader in, StringBuilder text) {
    in.skip(1);
    ByteReader inverted = in.inverted();
    text.append("desc(");
    element(inverted, text);
    if (inverted.readByte() != NULL) {
      throw new IllegalArgumentException("an element in descending order does not end");
    }
    text.append(')');
    in.skip(inverted.position());
  }

  // ------------------------------------------------------------------------------- reading

  /**
   * The key of a text.
   *
   * @throws NotationException if it is not one
   */
  static byte[] read(String text) {
    Parser parser = new Parser(text);
    ByteWriter out = new ByteWriter();
    parser.key(out);
    return out.toByteArray();
  }

  /** Reads elements from left to right. */
  private static final class Parser {
    private static final Pattern INTEGER = Pattern.compile("[+-]?\\d+");
    private static final Pattern UUID_TEXT =
        Pattern.compile("\\p{XDigit}{8}(-\\p{XDigit}{4}){3}-\\p{XDigit}{12}");

    private final String text;
    private int at;

    Parser(String text) {
      this.text = text;
    }

    void key(ByteWriter out) {
      if (accept("bytes(")) {
        out.writeBytes(Notation.HEX.read(word()));
        demand(')');
      } else if (accept("(")) {
        for (int i = 0; !accept(")"); i++) {
          separator(i);
          element(out);
        }
      } else {
        element(out);
      }
      skipSpace();
      if (at < text.length()) {
        throw wrong("the end");
      }
    }

    private void element(ByteWriter out) {
      skipSpace();
      if (at < text.length() && text.charAt(at) == '"') {
        int end = JsonText.endOf(text, at);
        if (end < 0) {
          throw wrong("a text with a closing quote");
        }
        Keys.strings().encode(JsonText.read(text.substring(at, end)), out);
        at = end;
      } else if (accept("desc(")) {
        out.writeByte(DESCENDING);
        int from = out.length();
        element(out);
        demand(')');
        out.writeByte(NULL);
        out.invertFrom(from);
      } else if (accept("(")) {
        out.writeByte(NESTED);
        for (int i = 0; !accept(")"); i++) {
          separator(i);
          int from = out.length();
          element(out);
          if (out.isZeroFrom(from)) {
            out.writeByte(NEVER);
          }
        }
        out.writeByte(NULL);
      } else {
        word(out);
      }
    }

    private void word(ByteWriter out) {
      int start = at;
      String word = word();
      try {
        if (word.equals("null")) {
          out.writeByte(NULL);
        } else if (word.equals("true") || word.equals("false")) {
          Keys.booleans().encode(Boolean.valueOf(word), out);
        } else if (word.startsWith("0x")) {
          Keys.bytes().encode(Notation.HEX.read(word), out);
        } else if (UUID_TEXT.matcher(word).matches()) {
          Keys.uuids().encode(UUID.fromString(word), out);
        } else if (INTEGER.matcher(word).matches()) {
          Keys.bigIntegers().encode(new BigInteger(word), out);
        } else if (word.endsWith("m")) {
          encode(Keys.bigDecimals(), new BigDecimal(withoutLast(word)), out);
        } else if (word.endsWith("f")) {
          encode(Keys.floats(), Float.valueOf(withoutLast(word)), out);
        } else {
          Keys.doubles().encode(Double.valueOf(word), out);
        }
      } catch (NumberFormatException noElement) {
        at = start;
        throw wrong("null, true, false, a number, \"text\", 0x and bytes, a UUID, or (");
      }
    }

    private static <K> void encode(KeyCodec<K> codec, K value, ByteWriter out) {
      codec.encode(value, out);
    }

    private static String withoutLast(String word) {
      return word.substring(0, word.length() - 1);
    }

    private String word() {
      skipSpace();
      int start = at;
      while (at < text.length() && ",() \t".indexOf(text.charAt(at)) < 0) {
        at++;
      }
      return text.substring(start, at);
    }

    private void separator(int index) {
      if (index > 0) {
        demand(',');
      }
    }

    private void demand(char expected) {
      skipSpace();
      if (at >= text.length() || text.charAt(at) != expected) {
        throw wrong("'" + expected + "'");
      }
      at++;
    }

    private boolean accept(String expected) {
      skipSpace();
      if (text.startsWith(expected, at)) {
        at += expected.length();
        return true;
      }
      return false;
    }

    private void skipSpace() {
      while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
        at++;
      }
    }

    private NotationException wrong(String expected) {
      return new NotationException(
          "at character " + (at + 1) + " of the key " + text + ": expected " + expected);
    }
  }
}
