package org.revenantdb.suite.crash;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.testing.Drawn;

/**
 * Bulk loads after power cuts, and after a death before each write: all rows or none, and no page
 * leaked, also in the next life. Another seed: {@code -Drevenant.chaos.seed=N}.
 */
@Tag("slow")
class LoadSubjectTest {

  private static final long SEED = Long.getLong("revenant.chaos.seed", 20_261_122);
  private static final int STATES =
      Integer.getInteger("revenant.chaos.states", Boolean.getBoolean("revenant.long") ? 200 : 40);

  @TempDir Path dir;

  private static RecordedLives recorded() throws IOException {
    return RecordedLives.of(LoadSubject::new, LoadSubjectTest.class, SEED);
  }

  @Test
  void power_cuts_leave_whole_loads() throws IOException {
    recorded().assertPowerCutsSurvived(STATES, dir, PlatformProfile.SECTOR_4K);
  }

  /**
   * Every file, because a page that is written early or late is one of the steps of a load, too.
   */
  @Test
  @Drawn(oneIn = 2)
  void a_death_before_each_write_leaves_whole_loads() throws IOException {
    recorded()
        .assertDeathsBeforeWritesSurvived(
            /* resume= */ true,
            RecordedLives.writesOfTheLog()
                .or((path, place) -> !RecordedLives.isLog(path) && place % 16 == 0));
  }
}
