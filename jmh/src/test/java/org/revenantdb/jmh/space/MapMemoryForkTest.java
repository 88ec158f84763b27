package org.revenantdb.jmh.space;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class MapMemoryForkTest {
  @Test
  void peak_isTheMedianOfThoseOfTheParts() {
    List<Long> looks = new ArrayList<>();
    for (long part = 1; part <= 10; part++) {
      looks.addAll(List.of(0L, part == 3 ? 1_000 : part, 0L));
    }
    assertEquals(6.5, MapMemoryFork.medianPeak(looks)); // 1, 2, 4, 5, 6, 7, 8, 9, 10, 1000
  }

  @Test
  void tooFewLooks_areNoPeak() {
    assertThrows(IllegalStateException.class, () -> MapMemoryFork.medianPeak(List.of(1L, 2L, 3L)));
  }
}
