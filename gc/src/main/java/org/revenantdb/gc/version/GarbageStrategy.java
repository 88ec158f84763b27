package org.revenantdb.gc.version;

import org.jspecify.annotations.Nullable;
import org.revenantdb.gc.Horizon;
import org.revenantdb.gc.SnapshotSet;
import org.revenantdb.gc.version.VolatileStore.Version;

/**
 * Which older versions of rows are garbage, and who takes them away when.
 *
 * <p>The engine has one, {@link Steam}. It is an interface so that what the papers replaced can be
 * measured over the same store of versions: {@code Opening} makes it in one place.
 *
 * <p>Threads: any. Whatever it lets go must be needed by no snapshot, open or to come (R4): a
 * version is needed by those in its lifetime, from its own commit up to, but not including, that of
 * its successor.
 */
public interface GarbageStrategy {
  /**
   * The one that the engine has.
   *
   * @param horizon tells which snapshots are open
   */
  static GarbageStrategy of(Horizon horizon) {
    return new Steam(horizon);
  }

  /**
   * Whether a version that is about to leave its page is kept. Its leaf is latched: this neither
   * waits nor touches a file.
   *
   * @param committedAt its commit LSN, 0 when it is older than every snapshot
   * @param supersededAt the commit LSN of the version after it
   */
  boolean keeps(long committedAt, long supersededAt);

  /**
   * What a row keeps of its versions when one has come. Its leaf is latched, and the map holds the
   * row: this neither waits, nor touches a file, nor another row of the store.
   *
   * @param store it is kept in
   * @param versions of the row, the newest first; the first one is new
   * @return those that are kept, in the same order; null for none
   */
  @Nullable Version added(VolatileStore store, int table, byte[] key, Version versions);

  /**
   * Drops what it wants to drop in a pass of the cleaner, or since memory is over its budget; with
   * nothing latched.
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
   * Whether a deleted row may be taken away though there are snapshots from before the delete, as
   * none of them sees it. Its leaf is latched: this neither waits nor touches a file.
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
   * How many versions in memory no snapshot needs but the oldest, as of the last time when it was
   * looked at all of them; 0 if that was not done since it was opened, or is not counted.
   *
   * @param oldest that snapshot
   */
  default long keptFor(long oldest) {
    return 0;
  }

  /** By how much a row had more versions than it should have, at most; 0 if that is not counted. */
  default long chainExcess() {
    return 0;
  }
}
