package org.revenantdb.kafka.trials;

import java.io.PrintStream;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.crash.Scratch;
import org.revenantdb.chaos.crash.Seeds;
import org.revenantdb.chaos.report.TextTable;
import org.revenantdb.engine.Database;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code ./revenant demo kafka}: an application that is killed beside a real broker, with our
 * stores and with the default ones.
 *
 * <p>Exit codes: 0 all rows were right; 1 some were wrong; 2 wrong usage; 3 no broker can be
 * started here.
 */
@Command(
    name = "demo kafka",
    mixinStandardHelpOptions = true,
    version = "RevenantDB " + Database.VERSION,
    description = {
      "Starts a Kafka broker and an application that counts exactly once, kills the application"
          + " with kill -9 while it counts, lets it come back, and compares its counts with what"
          + " was sent. The same with the default stores of Kafka Streams.",
      "Ctrl-C ends it and leaves nothing behind."
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:All counts were right.",
      "1:Some counts were wrong.",
      "2:Wrong usage; nothing was run.",
      "3:No Kafka broker can be started here; nothing was shown."
    })
public final class DemoMain implements Callable<Integer> {
  private static final int NO_BROKER = 3;

  @Option(
      names = "--keys",
      paramLabel = "N",
      defaultValue = "200000",
      description = "Keys that are counted (default: ${DEFAULT-VALUE}).")
  private int keys;

  @Option(
      names = "--kills",
      paramLabel = "N",
      defaultValue = "3",
      description = "Kills of each application (default: ${DEFAULT-VALUE}).")
  private int kills;

  @Option(names = "--seed", paramLabel = "N", description = "Draws keys and moments of kills.")
  private @Nullable Long seed;

  private final PrintStream out = System.out;

  private DemoMain() {}

  /**
   * Runs the command and ends the JVM with its exit code.
   *
   * @param arguments the options
   */
  public static void main(String[] arguments) {
    Locale.setDefault(Locale.ROOT); // the same number format everywhere
    int code = new CommandLine(new DemoMain()).execute(arguments);
    Scratch.keep();
    System.exit(code);
  }

  @Override
  public Integer call() throws Exception {
    if (keys < 1 || kills < 1) {
      throw new CommandLine.ParameterException(
          new CommandLine(this), "--keys and --kills must be 1 or more");
    }
    long drawn = seed == null ? Seeds.fresh() : seed;
    out.println("repeat with --seed " + drawn);
    Path directory = Scratch.directory("revenant-demo-kafka-");
    try {
      return run(directory, drawn);
    } catch (NoBrokerException none) {
      out.println(none.getMessage());
      return NO_BROKER;
    } finally {
      Scratch.delete(directory);
    }
  }

  private int run(Path directory, long drawn) throws NoBrokerException, InterruptedException {
    out.println("starting a broker");
    Map<Stores, Lives.Killed> killed = new EnumMap<>(Stores.class);
    try (Broker broker = Broker.start(directory, "-Xmx512m")) {
      for (Stores stores : Stores.values()) {
        killed.put(stores, live(broker, directory.resolve(stores.label()), stores, drawn));
      }
    }
    Lives.Killed ours = killed.get(Stores.REVENANT);
    Lives.Killed theirs = killed.get(Stores.DEFAULT);
    if (ours == null || theirs == null) {
      throw new AssertionError(killed);
    }
    out.println();
    out.print(
        new TextTable()
            .row("", "%12s %12s".formatted("RevenantDB", "default"))
            .row("kills", "%,12d %,12d".formatted(ours.kills(), theirs.kills()))
            .row(
                "with wrong counts after it", "%,12d %,12d".formatted(ours.wrong(), theirs.wrong()))
            .row(
                "most records restored",
                "%,12d %,12d".formatted(ours.restored(), theirs.restored()))
            .row(
                "seconds until RUNNING, median",
                "%,12.2f %,12.2f".formatted(ours.seconds(), theirs.seconds())));
    out.println();
    out.println(
        """
        A kill makes the default stores restore their whole changelog: that time grows with the state.
        Ours restore at most one transaction. With this few keys a start is mostly Kafka's own work
        and that of a cold JVM; --keys 2000000 shows the difference.\
        """);
    return ours.wrong() + theirs.wrong() == 0 ? 0 : 1;
  }

  private Lives.Killed live(Broker broker, Path directory, Stores stores, long drawn)
      throws InterruptedException {
    out.printf("%n%s: an application counts %,d keys%n", stores.label(), keys);
    try (Lives lives =
        new Lives(stores, broker.servers(), directory, "demo-" + stores.label(), keys, drawn)) {
      lives.fill();
      lives.begin();
      lives.awaitAllProcessed();
      Lives.Killed killed =
          lives.kill(
              kills,
              Math.max(1, keys / 5),
              (start, isRight) ->
                  out.printf(
                      "  killed; RUNNING after %.2f s, %,d records restored, counts %s%n",
                      start.seconds(), start.restored(), isRight ? "right" : "WRONG"));
      lives.end();
      return killed;
    }
  }
}
