package org.revenantdb.suite.model;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.revenantdb.chaos.crash.Seeds;

/**
 * The tables of the model. Each stresses another part of a store.
 *
 * <p>A key is a prefix common to all keys of the table, the row's number as four bytes, big-endian,
 * and padding whose length follows from the number. So keys are in the order of their numbers.
 */
enum KeySpace {
  /** Few rows that all sessions use: conflicts, long chains of versions. */
  HOT(0, 40, 0, 0),
  /** Many rows of medium size: evictions, splits. */
  WIDE(1, 3_000, 0, 40),
  /**
   * Keys up to the longest that are allowed: inner pages with few entries, deep trees, long fences.
   */
  LONG(2, 300, 180, 840),
  /** Runs of rows that are filled and removed: leaves that become empty, merges. */
  RANGE(3, 6_000, 0, 0),
  /** Values in overflow pages. */
  BLOB(4, 40, 0, 20),
  /** Many tables with a few rows each, created on demand, so that kills hit their creation, too. */
  EXTRA(5, 120, 0, 10);

  private static final int LONGEST_KEY = 1_024;
  private static final int ROWS_OF_AN_EXTRA = 3;

  /** All of them, each at the index of its number. */
  static final List<KeySpace> ALL = List.of(values());

  private final int number;
  private final int rows;
  private final int prefix;
  private final int padding;

  KeySpace(int number, int rows, int prefix, int padding) {
    if (prefix + Integer.BYTES + padding > LONGEST_KEY) {
      throw new IllegalArgumentException("keys would be too long");
    }
    this.number = number;
    this.rows = rows;
    this.prefix = prefix;
    this.padding = padding;
  }

  /** The table of a row: one for the whole space, except for {@link #EXTRA}. */
  String table(int row) {
    String name = name().toLowerCase(Locale.ROOT);
    return this == EXTRA ? name + "-" + row / ROWS_OF_AN_EXTRA : name;
  }

  /** The first row of each of its tables. */
  IntStream tables() {
    return this == EXTRA
        ? IntStream.iterate(0, row -> row < rows, row -> row + ROWS_OF_AN_EXTRA)
        : IntStream.of(0);
  }

  int number() {
    return number;
  }

  int rows() {
    return rows;
  }

  RowKey row(int number) {
    return new RowKey(this, number);
  }

  byte[] key(int number) {
    long hash = Seeds.of(this.number, number);
    int length = prefix + Integer.BYTES + (padding == 0 ? 0 : Math.floorMod(hash, padding + 1));
    byte[] key = new byte[length];
    Arrays.fill(key, (byte) 0xE0);
    Arrays.fill(key, 0, prefix, (byte) this.number);
    for (int i = 0; i < Integer.BYTES; i++) {
      key[prefix + i] = (byte) (number >>> (24 - 8 * i));
    }
    return key;
  }

  /** The row with this key. */
  RowKey rowOf(byte[] key) {
    int number = 0;
    for (int i = 0; i < Integer.BYTES && prefix + i < key.length; i++) {
      number = number << 8 | (key[prefix + i] & 0xFF);
    }
    if (!Arrays.equals(key, key(number))) {
      throw new ModelFailure(
          "the table of "
              + row(number)
              + " holds a key of "
              + key.length
              + " bytes that was never written");
    }
    return row(number);
  }

  /** Draws the length of a value, long enough to identify its version. */
  int valueLength(RandomGenerator random) {
    return switch (this) {
      case HOT -> random.nextInt(Values.NAMED, 120);
      case LONG -> random.nextInt(Values.NAMED, 400);
      case RANGE, EXTRA -> random.nextInt(Values.NAMED, 200);
      case WIDE ->
          random.nextInt(20) == 0
              ? random.nextInt(1_300, 9_000)
              : random.nextInt(Values.NAMED, 700);
      case BLOB -> random.nextInt(40) == 0 ? 3 << 20 : logUniform(random, 2_000, 400_000);
    };
  }

  private static int logUniform(RandomGenerator random, int low, int high) {
    double share = random.nextDouble();
    return (int) (low * Math.pow((double) high / low, share));
  }
}
