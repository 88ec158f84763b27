package org.revenantdb.jmh.tpcc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.run.LifeRecorder;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.run.PowerCutOptions;
import org.revenantdb.chaos.run.PowerCutRun;
import org.revenantdb.chaos.run.Recording;
import org.revenantdb.chaos.run.SeenImages;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.engine.Database;
import org.revenantdb.testing.Drawn;

/**
 * TPC-C after power cuts: every condition holds. Another seed: {@code -Drevenant.chaos.seed=N},
 * more states: {@code -Drevenant.chaos.states=N}.
 */
@Tag("slow")
class TpccPowerCutTest {
  private static final long SEED = Long.getLong("revenant.chaos.seed", 20_261_122);
  private static final int STATES =
      Integer.getInteger("revenant.chaos.states", Boolean.getBoolean("revenant.long") ? 200 : 80);
  private static final Duration LIMIT = Duration.ofSeconds(60);

  @TempDir(cleanup = CleanupMode.ON_SUCCESS)
  private Path directory;

  @Test
  @Drawn(oneIn = 2)
  void all_conditions_hold_after_every_power_cut() throws Exception {
    System.out.println("TpccPowerCutTest -Drevenant.chaos.seed=" + SEED);
    Recording recording = new LifeRecorder<>(TpccSubject::new, SEED, 2, LIMIT).record();
    assertTrue(recording.usable(), recording.reason());
    PowerCutOptions options =
        PowerCutOptions.of(PlatformProfile.SECTOR_4K, SEED)
            .withStates(STATES)
            .withLimit(LIMIT)
            .withKeep(directory.resolve("failures"));
    Outcome outcome =
        new PowerCutRun<Database>(TpccSubject::new, recording, options, new SeenImages()).run();
    assertEquals(Verdict.SURVIVED, outcome.verdict(), outcome::toString);
  }
}
