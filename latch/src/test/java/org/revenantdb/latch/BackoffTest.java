package org.revenantdb.latch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class BackoffTest {
  @Test
  void pausingRounds_followFromTheProcessors() {
    assertEquals(0, Backoff.pausingRounds(1), "nobody else can run meanwhile");
    assertEquals(4, Backoff.pausingRounds(2));
    assertEquals(5, Backoff.pausingRounds(4));
    assertEquals(8, Backoff.pausingRounds(1024), "bounded");
  }

  @Test
  void pause_endsAndStaysEnded() {
    int budget = Backoff.PAUSING_ROUNDS + Backoff.YIELDING_ROUNDS;
    for (int round = 0; round < budget; round++) {
      assertTrue(Backoff.pause(round));
    }
    assertFalse(Backoff.pause(budget));
    assertFalse(Backoff.pause(Integer.MAX_VALUE));
  }
}
