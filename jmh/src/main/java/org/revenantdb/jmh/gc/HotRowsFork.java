package org.revenantdb.jmh.gc;

import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.revenantdb.jmh.fork.Told;

/**
 * A JVM for one engine in which a thousand hot rows are updated, each in a separate transaction,
 * while one snapshot is open. Before it is closed, the content of the snapshot is checked.
 *
 * <p>The same is done in another store before, so that the code is compiled.
 *
 * <p>Arguments: directory, class of the {@link SnapshotStore}, milliseconds to warm up, updates,
 * milliseconds after which there are enough of them, seed.
 */
public final class HotRowsFork {
  /** An engine that keeps all pages of a snapshot's time may fill any disk. */
  private static final long MOST_ON_DISK = 8L << 30;

  /** Updates between two reads of the clock and of the size on disk. */
  private static final long LOOK = 1 << 14;

  private HotRowsFork() {}

  /**
   * Prints {@code = snapshot_updates} a second, {@code = updates_done}; {@code =
   * memory_growth_bytes}, {@code = disk_growth_bytes}; for our engine also the results of {@link
   * SnapshotBounds}.
   *
   * @param arguments see the class
   * @throws Exception whatever the engine throws
   */
  public static void main(String[] arguments) throws Exception {
    Path directory = Path.of(arguments[0]);
    String engine = arguments[1];
    long seed = Long.parseLong(arguments[5]);
    Path warm = Files.createDirectory(directory.resolve("warm"));
    try (SnapshotStore store = SnapshotStore.open(engine, warm)) {
      new Run(store, seed).updateFor(Long.parseLong(arguments[2]));
    }
    Path measured = Files.createDirectory(directory.resolve("measured"));
    try (SnapshotStore store = SnapshotStore.open(engine, measured)) {
      @Nullable SnapshotBounds bounds =
          store instanceof RevenantSnapshots ours ? new SnapshotBounds(ours) : null;
      Run run = new Run(store, seed, bounds == null ? () -> {} : bounds::look);
      long nanos = run.update(Long.parseLong(arguments[3]), Long.parseLong(arguments[4]));
      Told.tell("snapshot_updates", run.updates * 1e9 / nanos);
      Told.tell("updates_done", (double) run.updates);
      Told.tell("memory_growth_bytes", (double) run.memoryGrowth);
      Told.tell("disk_growth_bytes", (double) run.diskGrowth);
      if (bounds != null) {
        bounds.tell();
      }
    }
  }

  /** Rows that are written while there is a snapshot. */
  static final class Run {
    private final SnapshotStore store;
    private final HotRows rows;
    private final Runnable look;
    private long updates;
    private long memoryGrowth;
    private long diskGrowth;

    Run(SnapshotStore store, long seed) {
      this(store, seed, () -> {});
    }

    /**
     * Rows of a store.
     *
     * @param look run after the last update, while the snapshot is open
     */
    Run(SnapshotStore store, long seed, Runnable look) {
      this.store = store;
      this.look = look;
      this.rows = new HotRows(seed);
    }

    /** As the other, as many as come in the time. */
    void updateFor(long millis) throws Exception {
      update(Long.MAX_VALUE, millis);
    }

    /**
     * Fills, opens a snapshot, updates, looks; returns the nanoseconds of the updates. They end
     * early if they take too long, or come to too much on disk.
     */
    long update(long wanted, long millis) throws Exception {
      rows.fill(store);
      store.openSnapshot();
      long[] counts = rows.counts();
      long memory = memory();
      long disk = store.diskBytes();
      long start = System.nanoTime();
      long longest = millis * 1_000_000;
      while (updates < wanted
          && System.nanoTime() - start < longest
          && store.diskBytes() - disk < MOST_ON_DISK) {
        long some = Math.min(LOOK, wanted - updates);
        rows.update(store, some);
        updates += some;
      }
      long nanos = System.nanoTime() - start;
      diskGrowth = store.diskBytes() - disk;
      memoryGrowth = memory() - memory;
      look.run();
      rows.demandInSnapshot(store, counts);
      rows.demandNow(store);
      store.closeSnapshot();
      return nanos;
    }
  }

  /**
   * The used heap, and the other memory of the process, without mapped files. The process's memory
   * contains the heap from the start, because the JVM touches it.
   */
  private static long memory() throws Exception {
    System.gc();
    long heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    return heap + ProcessMemory.own();
  }
}
