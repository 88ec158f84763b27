package org.revenantdb.jmh.gc;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.IntConsumer;
import org.revenantdb.jmh.fork.Told;

/**
 * A JVM in which a thousand hot rows are updated for some time with one open snapshot: does it get
 * slower, or larger? The same is done in another database before, so that the code is compiled.
 *
 * <p>Arguments: directory, milliseconds to warm up, milliseconds, seed, {@code held} or {@code
 * read} (whether all rows are read in the snapshot after each tenth of the time, or only in the
 * end).
 */
public final class FlatnessFork {
  /** The time has this many parts, of which the first and the last are compared. */
  public static final int PARTS = 10;

  /** Between two looks at the clock. */
  private static final int BATCH = 64;

  private FlatnessFork() {}

  /**
   * Prints {@code = updates,part=1} to {@code 10}, updates a second in each tenth of the time, with
   * the size of versions and files at its end ({@code = version_memory_bytes,part=1}, {@code =
   * disk_bytes,part=1}); {@code = flatness}, the last rate divided by the first; and the results of
   * {@link SnapshotBounds}.
   *
   * @param arguments see the class
   * @throws Exception if the snapshot has wrong values
   */
  public static void main(String[] arguments) throws Exception {
    Path directory = Path.of(arguments[0]);
    long millis = Long.parseLong(arguments[2]);
    long seed = Long.parseLong(arguments[3]);
    boolean reads = arguments[4].equals("read");
    Path warm = Files.createDirectory(directory.resolve("warm"));
    try (SnapshotStore store = new RevenantSnapshots(warm)) {
      new HotRowsFork.Run(store, seed).updateFor(Long.parseLong(arguments[1]));
    }
    Path measured = Files.createDirectory(directory.resolve("measured"));
    try (RevenantSnapshots store = new RevenantSnapshots(measured)) {
      SnapshotBounds bounds = new SnapshotBounds(store);
      double[] rates =
          rates(
              store,
              new HotRows(seed),
              millis * 1_000_000,
              reads,
              part -> bounds.lookAndTell(",part=" + part));
      for (int part = 0; part < PARTS; part++) {
        Told.tell("updates,part=" + (part + 1), rates[part]);
      }
      Told.tell("flatness", rates[PARTS - 1] / rates[0]);
      bounds.tell();
    }
  }

  /**
   * Updates a second in each part of the time; the snapshot is looked at in the end.
   *
   * @param reads whether it is after each part as well
   * @param atEnd receives the number of each part that has ended, from 1; its time does not count
   */
  static double[] rates(
      SnapshotStore store, HotRows rows, long nanos, boolean reads, IntConsumer atEnd)
      throws Exception {
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
      atEnd.accept(part + 1);
      if (reads) {
        rows.demandInSnapshot(store, counts);
      }
      begin = System.nanoTime();
    }
    rows.demandInSnapshot(store, counts);
    rows.demandNow(store);
    store.closeSnapshot();
    return rates;
  }
}
