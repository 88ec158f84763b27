package org.revenantdb.engine.version;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Keys are in the order of their bytes, and each is found at its position. */
class SortedKeysTest {
  private static void demandSorted(byte[][] keys) {
    SortedKeys sorted = SortedKeys.of(keys);
    byte[][] expected = keys.clone();
    Arrays.sort(expected, Arrays::compareUnsigned);
    assertArrayEquals(expected, sorted.keys());
    Set<Integer> positions = new HashSet<>();
    for (int i = 0; i < keys.length; i++) {
      assertSame(keys[sorted.position(i)], sorted.keys()[i], "key " + i);
      assertTrue(positions.add(sorted.position(i)), "a position was used twice");
    }
  }

  private static byte[][] texts(String... keys) {
    return Arrays.stream(keys)
        .map(key -> key.getBytes(StandardCharsets.ISO_8859_1))
        .toArray(byte[][]::new);
  }

  @Test
  void keys_that_are_sorted_already_are_not_copied() {
    byte[][] keys = texts("a", "a", "b");
    assertSame(keys, SortedKeys.of(keys).keys());
    demandSorted(keys);
    demandSorted(texts());
    demandSorted(texts("one"));
  }

  @Test
  void keys_are_unsigned_and_a_key_comes_before_those_that_it_begins() {
    demandSorted(texts("b", "a", "\u00ff", "\u007f", "\u0080", "a\0", "a\0\0", "ab"));
    demandSorted(texts("a\0\0\0\0\0\0\0\0\0", "a", "a\0", "a"));
  }

  @Test
  void keys_that_differ_only_behind_their_first_numbers_are_sorted() {
    String same = "a-beginning-that-is-longer-than-a-number";
    demandSorted(texts("b", same + "3", same + "1", same + "2", "a"));
    demandSorted(texts(same + "zzzzzzzzzz2", same + "zzzzzzzzzz1", same + "a"));
  }

  @Test
  void random_keys_are_sorted_whatever_they_share() {
    long seed = Long.getLong("revenant.seed", new Random().nextLong());
    System.out.println("SortedKeysTest -Drevenant.seed=" + seed);
    Random random = new Random(seed);
    for (int round = 0; round < 2_000; round++) {
      int alphabet = 1 + random.nextInt(4);
      int shared = random.nextInt(12);
      int longest = 1 + random.nextInt(14);
      List<byte[]> keys = new ArrayList<>();
      int count = random.nextInt(round % 100 == 0 ? 3_000 : 40);
      for (int i = 0; i < count; i++) {
        byte[] key = new byte[shared + random.nextInt(longest) + 1];
        for (int at = shared; at < key.length; at++) {
          key[at] = (byte) (alphabet == 1 ? random.nextInt() : -random.nextInt(alphabet));
        }
        keys.add(key);
      }
      demandSorted(keys.toArray(byte[][]::new));
    }
  }
}
