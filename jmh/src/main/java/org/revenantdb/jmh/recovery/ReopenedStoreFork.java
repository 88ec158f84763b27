package org.revenantdb.jmh.recovery;

import java.lang.reflect.InvocationTargetException;
import java.nio.file.Path;
import java.util.Arrays;
import org.revenantdb.jmh.fork.Told;

/**
 * A fresh JVM that opens what {@link KilledStoreFork} has left: from the call of open to the first
 * row. Classes of the engine are loaded within that time, native libraries before.
 *
 * <p>Arguments: as for {@link KilledStoreFork}.
 */
public final class ReopenedStoreFork {
  private static final long LOOKED_AT = 1_000;

  private ReopenedStoreFork() {}

  /**
   * Prints what opening took, and ends with an exception if a row is not as it was committed. A
   * store that does not open is a result.
   *
   * @param arguments see the class
   * @throws Exception whatever the engine throws
   */
  public static void main(String[] arguments) throws Exception {
    Path directory = Path.of(arguments[0]);
    String engine = arguments[1];
    long rows = Long.parseLong(arguments[2]);
    Class.forName(engine); // loads native code
    double bytes = StoreFiles.bytes(directory);
    Told.tell("disk_bytes", bytes);
    Told.tell("disk_bytes_per_row", bytes / rows);
    try {
      reopen(engine, directory, rows);
      Told.tell("opened", 1);
      Told.tell("disk_bytes_after", StoreFiles.bytes(directory));
    } catch (InvocationTargetException e) {
      // Its constructor failed: no fault of the measurement, but its result.
      System.err.println(engine + " does not open: " + e.getCause());
      Told.tell("opened", 0);
    }
  }

  private static void reopen(String engine, Path directory, long rows) throws Exception {
    long start = System.nanoTime();
    try (RestartStore store = RestartStore.open(engine, directory)) {
      byte[] first = store.read(0);
      Told.tell("reopen_seconds", (System.nanoTime() - start) / 1e9);
      check(0, first);
      for (long key = rows - 1; key > 0; key -= 1 + rows / LOOKED_AT) {
        check(key, store.read(key));
      }
    }
  }

  private static void check(long key, byte[] row) {
    if (!Arrays.equals(row, BigRows.row(key, 0))) {
      throw new IllegalStateException("row " + key + " is not what was committed");
    }
  }
}
