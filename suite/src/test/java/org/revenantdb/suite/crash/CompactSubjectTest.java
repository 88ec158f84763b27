package org.revenantdb.suite.crash;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.run.StateChecker;
import org.revenantdb.chaos.trace.Operation;
import org.revenantdb.engine.Database;
import org.revenantdb.testing.Drawn;

/**
 * A data file that is compacted (docs/protocols.md §18), after power cuts and deaths. Another seed:
 * {@code -Drevenant.chaos.seed=N}.
 */
@Tag("slow")
class CompactSubjectTest {

  private static final long SEED = Long.getLong("revenant.chaos.seed", 20_261_123);
  private static final boolean LONG = Boolean.getBoolean("revenant.long");
  private static final int STATES = Integer.getInteger("revenant.chaos.states", LONG ? 150 : 60);

  /** A usual build looks around one cut of the file in so many; the first one is drawn. */
  private static final int EVERY = LONG ? 1 : 3;

  private static final int ENOUGH = LONG ? 4 : 2;

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
  @Drawn(oneIn = 2)
  void a_death_before_and_after_each_step_around_a_cut_of_the_file() throws IOException {
    int first = Integer.getInteger("revenant.chaos.cut", new SplittableRandom().nextInt(EVERY));
    System.out.println("CompactSubjectTest -Drevenant.chaos.cut=" + first);
    // Whether there is something to cut when a life compacts depends on the cleaner's pace.
    RecordedLives lives = recorded();
    for (int cuts = diesAroundCuts(lives, first); cuts < ENOUGH; ) {
      lives = lives.more();
      cuts += diesAroundCuts(lives, first);
    }
  }

  /** Returns around how many cuts of the file the process has died. */
  private static int diesAroundCuts(RecordedLives lives, int first) {
    StateChecker<Database> checker = lives.checker(/* resume= */ true);
    List<Operation> operations = lives.operations();
    int found = 0;
    int cuts = 0;
    int lastLooked = -1;
    for (int i = 0; i < operations.size(); i++) {
      Operation operation = operations.get(i);
      if (!(operation instanceof Operation.Truncate truncate)
          || !lives.path(truncate.node(), operation.seq()).endsWith("revenant.data")
          || !lives.isOfLives(operation)) {
        continue;
      }
      if (found++ % EVERY != first % EVERY) {
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
    System.out.println(cuts + " of " + found + " cuts of the data file");
    return cuts;
  }
}
