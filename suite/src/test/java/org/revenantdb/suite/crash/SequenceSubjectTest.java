package org.revenantdb.suite.crash;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.testing.Drawn;

/**
 * Sequences after power cuts, and after a death before each write: no number is given out again
 * that was given out durably, or that a row has (R23). Another seed: {@code
 * -Drevenant.chaos.seed=N}.
 */
@Tag("slow")
class SequenceSubjectTest {

  private static final long SEED = Long.getLong("revenant.chaos.seed", 20_261_124);
  private static final int STATES = Integer.getInteger("revenant.chaos.states", 200);

  @TempDir Path dir;

  private static RecordedLives recorded() throws IOException {
    return RecordedLives.of(SequenceSubject::new, SequenceSubjectTest.class, SEED);
  }

  @Test
  @Drawn(oneIn = 2)
  void R23_no_number_is_given_out_again_after_power_cuts() throws IOException {
    recorded().assertPowerCutsSurvived(STATES, dir, PlatformProfile.SECTOR_4K);
  }

  @Test
  @Drawn(oneIn = 2)
  void R23_no_number_is_given_out_again_after_a_death_before_each_write() throws IOException {
    recorded()
        .assertDeathsBeforeWritesSurvived(
            /* resume= */ true, (path, place) -> RecordedLives.isLog(path));
  }
}
