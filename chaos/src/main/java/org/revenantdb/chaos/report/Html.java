package org.revenantdb.chaos.report;

import java.util.Locale;

/** Text and numbers as markup. */
final class Html {

  private Html() {}

  /** Escapes text for an element or a quoted attribute. */
  static String escape(String text) {
    StringBuilder out = new StringBuilder(text.length() + 16);
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '&' -> out.append("&amp;");
        case '<' -> out.append("&lt;");
        case '>' -> out.append("&gt;");
        case '"' -> out.append("&quot;");
        case '\'' -> out.append("&#39;");
        case '\n', '\t' -> out.append(c);
        default -> out.append(Character.isISOControl(c) ? '\uFFFD' : c);
      }
    }
    return out.toString();
  }

  /** A coordinate: one digit after the point, none if it is zero. */
  static String px(double value) {
    long tenths = Math.round(value * 10);
    return tenths % 10 == 0
        ? Long.toString(tenths / 10)
        : String.format(Locale.ROOT, "%.1f", tenths / 10.0);
  }

  /** A whole number with separators. */
  static String count(long value) {
    return String.format(Locale.ROOT, "%,d", value);
  }
}
