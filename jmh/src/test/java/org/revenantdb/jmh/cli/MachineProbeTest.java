package org.revenantdb.jmh.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.revenantdb.jmh.cli.MachineProbe.Reading;

/** What counts as a disturbance, and that the numbers of {@code /proc} are the right ones. */
class MachineProbeTest {
  private static final String SYSTEM =
      """
      cpu  100 20 30 1000 50 6 7 80 9 9
      cpu0 50 10 15 500 25 3 3 40 4 4
      cpu1 50 10 15 500 25 3 4 40 5 5
      intr 1 2 3
      """;
  private static final String SELF =
      "4242 (name with ) and (9 9) S 1 4242 4242 0 -1 4194304 1 2 3 4 500 60 7 8 20 0 30 0"
          + " 18446744073709551615";

  @Test
  void parse_takesTheRightFields() {
    Reading reading = MachineProbe.parse(77, SYSTEM, SELF, 2);
    assertEquals(
        new Reading(77, 100 + 20 + 30 + 1000 + 50 + 6 + 7 + 80, 80, 163, 500 + 60 + 7 + 8),
        reading);
  }

  @Test
  void parse_ofMoreProcessorsThanAreOursComparesNoProcesses() {
    assertEquals(-1, MachineProbe.parse(77, SYSTEM, SELF, 1).ownTicks());
  }

  @Test
  void parse_ofAnotherTextFindsNothing() {
    assertEquals(new Reading(77, 0, 0, 0, -1), MachineProbe.parse(77, "", "", 2));
  }

  @Test
  void quietMachine_disturbsNothing() {
    assertQuiet(new Reading(100, 0, 0, 0, 0), new Reading(109, 200, 9, 200, 181));
  }

  @Test
  void slowerOrFaster_disturbs() {
    Reading usual = new Reading(100, 0, 0, 0, 0);
    assertDisturbed(usual, new Reading(112, 200, 0, 0, 0));
    assertDisturbed(new Reading(112, 0, 0, 0, 0), new Reading(100, 200, 0, 0, 0));
  }

  @Test
  void stolenTime_disturbs() {
    assertDisturbed(new Reading(100, 0, 0, 0, 0), new Reading(100, 200, 11, 0, 0));
  }

  @Test
  void otherProcesses_disturb_butNotOurs() {
    Reading before = new Reading(100, 0, 0, 1000, 500);
    assertDisturbed(before, new Reading(100, 200, 0, 1150, 629));
    assertQuiet(before, new Reading(100, 200, 0, 1150, 631));
    assertQuiet(new Reading(100, 0, 0, 0, -1), new Reading(100, 200, 0, 200, -1));
  }

  @Test
  void withoutProc_theCalibrationAloneCounts() {
    assertQuiet(new Reading(100, 0, 0, 0, -1), new Reading(105, 0, 0, 0, -1));
  }

  @Test
  void memory_isReportedHere() {
    String told = new MachineProbe().start().stop();
    assertTrue(told.isEmpty() || told.contains("time"), told);
  }

  private static void assertDisturbed(Reading before, Reading after) {
    assertNotEquals("", MachineProbe.disturbance(before, after));
  }

  private static void assertQuiet(Reading before, Reading after) {
    assertEquals("", MachineProbe.disturbance(before, after));
  }
}
