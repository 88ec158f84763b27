package org.revenantdb.engine.cli;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Callable;
import org.revenantdb.engine.counters.StoredCounters;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code top DIR}: what happens in a database that a process has open, again and again. */
@Command(
    name = "top",
    description = {
      "Shows the activity of a database that a process has open: commits, pages, log, cleaner, waits a second.",
      "The process writes its counters once a second while they change. Ctrl-C ends it."
    },
    mixinStandardHelpOptions = true)
final class TopCommand implements Callable<Integer> {
  private static final String CLEAR = "\033[H\033[2J";

  private final PrintWriter out;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(index = "0", paramLabel = "DIR", description = "the directory of the database")
  private Path directory = Path.of("");

  @Option(
      names = {"-s", "--seconds"},
      paramLabel = "N",
      description = "seconds between two updates; default 2")
  private int seconds = 2;

  @Option(
      names = {"-n", "--number"},
      paramLabel = "N",
      description = "ends after this many updates; default: never")
  private int number = Integer.MAX_VALUE;

  TopCommand(PrintWriter out) {
    this.out = out;
  }

  @Override
  public Integer call() throws InterruptedException {
    if (seconds < 1 || number < 1) {
      throw new ParameterException(spec.commandLine(), "--seconds and --number must be at least 1");
    }
    boolean clears = Main.isTerminal();
    CountersView view = new CountersView(out, directory);
    StoredCounters before = view.current(null);
    for (int shown = 0; shown < number; shown++) {
      Thread.sleep(Duration.ofSeconds(seconds));
      StoredCounters now = view.current(before);
      if (clears) {
        out.print(CLEAR);
      }
      if (now.equals(before)) {
        out.println("nothing has changed since " + now.written() + " (process " + now.pid() + ")");
      } else {
        TopFrame.lines(before, now, Instant.now()).forEach(out::println);
      }
      out.println();
      out.flush();
      before = now;
    }
    return Main.SOUND;
  }
}
