package org.revenantdb.jmh.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Which rounds count, by a probe and a clock that the test turns. */
class RoundsTest {
  private static final Duration ROUND = Duration.ofSeconds(3);

  private final AtomicLong clock = new AtomicLong();
  private final Deque<String> disturbances = new ArrayDeque<>();
  private int runs;

  @Test
  void undisturbed_areRunOnceEach() throws CannotMeasureException {
    Rounds rounds = rounds(3, 10);
    assertEquals(List.of(1, 2, 3), rounds.run("test", this::round));
    assertEquals(new Rounds.Tally(3, 0, 0), rounds.tally());
  }

  @Test
  void disturbed_isRunAgain_andDoesNotCount() throws CannotMeasureException {
    disturbances.addAll(List.of("", "a neighbour", "", ""));
    Rounds rounds = rounds(3, 10);
    assertEquals(List.of(1, 3, 4), rounds.run("test", this::round));
    assertEquals(new Rounds.Tally(3, 1, 0), rounds.tally());
  }

  @Test
  void disturbed_countsWhenTheTimeForRepeatsIsUsedUp() throws CannotMeasureException {
    disturbances.addAll(List.of("one", "two", "three", "four"));
    Rounds rounds = rounds(2, 6);
    assertEquals(List.of(3, 4), rounds.run("test", this::round));
    assertEquals(new Rounds.Tally(2, 2, 2), rounds.tally());
  }

  @Test
  void disturbed_thatTakesLongerThanWhatIsLeftCounts() throws CannotMeasureException {
    disturbances.add("one");
    Rounds rounds = rounds(1, 2);
    assertEquals(List.of(1), rounds.run("test", this::round));
    assertEquals(new Rounds.Tally(1, 0, 1), rounds.tally());
  }

  @Test
  void timeForRepeats_isThatOfAllComparisonsTogether() throws CannotMeasureException {
    disturbances.addAll(List.of("one", "", "two", ""));
    Rounds rounds = rounds(1, 5);
    assertEquals(List.of(2), rounds.run("first", this::round));
    assertEquals(List.of(3), rounds.run("second", this::round));
    assertEquals(new Rounds.Tally(2, 1, 1), rounds.tally());
  }

  private Rounds rounds(int wanted, int budgetSeconds) {
    return new Rounds(
        wanted,
        Duration.ofSeconds(budgetSeconds),
        () -> () -> disturbances.isEmpty() ? "" : disturbances.removeFirst(),
        clock::get);
  }

  private int round() {
    clock.addAndGet(ROUND.toNanos());
    return ++runs;
  }
}
