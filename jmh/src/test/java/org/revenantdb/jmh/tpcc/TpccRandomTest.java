package org.revenantdb.jmh.tpcc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TpccRandomTest {
  private static final long SEED = 4711;

  @ParameterizedTest
  @ValueSource(doubles = {1, 0.1, 0.01, 0.0001})
  void uneven_choices_reach_everything_and_like_a_part_of_it_better(double fraction) {
    TpccScale scale = TpccScale.of(1, fraction);
    TpccRandom random = new TpccRandom(scale, SEED);
    int[] chosen = new int[scale.customers() + 1];
    int draws = 100 * scale.customers();
    for (int i = 0; i < draws; i++) {
      chosen[random.customer()]++;
      int item = random.item();
      assertTrue(item >= 1 && item <= scale.items(), "item " + item);
    }
    assertEquals(0, chosen[0]);
    Arrays.sort(chosen);
    int favourites =
        Arrays.stream(chosen, chosen.length - scale.customers() / 10, chosen.length).sum();
    assertTrue(favourites > draws / 5, "a tenth is chosen " + favourites + " times of " + draws);
  }

  @Test
  void last_names_are_those_of_the_specification_and_each_that_is_asked_for_was_loaded() {
    TpccRandom random = new TpccRandom(TpccScale.of(1, 1), SEED);
    assertEquals("BARBARBAR", random.lastNameOf(1));
    assertEquals("PRICALLYOUGHT", random.lastNameOf(372));
    assertEquals("EINGEINGEING", random.lastNameOf(1000));
    Set<String> loaded = new HashSet<>();
    for (int customer = 1; customer <= 3000; customer++) {
      loaded.add(random.lastNameOf(customer));
    }
    assertEquals(1000, loaded.size());
    for (int i = 0; i < 10_000; i++) {
      assertTrue(loaded.contains(random.lastName()), "a name that nobody has");
    }
  }

  @Test
  void the_other_warehouse_is_any_but_this_one() {
    TpccRandom random = new TpccRandom(TpccScale.of(3, 0.01), SEED);
    Set<Integer> others = new HashSet<>();
    for (int i = 0; i < 100; i++) {
      others.add(random.otherWarehouse(2));
    }
    assertEquals(Set.of(1, 3), others);
  }

  @Test
  void a_permutation_has_each_number_once() {
    int[] numbers = new TpccRandom(TpccScale.of(1, 0.01), SEED).permutation(30);
    Arrays.sort(numbers);
    for (int i = 0; i < 30; i++) {
      assertEquals(i + 1, numbers[i]);
    }
  }
}
