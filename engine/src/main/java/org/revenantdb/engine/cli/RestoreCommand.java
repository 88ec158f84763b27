package org.revenantdb.engine.cli;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.RestoreReport;
import org.revenantdb.engine.RestoreRequest;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code restore ARCHIVE DIR}: makes a database from an archive, as it was at a moment. */
@Command(
    name = "restore",
    description = {
      "Restores a database from an archive, as it was at a moment. Without an option that is the end of the archive.",
      "The database begins a new history: it has an id of its own.",
      "The archive may be in use; it is not changed."
    },
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {
      "0:the database is complete",
      "2:wrong usage, or the restore failed; its unfinished files are deleted"
    })
final class RestoreCommand implements Callable<Integer> {
  private final PrintWriter out;
  private final PrintWriter err;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(index = "0", paramLabel = "ARCHIVE", description = "the directory of the archive")
  private Path archive = Path.of("");

  @Parameters(
      index = "1",
      paramLabel = "DIR",
      description = "a directory that is empty or does not exist")
  private Path directory = Path.of("");

  @ArgGroup private @Nullable Moment moment;

  /** At most one of them. */
  private static final class Moment {
    @Option(
        names = "--at",
        paramLabel = "TIME",
        description =
            "a time of this time zone, like 2026-11-27T18:00:00, or with a zone, like 2026-11-27T18:00:00Z or +01:00")
    private @Nullable String time;

    @Option(names = "--lsn", paramLabel = "N", description = "a position in the log")
    private @Nullable Long lsn;

    @Option(
        names = "--before-transaction",
        paramLabel = "ID",
        description = "the moment before this transaction committed")
    private @Nullable Long transaction;
  }

  RestoreCommand(PrintWriter out, PrintWriter err) {
    this.out = out;
    this.err = err;
  }

  @Override
  public Integer call() {
    RestoreRequest options = options();
    if (Main.isTerminal()) {
      options = options.withListener(progress -> ProgressBar.show(err, progress));
    }
    print(Database.restore(archive, directory, options));
    return Main.SOUND;
  }

  private RestoreRequest options() {
    Moment asked = moment;
    if (asked == null) {
      return RestoreRequest.latest();
    }
    String time = asked.time;
    if (time != null) {
      return RestoreRequest.at(instant(time));
    }
    Long lsn = asked.lsn;
    if (lsn != null) {
      return RestoreRequest.atLsn(notNegative("--lsn", lsn));
    }
    Long transaction = asked.transaction;
    return RestoreRequest.beforeTransaction(
        notNegative("--before-transaction", transaction == null ? 0 : transaction));
  }

  private long notNegative(String option, long value) {
    if (value < 0) {
      throw new ParameterException(spec.commandLine(), option + " must be 0 or more, not " + value);
    }
    return value;
  }

  private Instant instant(String text) {
    try {
      return OffsetDateTime.parse(text).toInstant();
    } catch (DateTimeException withoutZone) {
      try {
        return LocalDateTime.parse(text).atZone(ZoneId.systemDefault()).toInstant();
      } catch (DateTimeException other) {
        throw new ParameterException(
            spec.commandLine(),
            "--at must be a time like 2026-11-27T18:00:00 or 2026-11-27T18:00:00Z, not " + text,
            other);
      }
    }
  }

  private void print(RestoreReport report) {
    out.println("archive         " + archive);
    out.println("database        " + report.target());
    out.println("from base       " + report.base());
    out.printf("end of log      %,d%n", report.lsn());
    out.println("committed until " + Instant.ofEpochMilli(report.upToMillis()));
    out.printf("pages           %,d%n", report.pages());
    out.printf("log             %,d bytes%n", report.logBytes());
    out.printf("restored in     %,.1f ms%n", report.nanos() / 1e6);
    out.println("complete");
  }
}
