package org.revenantdb.chaos.revenant.suite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
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
 * A data file that is compacted (docs/protocols.md §18), behind power cuts and deaths. Another
 * seed: {@code -Drevenant.chaos.seed=N}.
 */
@Tag("slow")
class CompactSubjectTest {

  private static final long SEED = Long.getLong("revenant.chaos.seed", 20_261_123);
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final int STATES = 150;

  /** Operations on either side of a cut after each of which the process dies. */
  private static final int AROUND = 12;

  @TempDir Path dir;

  private static Recording record() throws IOException {
    System.out.println("CompactSubjectTest -Drevenant.chaos.seed=" + SEED);
    Recording recording = new LifeRecorder<>(CompactSubject::new, SEED, 2, LIMIT).record();
    assertTrue(recording.usable(), recording.reason());
    return recording;
  }

  @Test
  void compaction_survives_power_cuts() throws IOException {
    Recording recording = record();
    SeenImages seen = new SeenImages();
    for (PlatformProfile profile :
        List.of(PlatformProfile.SECTOR_4K, PlatformProfile.SIZE_BEFORE_DATA)) {
      PowerCutOptions options =
          PowerCutOptions.of(profile, SEED)
              .withStates(STATES)
              .withLimit(LIMIT)
              .withKeep(dir.resolve("failures"));
      Outcome outcome =
          new PowerCutRun<Database>(CompactSubject::new, recording, options, seen).run();
      assertEquals(Verdict.SURVIVED, outcome.verdict(), outcome::toString);
    }
  }

  /** The control slot, the truncation, its force, and what is written right before and after. */
  @Test
  void a_death_before_and_after_each_step_around_a_cut_of_the_file() throws IOException {
    Recording recording = record();
    PowerCut cut = new PowerCut(recording.trace(), PlatformProfile.SECTOR_4K.rules());
    NodePaths paths = new NodePaths(recording.trace());
    StateChecker<Database> checker = new StateChecker<>(CompactSubject::new, /* resume= */ true);
    List<Operation> operations = recording.trace().operations();
    int cuts = 0;
    int lastLooked = -1;
    for (int i = 0; i < operations.size(); i++) {
      Operation operation = operations.get(i);
      if (!(operation instanceof Operation.Truncate truncate)
          || !paths.path(truncate.node(), operation.seq()).endsWith("revenant.data")
          || operation.seq() < recording.from()) {
        continue;
      }
      cuts++;
      int to = Math.min(operations.size(), i + AROUND);
      for (int at = Math.max(lastLooked + 1, i - AROUND); at < to; at++) {
        long place = operations.get(at).seq();
        if (place < recording.from()) {
          continue;
        }
        StateResult result =
            checker.check(cut.state(place, Losses.none()).image(), recording.promises(), place);
        assertTrue(result.survived(), "dead before the operation at " + place + ": " + result);
        lastLooked = at;
      }
    }
    System.out.println(cuts + " cuts of the data file");
    assertTrue(cuts >= 4, "only " + cuts + " cuts of the data file");
  }
}
