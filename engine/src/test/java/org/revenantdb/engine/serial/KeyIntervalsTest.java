package org.revenantdb.engine.serial;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.BitSet;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Keys that were read, beside a set of all keys of two bytes. Another seed: revenant.seed. */
class KeyIntervalsTest {
  private static final int KEYS = 1 << 10;
  private static final long SEED = Long.getLong("revenant.seed", System.nanoTime());

  private static byte[] key(int number) {
    return new byte[] {(byte) (number >>> 8), (byte) number};
  }

  private static void assertSame(BitSet expected, KeyIntervals intervals, String story) {
    for (int key = 0; key < KEYS; key++) {
      assertEquals(expected.get(key), intervals.contains(key(key)), story + ", key " + key);
    }
  }

  @Test
  void intervals_that_meet_or_overlap_are_one_and_have_just_what_was_added() {
    System.out.println("KeyIntervalsTest -Drevenant.seed=" + SEED);
    Random random = new Random(SEED);
    for (int round = 0; round < 200; round++) {
      KeyIntervals intervals = new KeyIntervals();
      BitSet expected = new BitSet();
      for (int i = 0; i < 60; i++) {
        int from = random.nextInt(KEYS);
        switch (random.nextInt(4)) {
          case 0 -> {
            intervals.add(key(from));
            expected.set(from);
          }
          case 1 -> {
            int to = random.nextInt(KEYS);
            intervals.add(key(from), key(to));
            if (from < to) {
              expected.set(from, to);
            }
          }
          default -> {
            int to = Math.min(KEYS, from + random.nextInt(20));
            intervals.add(key(from), key(to));
            expected.set(from, to);
          }
        }
      }
      assertSame(expected, intervals, "round " + round);
      assertTrue(intervals.size() <= runs(expected), "round " + round);
    }
  }

  /** At most so many intervals: a key and the next one leave a gap of longer keys between them. */
  private static int runs(BitSet keys) {
    return keys.cardinality();
  }

  @Test
  void a_range_to_the_end_has_all_behind_it_and_takes_in_those_it_meets() {
    KeyIntervals intervals = new KeyIntervals();
    intervals.add(key(700));
    intervals.add(key(500), null);
    assertEquals(1, intervals.size());
    assertTrue(intervals.contains(key(500)));
    assertTrue(intervals.contains(new byte[] {(byte) 0xff, 1, 2, 3}));
    assertFalse(intervals.contains(key(499)));
    intervals.add(new byte[0], key(500));
    assertEquals(1, intervals.size());
    assertTrue(intervals.contains(new byte[0]));
  }

  @Test
  void a_key_that_was_read_says_nothing_of_the_one_behind_it() {
    KeyIntervals intervals = new KeyIntervals();
    intervals.add(key(5));
    assertTrue(intervals.contains(key(5)));
    assertFalse(intervals.contains(new byte[] {0, 5, 0}));
    assertFalse(intervals.contains(key(6)));
  }

  @Test
  void neighbours_that_are_joined_have_all_that_they_had_and_take_less() {
    KeyIntervals intervals = new KeyIntervals();
    for (int key = 0; key < KEYS; key += 3) {
      intervals.add(key(key));
    }
    int before = intervals.size();
    long bytes = intervals.bytes();
    intervals.coarsen();
    assertEquals((before + 1) / 2, intervals.size());
    assertTrue(intervals.bytes() <= bytes / 2 + 200);
    for (int key = 0; key < KEYS; key += 3) {
      assertTrue(intervals.contains(key(key)), "key " + key);
    }
    assertTrue(intervals.contains(key(1)), "between two that were joined");
    assertFalse(intervals.contains(key(4)), "between two that were not");
  }
}
