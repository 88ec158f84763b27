package org.revenantdb.jmh.fork;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Who comes first changes with the round, and what is told says whose turn it was. */
class TurnsTest {
  @Test
  void values_beginWithAnotherOneEachRound() {
    assertEquals(List.of("1", "4", "8"), Turns.of("sessions=1,4,8", 1).values());
    assertEquals(List.of("4", "8", "1"), Turns.of("sessions=1,4,8", 2).values());
    assertEquals(List.of("8", "1", "4"), Turns.of("sessions=1,4,8", 3).values());
  }

  @Test
  void value_isTheTurnsForWhatVaries_theUsualOneForTheRest() {
    Turns turns = Turns.of("sessions=1,4", 1);
    assertEquals("4", turns.value("sessions", "4", "2"));
    assertEquals("2", turns.value("readers", "4", "2"));
    assertEquals(",sessions=4", turns.suffix("4"));
  }

  @Test
  void nothing_isOneTurnWithoutAName() {
    Turns turns = Turns.of("", 3);
    assertFalse(turns.isSweep());
    assertEquals(1, turns.values().size());
    assertEquals("", turns.suffix(turns.values().getFirst()));
  }
}
