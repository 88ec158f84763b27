package org.revenantdb.suite.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.EnumSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.chaos.crash.Options;
import org.revenantdb.chaos.crash.ProcessDeathRun;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.run.PowerCutOptions;
import org.revenantdb.chaos.run.SeenImages;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.testing.Drawn;

/**
 * Tables in transactions (docs/protocols.md §31) after power cuts, also of the recoveries, after a
 * death before each write of the log, and after real kills. Another seed: {@code
 * -Drevenant.chaos.seed=N}.
 */
class SchemaSubjectTest {

  private static final long SEED = Long.getLong("revenant.chaos.seed", 20_261_126);
  private static final boolean LONG = Boolean.getBoolean("revenant.long");
  private static final int STATES = Integer.getInteger("revenant.chaos.states", LONG ? 150 : 24);
  private static final int KILLS = Integer.getInteger("revenant.chaos.kills", LONG ? 6 : 2);

  /** For builds without slow tests. */
  private static final int FEW_STATES = 30;

  /** The number of draws from a recorded life of the broken twin. */
  private static final int DRAWS = 20;

  private static final int DEPTH = 3;

  @TempDir(cleanup = CleanupMode.ON_SUCCESS)
  Path dir;

  private static RecordedLives recorded() throws IOException {
    return RecordedLives.of(SchemaSubject::new, SchemaSubjectTest.class, SEED);
  }

  @Test
  void R16_a_few_power_cuts_leave_all_of_a_transaction_or_nothing() throws IOException {
    recorded().assertPowerCutsSurvived(FEW_STATES, dir, PlatformProfile.SECTOR_4K);
  }

  @Test
  void table_steps_that_are_committed_without_their_rows_are_found() throws IOException {
    RecordedLives broken =
        RecordedLives.of(
            () -> new SchemaSubject(/* sessions= */ 1, TwoTransactions::new),
            SchemaSubjectTest.class,
            SEED);
    // The time between its two commits is short, so few cuts may all miss it.
    SeenImages seen = new SeenImages();
    boolean convicted = false;
    for (int draw = 0; !convicted; draw++) {
      if (draw % DRAWS == DRAWS - 1) {
        broken = broken.more();
        seen = new SeenImages();
      }
      PowerCutOptions options =
          PowerCutOptions.of(PlatformProfile.SECTOR_4K, SEED + draw).withStates(FEW_STATES);
      convicted =
          EnumSet.of(Verdict.LOST, Verdict.CORRUPT)
              .contains(broken.cutPower(options, seen).verdict());
    }
  }

  @Tag("slow")
  @Test
  void R16_power_cuts_under_each_profile_leave_all_of_a_transaction_or_nothing()
      throws IOException {
    recorded().assertPowerCutsSurvived(STATES, dir, PlatformProfile.values());
  }

  @Tag("slow")
  @Test
  void R16_power_cuts_of_the_recovery_and_of_the_one_after_leave_no_less() throws IOException {
    PowerCutOptions options =
        PowerCutOptions.of(PlatformProfile.STRICT_POSIX, SEED)
            .withStates(STATES)
            .withDepth(DEPTH)
            .withKeep(dir.resolve("failures"));
    Outcome outcome = recorded().cutPower(options, new SeenImages());
    assertEquals(Verdict.SURVIVED, outcome.verdict(), outcome::toString);
  }

  @Tag("slow")
  @Test
  @Drawn(oneIn = 2)
  void R16_a_death_before_each_write_of_the_log_leaves_all_or_nothing() throws IOException {
    recorded().assertDeathsBeforeWritesSurvived(/* resume= */ true, RecordedLives.writesOfTheLog());
  }

  @Tag("slow")
  @Test
  @Drawn(oneIn = 2)
  void R16_a_killed_process_leaves_all_or_nothing() {
    System.out.println("SchemaSubjectTest -Drevenant.chaos.seed=" + SEED);
    Outcome outcome =
        new ProcessDeathRun(SchemaSubject.class, Options.of(dir.resolve("killed"), SEED, KILLS))
            .run();
    assertEquals(Verdict.SURVIVED, outcome.verdict(), outcome::toString);
    assertTrue(outcome.kills() > 0, outcome::toString);
  }
}
