package org.revenantdb.chaos.report;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.Locale;

/** The unit of a number, and its text form. */
enum Unit {
  /** A count. */
  COUNT(1, 1_000, "", "") {
    @Override
    String format(double value) {
      double size = Math.abs(value);
      if (size >= 1e9) {
        return digits(value / 1e9) + " G";
      }
      return size >= 1e6 ? digits(value / 1e6) + " M" : digits(value);
    }
  },
  /** Bytes, in powers of 1024. */
  BYTES(1, 1_024, "B", "KiB", "MiB", "GiB", "TiB"),
  /** Milliseconds. */
  MILLIS(1_000, 1_000, "µs", "ms", "s"),
  /** Seconds. */
  SECONDS(1_000_000, 1_000, "µs", "ms", "s"),
  /** A share of one, written in percent. */
  SHARE(100, Double.POSITIVE_INFINITY, "%");

  private final double factor;
  private final double step;

  @SuppressWarnings("ImmutableEnumChecker") // private and never changed
  private final String[] names;

  Unit(double factor, double step, String... names) {
    this.factor = factor;
    this.step = step;
    this.names = names;
  }

  /** The value with three digits, or with all digits before the point, and its unit. */
  String format(double value) {
    if (value == 0) {
      return "0";
    }
    double scaled = value * factor;
    int name = 0;
    while (Math.abs(scaled) >= step && name < names.length - 1) {
      scaled /= step;
      name++;
    }
    return digits(scaled) + " " + names[name];
  }

  /** Whether round numbers of it are powers of two. */
  boolean binary() {
    return this == BYTES;
  }

  /** Three digits, or all digits before the point. */
  static String digits(double value) {
    if (!Double.isFinite(value)) {
      return "not a number";
    }
    BigDecimal exact = BigDecimal.valueOf(value);
    int before = exact.precision() - exact.scale();
    BigDecimal rounded = exact.round(new MathContext(Math.max(3, before), RoundingMode.HALF_EVEN));
    BigDecimal stripped = rounded.stripTrailingZeros();
    return String.format(Locale.ROOT, "%,." + Math.max(0, stripped.scale()) + "f", stripped);
  }
}
