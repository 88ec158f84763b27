package org.revenantdb.suite.crash;

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
import org.revenantdb.testing.Drawn;

/**
 * Pages that are claimed, allocated, split, merged and freed (docs/protocols.md §19, R5), after
 * power cuts, also of the recoveries. Each seed is a recorded life of its own with several
 * conflicting threads.
 *
 * <p>Another first seed: {@code -Drevenant.chaos.seed=N}; more of them: {@code
 * -Drevenant.allocation.seeds=1000}.
 */
@Tag("slow")
class AllocationCrashTest {
  private static final long FIRST = Long.getLong("revenant.chaos.seed", 20_261_124);
  private static final int SEEDS = Integer.getInteger("revenant.allocation.seeds", 6);

  /**
   * The number of states of a life; some recoveries are recorded, and each of these is cut six more
   * times.
   */
  private static final int STATES = 4;

  private static final Duration LIMIT = Duration.ofSeconds(60);

  @TempDir(cleanup = CleanupMode.ON_SUCCESS)
  private Path directory;

  @Test
  @Drawn(oneIn = 2)
  void no_page_has_two_owners_and_none_has_leaked_whatever_a_power_cut_leaves() throws Exception {
    for (long seed = FIRST; seed < FIRST + SEEDS; seed++) {
      String repeat =
          "AllocationCrashTest -Drevenant.allocation.seeds=1 -Drevenant.chaos.seed=" + seed;
      System.out.println(repeat);
      Recording recording = new LifeRecorder<>(AllocationSubject::new, seed, 1, LIMIT).record();
      assertTrue(recording.usable(), repeat + ": " + recording.reason());
      PowerCutOptions options =
          PowerCutOptions.of(PlatformProfile.SECTOR_4K, seed)
              .withStates(STATES)
              .withDepth(2)
              .withWorkers(2)
              .withLimit(LIMIT)
              .withKeep(directory.resolve("failures"));
      Outcome outcome =
          new PowerCutRun<>(AllocationSubject::new, recording, options, new SeenImages()).run();
      assertEquals(Verdict.SURVIVED, outcome.verdict(), () -> repeat + "\n" + outcome);
    }
  }
}
