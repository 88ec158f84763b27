package org.revenantdb.engine.cli;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.BackupOptions;
import org.revenantdb.engine.BackupProgress;
import org.revenantdb.engine.BackupReport;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.ReadOnlyDatabaseException;
import org.revenantdb.engine.StorageException;
import org.revenantdb.engine.admin.AdminReply;
import org.revenantdb.engine.admin.DatabaseView;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code backup DIR TARGET}: copies a database, also while a process has it open. */
@Command(
    name = "backup",
    description = {
      "Copies a database. The copy is a database of its own.",
      "Changes nothing in DIR. A database that was not closed cleanly must be recovered first: add --recover.",
      "If a process has the database open, that process makes the backup: it needs an admin socket, or calls Database.backup.",
      "With - as TARGET the backup is a tar on standard output, for unpack. No other process may have the database open then.",
      "With --since the backup is an increment: it has only the pages that have changed since another backup, and apply makes a database of both."
    },
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {
      "0:the backup is complete",
      "2:wrong usage, or the backup failed; its unfinished files are deleted, and a stream that was begun need not be a backup"
    })
final class BackupCommand implements Callable<Integer> {
  private static final long MEGABYTE = 1_000_000;
  private static final Pattern ID = Pattern.compile("[0-9a-fA-F]{32}");

  /** In place of a file: standard input or output. */
  static final String STREAM = "-";

  private final PrintWriter out;
  private final PrintWriter err;
  private final OutputStream standardOutput;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(index = "0", paramLabel = "DIR", description = "the directory of the database")
  private Path directory = Path.of("");

  @Parameters(
      index = "1",
      paramLabel = "TARGET",
      description = "a directory that is empty or does not exist; - for standard output")
  private Path target = Path.of("");

  @Option(
      names = "--recover",
      description = "opens the database for writing, which recovers it after a crash")
  private boolean recover;

  @Option(
      names = "--limit",
      paramLabel = "MB",
      description = "copies at most this many megabytes a second; default no limit")
  private long limit;

  @Option(
      names = "--since",
      paramLabel = "BASE",
      description =
          "makes an increment: BASE is an earlier backup of the database, whole or an increment, as a directory, a file or its id")
  private @Nullable String since;

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description = "also writes the result to a file, as JSON")
  private @Nullable Path json;

  BackupCommand(PrintWriter out, PrintWriter err, OutputStream standardOutput) {
    this.out = out;
    this.err = err;
    this.standardOutput = standardOutput;
  }

  @Override
  public Integer call() throws IOException {
    if (limit < 0 || limit > Long.MAX_VALUE / MEGABYTE) {
      throw new ParameterException(
          spec.commandLine(), "--limit must be 0 (no limit) or more, not " + limit);
    }
    DatabaseDirectory.demandDatabase(directory);
    if (json != null) {
      JsonFile.demandWritable(spec, json);
    }
    BackupOptions wanted = backupOptions();
    DatabaseOptions options = CommandOptions.existing().withReadOnly(!recover);
    if (target.toString().equals(STREAM)) {
      return toStream(options, wanted);
    }
    AdminReply.BackedUp report;
    try (DatabaseView view = DatabaseView.open(directory, options)) {
      report = view.backup(target, wanted);
    } catch (ReadOnlyDatabaseException refused) {
      sayRecover();
      throw refused;
    }
    print(report);
    write(report);
    return Main.SOUND;
  }

  private int toStream(DatabaseOptions options, BackupOptions wanted) throws IOException {
    if (Main.isTerminal()) {
      throw new ParameterException(
          spec.commandLine(),
          "a backup is not for a terminal: write standard output to a file or a pipe");
    }
    BackupReport report;
    try (Database db = Database.open(directory, options)) {
      report = db.backup(standardOutput, wanted);
    } catch (ReadOnlyDatabaseException refused) {
      sayRecover();
      throw refused;
    } catch (StorageException refused) {
      if (refused.reason() == StorageException.Reason.LOCKED) {
        err.println(
            "revenant: a process that has the database open makes backups to directories; call Database.backup with a stream there, or name a directory.");
      }
      throw refused;
    }
    if (report.notNoted() != null) {
      err.println(
          "revenant: no increment can be made since this backup, as it could not be noted: "
              + report.notNoted()
              + "; --recover opens a closed database for writing");
    }
    err.printf(
        "revenant: backup %s: %,d bytes of pages and log in %,.1f ms; complete%n",
        report.id() == null ? "without an id" : report.id(), report.bytes(), report.nanos() / 1e6);
    write(AdminReply.BackedUp.of(STREAM, report));
    return Main.SOUND;
  }

  private void sayRecover() {
    err.println("revenant: --recover recovers the database first, then makes the backup.");
  }

  private void write(AdminReply.BackedUp report) throws IOException {
    if (json == null) {
      return;
    }
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("id", report.id() == null ? "" : report.id());
    fields.put("bytes", report.bytes());
    fields.put("pages", report.pages());
    fields.put("pagesRead", report.pagesRead());
    fields.put("pagesCopied", report.pagesCopied());
    fields.put("logBytes", report.logBytes());
    fields.put("endOfLog", report.endOfLog());
    JsonFile.write(json, fields);
  }

  private String base(String text) {
    if (ID.matcher(text).matches()) {
      return text;
    }
    try {
      return Database.backupId(Path.of(text));
    } catch (InvalidPathException notOne) {
      throw new ParameterException(
          spec.commandLine(),
          "--since must be a backup, or its id of 32 hexadecimal digits, not " + text,
          notOne);
    }
  }

  private BackupOptions backupOptions() {
    BackupOptions options = BackupOptions.defaults().withBytesPerSecond(limit * MEGABYTE);
    if (since != null) {
      options = options.withSince(base(since));
    }
    return Main.isTerminal() ? options.withListener(this::show) : options;
  }

  private boolean show(BackupProgress progress) {
    if (progress.pagesToCopy() > 0) {
      err.printf(
          "\r%3d %% of %,d pages",
          100 * progress.pages() / progress.pagesToCopy(), progress.pagesToCopy());
      err.flush();
    }
    return true;
  }

  private static String id(@Nullable String id) {
    return id == null
        ? "none: no increment can be made since it, as it could not be noted: the database is open read-only, or its list of backups cannot be written; --recover opens it for writing"
        : id;
  }

  private void print(AdminReply.BackedUp report) {
    out.println("database        " + directory);
    out.println("backup          " + report.target());
    out.println("id              " + id(report.id()));
    out.printf(
        "pages           %,d, %,d read, %,d copied%n",
        report.pages(), report.pagesRead(), report.pagesCopied());
    out.printf("log             %,d bytes%n", report.logBytes());
    out.printf("end of log      %,d%n", report.endOfLog());
    out.printf("copied          %,d bytes in %,.1f ms%n", report.bytes(), report.nanos() / 1e6);
    out.println("complete");
  }
}
