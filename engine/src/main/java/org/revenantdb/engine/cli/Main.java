package org.revenantdb.engine.cli;

import java.io.Console;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Optional;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.RevenantException;
import org.revenantdb.engine.admin.AdminException;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.ReadOnlyStorageException;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The command: finds the verb, and reports mistakes of the user without a stack trace. */
@Command(
    name = "revenant",
    description = "Inspects, backs up and restores a database.",
    mixinStandardHelpOptions = true)
public final class Main {
  /** All is well. */
  static final int SOUND = 0;

  /** The database was examined, and something is wrong with it. */
  static final int PROBLEMS = 1;

  /** Wrong usage, or the database could not be opened. */
  public static final int FAILED = 2;

  private static final String VERSION = "RevenantDB " + Database.VERSION;

  private Main() {}

  /**
   * Runs a verb and ends the JVM.
   *
   * @param arguments verb and arguments
   */
  public static void main(String[] arguments) {
    PrintWriter out = new PrintWriter(System.out, false, StandardCharsets.UTF_8);
    PrintWriter err = new PrintWriter(System.err, false, StandardCharsets.UTF_8);
    int code = run(out, err, arguments);
    out.flush();
    err.flush();
    System.exit(code);
  }

  /** Runs a verb and returns its exit code. */
  static int run(PrintWriter out, PrintWriter err, String... arguments) {
    return line(out, err).execute(arguments);
  }

  /**
   * The verbs of the engine, to which the command adds its own. A failure that is no defect is one
   * line of text.
   *
   * @param out receives results
   * @param err receives messages
   * @return the command line, to be executed
   */
  public static CommandLine line(PrintWriter out, PrintWriter err) {
    return line(
        out,
        err,
        new FileInputStream(FileDescriptor.in),
        // System.out would not tell that a write has failed
        new FileOutputStream(FileDescriptor.out));
  }

  /** The same with other streams for bytes. */
  static CommandLine line(
      PrintWriter out, PrintWriter err, InputStream standardInput, OutputStream standardOutput) {
    CommandLine line =
        new CommandLine(new Main())
            .addSubcommand(new CheckCommand(out))
            .addSubcommand(new PageCommand(out))
            .addSubcommand(new StatCommand(out))
            .addSubcommand(new TopCommand(out))
            .addSubcommand(new BackupCommand(out, err, standardOutput))
            .addSubcommand(new UnpackCommand(out, standardInput))
            .addSubcommand(new ApplyCommand(out, err))
            .addSubcommand(new VerifyCommand(out))
            .addSubcommand(new RestoreCommand(out, err))
            .addSubcommand(new PruneCommand(out))
            .addSubcommand(new FollowCommand(out, err))
            .setOut(out)
            .setErr(err)
            .setExecutionExceptionHandler((failure, where, parsed) -> {
              if (!isUsers(failure)) {
                throw failure;
              }
              err.println("revenant: " + message(failure));
              return FAILED;
            });
    line.getCommandSpec().version(VERSION);
    line.getSubcommands().values().forEach(verb -> verb.getCommandSpec().version(VERSION));
    return line;
  }

  /** Whether a person looks at the output. */
  static boolean isTerminal() {
    return Optional.ofNullable(System.console()).map(Console::isTerminal).orElse(false);
  }

  /** Whether the message of a failure is sufficient, because it is not a defect of this program. */
  private static boolean isUsers(Exception failure) {
    return failure instanceof FileException
        || failure instanceof RevenantException
        || failure instanceof IOException
        || failure instanceof UncheckedIOException
        || failure instanceof InvalidPathException;
  }

  private static String refused(Path file, String problem) {
    return "%s: %s; run this as a user that may read and write there, or copy the database and use the copy."
        .formatted(file, problem);
  }

  private static String message(Exception failure) {
    if (failure instanceof ReadOnlyStorageException refused) {
      return refused(refused.file(), refused.reason());
    }
    if (failure instanceof org.revenantdb.engine.StorageException refused
        && refused.reason() == org.revenantdb.engine.StorageException.Reason.ACCESS_DENIED) {
      return refused(refused.file(), refused.problem());
    }
    if (failure instanceof AdminException) {
      return String.valueOf(failure.getMessage()); // as the process itself would say it
    }
    return failure instanceof IOException || failure instanceof UncheckedIOException
        ? failure.toString()
        : String.valueOf(failure.getMessage());
  }
}
