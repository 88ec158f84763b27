package org.revenantdb.jmh.backup;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.revenantdb.chaos.crash.FileTrees;
import org.revenantdb.jmh.fork.Told;
import org.revenantdb.jmh.recovery.RestartStore;
import org.revenantdb.jmh.recovery.RollbackFork;

/**
 * A JVM with a store of one table that is copied several times while nothing else runs. The first
 * copy does not count: it compiles the code, and writes what the store still has in memory.
 *
 * <p>Arguments: directory, name of the class of a {@link CopiedStore}, rows, number of copies.
 */
public final class CopiesFork {
  private static final long ROWS_OF_A_TRANSACTION = 10_000;

  private CopiesFork() {}

  /**
   * Prints {@code = copy_seconds}, {@code = copy_mb} and {@code = copy_mb_per_second}, and the
   * medians of what else the store reports of its copies.
   *
   * @param arguments see the class
   * @throws Exception whatever goes wrong
   */
  public static void main(String[] arguments) throws Exception {
    Path folder = Path.of(arguments[0]);
    long rows = Long.parseLong(arguments[2]);
    int copies = Integer.parseInt(arguments[3]);
    Path own = Files.createDirectory(folder.resolve("own"));
    List<Double> seconds = new ArrayList<>();
    Map<String, List<Double>> more = new TreeMap<>();
    double megabytes = 0;
    try (CopiedStore store = (CopiedStore) RestartStore.open(arguments[1], own)) {
      for (long first = 0; first < rows; first += ROWS_OF_A_TRANSACTION) {
        store.insert(first, Math.min(ROWS_OF_A_TRANSACTION, rows - first));
      }
      store.loaded();
      for (int i = 0; i <= copies; i++) {
        Path target = folder.resolve("copy" + i);
        long begun = System.nanoTime();
        AutoCloseable open = store.copyTo(target);
        long ended = System.nanoTime();
        megabytes = store.bytes(target) / 1e6;
        open.close();
        if (i > 0) {
          seconds.add((ended - begun) / 1e9);
          store
              .more()
              .forEach(
                  (name, value) -> more.computeIfAbsent(name, _ -> new ArrayList<>()).add(value));
        }
        if (i == copies) {
          store.readCopy(target, 0);
          store.readCopy(target, rows - 1);
        }
        FileTrees.delete(target);
      }
    }
    double median = median(seconds);
    Told.tell("copy_seconds", median);
    Told.tell("copy_mb", megabytes);
    Told.tell("copy_mb_per_second", megabytes / median);
    more.forEach((name, values) -> Told.tell(name, median(values)));
  }

  private static double median(List<Double> values) {
    return RollbackFork.median(values.stream().mapToDouble(Double::doubleValue).toArray());
  }
}
