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
    wrote(-7);
    assertFalse(rest.isOver(-7 + SHORTEST - 1));
    assertTrue(rest.isOver(-7 + SHORTEST));
    wrote(10 * LONGEST);
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
      wrote(now);
    }
    assertEquals(now + 800, firstRest(now));
  }

  @Test
  void oneShortPauseBetweenLongerOnesDoesNotMakeThemRests() {
    long now = 0;
    for (int pair = 0; pair < 20; pair++) {
      wrote(now);
      wrote(now + 10);
      now += 300;
      if (pair > 0) {
        assertFalse(rest.isOver(now - 1), "pair " + pair);
      }
    }
  }

  @Test
  void aRestIsNeverLongerThanTheLongest() {
    wrote(0);
    wrote(1_500);
    assertEquals(1_500 + LONGEST, firstRest(1_500));
  }

  @Test
  void writersThatStopForLongAreForgotten() {
    for (long now = 0; now < 1_000; now += 100) {
      wrote(now);
    }
    wrote(50_000);
    assertEquals(50_000 + SHORTEST, firstRest(50_000));
    wrote(50_030);
    assertEquals(50_030 + 240, firstRest(50_030));
  }

  @Test
  void theTimeThatThePassesOfTheCleanerTakeIsNoRest() {
    wrote(0);
    wrote(100);
    wrote(200);
    rest.wrote(300, 200 + 5 * LONGEST);
    assertFalse(rest.isOver(200 + 5 * LONGEST + SHORTEST));
  }

  private void wrote(long now) {
    rest.wrote(now, now);
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
