package org.revenantdb.engine.page;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigInteger;
import java.util.Arrays;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.revenantdb.recovery.format.LittleEndian;

/** The row of a sequence, and its arithmetic against a naive one. */
class SequenceRowTest {
  private static final long MAX = Long.MAX_VALUE;
  private static final long MIN = Long.MIN_VALUE;

  private final long seed = Long.getLong("revenant.seed", System.nanoTime());

  private static byte[] row(long start, long increment, int order) {
    return SequenceRow.build(start, increment, 10, order);
  }

  private static long naivelyReversed(long number) {
    long reversed = 0;
    for (int bit = 0; bit < 63; bit++) {
      if ((number & 1L << bit) != 0) {
        reversed |= 1L << (62 - bit);
      }
    }
    return reversed;
  }

  private static long reversed(long number) {
    return SequenceRow.value(number, 1, SequenceRow.BIT_REVERSED, 0);
  }

  @Test
  void value_bitReversed_asANaiveLoop() {
    System.out.println("SequenceRowTest -Drevenant.seed=" + seed);
    Random random = new Random(seed);
    for (int i = 0; i < 10_000; i++) {
      long number = random.nextLong() >>> (1 + random.nextInt(62));
      assertEquals(naivelyReversed(number), reversed(number), "seed " + seed);
      assertEquals(number, reversed(reversed(number)), "seed " + seed);
    }
    assertEquals(1L << 62, reversed(1));
    assertEquals(1L << 61, reversed(2));
    assertEquals(1, reversed(1L << 62));
    assertEquals(MAX, reversed(MAX));
  }

  private static BigInteger naiveCount(long start, long increment, int order) {
    BigInteger least = BigInteger.valueOf(order == SequenceRow.BIT_REVERSED ? 1 : MIN);
    BigInteger from = BigInteger.valueOf(start);
    BigInteger room = increment > 0 ? BigInteger.valueOf(MAX).subtract(from) : from.subtract(least);
    BigInteger count = room.divide(BigInteger.valueOf(increment).abs()).add(BigInteger.ONE);
    return count.min(BigInteger.valueOf(MAX));
  }

  @Test
  void count_andTheLastValue_asNaively() {
    System.out.println("SequenceRowTest -Drevenant.seed=" + seed);
    Random random = new Random(seed);
    long[] starts = {MIN, MIN + 1, -1, 0, 1, 2, MAX - 1, MAX, random.nextLong()};
    long[] increments = {MIN, MIN + 1, -7, -1, 1, 2, 7, MAX - 1, MAX, random.nextLong() | 1};
    for (long start : starts) {
      for (long increment : increments) {
        for (int order = 0; order <= 1; order++) {
          if (order == SequenceRow.BIT_REVERSED && start < 1) {
            continue;
          }
          String what = start + " by " + increment + ", order " + order + ", seed " + seed;
          long count = SequenceRow.count(row(start, increment, order));
          assertEquals(naiveCount(start, increment, order), BigInteger.valueOf(count), what);
          BigInteger last =
              BigInteger.valueOf(start)
                  .add(BigInteger.valueOf(increment).multiply(BigInteger.valueOf(count - 1)));
          long value = SequenceRow.value(start, increment, order, count - 1);
          long plain = order == 0 ? value : naivelyReversed(value);
          assertEquals(last, BigInteger.valueOf(plain), what);
        }
      }
    }
  }

  @Test
  void keys_ofSequences_lieBehindThoseOfTables() {
    byte[] name = "\uDBFF\uDFFF".getBytes(java.nio.charset.StandardCharsets.UTF_8);
    assertTrue(Arrays.compareUnsigned(name, SequenceRow.firstKey()) < 0);
    assertFalse(SequenceRow.isKey(name));
    byte[] key = SequenceRow.key(name);
    assertTrue(SequenceRow.isKey(key));
    assertTrue(Arrays.compareUnsigned(SequenceRow.firstKey(), key) < 0);
    assertTrue(Arrays.equals(name, SequenceRow.name(key)));
  }

  private static void refused(Consumer<byte[]> change) {
    byte[] row = row(1, 1, SequenceRow.BIT_REVERSED);
    assertNull(SequenceRow.problem(row));
    change.accept(row);
    assertNotNull(SequenceRow.problem(row));
  }

  @Test
  void problem_ofInvalidRows() {
    refused(row -> row[28] = 2);
    refused(row -> row[29] = 1);
    refused(row -> row[31] = 1);
    refused(row -> LittleEndian.putLong(row, 8, 0));
    refused(row -> LittleEndian.putLong(row, 16, 0));
    refused(row -> LittleEndian.putInt(row, 24, 0));
    refused(row -> LittleEndian.putInt(row, 24, -1));
    refused(row -> SequenceRow.putMark(row, -1));
    assertNotNull(SequenceRow.problem(new byte[31]));
    assertNotNull(SequenceRow.problem(new byte[33]));
    byte[] small = row(MAX - 9, 5, SequenceRow.PLAIN);
    SequenceRow.putMark(small, 2);
    assertNull(SequenceRow.problem(small));
    SequenceRow.putMark(small, 3);
    assertNotNull(SequenceRow.problem(small));
  }
}
