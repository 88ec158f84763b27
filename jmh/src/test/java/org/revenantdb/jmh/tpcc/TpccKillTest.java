package org.revenantdb.jmh.tpcc;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.chaos.crash.Options;
import org.revenantdb.chaos.crash.ProcessDeathRun;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.testing.Drawn;

/**
 * TPC-C whose process is killed: every condition holds in the next process. Another seed: {@code
 * -Drevenant.chaos.seed=N}; under {@code -Plong} more kills.
 */
@Tag("slow")
class TpccKillTest {
  private static final long SEED = Long.getLong("revenant.chaos.seed", 20_261_122);
  private static final int KILLS = Boolean.getBoolean("revenant.long") ? 40 : 1;

  @TempDir private Path scratch;

  @Test
  @Drawn(oneIn = 2)
  void all_conditions_hold_after_the_death_of_a_process() {
    System.out.println("TpccKillTest -Drevenant.chaos.seed=" + SEED);
    Options options = Options.of(scratch, SEED, KILLS);
    Outcome outcome = new ProcessDeathRun(TpccSubject.class, options).run();
    assertEquals(Verdict.SURVIVED, outcome.verdict(), outcome::toString);
  }
}
