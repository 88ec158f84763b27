package org.revenantdb.suite.crash;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.chaos.report.ConsoleSummary;
import org.revenantdb.chaos.report.RunReport;
import org.revenantdb.chaos.report.ToothLine;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.subject.Crash;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.history.HistoryExport;

/**
 * The part of the crash suite that runs in every build: all parts, one seed, less than a minute on
 * two processors. Some states, kills and teeth are required whatever the time. Another seed and
 * length: {@code -Drevenant.chaos.seed=N -Drevenant.chaos.seconds=N}.
 */
@Tag("slow")
class ChaosSuiteTest {

  private static final long SEED = Long.getLong("revenant.chaos.seed", 20_261_121);
  private static final int SECONDS = Integer.getInteger("revenant.chaos.seconds", 3);

  @TempDir Path dir;

  @Test
  void RevenantDB_survives_every_part_of_a_short_run() throws IOException {
    System.out.printf(
        "ChaosSuiteTest -Drevenant.chaos.seed=%d -Drevenant.chaos.seconds=%d%n", SEED, SECONDS);
    Path edn = dir.resolve("new").resolve("edn");
    ChaosOptions options =
        new ChaosOptions(
            SEED,
            Duration.ofSeconds(SECONDS),
            EnumSet.allOf(Crash.class),
            dir.resolve("databases"),
            dir.resolve("failures"),
            new HistoryExport(edn));
    RunReport report = new ChaosSuite(options, "").run();
    String story = ConsoleSummary.of(report);
    System.out.println(story);
    // On a busy machine a part may not get its turn in the time of the run.
    for (Outcome part : report.parts()) {
      assertTrue(part.verdict() == Verdict.SURVIVED || Outcomes.hurried(part), story);
    }
    assertTrue(report.teeth().stream().allMatch(ToothLine::found), story);
    assertTrue(report.parts().stream().mapToLong(Outcome::kills).sum() >= 3, story);
    assertTrue(report.parts().stream().mapToLong(Outcome::states).sum() > 0, story);
    assertTrue(
        report.parts().stream()
            .map(Outcome::name)
            .toList()
            .containsAll(List.of("faults", "full disk and back", "recovery cost", "process death")),
        story);
    RecoveryCostTest.assertCountedBytesGrowWithTheLog(report.costByLog());
    if (report.parts().stream().noneMatch(Outcomes::hurried)) {
      HistoryFiles.assertForElle(edn);
    }
  }
}
