package org.revenantdb.suite.crash;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.testing.Drawn;

/**
 * Dropped tables (docs/protocols.md §24) after power cuts, and after a death before each write of
 * the log. Another seed: {@code -Drevenant.chaos.seed=N}.
 */
@Tag("slow")
class DropSubjectTest {

  private static final long SEED = Long.getLong("revenant.chaos.seed", 20_261_125);
  private static final int STATES =
      Integer.getInteger("revenant.chaos.states", Boolean.getBoolean("revenant.long") ? 150 : 60);

  @TempDir Path dir;

  private static RecordedLives recorded() throws IOException {
    return RecordedLives.of(DropSubject::new, DropSubjectTest.class, SEED);
  }

  @Test
  void R16_power_cuts_leave_a_table_whole_or_gone() throws IOException {
    recorded().assertPowerCutsSurvived(STATES, dir, PlatformProfile.SECTOR_4K);
  }

  @Test
  @Drawn(oneIn = 2)
  void R16_a_death_before_each_write_of_the_log_leaves_a_table_whole_or_gone() throws IOException {
    recorded().assertDeathsBeforeWritesSurvived(/* resume= */ true, RecordedLives.writesOfTheLog());
  }
}
