package org.revenantdb.chaos.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.oracle.PromiseLog;
import org.revenantdb.chaos.subject.Verdict;

/** What a fresh JVM shows, and what is known if none can be started. */
class AloneTest {

  private boolean starts = true;
  private boolean survives = true;
  private int openings;

  private final Alone alone =
      Alone.with((_, _, _, _) -> {
        openings++;
        if (!starts) {
          throw new IOException("no JVM can be started");
        }
        Verdict verdict = survives ? Verdict.SURVIVED : Verdict.CORRUPT;
        return List.of(new StateResult(verdict, List.of(), null, "open", 0, 0));
      });

  private boolean isLeak() {
    return alone.isLeak("a kind", new DiskImage(), new PromiseLog(), 1);
  }

  @Test
  void a_failure_counts_as_the_last_one_of_its_kind_while_no_jvm_can_be_started() {
    assertTrue(isLeak());
    starts = false;
    assertTrue(isLeak());
    assertTrue(alone.unknown().contains("no JVM can be started"), alone::unknown);
    starts = true;
    survives = false;
    assertFalse(isLeak()); // it has taken the turn of the second one
    assertEquals("", alone.unknown());
    assertEquals(3, openings);
    assertFalse(isLeak());
    assertEquals(3, openings);
  }

  @Test
  void a_machine_that_starts_no_jvm_is_not_asked_for_each_failure() {
    starts = false;
    for (int i = 0; i < 1000; i++) {
      assertFalse(isLeak());
    }
    assertTrue(openings < 30, () -> openings + " openings");
  }
}
