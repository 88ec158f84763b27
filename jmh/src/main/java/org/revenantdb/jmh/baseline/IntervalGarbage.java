package org.revenantdb.jmh.baseline;

import org.revenantdb.gc.Horizon;
import org.revenantdb.gc.SnapshotSet;
import org.revenantdb.gc.version.VolatileStore;

/**
 * A separate thread periodically examines all versions and removes those that no open snapshot
 * needs, whether old or in between.
 *
 * <p>Source: SAP HANA's interval collector: thesis, Tables 7, 9 and 10 (exact, lazily; background,
 * by a dedicated thread), section 5.3.3. With our adaptations: it has no global tracker of
 * snapshots, which takes a mutex at the begin and the end of a transaction. A version that was
 * garbage at the last look is not added.
 */
final class IntervalGarbage extends OtherGarbage {
  private final Horizon horizon;
  private final Thread thread;
  private volatile SnapshotSet known;

  /**
   * Begins.
   *
   * @param millis between two looks
   */
  IntervalGarbage(Horizon horizon, long millis) {
    this.horizon = horizon;
    this.known = horizon.refresh();
    this.thread = every(millis, this::look);
  }

  private void look() {
    SnapshotSet now = horizon.refresh();
    known = now;
    VolatileStore store = store();
    if (store != null && !store.isEmpty()) {
      keepNeeded(store, now);
    }
  }

  private static void keepNeeded(VolatileStore store, SnapshotSet now) {
    store.keep(version -> now.needs(version.committedAt(), version.supersededAt()));
  }

  @Override
  public boolean keeps(long committedAt, long supersededAt) {
    return known.needs(committedAt, supersededAt);
  }

  @Override
  void added(int table, byte[] key, long supersededAt) {
    // the thread will find it
  }

  @Override
  public void pass(VolatileStore store, SnapshotSet snapshots) {
    keepNeeded(store, snapshots);
  }

  @Override
  void close() {
    end(thread);
  }
}
