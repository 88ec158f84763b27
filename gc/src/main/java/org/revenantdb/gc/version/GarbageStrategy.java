package org.revenantdb.gc.version;

import org.jspecify.annotations.Nullable;
import org.revenantdb.gc.Horizon;
import org.revenantdb.gc.SnapshotSet;
import org.revenantdb.gc.version.VolatileStore.Version;

/**
 * Decides which older versions of rows are garbage, and when they are dropped.
 *
 * <p>The engine has one implementation, {@link Steam}. It is an interface so that benchmarks can
 * measure the methods that the paper replaced, over the same store of versions. {@code Opening} is
 * the only place that makes it.
 *
 * <p>Threads: any. It may only drop versions that no open or future snapshot needs (R4). A version
 * is needed by the snapshots in its lifetime, from its own commit up to, but not including, the
 * commit of its successor.
 */
public interface GarbageStrategy {
  /**
   * The strategy of the engine.
   *
   * @param horizon knows the open snapshots
   */
  static GarbageStrategy of(Horizon horizon) {
    return new Steam(horizon);
  }

  /**
   * Whether a version that is about to leave its page is kept. The caller holds the latch of its
   * leaf, so this method neither waits nor accesses a file.
   *
   * @param committedAt its commit LSN, 0 when it is older than every snapshot
   * @param supersededAt the commit LSN of the version after it
   */
  boolean keeps(long committedAt, long supersededAt);

  /**
   * The versions of a row that are kept when a new one has arrived. The caller holds the latch of
   * the row's leaf, and the map has the row locked. So this method neither waits, nor accesses a
   * file, nor another row of the store.
   *
   * @param store the store of the versions
   * @param versions of the row, the newest first; the first one is new
   * @return those that are kept, in the same order; null for none
   */
  @Nullable Version added(VolatileStore store, int table, byte[] key, Version versions);

  /**
   * Drops versions in a pass of the cleaner, or because memory is over its budget. The caller holds
   * no latch.
   *
   * @param store to be pruned, by {@link VolatileStore#keep(VolatileStore.Keeps)} or row by row
   * @param snapshots of now
   */
  void pass(VolatileStore store, SnapshotSet snapshots);

  /**
   * Whether a pass may find something now.
   *
   * @param snapshots of now
   */
  default boolean wantsPass(VolatileStore store, SnapshotSet snapshots) {
    return false;
  }

  /**
   * Whether a deleted row may be removed although there are snapshots from before the delete,
   * because none of them sees the row. The caller holds the latch of the leaf, so this method
   * neither waits nor accesses a file.
   *
   * @param store has the row's older versions
   * @param committedAt the commit LSN of the version that was deleted; that of the delete, if it
   *     was never committed
   * @param deletedAt the commit LSN of the delete, which is durable
   */
  default boolean isUnseen(
      VolatileStore store, int table, byte[] key, long committedAt, long deletedAt) {
    return false;
  }

  /**
   * Whether deleted rows that a snapshot sees, or whose conflicts must be found exactly, leave
   * their leaves, and are found through {@link DepartedRows} from then on.
   */
  default boolean letsRowsDepart() {
    return false;
  }

  /**
   * How many versions in memory only the oldest snapshot needs, as of the last walk over all
   * versions. It is 0 if there was no walk since that snapshot was opened, or if this is not
   * counted.
   *
   * @param oldest that snapshot
   */
  default long keptFor(long oldest) {
    return 0;
  }

  /** The largest excess of a row's versions over the expected number; 0 if this is not counted. */
  default long chainExcess() {
    return 0;
  }
}
