package org.revenantdb.suite.crash;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.testing.Drawn;

/**
 * Prepared transactions (docs/protocols.md §29) after power cuts, and after a death before each
 * write of the log. Another seed: {@code -Drevenant.chaos.seed=N}.
 */
@Tag("slow")
class PreparedSubjectTest {

  private static final long SEED = Long.getLong("revenant.chaos.seed", 20_261_123);
  private static final int STATES = Integer.getInteger("revenant.chaos.states", 150);

  @TempDir Path dir;

  private static RecordedLives recorded() throws IOException {
    return RecordedLives.of(PreparedSubject::new, PreparedSubjectTest.class, SEED);
  }

  @Test
  void power_cuts_leave_prepared_transactions_to_be_decided() throws IOException {
    recorded().assertPowerCutsSurvived(STATES, dir, PlatformProfile.SECTOR_4K);
  }

  @Test
  @Drawn(oneIn = 2)
  void a_death_before_each_write_of_the_log_leaves_them_to_be_decided() throws IOException {
    recorded()
        .assertDeathsBeforeWritesSurvived(
            /* resume= */ true, (path, place) -> RecordedLives.isLog(path));
  }
}
