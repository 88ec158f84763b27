package org.revenantdb.engine.version;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class WritersRestTest {
  private static final long SHORTEST = 20;
  private static final long LONGEST = 2_000;

  private final WritersRest rest = new WritersRest(SHORTEST, LONGEST);

  @Test
  void nobodyHasWrittenYet() {
    assertTrue(rest.isOver(0));
  }

  @Test
  void aSingleWriteIsFollowedByTheShortestRest() {
    rest.wrote(-7);
    assertFalse(rest.isOver(-7 + SHORTEST - 1));
    assertTrue(rest.isOver(-7 + SHORTEST));
    rest.wrote(10 * LONGEST);
    assertEquals(10 * LONGEST + SHORTEST, firstRest(10 * LONGEST));
  }

  @Test
  void writersThatCommitAtIntervalsDoNotRestInBetween() {
    long now = 0;
    for (int commit = 0; commit < 100; commit++) {
      now = commit * 100L;
      if (commit > 1) {
        assertFalse(rest.isOver(now - 1), "commit " + commit);
      }
      rest.wrote(now);
    }
    assertEquals(now + 800, firstRest(now));
  }

  @Test
  void oneShortPauseBetweenLongerOnesDoesNotMakeThemRests() {
    long now = 0;
    for (int pair = 0; pair < 20; pair++) {
      rest.wrote(now);
      rest.wrote(now + 10);
      now += 300;
      if (pair > 0) {
        assertFalse(rest.isOver(now - 1), "pair " + pair);
      }
    }
  }

  @Test
  void aRestIsNeverLongerThanTheLongest() {
    rest.wrote(0);
    rest.wrote(1_500);
    assertEquals(1_500 + LONGEST, firstRest(1_500));
  }

  @Test
  void writersThatStopForLongAreForgotten() {
    for (long now = 0; now < 1_000; now += 100) {
      rest.wrote(now);
    }
    rest.wrote(50_000);
    assertEquals(50_000 + SHORTEST, firstRest(50_000));
    rest.wrote(50_030);
    assertEquals(50_030 + 240, firstRest(50_030));
  }

  /** The first moment of a rest. */
  private long firstRest(long from) {
    long now = from;
    while (!rest.isOver(now)) {
      now++;
    }
    return now;
  }
}
