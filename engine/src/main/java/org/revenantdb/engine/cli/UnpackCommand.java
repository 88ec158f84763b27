package org.revenantdb.engine.cli;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.revenantdb.engine.BackupReport;
import org.revenantdb.engine.Database;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code unpack FILE DIR}: makes a database of a backup in a stream. */
@Command(
    name = "unpack",
    description = {
      "Makes a database of a backup that backup DIR - has written. Checks all of it.",
      "The stream must not be compressed."
    },
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {
      "0:the database is complete",
      "2:wrong usage, or the stream is damaged or ends early; unfinished files are deleted"
    })
final class UnpackCommand implements Callable<Integer> {
  private final PrintWriter out;
  private final InputStream standardInput;

  @Parameters(
      index = "0",
      paramLabel = "FILE",
      description = "the file with the backup; - for standard input")
  private Path file = Path.of("");

  @Parameters(
      index = "1",
      paramLabel = "DIR",
      description = "a directory that is empty or does not exist")
  private Path directory = Path.of("");

  UnpackCommand(PrintWriter out, InputStream standardInput) {
    this.out = out;
    this.standardInput = standardInput;
  }

  @Override
  public Integer call() throws IOException {
    BackupReport report;
    if (file.toString().equals(BackupCommand.STREAM)) {
      report = Database.unpackBackup(standardInput, directory);
    } else {
      try (InputStream stream = Files.newInputStream(file)) {
        report = Database.unpackBackup(stream, directory);
      }
    }
    out.println("backup          " + file);
    out.println("database        " + directory);
    out.printf("pages           %,d%n", report.pages());
    out.printf("log             %,d bytes%n", report.logBytes());
    out.printf("end of log      %,d%n", report.endOfLog());
    out.printf("unpacked        %,d bytes in %,.1f ms%n", report.bytes(), report.nanos() / 1e6);
    out.println("complete");
    return Main.SOUND;
  }
}
