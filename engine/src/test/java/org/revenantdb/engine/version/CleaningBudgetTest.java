package org.revenantdb.engine.version;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.revenantdb.engine.version.CleaningBudget.Share;

/** How long the threads of the cleaner rest, by a clock of the test's. */
class CleaningBudgetTest {
  private static final long MS = 1_000_000;

  private long now = Long.MAX_VALUE - 5 * MS; // clocks may come from anywhere
  private long tail;
  private int looks;
  private boolean othersWrite = true;
  private boolean stops;

  /** Each look at the log takes a tenth of a millisecond. */
  private long endOfLog() {
    looks++;
    now += MS / 10;
    return othersWrite ? ++tail : tail;
  }

  private final CleaningBudget budget = new CleaningBudget(this::endOfLog, () -> stops, () -> now);

  @Test
  void work_beforeASliceIsUsedUp_costsNoRest() {
    Share share = budget.begin();
    now += MS / 4;
    assertFalse(budget.awaitTurn(share));
    assertEquals(0, looks);
  }

  @Test
  void rest_isNineTimesAsLongAsTheWork() {
    Share share = budget.begin();
    now += MS;
    long before = now;
    assertTrue(budget.awaitTurn(share));
    assertEquals(90, (now - before) / (MS / 10));
    assertFalse(budget.awaitTurn(share), "it begins anew");
  }

  /** Four that work side by side owe what each of them does, together. */
  @Test
  void rest_ofSeveral_isForTheWorkOfAll() {
    for (int i = 0; i < 4; i++) {
      budget.owe(now, MS);
    }
    assertEquals(4 * 9 * MS, budget.owed(now));
    Share late = budget.begin();
    now += MS / 10;
    long before = now;
    assertTrue(budget.awaitTurn(late), "who has worked little rests with the others");
    assertEquals(4 * 90 - 1 + 9, (now - before) / (MS / 10));
  }

  @Test
  void rest_endsWhenNoOtherThreadWrites() {
    othersWrite = false;
    Share share = budget.begin();
    now += MS;
    assertTrue(budget.awaitTurn(share));
    assertTrue(looks <= 2, looks + " looks");
    assertEquals(0, budget.owed(now), "for the others as well");
  }

  /** What moves the log's end may be one of its own. */
  @Test
  void rest_goesOnWhileAnotherOfTheCleanersIsAtWork() {
    othersWrite = false;
    budget.begin();
    Share share = budget.begin();
    now += MS;
    long before = now;
    assertTrue(budget.awaitTurn(share));
    assertEquals(90, (now - before) / (MS / 10));
  }

  @Test
  void rest_endsAtARequest() {
    Share share = budget.begin();
    now += MS;
    stops = true;
    assertTrue(budget.awaitTurn(share));
    assertTrue(looks <= 2, looks + " looks");
    assertEquals(0, budget.owed(now), "and nothing is owed");
    assertFalse(budget.awaitTurn(share));
  }
}
