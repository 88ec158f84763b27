package org.revenantdb.jmh.work;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.util.SplittableRandom;

/**
 * A row of a table with two indexes.
 *
 * @param name 20 letters, indexed, unique
 * @param number indexed, not unique
 * @param note 60 letters, not indexed
 */
public record IndexedItem(String name, int number, String note) {
  /** Numbers are below that, so there are several rows with each one. */
  private static final int NUMBERS = 100_000;

  private static final int NAME = 20;
  private static final int NOTE = 60;

  /** Letters of one random number. */
  private static final int LETTERS = 10;

  private static final int BITS = 6;
  private static final String ALPHABET =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz-";

  static IndexedItem random(SplittableRandom random) {
    return new IndexedItem(letters(random, NAME), random.nextInt(NUMBERS), letters(random, NOTE));
  }

  private static String letters(SplittableRandom random, int count) {
    byte[] letters = new byte[count];
    long bits = 0;
    for (int i = 0; i < count; i++) {
      bits = i % LETTERS == 0 ? random.nextLong() : bits >>> BITS;
      letters[i] = (byte) ALPHABET.charAt((int) bits & (ALPHABET.length() - 1));
    }
    return new String(letters, US_ASCII);
  }
}
