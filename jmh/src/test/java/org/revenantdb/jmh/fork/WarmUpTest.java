package org.revenantdb.jmh.fork;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Iterator;
import java.util.List;
import org.junit.jupiter.api.Test;

class WarmUpTest {
  @Test
  void rounds_endWhenTwoInSuccessionTakeAboutTheSame() throws Exception {
    assertEquals(2, rounds(List.of(1.0, 1.0), 0));
    assertEquals(4, rounds(List.of(1.0, 0.5, 0.4, 0.39), 0));
  }

  @Test
  void rounds_endAfterSomeTime_ifTheyAreNeverSteady() throws Exception {
    assertEquals(3, rounds(List.of(1.0, 2.0, 1.0, 2.0), 2_000_000_000));
    assertEquals(2, rounds(List.of(1.0, 2.0, 1.0, 2.0), 4_000_000_000L));
  }

  /** How many rounds there are if each look at the clock takes this long. */
  private static int rounds(List<Double> seconds, long nanosEach) throws Exception {
    Iterator<Double> next = seconds.iterator();
    long[] now = {-nanosEach};
    int[] count = {0};
    WarmUp.untilSteady(
        () -> {
          count[0]++;
          return next.next();
        },
        () -> now[0] += nanosEach);
    return count[0];
  }
}
