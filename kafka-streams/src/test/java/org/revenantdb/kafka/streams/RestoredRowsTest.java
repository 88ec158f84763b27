package org.revenantdb.kafka.streams;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Iterator;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** The last change of each key, in the order of the keys. */
class RestoredRowsTest {
  @Test
  void the_changes_are_those_of_a_sorted_map() throws Exception {
    Random random = Seeds.random();
    RestoredRows rows = new RestoredRows();
    for (int round = 0; round < 40; round++) {
      Map<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);
      int changes = random.nextInt(4) * random.nextInt(1500);
      boolean hasDeletions = false;
      for (int i = 0; i < changes; i++) {
        byte[] key = key(random, i);
        byte[] value = random.nextInt(5) == 0 ? null : new byte[random.nextInt(40)];
        if (value == null) {
          hasDeletions = true;
        } else {
          random.nextBytes(value);
        }
        rows.add(key, value);
        model.put(key, value);
      }
      assertEquals(changes == 0, rows.isEmpty());
      assertEquals(hasDeletions, rows.hasDeletions());
      Iterator<Map.Entry<byte[], byte[]>> expected = model.entrySet().iterator();
      SortedChanges sorted = rows.sorted();
      while (sorted.next()) {
        Map.Entry<byte[], byte[]> next = expected.next();
        assertArrayEquals(next.getKey(), key(sorted));
        assertArrayEquals(next.getValue(), value(sorted));
      }
      assertTrue(!expected.hasNext());
      rows.clear();
      assertEquals(0, rows.bytes());
    }
  }

  static byte[] key(SortedChanges changes) {
    return Arrays.copyOfRange(
        changes.bytes, changes.keyStart(), changes.keyStart() + changes.keyLength);
  }

  static byte[] value(SortedChanges changes) {
    return changes.isDeletion() ? null : changes.value(new byte[0]);
  }

  /** Short keys that come often, long ones with a common beginning, and ascending ones. */
  static byte[] key(Random random, int number) {
    byte[] key =
        switch (random.nextInt(3)) {
          case 0 -> new byte[random.nextInt(3)];
          case 1 -> new byte[8 + random.nextInt(5)];
          default -> new byte[] {9, (byte) (number >> 16), (byte) (number >> 8), (byte) number};
        };
    if (key.length > 0 && key[0] != 9) {
      key[key.length - 1] = (byte) random.nextInt();
    }
    return key;
  }

  /** An instance may have a thousand stores with few rows, and all gather at the same time. */
  @Test
  void few_changes_take_little_memory() {
    RestoredRows rows = new RestoredRows();
    for (int i = 0; i < 10; i++) {
      rows.add(new byte[8], new byte[16]);
    }
    assertTrue(rows.bytes() < 8_000, "bytes: " + rows.bytes());
  }

  /** Used or not, the arrays take their memory as soon as they have grown. */
  @Test
  void the_room_of_the_arrays_is_counted_when_it_is_made() {
    RestoredRows rows = new RestoredRows();
    rows.add(new byte[1], new byte[1]);
    long first = rows.bytes();
    assertTrue(first >= (1 << 12) + 64 * 24, "bytes: " + first);
    for (int i = 1; i < 64; i++) {
      rows.add(new byte[1], new byte[1]);
      assertEquals(first, rows.bytes());
    }
    rows.add(new byte[1], new byte[1]);
    assertEquals(first + 32 * 24, rows.bytes());
  }

  @Test
  void the_lengths_of_the_changes_are_known() throws Exception {
    RestoredRows rows = new RestoredRows();
    rows.add(new byte[] {1}, new byte[100]);
    rows.add(new byte[] {2}, null);
    SortedChanges sorted = rows.sorted();
    long length = 0;
    while (sorted.next()) {
      length += sorted.length();
      assertTrue(sorted.length() <= rows.largest());
    }
    assertEquals(length, rows.length());
    rows.clear();
    assertEquals(0, rows.length());
    assertEquals(0, rows.largest());
  }

  @Test
  void a_value_may_be_larger_than_a_chunk() throws Exception {
    RestoredRows rows = new RestoredRows();
    byte[] large = new byte[1 << 20];
    large[large.length - 1] = 7;
    rows.add(new byte[] {2}, new byte[] {1});
    rows.add(new byte[] {1}, large);
    rows.add(new byte[] {2}, new byte[] {3});
    assertTrue(rows.bytes() > large.length);
    SortedChanges sorted = rows.sorted();
    assertTrue(sorted.next());
    assertArrayEquals(new byte[] {1}, key(sorted));
    assertArrayEquals(large, value(sorted));
    assertTrue(sorted.next());
    assertArrayEquals(new byte[] {2}, key(sorted));
    assertArrayEquals(new byte[] {3}, value(sorted));
    assertFalse(sorted.next());
  }
}
