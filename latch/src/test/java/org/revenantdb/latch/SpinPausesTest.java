package org.revenantdb.latch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class SpinPausesTest {
  @Test
  void rounds_followFromTheProcessors() {
    assertEquals(0, SpinPauses.rounds(1), "nobody else can run meanwhile");
    assertEquals(0, SpinPauses.rounds(2), "a spinner that wins slows down the only other");
    assertEquals(1, SpinPauses.rounds(7));
    assertEquals(5, SpinPauses.rounds(64));
    assertEquals(6, SpinPauses.rounds(1024), "bounded");
  }

  @Test
  void pause_endsAndStaysEnded() {
    for (int round = 0; round < SpinPauses.ROUNDS; round++) {
      assertTrue(SpinPauses.pause(round));
    }
    assertFalse(SpinPauses.pause(SpinPauses.ROUNDS));
    assertFalse(SpinPauses.pause(Integer.MAX_VALUE));
  }
}
