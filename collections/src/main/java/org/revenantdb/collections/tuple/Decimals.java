package org.revenantdb.collections.tuple;

import java.math.BigDecimal;
import java.math.BigInteger;
import org.revenantdb.collections.ByteReader;
import org.revenantdb.collections.ByteWriter;

/**
 * Decimal numbers in the order of {@link BigDecimal#compareTo}. FoundationDB has codes for decimal
 * numbers, 23 and 24, whose bytes are not in order; so this is one of ours.
 *
 * <pre>
 * 41, 80                               zero
 * 41, 81, exponent, digits, 00         above zero: 0.digits * 10^exponent
 * 41, 7F, inverted(exponent, digits, 00)   below zero
 * </pre>
 *
 * <p>The exponent is an integer of the tuple layer. The digits, of which the first is not a zero,
 * are taken in pairs; a pair is a byte of 1 + its value. A last single digit is followed by a zero;
 * there are no other zeros at the end.
 */
public final class Decimals {
  private static final int BELOW = 0x7F;
  private static final int EQUAL = 0x80;
  private static final int ABOVE = 0x81;

  private Decimals() {}

  /** Writes a number. */
  public static void write(BigDecimal value, ByteWriter out) {
    out.writeByte(TypeCode.DECIMAL);
    if (value.signum() == 0) {
      out.writeByte(EQUAL);
      return;
    }
    BigDecimal shortest = value.stripTrailingZeros();
    boolean isNegative = shortest.signum() < 0;
    out.writeByte(isNegative ? BELOW : ABOVE);
    int from = out.length();
    String digits = shortest.unscaledValue().abs().toString();
    Integers.write(digits.length() - (long) shortest.scale(), out);
    for (int i = 0; i < digits.length(); i += 2) {
      int second = i + 1 < digits.length() ? digits.charAt(i + 1) - '0' : 0;
      out.writeByte(1 + (digits.charAt(i) - '0') * 10 + second);
    }
    out.writeByte(0);
    if (isNegative) {
      out.invertFrom(from);
    }
  }

  /** Reads a number; it has no zeros at the end. */
  public static BigDecimal read(ByteReader in) {
    TypeCode.expect(in, TypeCode.DECIMAL);
    int sign = in.readByte();
    return switch (sign) {
      case EQUAL -> BigDecimal.ZERO;
      case ABOVE -> magnitude(in);
      case BELOW -> {
        ByteReader inverted = in.inverted();
        BigDecimal magnitude = magnitude(inverted);
        in.skip(inverted.position());
        yield magnitude.negate();
      }
      default -> throw new IllegalArgumentException("a decimal number has no sign: " + sign);
    };
  }

  private static BigDecimal magnitude(ByteReader in) {
    long exponent = Integers.read(in);
    StringBuilder digits = new StringBuilder();
    for (int pair = in.readByte(); pair != 0; pair = in.readByte()) {
      if (pair > 100) {
        throw new IllegalArgumentException(
            "a decimal number has an invalid pair of digits: " + pair);
      }
      digits.append((char) ('0' + (pair - 1) / 10)).append((char) ('0' + (pair - 1) % 10));
    }
    if (digits.isEmpty()) {
      throw new IllegalArgumentException("a decimal number has no digits");
    }
    if (digits.charAt(digits.length() - 1) == '0') {
      digits.setLength(digits.length() - 1);
    }
    return new BigDecimal(
        new BigInteger(digits.toString()), Math.toIntExact(digits.length() - exponent));
  }
}
