package org.revenantdb.engine.cli;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Callable;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseClosedException;
import org.revenantdb.engine.Follower;
import org.revenantdb.engine.FollowerStatistics;
import org.revenantdb.engine.RevenantException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code follow ARCHIVE DIR}: keeps a copy of a database up to date, and promotes it. */
@Command(
    name = "follow",
    description = {
      "Keeps a copy of a database up to date from its archive, and shows once a second how far it is.",
      "It can be ended at any time, and goes on when it is begun again.",
      "With --promote the copy becomes the database, and the former writer is kept out by its archive."
    },
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {
      "0:with --once or --promote: the copy has what the archive has",
      "2:wrong usage, or the copy cannot be made, brought up to date, or promoted"
    })
final class FollowCommand implements Callable<Integer> {
  private static final Duration SECOND = Duration.ofSeconds(1);

  private final PrintWriter out;
  private final PrintWriter err;

  @Parameters(index = "0", paramLabel = "ARCHIVE", description = "the directory of the archive")
  private Path archive = Path.of("");

  @Parameters(
      index = "1",
      paramLabel = "DIR",
      description = "the copy: a follower, or a directory that is empty or does not exist")
  private Path directory = Path.of("");

  @Option(names = "--once", description = "bring the copy up to date, and end")
  private boolean isOnce;

  @Option(
      names = "--promote",
      description = "bring the copy up to date, and make it a database that can be written")
  private boolean isPromotion;

  FollowCommand(PrintWriter out, PrintWriter err) {
    this.out = out;
    this.err = err;
  }

  @Override
  public Integer call() {
    try (Follower follower = Database.follow(archive, directory)) {
      if (isPromotion) {
        follower.promote(CommandOptions.existing()).close();
        out.println("promoted " + follower.directory() + ": open it like any database");
        return Main.SOUND;
      }
      if (isOnce) {
        follower.refresh();
        show(follower.statistics());
        return Main.SOUND;
      }
      while (!follower.isEnded()) { // or until the process is ended
        boolean _ = follower.awaitLsn(Long.MAX_VALUE, SECOND);
        RevenantException failure = follower.failure();
        if (failure != null) {
          err.println("revenant: " + failure.getMessage());
        }
        show(follower.statistics());
      }
      RevenantException why = follower.failure();
      throw why != null
          ? why
          : new DatabaseClosedException("the follower " + follower.directory() + " has ended");
    }
  }

  private void show(FollowerStatistics now) {
    out.printf(
        "position %,d, up to %s, looked %,.1f s ago, %,d folds%n",
        now.lsn(),
        now.upToMillis() == 0 ? "-" : Instant.ofEpochMilli(now.upToMillis()),
        now.lagNanos() / 1e9,
        now.folds());
    out.flush();
  }
}
