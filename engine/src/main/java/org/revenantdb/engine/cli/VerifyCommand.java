package org.revenantdb.engine.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code verify BACKUP}: checks all of a backup, and changes none of its files. */
@Command(
    name = "verify",
    description = {
      "Verifies a backup: does in memory what its first open will do, and checks the result like check.",
      "Writes nothing. An unfinished backup is refused."
    },
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {
      "0:sound",
      "1:there are problems",
      "2:wrong usage, unfinished, or it cannot be opened"
    })
final class VerifyCommand implements Callable<Integer> {
  private final PrintWriter out;

  @Parameters(index = "0", paramLabel = "BACKUP", description = "the directory of the backup")
  private Path directory = Path.of("");

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description = "also writes the result to a file, as JSON")
  private @Nullable Path json;

  VerifyCommand(PrintWriter out) {
    this.out = out;
  }

  @Override
  public Integer call() throws IOException {
    return CheckCommand.ofBackup(out, directory, json);
  }
}
