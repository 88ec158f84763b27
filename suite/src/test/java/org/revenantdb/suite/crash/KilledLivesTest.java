package org.revenantdb.suite.crash;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.revenantdb.chaos.power.CrashState;
import org.revenantdb.chaos.power.Losses;
import org.revenantdb.chaos.power.PowerCut;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.run.Recording;
import org.revenantdb.chaos.run.StateChecker;
import org.revenantdb.chaos.run.StateResult;
import org.revenantdb.engine.Database;

/**
 * A process dies after writing the data file and before forcing it. The next one opens what it
 * sees, and then the power is cut.
 *
 * <p>Found by the suite when the force in {@code ControlFile.rewrite} was missing. The next process
 * read the control slot that the dead process had written, and renamed a log segment that this slot
 * no longer needs. Then the slot before it came back, which needs that segment.
 */
@Tag("slow")
class KilledLivesTest {

  private static final long SEED = 20_261_121;
  private static final int FORCES = 10;

  /** The first of every third force; under {@code -Plong} each force has its turn. */
  private static final int FIRST = 1 + new SplittableRandom().nextInt(3);

  private static final int EVERY = 3;
  private static final int STEPS = 40;

  @Test
  void unforced_writes_of_a_dead_process_may_be_lost_at_each_step_of_the_next_open()
      throws IOException {
    StateChecker<Database> checker = new StateChecker<>(ShortSubject::new, /* resume= */ false);
    boolean isLong = Boolean.getBoolean("revenant.long");
    int first = isLong ? 1 : Integer.getInteger("revenant.chaos.force", FIRST);
    System.out.println("KilledLivesTest -Drevenant.chaos.force=" + first);
    for (int force = first; force <= FORCES; force += isLong ? 1 : EVERY) {
      Recording recording = KilledLives.record(KilledLives.dataForce(force), force, SEED);
      assertTrue(recording != null, "there are fewer than " + force + " forces in a life");
      assertTrue(recording.usable(), recording.reason());
      PowerCut cut = new PowerCut(recording.trace(), PlatformProfile.STRICT_POSIX.rules());
      for (long place = recording.from(); place < recording.from() + STEPS; place++) {
        CrashState state = cut.state(place, Losses.of(cut.pending(place)));
        String story = state.losses().story();
        StateResult result = checker.check(state.image(), recording.promises(), place);
        assertTrue(result.survived(), "dead at force " + force + ": " + result + "\n" + story);
      }
    }
  }
}
