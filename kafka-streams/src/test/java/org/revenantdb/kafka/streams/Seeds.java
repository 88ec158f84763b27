package org.revenantdb.kafka.streams;

import java.util.Random;

/** Random numbers of a test that can be repeated. */
final class Seeds {
  private static final String PROPERTY = "revenant.kafka.seed";

  private Seeds() {}

  /** Random numbers whose seed is printed, or was given. */
  static Random random() {
    long seed = Long.getLong(PROPERTY, System.nanoTime());
    System.out.println("repeat with -D" + PROPERTY + "=" + seed);
    Random random = new Random(seed);
    random.nextInt(); // the first numbers of seeds that are close are close as well
    return random;
  }
}
