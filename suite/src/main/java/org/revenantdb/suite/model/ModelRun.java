package org.revenantdb.suite.model;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.revenantdb.chaos.crash.FileTrees;
import org.revenantdb.chaos.crash.Watchdog;
import org.revenantdb.chaos.report.TextTable;

/**
 * The model-based test with random kills: runs episodes until the time is over, there were enough
 * kills, and every required event has occurred.
 *
 * <p>Threads: one.
 *
 * {@snippet :
 * ModelRun run = new ModelRun(options);
 * run.run(line -> System.out.println(line));
 * run.demandThatAllHappened();
 * }
 */
public final class ModelRun {

  private static final int MOST_ROUNDS = 12;

  /** For hangs only, because a busy machine is slow. */
  private static final Duration STALL = Duration.ofMinutes(30);

  private final ModelOptions options;
  private final int rounds;
  private final Tally tally = new Tally();
  private final long start = System.nanoTime();

  /** Prepares a run. */
  public ModelRun(ModelOptions options) {
    this(options, MOST_ROUNDS);
  }

  /** Prepares a run whose episodes have so many rounds at most. */
  ModelRun(ModelOptions options, int rounds) {
    this.options = options;
    this.rounds = rounds;
  }

  /**
   * Runs until everything required is done, or until a failure.
   *
   * @param listener receives a line after each round
   * @throws ModelFailure if a check fails; the message contains the kept directory and the command
   *     that repeats it
   */
  public void run(Consumer<String> listener) {
    for (int i = 0; options.episodes() == 0 || i < options.episodes(); i++) {
      if (i > 0 && options.episodes() == 0 && enough()) {
        return;
      }
      episode(options.seed() + i, listener);
    }
  }

  /**
   * Time and kills are over, and every required event has occurred. There is no time limit for
   * that, because it depends on the load of the machine.
   */
  private boolean enough() {
    return System.nanoTime() - start >= options.time().toNanos()
        && tally.kills >= options.kills()
        && neverHappened().isEmpty();
  }

  private List<String> neverHappened() {
    return tally.mustHappen(options.kind()).entrySet().stream()
        .filter(event -> event.getValue() == 0)
        .map(Map.Entry::getKey)
        .toList();
  }

  private void episode(long seed, Consumer<String> listener) {
    Path dir = options.dir().resolve("episode-" + seed);
    boolean steps = options.runsSteps(seed);
    try (Watchdog watchdog =
        Watchdog.start("episode " + seed, STALL, () -> endStalled(seed, dir))) {
      FileTrees.delete(dir);
      Files.createDirectories(dir);
      if (steps) {
        new StepsEpisode(options, dir, seed, tally).run();
        listener.accept(line(seed, "steps"));
      } else {
        rounds(seed, dir, watchdog, listener);
      }
      tally.episodes++;
    } catch (IOException e) {
      throw new UncheckedIOException("cannot make " + dir, e);
    } catch (RuntimeException | Error e) {
      throw failure(seed, dir, e);
    }
    FileTrees.delete(dir);
  }

  private void rounds(long seed, Path dir, Watchdog watchdog, Consumer<String> listener) {
    KillEpisode episode = new KillEpisode(options, dir, seed, tally);
    for (int round = 1; round <= rounds; round++) {
      episode.round();
      watchdog.alive();
      listener.accept(line(seed, "round " + round));
      if (options.episodes() == 0 && enough()) {
        break;
      }
    }
    episode.end();
  }

  private ModelFailure failure(long seed, Path dir, Throwable cause) {
    StringWriter stack = new StringWriter();
    cause.printStackTrace(new PrintWriter(stack));
    String message =
        "episode %d: %s%nkept: %s%nrepeat: %s"
            .formatted(seed, cause.getMessage(), dir.toAbsolutePath(), repeat(seed));
    try {
      Files.writeString(dir.resolve("failure.txt"), message + "\n\n" + stack);
    } catch (IOException e) {
      cause.addSuppressed(e);
    }
    return new ModelFailure(message, cause);
  }

  /**
   * A thread that hangs in the store cannot be ended. So the process prints the stacks of all
   * threads and ends.
   */
  private void endStalled(long seed, Path dir) {
    StringBuilder text = new StringBuilder();
    text.append("episode %d hangs; kept: %s%nrepeat: %s%n".formatted(seed, dir, repeat(seed)));
    Thread.getAllStackTraces()
        .forEach((thread, frames) -> {
          text.append('\n').append(thread).append(' ').append(thread.getState()).append('\n');
          for (StackTraceElement frame : frames) {
            text.append("    at ").append(frame).append('\n');
          }
        });
    System.err.println(text);
    Runtime.getRuntime().halt(1);
  }

  private String repeat(long seed) {
    String kind = options.kind() == ModelOptions.Kind.BOTH ? "" : " --only " + options.kind();
    return "./revenant model --seed %d --episodes 1 --pool %d%s"
        .formatted(seed, options.poolBytes(), kind);
  }

  private String line(long seed, String what) {
    return "%4d s  episode %d, %s: %d kills, %d of them in a recovery; %,d commits, %d verifications, %d reopenings"
        .formatted(
            (System.nanoTime() - start) / 1_000_000_000L,
            seed,
            what,
            tally.kills,
            tally.killsOfRecovery,
            tally.acknowledged,
            tally.verifications,
            tally.reopenings);
  }

  /**
   * Checks that the run was meaningful.
   *
   * @throws ModelFailure if splits, merges, evictions, overflow values or checkpoints never
   *     occurred
   */
  public void demandThatAllHappened() {
    List<String> missing = neverHappened();
    if (!missing.isEmpty()) {
      throw new ModelFailure(
          "all checks passed, but these never happened: " + missing + "\n" + table());
    }
  }

  /**
   * Returns what happened.
   *
   * @return a table of all counts
   */
  public TextTable table() {
    TextTable table =
        new TextTable()
            .row("first seed", options.seed())
            .row("time", (System.nanoTime() - start) / 1_000_000_000L + " s")
            .row("episodes", tally.episodes)
            .row(
                "kills",
                "%d: %d while opening, %d of a recovery alone, %d while closing"
                    .formatted(
                        tally.kills,
                        tally.killsWhileOpening,
                        tally.killsOfRecovery,
                        tally.killsWhileClosing))
            .row("clean closes", tally.cleanCloses)
            .row("crashes not verified before the next life", tally.secondLivesUnseen)
            .row("verifications", "%d, %,d rows".formatted(tally.verifications, tally.rowsVerified))
            .row(
                "transactions",
                "%,d acknowledged, %,d rolled back".formatted(tally.acknowledged, tally.rolledBack))
            .row(
                "in doubt at a kill",
                "%d survived, %d did not".formatted(tally.inDoubtSurvived, tally.inDoubtLost))
            .row(
                "steps",
                "%,d with %,d conflicts predicted, %d reopenings"
                    .formatted(tally.steps, tally.conflicts, tally.reopenings))
            .row("longest opening", tally.longestRecoveryNanos / 1_000_000 + " ms");
    Store.Counters c = tally.counters;
    return table.row(
        "in the store",
        "%,d splits, %,d merges, %,d evictions, %,d overflow values, %,d checkpoints"
            .formatted(c.splits(), c.merges(), c.evictions(), c.overflowValues(), c.checkpoints()));
  }

  /**
   * Returns how many children were killed.
   *
   * @return a count
   */
  public long kills() {
    return tally.kills;
  }
}
