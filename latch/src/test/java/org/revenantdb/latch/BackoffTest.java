package org.revenantdb.latch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class BackoffTest {
  @Test
  void rounds_followFromTheProcessors() {
    assertEquals(0, Backoff.rounds(1), "nobody else can run meanwhile");
    assertEquals(0, Backoff.rounds(2), "a spinner that wins slows down the only other");
    assertEquals(1, Backoff.rounds(7));
    assertEquals(5, Backoff.rounds(64));
    assertEquals(6, Backoff.rounds(1024), "bounded");
  }

  @Test
  void pause_endsAndStaysEnded() {
    for (int round = 0; round < Backoff.ROUNDS; round++) {
      assertTrue(Backoff.pause(round));
    }
    assertFalse(Backoff.pause(Backoff.ROUNDS));
    assertFalse(Backoff.pause(Integer.MAX_VALUE));
  }
}
