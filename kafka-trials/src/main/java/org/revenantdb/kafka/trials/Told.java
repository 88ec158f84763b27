package org.revenantdb.kafka.trials;

import java.util.Locale;

/** Results for {@code ./revenant bench}, which reads lines {@code = name number}. */
final class Told {
  private Told() {}

  static void tell(String name, double value) {
    System.out.printf(Locale.ROOT, "= %s %s%n", name, value);
    System.out.flush();
  }
}
