package org.revenantdb.history;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The index of longs against a map of the JDK. */
class LongIndexTest {

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void an_index_answers_like_a_map(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    LongIndex index = new LongIndex(random.nextInt(100));
    Map<Long, Integer> map = new HashMap<>();
    for (int i = 0; i < 20_000; i++) {
      // Dense names, as of keys and values, and few of them twice.
      long name = ((long) random.nextInt(-60, 60) << 32) | random.nextInt(1 << 8);
      Integer former = map.putIfAbsent(name, i);
      assertEquals(former == null ? LongIndex.NONE : former, index.putIfAbsent(name, i));
      long other = random.nextInt(4) == 0 ? random.nextLong() : name + random.nextInt(3);
      assertEquals(map.getOrDefault(other, LongIndex.NONE), index.get(other));
      assertEquals(map.size(), index.size());
    }
  }
}
