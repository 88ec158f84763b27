package org.revenantdb.suite.cli;

import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options of all verbs: {@code --help} with exit codes, and {@code --version}. */
@Command(
    version = "RevenantDB " + Database.VERSION,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:All checks passed, or all that could be run.",
      "1:A check failed.",
      "2:Wrong usage, or a path that cannot be used; nothing was run."
    })
abstract class HelpfulCommand implements Callable<Integer> {

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

  /** A year. */
  static final long MOST_SECONDS = 366L * 24 * 60 * 60;

  @Spec private @Nullable CommandSpec spec;

  final CommandLine commandLine() {
    return Objects.requireNonNull(spec).commandLine();
  }

  final NamedPaths paths() {
    return new NamedPaths(commandLine());
  }

  /** Refuses a number outside its range. */
  final void demand(String option, long value, long least, long most) {
    if (value < least || value > most) {
      throw new ParameterException(
          commandLine(),
          "%s must be from %,d to %,d, not %,d".formatted(option, least, most, value));
    }
  }

  /** Refuses a size of the pool that no database can have. */
  final void demandPool(long bytes) {
    try {
      DatabaseOptions.defaults().withPoolBytes(bytes);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(
          commandLine(), "--pool must be from 2m to what the memory has room for, not " + bytes, e);
    }
  }
}
