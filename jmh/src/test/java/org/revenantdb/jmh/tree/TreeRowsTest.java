package org.revenantdb.jmh.tree;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** A value identifies its row, and a wrong value is detected. */
class TreeRowsTest {
  private static final long SEED = 11;

  private final byte[] value = new byte[TreeRows.VALUE];

  @Test
  void keys_areInTheOrderOfTheRows() {
    for (int row = 0; row < 100_000; row++) {
      assertTrue(Arrays.compareUnsigned(TreeRows.key(row), TreeRows.key(row + 1L)) < 0, "" + row);
    }
    assertEquals(TreeRows.KEY, TreeRows.key(0).length);
  }

  @Test
  void values_addUpToTheRow_whateverTheirStamp() {
    SplittableRandom random = new SplittableRandom(SEED);
    for (int i = 0; i < 10_000; i++) {
      long row = random.nextInt();
      TreeRows.value(row, random.nextInt(), value);
      assertEquals(row, TreeRows.sum(value), "seed " + SEED);
    }
  }

  @Test
  void values_ofTwoStamps_differ() {
    byte[] other = new byte[TreeRows.VALUE];
    TreeRows.value(7, 1, value);
    TreeRows.value(7, 2, other);
    assertFalse(Arrays.equals(value, other));
  }

  @Test
  void everyByte_counts() {
    TreeRows.value(7, 1, value);
    assertEquals(7, TreeRows.sum(value));
    for (int at = 0; at < value.length; at++) {
      value[at]++;
      assertNotEquals(7, TreeRows.sum(value), "byte " + at);
      value[at]--;
    }
  }
}
