package org.revenantdb.suite.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.crash.FileTrees;
import org.revenantdb.chaos.crash.Seeds;
import org.revenantdb.chaos.report.ConsoleSummary;
import org.revenantdb.chaos.report.HtmlReport;
import org.revenantdb.chaos.report.JsonReport;
import org.revenantdb.chaos.report.RunJson;
import org.revenantdb.chaos.report.RunReport;
import org.revenantdb.chaos.run.FailureFile;
import org.revenantdb.chaos.run.StateResult;
import org.revenantdb.chaos.subject.Crash;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.history.HistoryExport;
import org.revenantdb.suite.crash.ChaosOptions;
import org.revenantdb.suite.crash.ChaosSuite;
import org.revenantdb.suite.crash.Conclusion;
import org.revenantdb.suite.crash.CountedRun;
import org.revenantdb.suite.crash.Variant;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** {@code ./revenant chaos}. */
@Command(
    name = "chaos",
    description =
        "Crashes RevenantDB: cuts the power of recorded runs and recoveries in every way that a"
            + " platform allows, kills processes, injects faults, removes each force, measures what"
            + " recovery costs. First proves that it finds faults that are built in on purpose.")
public final class ChaosCommand extends DirectoryCommand {

  /** The kinds of crash. */
  enum Kinds {
    KILL,
    POWER,
    BOTH;

    private Set<Crash> crashes() {
      return switch (this) {
        case KILL -> EnumSet.of(Crash.PROCESS_DEATH);
        case POWER -> EnumSet.of(Crash.POWER_CUT);
        case BOTH -> EnumSet.allOf(Crash.class);
      };
    }
  }

  private static final String PAGE = "index.html";
  private static final String FAILURES = "failures";

  @Option(names = "--seed", paramLabel = "N", description = "Seed of all random choices.")
  private @Nullable Long seed;

  @Option(
      names = "--seconds",
      paramLabel = "N",
      defaultValue = "60",
      description = "About how long it runs (default: ${DEFAULT-VALUE}).")
  private int seconds;

  @Option(
      names = "--crash",
      paramLabel = "KIND",
      defaultValue = "BOTH",
      description = "kill, power or both (default: ${DEFAULT-VALUE}).")
  private Kinds kinds = Kinds.BOTH;

  @Option(
      names = "--subject",
      paramLabel = "NAME",
      description =
          "Crash one kind of life, ${COMPLETION-CANDIDATES}, as often as --states and --kills set,"
              + " however long it takes.")
  private @Nullable Variant subject;

  @Option(
      names = "--states",
      paramLabel = "N",
      defaultValue = "9500",
      description =
          "With --subject: at least this many different states after power cuts; each life is"
              + " examined completely (${DEFAULT-VALUE}).")
  private long states;

  @Option(
      names = "--kills",
      paramLabel = "N",
      defaultValue = "500",
      description = "With --subject: processes that are killed (${DEFAULT-VALUE}).")
  private int kills;

  @Option(
      names = "--report",
      paramLabel = "DIR",
      description = "Write a page with plots to DIR, and the files of failures.")
  private @Nullable Path reportDir;

  @Option(names = "--json", paramLabel = "FILE", description = "Write the figures to FILE.")
  private @Nullable Path json;

  @Option(
      names = "--history",
      paramLabel = "DIR",
      description =
          "Write each history of transactions that is checked to DIR, for Elle: one file of its lists"
              + " and one of its registers.")
  private @Nullable Path historyDir;

  @Option(
      names = "--replay",
      paramLabel = "FILE",
      description = "Open the image of a failure again, and do nothing else.")
  private @Nullable Path replay;

  /** Creates the command with its defaults. */
  public ChaosCommand() {}

  @Override
  public Integer call() throws IOException {
    if (replay != null) {
      return replay(replay);
    }
    demand("--seconds", seconds, 1, MOST_SECONDS);
    checkCounts();
    checkPaths();
    long drawn = seed == null ? Seeds.fresh() : seed;
    Path place = place("revenant-chaos-");
    Path keep = reportDir == null ? place.resolve(FAILURES) : reportDir.resolve(FAILURES);
    Path scratch = Files.createDirectories(place.resolve("databases"));
    HistoryExport histories = historyDir == null ? null : new HistoryExport(historyDir);
    ChaosOptions options =
        new ChaosOptions(
            drawn, Duration.ofSeconds(seconds), kinds.crashes(), scratch, keep, histories);
    System.err.println("seed " + drawn);
    RunReport report = run(options);
    System.out.println(ConsoleSummary.of(report));
    FileTrees.delete(scratch);
    if (dir == null && !Files.exists(keep)) {
      FileTrees.delete(place);
    }
    write(report);
    if (histories != null) {
      commandLine().getOut().println("histories: " + histories);
      commandLine().getOut().flush();
    }
    Conclusion conclusion = Conclusion.of(report, seconds);
    System.out.println(conclusion.text());
    return conclusion.exitCode();
  }

  private RunReport run(ChaosOptions options) {
    String crash = kinds.name().toLowerCase(Locale.ROOT);
    if (subject == null) {
      String command =
          "./revenant chaos --seed %d --seconds %d --crash %s"
              .formatted(options.seed(), seconds, crash);
      return new ChaosSuite(options, command).run();
    }
    String command =
        "./revenant chaos --seed %d --subject %s --states %d --kills %d --crash %s"
            .formatted(
                options.seed(), subject.name().toLowerCase(Locale.ROOT), states, kills, crash);
    return new CountedRun(subject, options, states, kills, command).run();
  }

  /** Time belongs to the suite, counts belong to a subject. */
  private void checkCounts() {
    boolean counted = isGiven("--states") || isGiven("--kills");
    if (subject == null && counted) {
      throw new ParameterException(commandLine(), "--states and --kills need a --subject");
    }
    if (subject != null && isGiven("--seconds")) {
      throw new ParameterException(commandLine(), "--subject takes counts, not --seconds");
    }
    if (subject != null && historyDir != null) {
      throw new ParameterException(
          commandLine(), "--subject records no histories of transactions; leave out --history");
    }
    if ((kinds == Kinds.POWER && isGiven("--kills"))
        || (kinds == Kinds.KILL && isGiven("--states"))) {
      throw new ParameterException(
          commandLine(), "--crash power has no --kills, and --crash kill has no --states");
    }
    boolean none = (states == 0 || kinds == Kinds.KILL) && (kills == 0 || kinds == Kinds.POWER);
    if (states < 0 || kills < 0 || none) {
      throw new ParameterException(
          commandLine(), "--states or --kills must be 1 or more, not " + states + " and " + kills);
    }
  }

  private boolean isGiven(String option) {
    return commandLine().getParseResult().hasMatchedOption(option);
  }

  /** A run is long, so the paths for its results are checked first. */
  private void checkPaths() {
    if (reportDir != null) {
      paths().directory("--report", reportDir);
      paths().file("--report", reportDir.resolve(PAGE));
      paths().directoryIfThere("--report", reportDir.resolve(FAILURES));
    }
    if (json != null) {
      paths().file("--json", json);
    }
    if (historyDir != null) {
      paths().directory("--history", historyDir);
    }
  }

  private void write(RunReport report) throws IOException {
    if (reportDir != null) {
      Path page = Files.createDirectories(reportDir).resolve(PAGE);
      HtmlReport.of(report).writeTo(page);
      System.out.println("report: " + page);
    }
    if (json != null) {
      RunJson.fill(report, new JsonReport()).writeTo(json);
    }
  }

  private int replay(Path file) {
    FailureFile failure;
    StateResult now;
    try {
      failure = FailureFile.read(file);
      now = failure.replay();
    } catch (IOException e) {
      throw paths().refused("--replay", String.valueOf(e.getMessage()));
    }
    System.out.printf("%s%nseed %d, %s%n", failure.title(), failure.seed(), failure.crash());
    System.out.printf("then %s, now %s%n", failure.verdict(), now.verdict());
    now.findings().forEach(finding -> System.out.println("    " + finding));
    if (now.failure() != null) {
      now.failure().printStackTrace(System.out);
    }
    return now.verdict() == Verdict.SURVIVED ? 0 : 1;
  }
}
