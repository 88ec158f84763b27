package org.revenantdb.chaos.revenant.suite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.chaos.power.Losses;
import org.revenantdb.chaos.power.NodePaths;
import org.revenantdb.chaos.power.PlatformProfile;
import org.revenantdb.chaos.power.PowerCut;
import org.revenantdb.chaos.run.LifeRecorder;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.run.PowerCutOptions;
import org.revenantdb.chaos.run.PowerCutRun;
import org.revenantdb.chaos.run.Recording;
import org.revenantdb.chaos.run.SeenImages;
import org.revenantdb.chaos.run.StateChecker;
import org.revenantdb.chaos.run.StateResult;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.chaos.trace.Operation;
import org.revenantdb.engine.Database;

/**
 * Sequences behind power cuts, and behind a death before each write: no number that was given
 * durably, or that a row has, comes again (R23). Another seed: {@code -Drevenant.chaos.seed=N}.
 */
@Tag("slow")
class SequenceSubjectTest {

  private static final long SEED = Long.getLong("revenant.chaos.seed", 20_261_124);
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final int STATES = Integer.getInteger("revenant.chaos.states", 200);

  @TempDir Path dir;

  private static Recording record() throws IOException {
    System.out.println("SequenceSubjectTest -Drevenant.chaos.seed=" + SEED);
    Recording recording = new LifeRecorder<>(SequenceSubject::new, SEED, 2, LIMIT).record();
    assertTrue(recording.usable(), recording.reason());
    return recording;
  }

  @Test
  void R23_power_cuts_bring_no_number_back() throws IOException {
    Recording recording = record();
    PowerCutOptions options =
        PowerCutOptions.of(PlatformProfile.SECTOR_4K, SEED)
            .withStates(STATES)
            .withLimit(LIMIT)
            .withKeep(dir.resolve("failures"));
    Outcome outcome =
        new PowerCutRun<Database>(SequenceSubject::new, recording, options, new SeenImages()).run();
    assertEquals(Verdict.SURVIVED, outcome.verdict(), outcome::toString);
  }

  @Test
  void R23_a_death_before_each_write_brings_no_number_back() throws IOException {
    Recording recording = record();
    PowerCut cut = new PowerCut(recording.trace(), PlatformProfile.SECTOR_4K.rules());
    NodePaths paths = new NodePaths(recording.trace());
    StateChecker<Database> checker = new StateChecker<>(SequenceSubject::new, /* resume= */ true);
    int deaths = 0;
    for (Operation operation : recording.trace().operations()) {
      long place = operation.seq();
      if (operation instanceof Operation.Write write
          && paths.path(write.node(), place).startsWith("db/log/")
          && place >= recording.from()) {
        StateResult result =
            checker.check(cut.state(place, Losses.none()).image(), recording.promises(), place);
        assertTrue(result.survived(), "dead before the write at " + place + ": " + result);
        deaths++;
      }
    }
    assertTrue(deaths > 50, "only " + deaths + " writes");
  }
}
