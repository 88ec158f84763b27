package org.revenantdb.recovery.format;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/**
 * Where a key belongs is part of the format: what stands here, and in format.md §1.5, never
 * changes.
 */
class KeyHashTest {
  private static byte[] counting(int length) {
    byte[] key = new byte[length];
    for (int i = 0; i < length; i++) {
      key[i] = (byte) i;
    }
    return key;
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  private static void assertHash(long hash, byte[] key) {
    assertEquals(Long.toHexString(hash), Long.toHexString(KeyHash.hash(key)));
  }

  private static void assertPartitions(byte[] key, int of2, int of3, int of16, int of64) {
    assertEquals(of2, KeyHash.partition(key, 2));
    assertEquals(of3, KeyHash.partition(key, 3));
    assertEquals(of16, KeyHash.partition(key, 16));
    assertEquals(of64, KeyHash.partition(key, 64));
  }

  @Test
  void hash_isXxh64_asOthersPublishedIt() {
    assertHash(0xef46db3751d8e999L, new byte[0]);
    assertHash(0xd24ec4f1a98c6e5bL, ascii("a"));
    assertHash(0x44bc2cf5ad770999L, ascii("abc"));
    assertHash(0xfbcea83c8a378bf1L, ascii("Nobody inspects the spammish repetition"));
  }

  @Test
  void hash_andPartition_areWhatTheFormatSays() {
    assertHash(0xe934a84adb052768L, new byte[1]);
    assertPartitions(new byte[1], 1, 2, 14, 58);
    assertPartitions(ascii("a"), 1, 2, 13, 52);
    assertPartitions(ascii("abc"), 0, 0, 4, 17);
    assertHash(0x3d44f47fa6f5bbd0L, ascii("key0000"));
    assertPartitions(ascii("key0000"), 0, 0, 3, 15);
    assertHash(0x884a173614b81b8dL, counting(8));
    assertPartitions(counting(8), 1, 1, 8, 34);
    assertHash(0x424af23f1f08dca5L, counting(12));
    assertPartitions(counting(12), 0, 0, 4, 16);
    assertHash(0xc346d2b59b4d8ee1L, counting(31));
    assertPartitions(counting(31), 1, 2, 12, 48);
    assertHash(0xcbf59c5116ff32b4L, counting(32));
    assertPartitions(counting(32), 1, 2, 12, 50);
    assertHash(0x6ac1e58032166597L, counting(100));
    assertPartitions(counting(100), 0, 1, 6, 26);
    assertHash(0x6f3914f18fe4df57L, counting(1024));
    assertPartitions(counting(1024), 0, 1, 6, 27);
  }

  @Test
  void partition_ofNumbersInARow_isEachAboutAsOften() {
    for (int partitions : new int[] {2, 3, 10, 64}) {
      int[] rows = new int[partitions];
      int keys = 1000 * partitions;
      for (int i = 0; i < keys; i++) {
        rows[KeyHash.partition(ByteBuffer.allocate(8).putLong(i).array(), partitions)]++;
      }
      for (int count : rows) {
        assertTrue(count > 850 && count < 1150, count + " of " + keys + " in " + partitions);
      }
    }
  }
}
