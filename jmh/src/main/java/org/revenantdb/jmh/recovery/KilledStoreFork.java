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
 * <p>In between the store is closed and opened again: so a restart finds the open transaction, and
 * nothing from the filling.
 *
 * <p>Arguments: directory, class of the {@link RestartStore}, rows.
 */
public final class KilledStoreFork {
  /** Rows in a transaction: few enough for the memory of all engines, and for few forces. */
  private static final long BATCH = 10_000;

  private static final Path STATUS = Path.of("/proc/self/status");
  private static final String PEAK = "VmHWM:";

  private KilledStoreFork() {}

  /**
   * Prints the cost of the store and the update, then ends with a signal.
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

  /** The highest memory of the process, heap and everything else, if the system reports it. */
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
