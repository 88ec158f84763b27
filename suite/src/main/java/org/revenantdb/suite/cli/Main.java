package org.revenantdb.suite.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystemException;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.crash.Scratch;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;

/**
 * {@code ./revenant demo}, {@code ./revenant model}, {@code ./revenant chaos}, {@code ./revenant
 * fuzz}: the verbs that live in this module.
 *
 * <p>Exit codes: 0 all checks passed; 1 a check failed; 2 wrong usage.
 */
public final class Main {

  private static final int WRONG = 1;
  private static final int USAGE = 2;

  private Main() {}

  /**
   * Runs a verb and ends the JVM with its exit code.
   *
   * @param arguments the verb, then its own
   */
  public static void main(String[] arguments) {
    Locale.setDefault(Locale.ROOT); // the same number format everywhere
    int code = command().execute(arguments);
    Scratch.keep();
    System.exit(code);
  }

  static CommandLine command() {
    CommandLine command = new CommandLine(new Revenant());
    IParameterExceptionHandler withUsage = command.getParameterExceptionHandler();
    return command
        .addSubcommand(new DemoCommand())
        .addSubcommand(
            new CommandLine(new ModelCommand())
                .addSubcommand(new BigValueCommand())
                .addSubcommand(new CopiesCommand()))
        .addSubcommand(new ChaosCommand())
        .addSubcommand(new FuzzCommand())
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setExecutionExceptionHandler(Main::explain)
        .setParameterExceptionHandler((wrong, arguments) ->
            // The message about a path is one sentence; the usage text would hide it.
            wrong instanceof UnusablePathException
                ? say(USAGE, String.valueOf(wrong.getMessage()), wrong.getCommandLine())
                : withUsage.handleParseException(wrong, arguments))
        .setExitCodeExceptionMapper(e -> e instanceof ParameterException ? USAGE : WRONG);
  }

  /**
   * An unusable file is reported to the caller in a sentence. Every other exception is our fault
   * and printed with its stack.
   */
  private static int explain(Exception failure, CommandLine command, ParseResult parsed) {
    if (failure instanceof IOException || failure instanceof UncheckedIOException) {
      return say(WRONG, sentence(failure), command);
    }
    failure.printStackTrace(command.getErr());
    return WRONG;
  }

  /** The message of a file system's exception is often only a path. */
  private static String sentence(Exception failure) {
    Throwable cause = failure instanceof UncheckedIOException ? failure.getCause() : failure;
    if (cause instanceof FileSystemException file) {
      String reason = file.getReason() == null ? file.getClass().getSimpleName() : file.getReason();
      return file.getFile() + " cannot be used: " + reason;
    }
    return String.valueOf(failure.getMessage());
  }

  private static int say(int code, String message, CommandLine command) {
    command.getErr().println("revenant: " + message);
    return code;
  }

  @Command(name = "revenant", subcommands = CommandLine.HelpCommand.class)
  private static final class Revenant implements Runnable {

    @Spec private @Nullable CommandSpec spec;

    @Override
    public void run() {
      throw new ParameterException(
          Objects.requireNonNull(spec).commandLine(), "use demo, model, chaos or fuzz");
    }
  }
}
