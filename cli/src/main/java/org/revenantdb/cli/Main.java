package org.revenantdb.cli;

import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import org.revenantdb.collections.CodecException;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;

/** The command: joins the verbs of this module and those of the engine. */
public final class Main {
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
    err.flush();
    boolean isLost = out.checkError(); // a full disk, or a reader that has gone
    System.exit(isLost && code == 0 ? org.revenantdb.engine.cli.Main.FAILED : code);
  }

  /** Runs a verb and returns its exit code. */
  static int run(PrintWriter out, PrintWriter err, String... arguments) {
    try (Session session = new Session(out, err)) {
      CommandLine line = org.revenantdb.engine.cli.Main.line(out, err);
      addVerbs(line, session);
      line.addSubcommand(new ShellCommand(session));
      line.addSubcommand(new AutoComplete.GenerateCompletion());
      withMessages(line);
      String[] version = line.getCommandSpec().version();
      line.getSubcommands().values().forEach(verb -> verb.getCommandSpec().version(version));
      return line.execute(arguments);
    }
  }

  /** Adds the verbs that work on an open database. */
  static void addVerbs(CommandLine line, Session session) {
    line.addSubcommand(new LsCommand(session))
        .addSubcommand(new GetCommand(session))
        .addSubcommand(new ScanCommand(session))
        .addSubcommand(new CountCommand(session))
        .addSubcommand(new PutCommand(session))
        .addSubcommand(new DelCommand(session))
        .addSubcommand(new DumpCommand(session))
        .addSubcommand(new LoadCommand(session))
        .addSubcommand(new DuCommand(session))
        .addSubcommand(new CompactCommand(session))
        .addSubcommand(new SequencesCommand(session));
    line.setCaseInsensitiveEnumValuesAllowed(true).setOut(session.out()).setErr(session.err());
  }

  /** Failures that are mistakes of the user have a message and no stack trace. */
  static void withMessages(CommandLine line) {
    IExecutionExceptionHandler others = line.getExecutionExceptionHandler();
    line.setExecutionExceptionHandler((failure, where, parsed) -> {
      if (failure instanceof NotationException
          || failure instanceof DumpException
          || failure instanceof CodecException) {
        where.getErr().println("revenant: " + failure.getMessage());
        return org.revenantdb.engine.cli.Main.FAILED;
      }
      return others.handleExecutionException(failure, where, parsed);
    });
  }
}
