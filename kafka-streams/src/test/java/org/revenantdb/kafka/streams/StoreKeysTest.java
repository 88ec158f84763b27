package org.revenantdb.kafka.streams;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Random;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

class StoreKeysTest {
  @Test
  void rows_have_the_order_of_keys_and_give_them_back() {
    Random random = new Random(62);
    for (int i = 0; i < 100_000; i++) {
      byte[] a = key(random);
      byte[] b = key(random);
      byte[] rowA = StoreKeys.row(a);
      byte[] rowB = StoreKeys.row(b);
      assertEquals(
          Integer.signum(Arrays.compareUnsigned(a, b)),
          Integer.signum(Arrays.compareUnsigned(rowA, rowB)));
      assertArrayEquals(a, StoreKeys.key(rowA));
      assertTrue(
          Arrays.compareUnsigned(rowA, StoreKeys.OWN_FROM) < 0
              || Arrays.compareUnsigned(rowA, StoreKeys.OWN_TO) >= 0);
      assertEquals(
          Arrays.compareUnsigned(a, b) > 0, Arrays.compareUnsigned(rowA, StoreKeys.behind(b)) >= 0);
      byte[] end = StoreKeys.behindPrefix(b);
      boolean hasPrefix = a.length >= b.length && Arrays.equals(Arrays.copyOf(a, b.length), b);
      assertEquals(
          hasPrefix,
          Arrays.compareUnsigned(rowA, rowB) >= 0
              && (end == null || Arrays.compareUnsigned(rowA, end) < 0));
    }
  }

  /** Short keys of few different bytes, so that prefixes and neighbours are frequent. */
  private static byte[] key(Random random) {
    byte[] bytes = {0, 1, 2, (byte) 0xFE, (byte) 0xFF};
    byte[] key = new byte[random.nextInt(5)];
    for (int i = 0; i < key.length; i++) {
      key[i] = bytes[random.nextInt(bytes.length)];
    }
    return key;
  }

  @Test
  void rows_that_describe_the_store_are_no_keys() {
    assertNull(StoreKeys.key(StoreKeys.INCARNATION));
    assertNull(StoreKeys.key(StoreKeys.POSITION));
    TopicPartition partition = new TopicPartition("a topic-7", 12);
    byte[] row = StoreKeys.offset(partition);
    assertNull(StoreKeys.key(row));
    assertEquals(partition, StoreKeys.partition(row));
    assertTrue(Arrays.compareUnsigned(row, StoreKeys.OFFSETS_FROM) >= 0);
    assertTrue(Arrays.compareUnsigned(row, StoreKeys.OFFSETS_TO) < 0);
  }
}
