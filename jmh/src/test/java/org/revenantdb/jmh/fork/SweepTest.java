package org.revenantdb.jmh.fork;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.List;
import org.junit.jupiter.api.Test;

/** The first value changes with the round, and each result contains its value. */
class SweepTest {
  @Test
  void values_beginWithAnotherOneEachRound() {
    assertEquals(List.of("1", "4", "8"), Sweep.of("sessions=1,4,8", 1).values());
    assertEquals(List.of("4", "8", "1"), Sweep.of("sessions=1,4,8", 2).values());
    assertEquals(List.of("8", "1", "4"), Sweep.of("sessions=1,4,8", 3).values());
  }

  @Test
  void value_isTheTurnsForWhatVaries_theUsualOneForTheRest() {
    Sweep sweep = Sweep.of("sessions=1,4", 1);
    assertEquals("4", sweep.value("sessions", "4", "2"));
    assertEquals("2", sweep.value("readers", "4", "2"));
    assertEquals(",sessions=4", sweep.suffix("4"));
  }

  @Test
  void nothing_isOneTurnWithoutAName() {
    Sweep sweep = Sweep.of("", 3);
    assertFalse(sweep.isSweep());
    assertEquals(1, sweep.values().size());
    assertEquals("", sweep.suffix(sweep.values().getFirst()));
  }
}
