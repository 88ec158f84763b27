package org.revenantdb.jmh.fork;

import java.util.Locale;

/** What a JVM of a measurement tells the one that started it: lines {@code = name number}. */
public final class Told {
  private Told() {}

  /**
   * Tells a number.
   *
   * @param name of it; it may have spaces
   * @param value of it
   */
  public static void tell(String name, double value) {
    System.out.printf(Locale.ROOT, "= %s %s%n", name, value);
  }
}
