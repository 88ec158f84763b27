package org.revenantdb.chaos.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.revenant.BigValueCommand;
import org.revenantdb.chaos.revenant.ChaosCommand;
import org.revenantdb.chaos.revenant.DemoCommand;
import org.revenantdb.chaos.revenant.ModelCommand;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;

/**
 * {@code ./revenant demo}, {@code ./revenant model}, {@code ./revenant chaos}: the verbs that live
 * in this module.
 *
 * <p>Exit codes: 0 all of it held; 1 something did not; 2 wrong usage.
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
    Locale.setDefault(Locale.ROOT); // one way of writing numbers, everywhere
    System.exit(command().execute(arguments));
  }

  static CommandLine command() {
    return new CommandLine(new Revenant())
        .addSubcommand(new DemoCommand())
        .addSubcommand(new CommandLine(new ModelCommand()).addSubcommand(new BigValueCommand()))
        .addSubcommand(new ChaosCommand())
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setExecutionExceptionHandler(Main::explain)
        .setExitCodeExceptionMapper(e -> e instanceof ParameterException ? USAGE : WRONG);
  }

  /**
   * A file that cannot be used is the caller's matter, in a sentence; all else is ours, with its
   * stack.
   */
  private static int explain(Exception failure, CommandLine command, ParseResult parsed) {
    if (failure instanceof IOException || failure instanceof UncheckedIOException) {
      command.getErr().println("revenant: " + failure.getMessage());
    } else {
      failure.printStackTrace(command.getErr());
    }
    return WRONG;
  }

  @Command(name = "revenant", subcommands = CommandLine.HelpCommand.class)
  private static final class Revenant implements Runnable {

    @Spec private @Nullable CommandSpec spec;

    @Override
    public void run() {
      throw new ParameterException(
          Objects.requireNonNull(spec).commandLine(), "say demo, model or chaos");
    }
  }
}
