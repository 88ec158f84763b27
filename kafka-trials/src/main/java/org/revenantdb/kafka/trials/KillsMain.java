package org.revenantdb.kafka.trials;

import java.nio.file.Path;

/**
 * Kills an application while it counts, lets it come back, compares its rows with a model; and
 * takes its state away at the end.
 */
public final class KillsMain {
  private KillsMain() {}

  /**
   * Prints {@code = kills}, {@code = kills_wrong}, {@code = restart_seconds} (the median), {@code =
   * restored} (the most of one start behind a kill), {@code = stopped_restart_seconds} and {@code =
   * stopped_restored} (of a start behind a stop), {@code = restored_per_second} and {@code =
   * all_restored} (when its state was lost).
   *
   * @param arguments stores, servers, directory, keys, records sent before each kill, kills, seed
   * @throws InterruptedException if the thread is interrupted
   */
  public static void main(String[] arguments) throws InterruptedException {
    Stores stores = Stores.of(arguments[0]);
    Path directory = Path.of(arguments[2]);
    String name = "kills-" + stores.label() + "-" + directory.getFileName();
    try (Lives lives =
        new Lives(
            stores,
            arguments[1],
            directory.resolve("state"),
            name,
            Integer.parseInt(arguments[3]),
            Long.parseLong(arguments[6]))) {
      lives.fill();
      lives.begin();
      lives.awaitAllProcessed();
      Lives.Killed killed =
          lives.kill(
              Integer.parseInt(arguments[5]),
              Integer.parseInt(arguments[4]),
              (start, isRight) -> System.err.println("    " + start));
      lives.end();
      Told.tell("kills", killed.kills());
      Told.tell("kills_wrong", killed.wrong());
      Told.tell("restart_seconds", killed.seconds());
      Told.tell("restored", (double) killed.restored());
      // What a start takes with nothing to restore in any store: the clients, the group, the
      // broker.
      Lives.Start afterStop = lives.begin();
      lives.end();
      Told.tell("stopped_restart_seconds", afterStop.seconds());
      Told.tell("stopped_restored", (double) afterStop.restored());
      lives.loseState();
      Lives.Start whole = lives.begin();
      Told.tell("all_restored", (double) whole.restored());
      Told.tell("restored_per_second", whole.restored() / whole.restoring());
      if (!lives.isRight()) {
        throw new IllegalStateException("the rows after a restoration are wrong");
      }
      lives.end();
    }
  }
}
