package org.revenantdb.engine.txn;

import java.util.function.LongSupplier;
import org.revenantdb.gc.ActiveSnapshots;
import org.revenantdb.gc.SnapshotSet;

/**
 * What the open snapshots still need, from a set that may be a little old.
 *
 * <p>A stale set errs on the safe side (R4): see {@link SnapshotSet}. It is computed anew when it
 * cannot tell, that is when a version was superseded after the set was computed, and by the
 * cleaner. Thread-safe.
 */
public final class Horizon {
  private final ActiveSnapshots snapshots;
  private final LongSupplier clock;
  private volatile SnapshotSet set;

  /**
   * The horizon of these snapshots.
   *
   * @param clock the durable LSN
   */
  public Horizon(ActiveSnapshots snapshots, LongSupplier clock) {
    this.snapshots = snapshots;
    this.clock = clock;
    this.set = snapshots.snapshots(clock);
  }

  /**
   * Whether a snapshot, open or to come, can see a version that was committed and superseded at
   * these LSNs.
   */
  public boolean needs(long committed, long superseded) {
    SnapshotSet known = set;
    if (superseded > known.bound()) {
      known = refresh();
    }
    return known.needs(committed, superseded);
  }

  /** No snapshot is below this, nor ever will be; it may be a little behind. */
  public long get() {
    return set.horizon();
  }

  /** Computes the set anew. */
  public SnapshotSet refresh() {
    SnapshotSet now = snapshots.snapshots(clock);
    set = now;
    return now;
  }
}
