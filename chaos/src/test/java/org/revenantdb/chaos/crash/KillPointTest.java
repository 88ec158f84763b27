package org.revenantdb.chaos.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class KillPointTest {

  @Test
  void point_drawnFromTheSameSeed_isTheSame() {
    assertEquals(
        KillPoint.uniform(new SplittableRandom(7), 50, 950),
        KillPoint.uniform(new SplittableRandom(7), 50, 950));
    assertEquals(
        KillPoint.logUniform(new SplittableRandom(7), 950),
        KillPoint.logUniform(new SplittableRandom(7), 950));
  }

  @Test
  void point_isWithinItsBounds() {
    SplittableRandom random = new SplittableRandom(1);
    boolean first = false;
    boolean last = false;
    for (int i = 0; i < 1_000; i++) {
      long event = KillPoint.uniform(random, 3, 5).event();
      assertTrue(3 <= event && event <= 5);
      first |= event == 3;
      last |= event == 5;
      long late = KillPoint.logUniform(random, 100).event();
      assertTrue(1 <= late && late <= 100);
    }
    assertTrue(first && last);
  }

  @Test
  void point_isReachedAtItsEventAndAfter() {
    KillPoint point = new KillPoint(3);
    assertFalse(point.reached(2));
    assertTrue(point.reached(3));
    assertTrue(point.reached(4));
    assertThrows(IllegalArgumentException.class, () -> new KillPoint(0));
  }

  @Test
  void seeds_ofParts_differ() {
    assertEquals(Seeds.of(1, 2), Seeds.of(1, 2));
    assertNotEquals(Seeds.of(1, 2), Seeds.of(1, 3));
    assertNotEquals(Seeds.of(1, 2), Seeds.of(2, 2));
  }
}
