package org.revenantdb.suite.crash;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
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
 * The part of the crash suite that runs in every build: all parts of one kind of crash, which is
 * drawn and printed; one seed, less than a minute on two processors. Under {@code -Plong} all
 * parts. Some states, kills and teeth are required whatever the time. Another seed, length and
 * kind: {@code -Drevenant.chaos.seed=N -Drevenant.chaos.seconds=N -Drevenant.chaos.crash=N}.
 */
@Tag("slow")
class ChaosSuiteTest {

  private static final long SEED = Long.getLong("revenant.chaos.seed", 20_261_121);
  private static final int SECONDS = Integer.getInteger("revenant.chaos.seconds", 3);

  /** The usual build has the parts of one kind of crash. */
  private static final int CRASH =
      Integer.getInteger("revenant.chaos.crash", new Random().nextInt(Crash.values().length));

  @TempDir Path dir;

  private static EnumSet<Crash> crashes() {
    return Boolean.getBoolean("revenant.long")
        ? EnumSet.allOf(Crash.class)
        : EnumSet.of(Crash.values()[CRASH]);
  }

  @Test
  void RevenantDB_survives_every_part_of_a_short_run() throws IOException {
    System.out.printf(
        "ChaosSuiteTest -Drevenant.chaos.seed=%d -Drevenant.chaos.seconds=%d"
            + " -Drevenant.chaos.crash=%d%n",
        SEED, SECONDS, CRASH);
    EnumSet<Crash> crashes = crashes();
    Path edn = dir.resolve("new").resolve("edn");
    ChaosOptions options =
        new ChaosOptions(
            SEED,
            Duration.ofSeconds(SECONDS),
            crashes,
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
    List<String> parts = report.parts().stream().map(Outcome::name).toList();
    if (crashes.contains(Crash.PROCESS_DEATH)) {
      assertTrue(report.parts().stream().mapToLong(Outcome::kills).sum() >= 3, story);
      assertTrue(parts.contains("process death"), story);
    }
    if (crashes.contains(Crash.POWER_CUT)) {
      assertTrue(report.parts().stream().mapToLong(Outcome::states).sum() > 0, story);
      assertTrue(
          parts.containsAll(List.of("faults", "full disk and back", "recovery cost")), story);
      RecoveryCostTest.assertCountedBytesGrowWithTheLog(report.costByLog());
      if (report.parts().stream().noneMatch(Outcomes::hurried)) {
        HistoryFiles.assertForElle(edn);
      }
    }
  }
}
