package org.revenantdb.chaos.report;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.revenantdb.chaos.oracle.Finding;
import org.revenantdb.chaos.report.KillTimeline.Event;
import org.revenantdb.chaos.report.SizeSeries.Along;
import org.revenantdb.chaos.run.CoverageRow;
import org.revenantdb.chaos.run.Failure;
import org.revenantdb.chaos.run.FaultRow;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.subject.Crash;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.chaos.trace.Site;

/** A report with content in every part. Invented: it shows what a page looks like. */
final class SampleReport {

  private static final long SEED = 20_261_107;

  private SampleReport() {}

  static RunReport full(Path folder) {
    RunReport.Builder report =
        RunReport.builder("sample: a store <that> never was", SEED)
            .command("./revenant chaos --seed " + SEED + " --profile EXT4_ORDERED")
            .ran(Instant.parse("2026-11-07T09:30:00Z"), Duration.ofSeconds(754))
            .statesPerSecond(31.25)
            .surroundings(new Surroundings("Linux 6.1, amd64, 2 processors", "25.0.3", "cf311852"));
    parts(report, folder);
    tables(report);
    plots(report);
    return report.build();
  }

  private static void parts(RunReport.Builder report, Path folder) {
    Random random = new Random(SEED);
    report
        .part(
            new Outcome(
                "power cut, EXT4_ORDERED",
                Verdict.SURVIVED,
                "",
                Map.of(Verdict.SURVIVED, 12_480L),
                12_480,
                0,
                times(random, 12_480, 6),
                List.of()))
        .part(
            new Outcome(
                "power cut, STRICT_POSIX",
                Verdict.LOST,
                "a commit that was acknowledged is not there",
                Map.of(Verdict.SURVIVED, 9_811L, Verdict.LOST, 3L, Verdict.CORRUPT, 0L),
                9_814,
                0,
                times(random, 9_814, 7),
                List.of(failure(folder))))
        .part(
            new Outcome(
                "process death",
                Verdict.SURVIVED,
                "",
                Map.of(Verdict.SURVIVED, 212L),
                0,
                212,
                times(random, 212, 60),
                List.of()))
        .part(
            Outcome.of(
                "power cut, mapped files",
                Verdict.NOT_MEASURED,
                "the store writes through a mapping, which a recorder cannot see"));
  }

  private static double[] times(Random random, int count, double median) {
    return random
        .doubles(count)
        .map(share -> median * Math.pow(40, share * share - 0.25))
        .toArray();
  }

  private static Failure failure(Path folder) {
    String story =
        """
        lost: write log/0003.log 40960+4096 by thread committer-2
            at store.file.LogFile.append(LogFile.java:118)
            at store.log.GroupCommit.flush(GroupCommit.java:77)
        torn: write data/main 8192+16384 by thread <cleaner>, 3 of 32 units kept
            at store.file.DataFile.write(DataFile.java:64)
        """;
    return new Failure(
        Verdict.LOST,
        "power cut at operation 4711, everything kept but 2 operations",
        List.of(
            new Finding(Finding.Kind.LOST, "key <k-17>, transaction 93, durable at 4702"),
            new Finding(Finding.Kind.TORN, "transaction 93: 'a' is there, \"b\" is not")),
        story,
        SEED + 3,
        folder.resolve("failures").resolve("power cut #1.zip"));
  }

  private static void tables(RunReport.Builder report) {
    report
        .tooth(
            new ToothLine(
                "commit without a force",
                true,
                0.41,
                37,
                "LOST: key 5\nlost: write log/1 " + "x".repeat(200)))
        .tooth(new ToothLine("directory never forced", true, 1.9, 214, "CORRUPT: no file log/2"))
        .tooth(new ToothLine("checksum not looked at", false, 30, 5_120, ""))
        .coverage(
            new CoverageRow(
                new Site("store.log.GroupCommit", "flush", 77, "log"),
                3_104,
                240,
                "EXT4_ORDERED: LOST",
                true))
        .coverage(unnoticed("store.Store", "create", 31, ".", 4, 60, false))
        .coverage(unnoticed("store.Store", "rename", 77, ".", 9, 4_210, true))
        .coverage(unnoticed("store.Backup", "lambda$copy$0", 12, "", 0, 0, false))
        .fault(new FaultRow("a force fails, its pages are taken for clean", 40, 39, 2, 0, 610, 1))
        .fault(new FaultRow("disk full", 120, 118, 5, 0, 944, 0))
        .fault(new FaultRow("stale read", 3, 0, 3, 0, 12, 0));
  }

  private static CoverageRow unnoticed(
      String type, String method, int line, String kind, int forces, long states, boolean tried) {
    return new CoverageRow(new Site(type, method, line, kind), forces, states, "", tried);
  }

  private static void plots(RunReport.Builder report) {
    long mib = 1 << 20;
    for (int factor : new int[] {1, 10, 100}) {
      report.costBySize(
          new RecoveryCostPoint(
              factor + "x", factor * mib, 3 * mib, 3 * mib + factor * 900, 40_960, 131, 5.1));
    }
    for (int i = 1; i <= 12; i++) {
      long log = i * 700_000L;
      report.costByLog(
          new RecoveryCostPoint(
              "",
              mib,
              log,
              log + i % 3 * 200_000,
              i == 9 ? 5 * mib : log / 4,
              40 + i * 9,
              i * 1.7));
    }
    report.bound(new RecoveryBound("declared: 1 MiB + 1.5 × log", mib, 1.5));
    report.sizes(
        new SizeSeries(
            "log",
            Along.SECONDS,
            java.util.stream.IntStream.range(0, 4_000)
                .mapToObj(i -> new SizeSeries.Point(i / 10.0, mib + i % 700 * 30_000L))
                .toList()));
    Random random = new Random(SEED);
    List<Event> events = new java.util.ArrayList<>();
    for (int i = 0; i < 700; i++) {
      events.add(Event.at("commits", 10_000 + random.nextInt(6_000), "commit " + i));
    }
    for (int i = 0; i < 150; i++) {
      events.add(Event.at("forces", 10_000 + random.nextInt(6_000), "force of log"));
    }
    events.add(new Event("checkpoints", 11_200, 11_900, "checkpoint 8"));
    events.add(new Event("checkpoints", 14_400, 15_100, "checkpoint 9"));
    events.add(new Event("recovery", 16_001, 16_900, "analysis"));
    events.add(new Event("recovery", 16_900, 18_300, "redo"));
    events.add(new Event("recovery", 18_300, 18_320, "undo"));
    report.kill(
        new KillTimeline(Crash.PROCESS_DEATH, "episode 3, round 7", List.of(16_000L), events));
  }
}
