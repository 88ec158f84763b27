package org.revenantdb.jmh.recovery;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.revenantdb.jmh.fork.Told;

/**
 * A JVM that fills a store, of ours or of a peer, and kills itself with a transaction open that has
 * updated every row.
 *
 * <p>In between the store is closed and opened again: what a restart finds is of the open
 * transaction, and not what was left of the filling.
 *
 * <p>Arguments: directory, class of the {@link RestartStore}, rows.
 */
public final class KilledStoreFork {
  /** So many rows a transaction: few enough for everybody's memory, and few forces. */
  private static final long BATCH = 10_000;

  private static final Path STATUS = Path.of("/proc/self/status");
  private static final String PEAK = "VmHWM:";

  private KilledStoreFork() {}

  /**
   * Prints what the store and the update took, then ends with a signal.
   *
   * @param arguments see the class
   * @throws Exception whatever the engine throws
   */
  public static void main(String[] arguments) throws Exception {
    Path directory = Files.createDirectories(Path.of(arguments[0]));
    String engine = arguments[1];
    long rows = Long.parseLong(arguments[2]);
    try (RestartStore store = RestartStore.open(engine, directory)) {
      for (long first = 0; first < rows; first += BATCH) {
        store.insert(first, Math.min(BATCH, rows - first));
      }
    }
    Told.tell("filled_bytes", StoreFiles.bytes(directory));
    Sigkill signal = new Sigkill();
    try (RestartStore store = RestartStore.open(engine, directory)) {
      long start = System.nanoTime();
      store.updateAll(rows);
      Told.tell("update_seconds", (System.nanoTime() - start) / 1e9);
      tellMemory();
      System.out.flush();
      signal.send();
    }
  }

  /** The most memory that the process had, heap and all else, where the system says so. */
  private static void tellMemory() throws IOException {
    if (!Files.exists(STATUS)) {
      return;
    }
    List<String> lines = Files.readAllLines(STATUS);
    for (String line : lines) {
      if (line.startsWith(PEAK)) {
        long kibibytes = Long.parseLong(line.replaceAll("[^0-9]", ""));
        Told.tell("memory_bytes", (double) (kibibytes << 10));
      }
    }
  }
}
