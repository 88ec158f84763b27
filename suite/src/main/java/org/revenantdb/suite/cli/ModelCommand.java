package org.revenantdb.suite.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.crash.FileTrees;
import org.revenantdb.chaos.crash.Seeds;
import org.revenantdb.chaos.report.Progress;
import org.revenantdb.suite.model.ModelFailure;
import org.revenantdb.suite.model.ModelOptions;
import org.revenantdb.suite.model.ModelRun;
import org.revenantdb.suite.model.RevenantStore;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code ./revenant model}. */
@Command(
    name = "model",
    description =
        "Runs random transactions in a process that is killed at random moments, also "
            + "while it recovers, and compares the recovered data with a plain model.")
public final class ModelCommand extends DirectoryCommand {

  @Option(names = "--seed", paramLabel = "N", description = "Seed of the first episode.")
  private @Nullable Long seed;

  @Option(
      names = "--seconds",
      paramLabel = "N",
      defaultValue = "60",
      description = "Run for at least that long (default: ${DEFAULT-VALUE}).")
  private int seconds;

  @Option(
      names = "--kills",
      paramLabel = "N",
      defaultValue = "0",
      description = "Run until there were that many kills (default: ${DEFAULT-VALUE}).")
  private int kills;

  @Option(
      names = "--episodes",
      paramLabel = "N",
      defaultValue = "0",
      description = "Run exactly this many episodes; --seconds and --kills are then ignored.")
  private int episodes;

  @Option(
      names = "--only",
      paramLabel = "KIND",
      defaultValue = "BOTH",
      description = "kills, steps or both (default: ${DEFAULT-VALUE}).")
  private ModelOptions.Kind kind = ModelOptions.Kind.BOTH;

  @Option(
      names = "--pool",
      paramLabel = "SIZE",
      converter = ByteSize.class,
      defaultValue = "3m",
      description = "Memory for pages (default: ${DEFAULT-VALUE}).")
  private long pool;

  /** Creates the command with its defaults. */
  public ModelCommand() {}

  @Override
  public Integer call() throws IOException {
    demand("--seconds", seconds, 0, MOST_SECONDS);
    demand("--kills", kills, 0, Integer.MAX_VALUE);
    demand("--episodes", episodes, 0, Integer.MAX_VALUE);
    demandPool(pool);
    long first = seed == null ? Seeds.fresh() : seed;
    Path place = place("revenant-model-");
    System.out.printf("seed %d, databases in %s%n", first, place);
    ModelRun run =
        new ModelRun(
            new ModelOptions(
                first,
                Duration.ofSeconds(seconds),
                kills,
                episodes,
                kind,
                place,
                pool,
                RevenantStore.Opener.class.getName()));
    try {
      run.run(line -> System.err.println(Progress.fitted(line)));
      System.out.println(run.table());
      if (episodes == 0) {
        run.demandThatAllHappened();
      }
      System.out.println("All checks passed.");
      if (dir == null) {
        FileTrees.delete(place);
      }
      return 0;
    } catch (ModelFailure e) {
      System.out.println("WRONG  " + e.getMessage());
      return 1;
    }
  }
}
