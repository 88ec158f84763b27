package org.revenantdb.chaos.revenant;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** What all verbs have: {@code --help} with exit codes, and a directory to work in. */
@Command(
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:All of it held, or all that could be measured.",
      "1:Something did not hold.",
      "2:Wrong usage, or a path that cannot be used; nothing was run."
    })
abstract class HelpfulCommand implements Callable<Integer> {

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "Show this help message and exit.")
  boolean helpWanted;

  @Option(
      names = "--dir",
      paramLabel = "DIR",
      description = "Where the database is made (default: a temporary directory).")
  @Nullable Path dir;

  @Spec private @Nullable CommandSpec spec;

  /** The directory that was named, or a new temporary one. */
  final Path place(String prefix) throws IOException {
    if (dir == null) {
      return Files.createTempDirectory(prefix);
    }
    paths().directory("--dir", dir);
    return dir;
  }

  final CommandLine commandLine() {
    return Objects.requireNonNull(spec).commandLine();
  }

  final NamedPaths paths() {
    return new NamedPaths(commandLine());
  }
}
