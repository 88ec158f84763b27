package org.revenantdb.suite.crash;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.chaos.profile.PlatformProfile;

/**
 * Lazy commits and what durable readers were told of them (R10), behind power cuts and deaths. Real
 * kills of the same subject are a part of {@code ChaosSuiteTest}. Another seed: {@code
 * -Drevenant.chaos.seed=N}.
 */
@Tag("slow")
class LazySubjectTest {

  private static final long SEED = Long.getLong("revenant.chaos.seed", 20_261_122);
  private static final int STATES = 300;

  @TempDir Path dir;

  private static RecordedLives recorded() throws IOException {
    return RecordedLives.of(LazySubject::new, LazySubjectTest.class, SEED);
  }

  @Test
  void R10_what_a_durable_reader_was_told_survives_power_cuts() throws IOException {
    recorded().assertPowerCutsSurvived(STATES, dir, PlatformProfile.SECTOR_4K);
  }

  /** What is in the log's buffer dies with the process: a force is not all that an answer needs. */
  @Test
  void R10_what_a_durable_reader_was_told_survives_a_death_before_each_write_of_the_log()
      throws IOException {
    recorded()
        .assertDeathsBeforeWritesSurvived(
            /* resume= */ false, (path, place) -> RecordedLives.isLog(path));
  }
}
