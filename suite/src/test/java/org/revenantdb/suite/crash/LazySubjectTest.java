package org.revenantdb.suite.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.chaos.crash.Options;
import org.revenantdb.chaos.crash.ProcessDeathRun;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.chaos.trace.Operation;
import org.revenantdb.testing.Drawn;

/**
 * Lazy commits and what durable readers saw of them (R10), after power cuts and deaths. Another
 * seed: {@code -Drevenant.chaos.seed=N}.
 */
@Tag("slow")
class LazySubjectTest {

  private static final long SEED = Long.getLong("revenant.chaos.seed", 20_261_122);
  private static final boolean LONG = Boolean.getBoolean("revenant.long");
  private static final int STATES = Integer.getInteger("revenant.chaos.states", LONG ? 300 : 100);
  private static final int KILLS = Integer.getInteger("revenant.chaos.kills", LONG ? 4 : 2);

  @TempDir Path dir;

  private static RecordedLives recorded() throws IOException {
    return RecordedLives.of(LazySubject::new, LazySubjectTest.class, SEED);
  }

  /** Else the power cuts would find nothing of what they can do to it. */
  @Test
  void the_ring_of_the_log_is_a_mapped_file_in_the_trace() throws IOException {
    RecordedLives lives = recorded();
    long stores =
        lives.operations().stream()
            .filter(Operation.Write.class::isInstance)
            .map(Operation.Write.class::cast)
            .filter(write -> write.offset() > 0 && lives.isOfLives(write))
            .filter(write -> lives.path(write.node(), write.seq()).endsWith("/revenant.ring"))
            .count();
    assertTrue(stores > 100, stores + " stores");
  }

  @Test
  void R10_reads_of_a_durable_reader_survive_power_cuts() throws IOException {
    List<PlatformProfile> others = new ArrayList<>(List.of(PlatformProfile.values()));
    others.remove(PlatformProfile.SECTOR_4K);
    int other = Integer.getInteger("revenant.chaos.profile", new Random().nextInt(others.size()));
    System.out.println("LazySubjectTest -Drevenant.chaos.profile=" + other);
    recorded().assertPowerCutsSurvived(STATES, dir, PlatformProfile.SECTOR_4K, others.get(other));
  }

  /** The log's buffer is lost with the process, so an answer needs more than a force. */
  @Test
  void R10_reads_of_a_durable_reader_survive_a_death_before_each_write_of_the_log()
      throws IOException {
    recorded()
        .assertDeathsBeforeWritesSurvived(/* resume= */ false, RecordedLives.writesOfTheLog());
  }

  /**
   * A lazy commit that has returned is in the ring of the log, which outlives the process (§46).
   */
  @Test
  @Drawn(oneIn = 2)
  void lazy_commits_survive_the_kills_of_their_processes() {
    Options options = Options.of(dir, SEED, KILLS).withStallLimit(Duration.ofSeconds(60));
    Outcome outcome = new ProcessDeathRun(LazySubject.class, options).run();
    assertEquals(Verdict.SURVIVED, outcome.verdict(), outcome::toString);
    assertTrue(outcome.kills() >= KILLS, outcome::toString);
  }
}
