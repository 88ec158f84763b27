package org.revenantdb.jmh.recovery;

import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A JVM that starts two others with its own flags, one after the other: {@link KilledStoreFork},
 * which ends with a signal, and {@link ReopenedStoreFork}. Both report their measurements.
 *
 * <p>Arguments: as theirs.
 */
public final class StoreRestartFork {
  private StoreRestartFork() {}

  /**
   * Runs both.
   *
   * @param arguments see the class
   * @throws Exception if one of them did not end as it should
   */
  public static void main(String[] arguments) throws Exception {
    Path directory = Path.of(arguments[0]);
    // A killed process does not delete the libraries that it has unpacked.
    Path unpacked = Files.createDirectories(directory.resolve("unpacked"));
    List<String> flags = new ArrayList<>(ManagementFactory.getRuntimeMXBean().getInputArguments());
    flags.add("-Djava.io.tmpdir=" + unpacked);
    flags.add("-Djna.tmpdir=" + unpacked);
    String[] own = arguments.clone();
    own[0] = directory.resolve("store").toString();
    RestartFork.expect(RestartFork.KILLED, KilledStoreFork.class, flags, own);
    RestartFork.expect(0, ReopenedStoreFork.class, flags, own);
  }
}
