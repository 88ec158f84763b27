package org.revenantdb.engine.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.BackupReport;
import org.revenantdb.engine.Database;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code apply BASE INCREMENT... TARGET}: makes a database of a backup and increments. */
@Command(
    name = "apply",
    description = {
      "Makes a database of a whole backup and of the increments that backup --since has made after it.",
      "Checks all of them, and changes none. A backup is a directory, or a file that backup DIR - has written.",
      "The database can serve as the base of later increments, until it is opened."
    },
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {
      "0:the database is complete",
      "2:wrong usage, or a backup is damaged or does not follow the one before; unfinished files are deleted"
    })
final class ApplyCommand implements Callable<Integer> {
  private final PrintWriter out;
  private final PrintWriter err;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(
      index = "0..*",
      arity = "3..*",
      paramLabel = "BASE INCREMENT... TARGET",
      hideParamSyntax = true,
      description =
          "the whole backup, one or more increments in the order in which they were made, and a directory that is empty or does not exist")
  private List<Path> paths = List.of();

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description = "also writes the result to a file, as JSON")
  private @Nullable Path json;

  ApplyCommand(PrintWriter out, PrintWriter err) {
    this.out = out;
    this.err = err;
  }

  @Override
  public Integer call() throws IOException {
    if (json != null) {
      JsonFile.demandWritable(spec, json);
    }
    Path target = paths.getLast();
    List<Path> backups = paths.subList(0, paths.size() - 1);
    boolean isSeen = Main.isTerminal();
    BackupReport report =
        Database.applyBackups(
            backups, target, progress -> !isSeen || ProgressBar.show(err, progress));
    backups.forEach(backup -> out.println("backup          " + backup));
    out.println("database        " + target);
    out.println("id              " + report.id());
    out.printf("pages           %,d%n", report.pages());
    out.printf("log             %,d bytes%n", report.logBytes());
    out.printf("end of log      %,d%n", report.endOfLog());
    out.printf(
        "applied         %,d pages in %,.1f ms%n", report.pagesCopied(), report.nanos() / 1e6);
    out.println("complete");
    if (json != null) {
      Map<String, Object> fields = new LinkedHashMap<>();
      fields.put("id", String.valueOf(report.id()));
      fields.put("pages", report.pages());
      fields.put("pagesCopied", report.pagesCopied());
      fields.put("logBytes", report.logBytes());
      fields.put("endOfLog", report.endOfLog());
      JsonFile.write(json, fields);
    }
    return Main.SOUND;
  }
}
