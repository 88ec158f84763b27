package org.revenantdb.chaos.examples;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.crash.FileTrees;
import org.revenantdb.chaos.crash.Scratch;
import org.revenantdb.chaos.crash.Seeds;
import org.revenantdb.chaos.hooks.AnyReplay;
import org.revenantdb.chaos.report.JsonReport;
import org.revenantdb.chaos.run.FailureFile;
import org.revenantdb.chaos.run.StateResult;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.chaos.trace.CallStack;
import org.revenantdb.engine.Database;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code ./revenant chaos --examples}: crashes stores that others have written. */
@Command(
    name = "chaos --examples",
    version = "RevenantDB " + Database.VERSION,
    description =
        "Crashes stores that others have written, with the settings that their documents call"
            + " durable, and tells what was lost or damaged.",
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:No false alarm, and all known findings of these stores were found; or the image of --replay"
          + " survived.",
      "1:A false alarm (a failure, after any crash, of a store that must be clean, unless it is"
          + " written down as expected), a known finding that was not found, or a store that could"
          + " not be measured; or the image of --replay failed again.",
      "2:Wrong usage; nothing was run."
    })
final class ExamplesCommand implements Callable<Integer> {
  private static final Duration LIMIT = Duration.ofMinutes(1);
  private static final int FAULT_LIVES = 3;

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "Show this help message and exit.")
  boolean helpWanted;

  @Option(
      names = {"-V", "--version"},
      versionHelp = true,
      description = "Print the version and exit.")
  boolean versionWanted;

  @Option(names = "--examples", hidden = true, description = "Chooses this command.")
  boolean examples;

  @Option(names = "--seed", paramLabel = "N", description = "Seed of all random choices.")
  private @Nullable Long seed;

  @Option(
      names = "--states",
      paramLabel = "N",
      defaultValue = "1000",
      description = "The most states of each store after each kind of crash (${DEFAULT-VALUE}).")
  private int states;

  @Option(
      names = "--seconds",
      paramLabel = "N",
      description =
          "About how long the states take; --states is then the most. Each store has the same share."
              + " A known finding that is not reached in this time does not count.")
  private @Nullable Integer seconds;

  @Option(
      names = "--store",
      paramLabel = "NAME",
      split = ",",
      description = "Only these stores: ${COMPLETION-CANDIDATES}.")
  private List<Example> stores = List.of();

  @Option(
      names = "--faults",
      description =
          "Also let operations of the stores fail, each kind in some lives, and remove the forces of"
              + " one place after the other. It takes about as long again. What is found so is told,"
              + " and decides nothing.")
  private boolean faults;

  @Option(
      names = "--report",
      paramLabel = "DIR",
      description =
          "Write the files of failures, with the images of their disks, to DIR. Otherwise they are"
              + " written to a temporary directory, which stays if there are any.")
  private @Nullable Path report;

  @Option(
      names = "--replay",
      paramLabel = "FILE",
      description = "Open the image of a failure again, and do nothing else.")
  private @Nullable Path replay;

  @Option(
      names = "--debug",
      paramLabel = "PORT",
      description =
          "With --replay: stop before the store is opened, until a debugger connects to PORT of this"
              + " machine.")
  private @Nullable Integer debug;

  @Option(names = "--json", paramLabel = "FILE", description = "Write the figures to FILE.")
  private @Nullable Path json;

  @Spec private @Nullable CommandSpec spec;

  @Override
  public Integer call() throws IOException {
    if (replay != null) {
      return replay(replay);
    }
    if (debug != null) {
      throw refused("--debug needs a --replay");
    }
    demand("--states", states);
    if (seconds != null) {
      demand("--seconds", seconds);
    }
    if (json != null) {
      checkJson(json);
    }
    long drawn = seed == null ? Seeds.fresh() : seed;
    List<Example> chosen = stores.isEmpty() ? Example.usual() : stores;
    Path scratch = Scratch.directory("revenant-examples-");
    Path keep = report == null ? Scratch.directory("revenant-example-failures-") : report;
    System.err.println("seed " + drawn);
    List<StoreResult> results = new ArrayList<>();
    try {
      for (Example store : chosen) {
        System.out.printf("%n%s %s%n", store.title(), store.version());
        System.out.println("    promises: " + store.promise());
        ExampleRun run =
            new ExampleRun(
                store,
                drawn,
                states,
                budget(chosen.size()),
                keep,
                /* isTimed= */ true,
                faults ? FAULT_LIVES : 0);
        StoreResult result = run.run(scratch, ExamplesCommand::print, ExamplesCommand::print);
        results.add(result);
        if (result.forces() != null) {
          print(result.forces());
        }
        System.out.println("    " + result.seen());
      }
    } finally {
      FileTrees.delete(scratch);
    }
    if (report == null && results.stream().noneMatch(StoreResult::hasFiles)) {
      FileTrees.delete(keep);
    }
    Figures figures = new Figures(results, drawn, states);
    System.out.println();
    System.out.println(figures.text());
    if (json != null) {
      JsonReport written = figures.json();
      StrangersTest.count(Path.of(System.getenv().getOrDefault("REVENANT_HOME", ".")))
          .ifPresent(lines -> written.number("lines", lines));
      written.surroundings().writeTo(json);
    }
    return figures.isGood(seconds == null) ? 0 : 1;
  }

  /** For each part of a store; null: no bound. */
  private @Nullable Duration budget(int count) {
    return seconds == null
        ? null
        : Duration.ofMillis(Math.max(1, seconds * 1_000L / (count * (Part.values().length + 1L))));
  }

  private static void print(Row row) {
    System.out.printf(
        "    %-28s %6d states, %-12s %s%n",
        row.part().title(), row.outcome().states(), row.outcome().verdict(), row.first());
    for (Path file : row.files()) {
      System.out.println("        --replay " + file);
    }
  }

  private static void print(FaultLine line) {
    System.out.printf(
        "    %-28s %6d states, %-12s %s%n",
        line.fault(),
        line.outcome().states(),
        line.outcome().verdict(),
        line.first().isEmpty() ? line.seen() : line.first());
    for (Path file : line.files()) {
      System.out.println("        --replay " + file);
    }
  }

  private static void print(ForceLine line) {
    System.out.printf(
        "    %-28s %6d of %d places needed%s%n",
        "forces",
        line.needed(),
        line.places(),
        line.unneeded().isEmpty() ? "" : "; not " + String.join(", ", line.unneeded()));
  }

  private int replay(Path file) {
    FailureFile failure;
    StateResult now;
    try {
      failure = FailureFile.read(file);
      if (debug == null) {
        now = AnyReplay.replay(failure, Example.FLAGS, LIMIT);
      } else {
        if (debug < 1 || debug > 65_535) {
          throw refused("--debug must be from 1 to 65,535, not " + debug);
        }
        System.out.printf(
            "stops before %s opens the store; connect a debugger to localhost:%d%n",
            failure.subject(), debug);
        now = AnyReplay.debug(failure, Example.FLAGS, debug);
      }
    } catch (IOException e) {
      throw refused("--replay: " + e.getMessage());
    }
    System.out.printf("%s%nseed %d, %s%n", failure.title(), failure.seed(), failure.crash());
    System.out.printf("then %s, now %s%n", failure.verdict(), now.verdict());
    now.findings().forEach(finding -> System.out.println("    " + finding));
    if (now.failure() != null) {
      System.out.println(CallStack.text(now.failure()));
    }
    return now.verdict() == Verdict.SURVIVED ? 0 : 1;
  }

  private ParameterException refused(String why) {
    return new ParameterException(Objects.requireNonNull(spec).commandLine(), why);
  }

  /** A run is long, so the path for its result is checked first. */
  private void checkJson(Path file) {
    Path folder = file.toAbsolutePath().getParent();
    if (Files.isDirectory(file) || folder == null || !Files.isWritable(folder)) {
      throw refused("--json: " + file + " cannot be written");
    }
  }

  private void demand(String option, long value) {
    if (value < 1 || value > 10_000_000) {
      throw refused(option + " must be from 1 to 10,000,000, not " + value);
    }
  }
}
