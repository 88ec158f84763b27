package org.revenantdb.recovery.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** How often the file of the ring is tried again. */
class RingRetryTest {
  @Test
  void each_pause_is_twice_the_one_before_up_to_a_minute() {
    RingRetry retry = new RingRetry();
    long now = Long.MAX_VALUE - TimeUnit.MINUTES.toNanos(2); // the clock may overflow meanwhile
    List<Long> pauses = new ArrayList<>();
    for (int refusal = 0; refusal < 9; refusal++) {
      retry.refused(now);
      long pause = 1;
      while (!retry.isDue(now + TimeUnit.SECONDS.toNanos(pause))) {
        assertFalse(retry.isDue(now + TimeUnit.SECONDS.toNanos(pause) - 1));
        pause++;
      }
      assertTrue(retry.isDue(now + TimeUnit.SECONDS.toNanos(pause + 1)), "it stays due");
      pauses.add(pause);
      now += TimeUnit.SECONDS.toNanos(pause);
    }
    assertEquals(List.of(1L, 2L, 4L, 8L, 16L, 32L, 60L, 60L, 60L), pauses);
  }
}
