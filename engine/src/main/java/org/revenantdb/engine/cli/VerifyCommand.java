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
import org.revenantdb.engine.StorageException;
import org.revenantdb.engine.backup.BackupApply;
import org.revenantdb.recovery.file.DamagedFileException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code verify BACKUP}: checks all of a backup, and changes none of its files. */
@Command(
    name = "verify",
    description = {
      "Verifies a backup: does in memory what its first open will do, and checks the result like check.",
      "Writes nothing. An unfinished backup is refused.",
      "Of an increment, and of a file with a backup, it checks the checksums and all pages; whether an increment fits its base is seen by apply."
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

  @Parameters(
      index = "0",
      paramLabel = "BACKUP",
      description = "the directory of the backup, or a file with one")
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
    if (!BackupApply.isStream(directory)) {
      return CheckCommand.ofBackup(out, directory, json);
    }
    BackupReport report;
    try {
      report = BackupApply.check(directory);
    } catch (DamagedFileException damaged) {
      return problem(damaged.getMessage());
    } catch (StorageException damaged) {
      if (damaged.reason() == StorageException.Reason.BACKUP_STREAM) {
        return problem(damaged.getMessage());
      }
      throw damaged;
    }
    out.println("backup          " + directory);
    out.println("id              " + report.id());
    if (report.since() != null) {
      out.println("since           " + report.since());
    }
    out.printf("pages           %,d, of %,d%n", report.pagesCopied(), report.pages());
    out.printf("log             %,d bytes%n", report.logBytes());
    out.printf("end of log      %,d%n", report.endOfLog());
    out.println("sound");
    write(report, List.of());
    return Main.SOUND;
  }

  private int problem(@Nullable String problem) throws IOException {
    out.println("backup          " + directory);
    out.println("problem         " + problem);
    write(null, List.of(String.valueOf(problem)));
    return Main.PROBLEMS;
  }

  private void write(@Nullable BackupReport report, List<String> problems) throws IOException {
    if (json == null) {
      return;
    }
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("backup", directory.toString());
    fields.put("sound", problems.isEmpty());
    if (report != null) {
      fields.put("id", String.valueOf(report.id()));
      fields.put("since", report.since() == null ? "" : report.since());
      fields.put("pages", report.pages());
      fields.put("pagesCopied", report.pagesCopied());
      fields.put("logBytes", report.logBytes());
      fields.put("endOfLog", report.endOfLog());
    }
    fields.put("problems", problems);
    JsonFile.write(json, fields);
  }
}
