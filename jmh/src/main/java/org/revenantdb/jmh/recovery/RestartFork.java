package org.revenantdb.jmh.recovery;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.revenantdb.chaos.crash.FileTrees;
import org.revenantdb.jmh.fork.Told;

/**
 * A JVM that starts two others, one after the other: {@link KilledWriter}, which ends with a
 * signal, and {@link OpeningFork}. Both report their measurements. If a checkpoint had just ended
 * when the signal came, everything is repeated.
 *
 * <p>Arguments: as theirs.
 */
public final class RestartFork {
  /** The exit code of a process killed by a signal that cannot be caught. */
  static final int KILLED = 128 + 9;

  /** About one kill in five falls right after a checkpoint. */
  private static final int MOST_KILLS = 5;

  private RestartFork() {}

  /**
   * Runs both, and prints how often, {@code = kills}.
   *
   * @param arguments see the class
   * @throws Exception if one of them did not end as it should
   */
  public static void main(String[] arguments) throws Exception {
    String[] own = arguments.clone();
    List<String> flags = List.of("-Xms512m", "-Xmx512m", "--enable-native-access=ALL-UNNAMED");
    for (int kills = 1; ; kills++) {
      own[0] = Path.of(arguments[0]).resolve("database" + kills).toString();
      expect(KILLED, KilledWriter.class, flags, own);
      int exit = run(OpeningFork.class, flags, own);
      if (exit != OpeningFork.BEHIND_CHECKPOINT || kills == MOST_KILLS) {
        demand(0, exit, OpeningFork.class);
        Told.tell("kills", kills);
        return;
      }
      FileTrees.delete(Path.of(own[0]));
    }
  }

  /** Runs a JVM that prints its measurements on the output of this one, and waits for its end. */
  static void expect(int exit, Class<?> main, List<String> flags, String... arguments)
      throws IOException, InterruptedException {
    demand(exit, run(main, flags, arguments), main);
  }

  private static void demand(int wanted, int found, Class<?> main) {
    if (found != wanted) {
      throw new IllegalStateException(main.getSimpleName() + " ended with exit code " + found);
    }
  }

  private static int run(Class<?> main, List<String> flags, String... arguments)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(flags);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    command.addAll(List.of(arguments));
    Process process = new ProcessBuilder(command).inheritIO().start();
    try {
      return process.waitFor();
    } finally {
      process.destroyForcibly();
    }
  }
}
