package org.revenantdb.suite.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.history.HistoryExport;
import org.revenantdb.testing.Drawn;

/** Which levels get their turn in very little time. */
class HistoryRunsTest {

  private static final long SEED = 20_261_125;
  private static final Duration ENDLESS = Duration.ofHours(1);

  /** A single history. */
  private static final Duration NO_TIME = Duration.ZERO;

  @TempDir Path dir;

  private HistoryRuns runs(Duration mostForTheFirst) {
    return new HistoryRuns(SEED, new HistoryExport(dir.resolve("edn")), mostForTheFirst);
  }

  private static SuiteProgress progress() {
    return SuiteProgress.start("histories", NO_TIME);
  }

  private Set<String> levels() throws IOException {
    try (Stream<Path> files = Files.list(dir.resolve("edn"))) {
      return files
          .map(file -> file.getFileName().toString().replaceAll(".*-\\d-([a-z-]+).*", "$1"))
          .map(name -> name.replaceAll("-$", ""))
          .collect(Collectors.toSet());
    }
  }

  @Test
  @Drawn(oneIn = 2)
  void power_cuts_include_each_level_even_without_time() throws Exception {
    try (SuiteProgress progress = progress()) {
      Outcome outcome = runs(ENDLESS).cut(NO_TIME, progress);
      assertEquals(Verdict.SURVIVED, outcome.verdict(), outcome::toString);
      assertTrue(outcome.states() > 3, outcome::toString);
    }
    assertEquals(Set.of("serializable", "snapshot", "read-committed"), levels());
  }

  @Test
  @Tag("slow")
  @Drawn(oneIn = 2)
  void kills_include_each_level_even_without_time() throws Exception {
    try (SuiteProgress progress = progress()) {
      Outcome outcome = runs(ENDLESS).kill(NO_TIME, dir, progress);
      assertEquals(Verdict.SURVIVED, outcome.verdict(), outcome::toString);
      assertTrue(outcome.kills() > 0, outcome::toString);
    }
    assertEquals(Set.of("serializable", "snapshot", "read-committed"), levels());
  }

  @Test
  void levels_that_were_not_reached_are_reported() throws Exception {
    try (SuiteProgress progress = progress()) {
      Outcome outcome = runs(NO_TIME).cut(NO_TIME, progress);
      assertEquals(Verdict.NOT_MEASURED, outcome.verdict(), outcome::toString);
      assertEquals(
          "SNAPSHOT, READ_COMMITTED not reached, and not enough time for more", outcome.reason());
      assertTrue(Outcomes.hurried(outcome));
      assertTrue(outcome.states() > 0, outcome::toString);
    }
    assertEquals(Set.of("serializable"), levels());
  }
}
