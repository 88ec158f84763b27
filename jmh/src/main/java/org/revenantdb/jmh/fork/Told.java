package org.revenantdb.jmh.fork;

import java.util.Locale;

/**
 * The results that a JVM of a measurement reports to the one that started it: lines {@code = name
 * number}.
 */
public final class Told {
  private Told() {}

  /**
   * Reports a number.
   *
   * @param name of it; it may have spaces
   * @param value of it
   */
  public static void tell(String name, double value) {
    System.out.printf(Locale.ROOT, "= %s %s%n", name, value);
  }
}
