package org.revenantdb.jmh.gc;

import java.nio.file.Files;
import java.nio.file.Path;
import org.revenantdb.jmh.fork.Told;

/**
 * A JVM in which a thousand hot rows are updated for a time while one snapshot is open: does it get
 * slower? The same goes on in another database before, so that the code is compiled.
 *
 * <p>Arguments: directory, milliseconds to warm up, milliseconds, seed.
 */
public final class FlatnessFork {
  /** The time in so many parts, of which the first and the last are compared. */
  public static final int PARTS = 10;

  /** Between two looks at the clock. */
  private static final int BATCH = 64;

  private FlatnessFork() {}

  /**
   * Prints {@code = updates,part=1} to {@code 10}, updates a second in each tenth of the time;
   * {@code = flatness}, the last divided by the first; and what {@link GarbageCounts} tell.
   *
   * @param arguments see the class
   * @throws Exception if the snapshot has not what it should
   */
  public static void main(String[] arguments) throws Exception {
    Path directory = Path.of(arguments[0]);
    long millis = Long.parseLong(arguments[2]);
    long seed = Long.parseLong(arguments[3]);
    Path warm = Files.createDirectory(directory.resolve("warm"));
    try (SnapshotStore store = new RevenantSnapshots(warm)) {
      new HotRowsFork.Run(store, seed).updateFor(Long.parseLong(arguments[1]));
    }
    Path measured = Files.createDirectory(directory.resolve("measured"));
    try (RevenantSnapshots store = new RevenantSnapshots(measured)) {
      double[] rates = rates(store, new HotRows(seed), millis * 1_000_000);
      for (int part = 0; part < PARTS; part++) {
        Told.tell("updates,part=" + (part + 1), rates[part]);
      }
      Told.tell("flatness", rates[PARTS - 1] / rates[0]);
      GarbageCounts.tellAll(store.database());
    }
  }

  /** Updates a second in each part of the time; the snapshot is looked at in the end. */
  static double[] rates(SnapshotStore store, HotRows rows, long nanos) throws Exception {
    rows.fill(store);
    store.openSnapshot();
    long[] counts = rows.counts();
    double[] rates = new double[PARTS];
    long start = System.nanoTime();
    long begin = start;
    for (int part = 0; part < PARTS; part++) {
      long until = nanos * (part + 1) / PARTS;
      long updates = 0;
      long now;
      do {
        rows.update(store, BATCH);
        updates += BATCH;
        now = System.nanoTime();
      } while (now - start < until);
      rates[part] = updates * 1e9 / (now - begin);
      begin = now;
    }
    rows.demandInSnapshot(store, counts);
    rows.demandNow(store);
    store.closeSnapshot();
    return rates;
  }
}
