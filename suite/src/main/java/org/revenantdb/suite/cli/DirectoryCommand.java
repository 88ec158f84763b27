package org.revenantdb.suite.cli;

import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.crash.Scratch;
import picocli.CommandLine.Option;

/** A verb with a working directory. */
abstract class DirectoryCommand extends HelpfulCommand {

  @Option(
      names = "--dir",
      paramLabel = "DIR",
      description = "Where the database is made (default: a temporary directory).")
  @Nullable Path dir;

  /** The directory from the option, or a new temporary one. */
  final Path place(String prefix) throws IOException {
    if (dir == null) {
      return Scratch.directory(prefix);
    }
    paths().directory("--dir", dir);
    return dir;
  }
}
