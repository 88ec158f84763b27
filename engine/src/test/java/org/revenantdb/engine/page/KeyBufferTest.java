package org.revenantdb.engine.page;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
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
class KeyBufferTest {
  /** Used again and again, as a batch is. */
  private final KeyBuffer buffer = new KeyBuffer();

  private void demandSorted(byte[][] keys) {
    buffer.clear();
    for (byte[] key : keys) {
      byte[] larger = new byte[key.length + 5];
      System.arraycopy(key, 0, larger, 3, key.length);
      buffer.add(larger, 3, key.length);
    }
    buffer.sort();
    byte[][] expected = keys.clone();
    Arrays.sort(expected, Arrays::compareUnsigned);
    Set<Integer> positions = new HashSet<>();
    assertEquals(keys.length, buffer.size());
    for (int place = 0; place < keys.length; place++) {
      int index = buffer.at(place);
      assertArrayEquals(expected[place], buffer.key(index), "place " + place);
      assertArrayEquals(keys[index], buffer.key(index), "key " + index);
      assertTrue(positions.add(index), "an index came twice");
      assertEquals(BigEndian.headLong(keys[index], 0), buffer.head(index), "key " + index);
    }
  }

  private static byte[][] texts(String... keys) {
    return Arrays.stream(keys)
        .map(key -> key.getBytes(StandardCharsets.ISO_8859_1))
        .toArray(byte[][]::new);
  }

  @Test
  void keys_that_are_sorted_already_keep_their_order() {
    demandSorted(texts("a", "a", "b"));
    demandSorted(texts());
    demandSorted(texts("one"));
  }

  @Test
  void keys_that_ascend_in_pieces_are_sorted() {
    demandSorted(texts("m", "n", "a", "b", "x", "y"));
    demandSorted(texts("m", "n", "a", "z"));
    demandSorted(texts("c", "d", "a", "d", "b", "c"));
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
    System.out.println("KeyBufferTest -Drevenant.seed=" + seed);
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
