package org.revenantdb.kafka.streams;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.revenantdb.kafka.trials.Broker;
import org.revenantdb.kafka.trials.NoBrokerException;

/** Brokers for a test, and applications beside it. */
public final class Brokers {
  private Brokers() {}

  /** Starts one; where that is not possible the test is skipped, and says what the broker said. */
  public static Broker start(Path directory) {
    return start(directory, 1);
  }

  /** Starts several. */
  static Broker start(Path directory, int count) {
    try {
      return Broker.start(directory, count, "-Xmx320m", "-XX:TieredStopAtLevel=1");
    } catch (NoBrokerException none) {
      Assumptions.abort(none.getMessage());
      throw new AssertionError(none);
    }
  }

  /**
   * A JVM with the class path of this one.
   *
   * @param before a command that becomes the JVM; empty if there is none
   */
  static Process fork(
      List<String> before, Class<?> main, Path errors, List<String> flags, List<String> arguments)
      throws IOException {
    List<String> command = new ArrayList<>(before);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(flags);
    command.addAll(
        List.of(
            "-ea",
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "-Xshare:auto",
            "--sun-misc-unsafe-memory-access=allow",
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            System.getProperty("java.class.path"),
            main.getName()));
    command.addAll(arguments);
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.redirectError(ProcessBuilder.Redirect.appendTo(errors.toFile()));
    return builder.start();
  }
}
