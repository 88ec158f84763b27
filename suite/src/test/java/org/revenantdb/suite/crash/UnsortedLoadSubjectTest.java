package org.revenantdb.suite.crash;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.testing.Drawn;

/**
 * Bulk loads of unsorted rows (docs/protocols.md §61) after power cuts, and after a death before
 * each write of a temporary file: all rows or none, and none of the files. Another seed: {@code
 * -Drevenant.chaos.seed=N}.
 */
@Tag("slow")
class UnsortedLoadSubjectTest {

  private static final long SEED = Long.getLong("revenant.chaos.seed", 20_261_129);
  private static final int STATES =
      Integer.getInteger("revenant.chaos.states", Boolean.getBoolean("revenant.long") ? 100 : 15);

  @TempDir Path dir;

  private static RecordedLives recorded() throws IOException {
    return RecordedLives.of(UnsortedLoadSubject::new, UnsortedLoadSubjectTest.class, SEED);
  }

  @Test
  void power_cuts_leave_whole_unsorted_loads_and_no_temporary_file() throws IOException {
    recorded().assertPowerCutsSurvived(STATES, dir, PlatformProfile.SECTOR_4K);
  }

  @Test
  @Drawn(oneIn = 2)
  void a_death_before_each_write_of_a_temporary_file_leaves_whole_loads() throws IOException {
    recorded()
        .assertDeathsBeforeWritesSurvived(
            /* resume= */ true, (path, place) -> path.endsWith(".spill"));
  }
}
