package org.revenantdb.suite.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.crash.Seeds;
import org.revenantdb.chaos.report.Progress;
import org.revenantdb.suite.copies.CopiesOptions;
import org.revenantdb.suite.copies.CopiesRun;
import org.revenantdb.suite.copies.CopyKind;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code ./revenant model copies}. */
@Command(
    name = "copies",
    description =
        "Makes backups, restores, followers and promotions of databases in memory, kills their"
            + " machines or cuts their power, and checks the history of what is left.")
public final class CopiesCommand extends HelpfulCommand {

  @Option(names = "--seed", paramLabel = "N", description = "Seed of the first recording.")
  private @Nullable Long seed;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "200",
      description = "How many crashes (default: ${DEFAULT-VALUE}).")
  private int rounds;

  @Option(
      names = "--only",
      paramLabel = "KIND",
      split = ",",
      description = "Only these: backup, restore, follow, promote.")
  private @Nullable List<CopyKind> only;

  @Option(names = "--json", paramLabel = "FILE", description = "Write the counts to a file.")
  private @Nullable Path json;

  /** Creates the command with its defaults. */
  public CopiesCommand() {}

  @Override
  public Integer call() throws IOException {
    demand("--rounds", rounds, 1, Integer.MAX_VALUE);
    if (json != null) {
      paths().file("--json", json);
    }
    Set<CopyKind> kinds = EnumSet.allOf(CopyKind.class);
    if (only != null) {
      kinds.retainAll(only);
    }
    long first = seed == null ? Seeds.fresh() : seed;
    System.out.printf("seed %d%n", first);
    CopiesRun run = new CopiesRun(new CopiesOptions(first, rounds, CopiesOptions.USUAL, kinds));
    run.run(line -> System.err.println(Progress.fitted(line)));
    System.out.println(run.table());
    if (json != null) {
      run.json().writeTo(json);
    }
    for (String failure : run.failures()) {
      System.out.println("WRONG  " + failure);
    }
    if (!run.failures().isEmpty()) {
      System.out.printf(
          "repeat a recording: ./revenant model copies --seed N --rounds %d%s%n",
          CopiesOptions.USUAL, only == null ? "" : " --only " + names(kinds));
      return 1;
    }
    System.out.println("All checks passed.");
    return 0;
  }

  private static String names(Set<CopyKind> kinds) {
    return kinds.stream()
        .map(kind -> kind.name().toLowerCase(Locale.ROOT))
        .collect(Collectors.joining(","));
  }
}
