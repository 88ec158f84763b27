package org.revenantdb.suite.crash;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.chaos.profile.PlatformProfile;

/**
 * Versions and savepoints beyond memory (docs/protocols.md §28, §30) after power cuts that lose
 * much, little, or nothing. Another seed: {@code -Drevenant.chaos.seed=N}.
 */
@Tag("slow")
class VersionsSubjectTest {

  private static final long SEED = Long.getLong("revenant.chaos.seed", 20_261_123);
  private static final int STATES = Integer.getInteger("revenant.chaos.states", 12);

  @TempDir Path dir;

  @Test
  void spilled_versions_left_by_a_crash_are_never_read() throws IOException {
    RecordedLives.of(VersionsSubject::new, VersionsSubjectTest.class, SEED)
        .assertPowerCutsSurvived(STATES, dir, PlatformProfile.SECTOR_4K);
  }
}
