package org.revenantdb.jmh.tpcc;

import java.util.SplittableRandom;

/**
 * The random values of the specification: numbers, uniform and non-uniform (NURand), texts, names.
 * One thread.
 *
 * <p>Source: TPC-C 2.1.6 and 4.3.2. We differ: with fewer customers, names or items than specified,
 * the constant {@code A} of NURand is smaller in proportion (and still a power of two less one),
 * because otherwise all would be equally likely.
 */
final class TpccRandom {
  private static final String[] SYLLABLES = {
    "BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"
  };
  private static final String ALPHANUMERIC =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  private static final int FULL_NAMES = 1_000;

  /** The constants C of NURand: for names another one while loading than while running. */
  private static final int C_NAME_LOAD = 173;

  /** 99 off that of the load, which is between 65 and 119 and neither 96 nor 112 (2.1.6.1). */
  private static final int C_NAME_RUN = 74;

  private static final int C_CUSTOMER = 259;
  private static final int C_ITEM = 7911;

  private final SplittableRandom random;
  private final TpccScale scale;

  TpccRandom(TpccScale scale, long seed) {
    this.scale = scale;
    this.random = new SplittableRandom(seed);
  }

  TpccScale scale() {
    return scale;
  }

  /** Evenly from the least to the greatest, both of them among it. */
  int between(int least, int greatest) {
    return random.nextInt(least, greatest + 1);
  }

  /** Returns true with a probability in percent. */
  boolean percent(int percent) {
    return between(1, 100) <= percent;
  }

  int customer() {
    return uneven(1023, TpccScale.FULL_CUSTOMERS, scale.customers(), C_CUSTOMER) + 1;
  }

  int item() {
    return uneven(8191, TpccScale.FULL_ITEMS, scale.items(), C_ITEM) + 1;
  }

  /** A last name, as transactions ask for it. */
  String lastName() {
    return lastName(uneven(255, FULL_NAMES, scale.lastNames(), C_NAME_RUN));
  }

  /** The last name of a customer that is loaded: each name once, and then by chance. */
  String lastNameOf(int customer) {
    int names = scale.lastNames();
    return lastName(customer <= names ? customer - 1 : uneven(255, FULL_NAMES, names, C_NAME_LOAD));
  }

  private static String lastName(int number) {
    return SYLLABLES[number / 100 % 10] + SYLLABLES[number / 10 % 10] + SYLLABLES[number % 10];
  }

  /**
   * NURand over 0 to {@code count - 1}.
   *
   * @param fullA the constant A of the specification, for {@code fullCount}
   */
  private int uneven(int fullA, int fullCount, int count, int c) {
    int share = Math.max(1, (int) ((long) fullA * count / fullCount));
    int a = 2 * Integer.highestOneBit(share) - 1;
    return ((between(0, a) | between(0, count - 1)) + c) % count;
  }

  /** A warehouse that is not this one; there must be two. */
  int otherWarehouse(int warehouse) {
    int other = between(1, scale.warehouses() - 1);
    return other < warehouse ? other : other + 1;
  }

  /** Letters and digits. */
  String text(int shortest, int longest) {
    int length = between(shortest, longest);
    StringBuilder text = new StringBuilder(length);
    for (int i = 0; i < length; i++) {
      text.append(ALPHANUMERIC.charAt(random.nextInt(ALPHANUMERIC.length())));
    }
    return text.toString();
  }

  String digits(int length) {
    StringBuilder text = new StringBuilder(length);
    for (int i = 0; i < length; i++) {
      text.append((char) ('0' + random.nextInt(10)));
    }
    return text.toString();
  }

  /** As {@link #text}; one in ten has ORIGINAL in it. */
  String data(int shortest, int longest) {
    String text = text(shortest, longest);
    if (!percent(10)) {
      return text;
    }
    String mark = "ORIGINAL";
    int at = between(0, text.length() - mark.length());
    return text.substring(0, at) + mark + text.substring(at + mark.length());
  }

  /** The numbers from 1 to this, in any order. */
  int[] permutation(int count) {
    int[] numbers = new int[count];
    for (int i = 0; i < count; i++) {
      int j = random.nextInt(i + 1);
      numbers[i] = numbers[j];
      numbers[j] = i + 1;
    }
    return numbers;
  }
}
