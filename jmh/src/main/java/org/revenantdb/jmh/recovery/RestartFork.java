package org.revenantdb.jmh.recovery;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A JVM that starts two others, one after the other: {@link KilledWriter}, which ends with a
 * signal, and {@link OpeningFork}. Both say what they have measured.
 *
 * <p>Arguments: as theirs.
 */
public final class RestartFork {
  /** A property of the JVM: the baseline, which takes back before it opens. */
  private static final String EAGER = "org.revenantdb.eagerRevert";

  /** The exit code of who was killed by a signal that cannot be caught. */
  static final int KILLED = 128 + 9;

  private RestartFork() {}

  /**
   * Runs both.
   *
   * @param arguments see the class
   * @throws Exception if one of them did not end as it should
   */
  public static void main(String[] arguments) throws Exception {
    String[] own = arguments.clone();
    own[0] = Path.of(arguments[0]).resolve("database").toString();
    List<String> flags =
        List.of(
            "-Xms512m",
            "-Xmx512m",
            "--enable-native-access=ALL-UNNAMED",
            "-D" + EAGER + "=" + Boolean.getBoolean(EAGER));
    expect(KILLED, KilledWriter.class, flags, own);
    expect(0, OpeningFork.class, flags, own);
  }

  /** Runs a JVM that says what it measures on the output of this one, and waits for its end. */
  static void expect(int exit, Class<?> main, List<String> flags, String... arguments)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(flags);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    command.addAll(List.of(arguments));
    Process process = new ProcessBuilder(command).inheritIO().start();
    try {
      int found = process.waitFor();
      if (found != exit) {
        throw new IllegalStateException(main.getSimpleName() + " ended with exit code " + found);
      }
    } finally {
      process.destroyForcibly();
    }
  }
}
