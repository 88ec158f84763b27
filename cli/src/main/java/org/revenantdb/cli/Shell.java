package org.revenantdb.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jline.reader.Candidate;
import org.jline.reader.Completer;
import org.jline.reader.EndOfFileException;
import org.jline.reader.LineReader;
import org.jline.reader.LineReaderBuilder;
import org.jline.reader.ParsedLine;
import org.jline.reader.UserInterruptException;
import org.jline.reader.impl.DefaultParser;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;
import org.revenantdb.engine.Database;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.OptionSpec;

/**
 * Reads verbs from a terminal, or from a pipe, and runs them on the database that the session keeps
 * open. A verb that fails ends neither the shell nor the database.
 */
final class Shell {
  private static final Set<String> ENDS = Set.of("exit", "quit");

  /** The verbs whose second word is a table. */
  private static final Set<String> OF_A_TABLE =
      Set.of("get", "scan", "count", "put", "del", "dump");

  private final Session session;
  private final Path directory;
  private final CommandLine verbs;

  /** The root of the verbs at the prompt. */
  @Command(name = "", description = "Verbs of the shell; 'exit' ends it.")
  private static final class Prompt {}

  Shell(Session session, Path directory) {
    this.session = session;
    this.directory = directory;
    verbs = new CommandLine(new Prompt()).setOut(session.out()).setErr(session.err());
    Main.addVerbs(verbs, session);
    verbs.addSubcommand(new CommandLine.HelpCommand());
    verbs.setExecutionExceptionHandler(
        org.revenantdb.engine.cli.Main.line(session.out(), session.err())
            .getExecutionExceptionHandler());
    Main.withMessages(verbs);
  }

  /** Reads and runs until the end of the input; the exit code of the last verb. */
  int run() throws IOException {
    int code = Verb.FINE;
    try (Terminal terminal = terminal()) {
      LineReader reader = reader(terminal);
      String prompt = Terminal.TYPE_DUMB.equals(terminal.getType()) ? "" : prompt();
      while (true) {
        List<String> words;
        try {
          reader.readLine(prompt);
          words = reader.getParsedLine().words();
        } catch (UserInterruptException interrupted) {
          continue; // the line is given up, not the shell
        } catch (EndOfFileException end) {
          return code;
        }
        if (words.isEmpty() || words.getFirst().isEmpty() || words.getFirst().startsWith("#")) {
          continue;
        }
        if (ENDS.contains(words.getFirst())) {
          return code;
        }
        code = execute(words);
      }
    }
  }

  /** Runs one verb, which is typed without the directory. */
  int execute(List<String> words) {
    String verb = words.getFirst();
    if (!verbs.getSubcommands().containsKey(verb)) {
      session.err().println("revenant: there is no verb " + verb + "; 'help' lists them");
      session.err().flush();
      return org.revenantdb.engine.cli.Main.FAILED;
    }
    List<String> arguments = new ArrayList<>(words);
    if (!verb.equals("help")) {
      arguments.add(1, directory.toString());
    }
    int code = verbs.execute(arguments.toArray(String[]::new));
    session.out().flush();
    session.err().flush();
    return code;
  }

  /** A terminal without native code, so that the JVM needs no flag for it. */
  private static Terminal terminal() throws IOException {
    return TerminalBuilder.builder()
        .providers(TerminalBuilder.PROP_PROVIDER_EXEC)
        .dumb(true)
        .build();
  }

  private String prompt() {
    Database db = session.kept();
    if (db == null) {
      return directory.toAbsolutePath().getFileName() + " (open elsewhere)> ";
    }
    return db.directory().getFileName() + (db.options().readOnly() ? " (read-only)> " : "> ");
  }

  private LineReader reader(Terminal terminal) {
    DefaultParser parser = new DefaultParser();
    parser.setEscapeChars(null); // a backslash belongs to the notation of bytes
    return LineReaderBuilder.builder()
        .terminal(terminal)
        .parser(parser)
        .completer(completer())
        .variable(
            LineReader.HISTORY_FILE, Path.of(System.getProperty("user.home"), ".revenant_history"))
        .option(LineReader.Option.DISABLE_EVENT_EXPANSION, true) // an exclamation mark is text
        .build();
  }

  private Completer completer() {
    return (reader, line, candidates) -> complete(line, candidates);
  }

  /** Adds verbs, tables or options, according to the place of the cursor. */
  void complete(ParsedLine line, List<Candidate> candidates) {
    if (line.wordIndex() == 0) {
      verbs.getSubcommands().keySet().forEach(verb -> candidates.add(new Candidate(verb)));
      ENDS.forEach(end -> candidates.add(new Candidate(end)));
      return;
    }
    CommandLine verb = verbs.getSubcommands().get(line.words().getFirst());
    if (verb == null) {
      return;
    }
    if (line.word().startsWith("-")) {
      for (OptionSpec option : verb.getCommandSpec().options()) {
        candidates.add(new Candidate(option.longestName()));
      }
    } else if (line.wordIndex() == 1 && OF_A_TABLE.contains(verb.getCommandName())) {
      try {
        session.read(
            directory,
            view -> {
              view.tables().forEach(table -> candidates.add(new Candidate(table.name())));
              return Verb.FINE;
            });
      } catch (Exception unreadable) {
        // There is nothing to complete; the verb will tell why.
      }
    }
  }
}
