package org.revenantdb.recovery.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SpinningTest {
  private final Spinning spinning = new Spinning();

  @BeforeEach
  void onMoreThanOneProcessor() {
    assumeTrue(Spinning.OTHERS_RUN);
  }

  private int timesOf(int asked, boolean came) {
    int times = 0;
    for (int i = 0; i < asked; i++) {
      if (spinning.isWorthIt()) {
        times++;
        spinning.learn(came);
      }
    }
    return times;
  }

  @Test
  void a_wait_that_succeeds_in_time_is_always_spun() {
    assertEquals(100, timesOf(100, /* came= */ true));
  }

  @Test
  void a_wait_that_never_succeeds_in_time_is_spun_now_and_then() {
    timesOf(10, /* came= */ true);
    assertEquals(4 + 10, timesOf(4 + 160, /* came= */ false));
  }

  @Test
  void a_wait_that_succeeds_again_is_noticed() {
    timesOf(100, /* came= */ false);
    timesOf(32, /* came= */ true);
    assertEquals(10, timesOf(10, /* came= */ true));
  }
}
