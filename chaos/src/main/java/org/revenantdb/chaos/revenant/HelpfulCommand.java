package org.revenantdb.chaos.revenant;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** What all verbs have: {@code --help}, and a directory to work in. */
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

  /** The directory that was named, or a new temporary one. */
  final Path place(String prefix) throws IOException {
    return dir == null ? Files.createTempDirectory(prefix) : Files.createDirectories(dir);
  }
}
