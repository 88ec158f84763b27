package org.revenantdb.suite.crash;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.chaos.profile.PlatformProfile;

/**
 * Throttled sessions (docs/protocols.md §6) after power cuts that lose much, little, or nothing.
 * Another seed: {@code -Drevenant.chaos.seed=N}.
 */
@Tag("slow")
class ThrottleSubjectTest {

  private static final long SEED = Long.getLong("revenant.chaos.seed", 20_261_123);
  private static final int STATES = Integer.getInteger("revenant.chaos.states", 12);

  @TempDir Path dir;

  @Test
  void crashes_lose_no_work_of_throttled_sessions() throws IOException {
    RecordedLives.of(ThrottleSubject::new, ThrottleSubjectTest.class, SEED)
        .assertPowerCutsSurvived(STATES, dir, PlatformProfile.SECTOR_4K);
  }
}
