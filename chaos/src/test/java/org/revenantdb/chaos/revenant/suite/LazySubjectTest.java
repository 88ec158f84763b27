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
 * Lazy commits and what durable readers were told of them (R10), behind power cuts and deaths. Real
 * kills of the same subject are a part of {@code ChaosSuiteTest}. Another seed: {@code
 * -Drevenant.chaos.seed=N}.
 */
@Tag("slow")
class LazySubjectTest {

  private static final long SEED = Long.getLong("revenant.chaos.seed", 20_261_122);
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final int STATES = 300;

  @TempDir Path dir;

  private static Recording record() throws IOException {
    System.out.println("LazySubjectTest -Drevenant.chaos.seed=" + SEED);
    Recording recording = new LifeRecorder<>(LazySubject::new, SEED, 2, LIMIT).record();
    assertTrue(recording.usable(), recording.reason());
    return recording;
  }

  @Test
  void R10_what_a_durable_reader_was_told_survives_power_cuts() throws IOException {
    Recording recording = record();
    PowerCutOptions options =
        PowerCutOptions.of(PlatformProfile.SECTOR_4K, SEED)
            .withStates(STATES)
            .withLimit(LIMIT)
            .withKeep(dir.resolve("failures"));
    Outcome outcome =
        new PowerCutRun<Database>(LazySubject::new, recording, options, new SeenImages()).run();
    assertEquals(Verdict.SURVIVED, outcome.verdict(), outcome::toString);
  }

  /** What is in the log's buffer dies with the process: a force is not all that an answer needs. */
  @Test
  void R10_what_a_durable_reader_was_told_survives_a_death_before_each_write_of_the_log()
      throws IOException {
    Recording recording = record();
    PowerCut cut = new PowerCut(recording.trace(), PlatformProfile.SECTOR_4K.rules());
    NodePaths paths = new NodePaths(recording.trace());
    StateChecker<Database> checker = new StateChecker<>(LazySubject::new, /* resume= */ false);
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
    assertTrue(deaths > 50, "only " + deaths + " writes of the log");
  }
}
