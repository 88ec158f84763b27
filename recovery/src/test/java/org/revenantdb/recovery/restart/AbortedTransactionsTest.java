package org.revenantdb.recovery.restart;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class AbortedTransactionsTest {
  @Test
  void against_a_plain_set() {
    long seed = Long.getLong("revenant.seed", System.nanoTime());
    System.out.println("AbortedTransactionsTest seed " + seed);
    Random random = new Random(seed);
    AbortedTransactions map = new AbortedTransactions();
    TreeSet<Long> model = new TreeSet<>();
    for (int i = 0; i < 50_000; i++) {
      long id = 1 + random.nextInt(500);
      switch (random.nextInt(3)) {
        case 0 -> {
          map.add(id);
          model.add(id);
        }
        case 1 -> {
          map.remove(id);
          model.remove(id);
        }
        default -> assertEquals(model.contains(id), map.contains(id), "seed " + seed);
      }
      assertEquals(model.size(), map.size());
    }
    assertArrayEquals(model.stream().mapToLong(Long::longValue).toArray(), map.snapshot());
  }

  @Test
  void ids_below_one_are_refused() {
    AbortedTransactions map = new AbortedTransactions();
    assertThrows(IllegalArgumentException.class, () -> map.add(0));
    assertThrows(IllegalArgumentException.class, () -> map.add(-1));
    assertFalse(map.contains(7));
  }

  /** The order of R1 for a reader: an added id is found, whatever is added meanwhile. */
  @Test
  void what_was_added_is_found_while_the_table_grows() throws InterruptedException {
    AbortedTransactions map = new AbortedTransactions();
    AtomicLong added = new AtomicLong();
    Thread writer =
        Thread.ofPlatform()
            .start(() -> {
              for (long id = 1; id <= 20_000; id++) {
                map.add(id);
                added.set(id);
              }
            });
    Random random = new Random(1);
    boolean allFound = true;
    while (added.get() < 20_000) {
      long known = added.get();
      if (known > 0) {
        allFound &= map.contains(1 + random.nextLong(known));
        allFound &= map.contains(known);
      }
    }
    writer.join();
    assertTrue(allFound);
    assertEquals(20_000, map.size());
  }

  @Test
  void the_map_of_numbers_against_a_plain_map() {
    long seed = Long.getLong("revenant.seed", System.nanoTime());
    Random random = new Random(seed);
    LongLongMap map = new LongLongMap();
    Map<Long, Long> model = new HashMap<>();
    for (int i = 0; i < 100_000; i++) {
      long key = random.nextInt(400) - 3;
      if (random.nextInt(3) == 0) {
        map.remove(key);
        model.remove(key);
      } else if (random.nextBoolean()) {
        map.put(key, i);
        model.put(key, (long) i);
      }
      assertEquals(model.getOrDefault(key, -7L), map.getOrDefault(key, -7), "seed " + seed);
      assertEquals(model.size(), map.size(), "seed " + seed);
    }
    assertArrayEquals(
        model.keySet().stream().mapToLong(Long::longValue).sorted().toArray(), map.sortedKeys());
  }
}
