package org.revenantdb.suite.cli;

import java.util.Locale;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Sizes in the usual form: {@code 16m}, {@code 1g}, {@code 4096}. */
final class ByteSize implements ITypeConverter<Long> {

  @Override
  public Long convert(String text) {
    String lower = text.toLowerCase(Locale.ROOT);
    int shift =
        switch (lower.isEmpty() ? ' ' : lower.charAt(lower.length() - 1)) {
          case 'k' -> 10;
          case 'm' -> 20;
          case 'g' -> 30;
          default -> 0;
        };
    String digits = shift == 0 ? lower : lower.substring(0, lower.length() - 1);
    try {
      return Math.multiplyExact(size(digits), 1L << shift);
    } catch (NumberFormatException | ArithmeticException e) {
      throw new TypeConversionException("'" + text + "' is not a size; write for instance 16m");
    }
  }

  /** Parses digits without a sign. */
  private static long size(String digits) {
    if (!digits.matches("[0-9]+")) {
      throw new NumberFormatException(digits);
    }
    return Long.parseLong(digits);
  }
}
