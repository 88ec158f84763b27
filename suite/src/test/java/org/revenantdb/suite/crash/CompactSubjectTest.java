package org.revenantdb.suite.crash;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.run.StateChecker;
import org.revenantdb.chaos.trace.Operation;
import org.revenantdb.engine.Database;

/**
 * A data file that is compacted (docs/protocols.md §18), after power cuts and deaths. Another seed:
 * {@code -Drevenant.chaos.seed=N}.
 */
@Tag("slow")
class CompactSubjectTest {

  private static final long SEED = Long.getLong("revenant.chaos.seed", 20_261_123);
  private static final int STATES = 150;

  /** The number of operations on either side of a cut after each of which the process dies. */
  private static final int AROUND = 12;

  @TempDir Path dir;

  private static RecordedLives recorded() throws IOException {
    return RecordedLives.of(CompactSubject::new, CompactSubjectTest.class, SEED);
  }

  @Test
  void compaction_survives_power_cuts() throws IOException {
    recorded()
        .assertPowerCutsSurvived(
            STATES, dir, PlatformProfile.SECTOR_4K, PlatformProfile.SIZE_BEFORE_DATA);
  }

  /** The control slot, the truncation, its force, and the operations right before and after. */
  @Test
  void a_death_before_and_after_each_step_around_a_cut_of_the_file() throws IOException {
    // Whether there is something to cut when a life compacts depends on the cleaner's pace.
    RecordedLives lives = recorded();
    for (int cuts = diesAroundCuts(lives); cuts < 4; ) {
      lives = lives.more();
      cuts += diesAroundCuts(lives);
    }
  }

  private static int diesAroundCuts(RecordedLives lives) {
    StateChecker<Database> checker = lives.checker(/* resume= */ true);
    List<Operation> operations = lives.operations();
    int cuts = 0;
    int lastLooked = -1;
    for (int i = 0; i < operations.size(); i++) {
      Operation operation = operations.get(i);
      if (!(operation instanceof Operation.Truncate truncate)
          || !lives.path(truncate.node(), operation.seq()).endsWith("revenant.data")
          || !lives.isOfLives(operation)) {
        continue;
      }
      cuts++;
      int to = Math.min(operations.size(), i + AROUND);
      for (int at = Math.max(lastLooked + 1, i - AROUND); at < to; at++) {
        if (lives.isOfLives(operations.get(at))) {
          lives.assertDeathSurvived(checker, operations.get(at).seq());
          lastLooked = at;
        }
      }
    }
    System.out.println(cuts + " cuts of the data file");
    return cuts;
  }
}
