package org.revenantdb.suite.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.crash.FileTrees;
import org.revenantdb.chaos.crash.Seeds;
import org.revenantdb.chaos.report.JsonReport;
import org.revenantdb.chaos.report.Progress;
import org.revenantdb.engine.measure.PageCheckCost;
import org.revenantdb.suite.fuzz.FuzzFailure;
import org.revenantdb.suite.fuzz.FuzzOptions;
import org.revenantdb.suite.fuzz.FuzzRun;
import org.revenantdb.suite.fuzz.FuzzTally;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code ./revenant fuzz}. */
@Command(
    name = "fuzz",
    description =
        "Opens damaged databases. Each must give correct answers or fail with one of RevenantDB's own"
            + " exceptions.")
public final class FuzzCommand extends DirectoryCommand {

  private static final int COST_ROUNDS = 2_000;

  @Option(names = "--seed", paramLabel = "N", description = "Seed of all random choices.")
  private @Nullable Long seed;

  @Option(
      names = "--seconds",
      paramLabel = "N",
      defaultValue = "60",
      description = "How long, unless --variants sets a number (default: ${DEFAULT-VALUE}).")
  private int seconds;

  @Option(
      names = "--variants",
      paramLabel = "N",
      defaultValue = "0",
      description = "Open exactly this many variants, however long it takes.")
  private long variants;

  @Option(
      names = "--first",
      paramLabel = "N",
      defaultValue = "0",
      description = "Number of the first variant (default: ${DEFAULT-VALUE}).")
  private long first;

  @Option(
      names = "--children",
      paramLabel = "N",
      description = "JVMs in parallel (default: as many as processors).")
  private @Nullable Integer children;

  @Option(
      names = "--details",
      paramLabel = "N",
      defaultValue = "0",
      description = "Lines of detail for each fault (default: ${DEFAULT-VALUE}).")
  private int details;

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description = "Write the figures to a file, at the end and every 10,000 variants.")
  private @Nullable Path json;

  @Option(
      names = "--case",
      paramLabel = "TEXT",
      description = "Open only this variant, as a fault report names it, and print all details.")
  private @Nullable String oneCase;

  /** The number of variants after which the figures are written, in case the run is interrupted. */
  private static final long SO_FAR = 10_000;

  /** Creates the command with its defaults. */
  public FuzzCommand() {}

  @Override
  public Integer call() throws IOException {
    demandSense();
    if (json != null) {
      paths().file("--json", json);
    }
    long run = seed == null ? Seeds.fresh() : seed;
    Path place = place("revenant-fuzz-");
    int jvms = children == null ? Runtime.getRuntime().availableProcessors() : children;
    Duration time = variants > 0 ? Duration.ZERO : Duration.ofSeconds(seconds);
    FuzzRun fuzz = new FuzzRun(FuzzOptions.of(run, time, first, variants, jvms, place));
    try {
      if (oneCase != null) {
        fuzz.one(oneCase);
        details = Integer.MAX_VALUE;
      } else {
        System.out.printf("seed %d, sound databases in %s%n", run, place);
        many(fuzz, time, run);
      }
    } catch (FuzzFailure e) {
      System.out.println("BROKEN  " + e.getMessage());
      return 1;
    }
    FuzzTally tally = fuzz.tally();
    System.out.print(tally.table());
    System.out.print(tally.findings("./revenant fuzz --dir " + place, details));
    if (json != null) {
      write(
          json,
          tally,
          new JsonReport().number("seed", run).number("page_check_cost", pageCheckCost()));
    }
    if (!tally.isSound()) {
      System.out.printf("%nWRONG  %,d of %,d variants%n", tally.faults(), tally.variants());
      return 1;
    }
    System.out.printf("%nAll %,d variants passed.%n", tally.variants());
    if (dir == null) {
      FileTrees.delete(place);
    }
    return 0;
  }

  /** Compares reads with the check of a page's structure with reads without it. */
  private static double pageCheckCost() throws IOException {
    Path place = Files.createTempDirectory("revenant-fuzz-cost-");
    try {
      PageCheckCost cost = PageCheckCost.measure(place, COST_ROUNDS);
      System.out.printf(
          "%na page read costs %.0f ns, with the check of its structure %.0f ns: %.3f%n",
          cost.nanosWithout(), cost.nanosWith(), cost.ratio());
      return cost.ratio();
    } finally {
      FileTrees.delete(place);
    }
  }

  private void demandSense() {
    demand("--seconds", seconds, 1, MOST_SECONDS);
    demand("--variants", variants, 0, Long.MAX_VALUE / 2);
    demand("--first", first, 0, Long.MAX_VALUE / 2);
    demand("--details", details, 0, Integer.MAX_VALUE);
    if (children != null) {
      demand("--children", children, 1, 1_024);
    }
  }

  private static void write(Path file, FuzzTally tally, JsonReport report) throws IOException {
    tally.fill(report).surroundings().writeTo(file);
  }

  /** Keeps the results of a long run that is interrupted. */
  private void writeSoFar(FuzzTally tally, long run) {
    if (json != null && tally.variants() % SO_FAR == 0) {
      try {
        write(json, tally, new JsonReport().number("seed", run).yesNo("whole", false));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private void many(FuzzRun fuzz, Duration time, long run) throws IOException {
    long[] told = new long[1];
    try (Progress progress =
        variants > 0
            ? Progress.start("fuzz", "variants", variants)
            : Progress.timed("fuzz", time)) {
      fuzz.run(() -> {
        FuzzTally tally = fuzz.tally();
        if (tally.faults() > told[0]) {
          told[0] = tally.faults();
          System.out.printf("%n%,d faults in %,d variants%n", told[0], tally.variants());
        }
        writeSoFar(tally, run);
        progress.note("%,d variants, %,d faults".formatted(tally.variants(), tally.faults()));
        if (variants > 0) {
          progress.at(tally.variants());
        } else {
          progress.tick();
        }
      });
    }
  }
}
