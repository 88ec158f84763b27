package org.revenantdb.engine.txn;

import java.util.function.LongSupplier;
import org.revenantdb.gc.ActiveSnapshots;
import org.revenantdb.gc.SnapshotSet;

/**
 * What the open snapshots still need, from a set that may be a little old, and what may be taken
 * away for good.
 *
 * <p>Two questions, two answers. An older version that is about to leave its page is kept in memory
 * if a snapshot can see it ({@link #needs}); that nobody may be told of a delete that a crash can
 * take back does not make it needed. What tells that a row was deleted, or by whom it was written,
 * has to stay until that is durable as well ({@link #settled}, R10).
 *
 * <p>A stale set errs on the safe side (R4): see {@link SnapshotSet}. It is computed anew when it
 * cannot tell, that is when a version was superseded after the set was computed, and by the
 * cleaner. Thread-safe.
 */
public final class Horizon {
  private final ActiveSnapshots snapshots;
  private final LongSupplier clock;
  private final LongSupplier durable;
  private volatile SnapshotSet set;

  /**
   * The horizon of these snapshots.
   *
   * @param clock what snapshots are taken from: the end of the log
   * @param durable how far the log is durable
   */
  public Horizon(ActiveSnapshots snapshots, LongSupplier clock, LongSupplier durable) {
    this.snapshots = snapshots;
    this.clock = clock;
    this.durable = durable;
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

  /**
   * What was committed at or before this is durable and visible to every snapshot, open or to come.
   *
   * @param snapshots from {@link #refresh}
   */
  public long settled(SnapshotSet snapshots) {
    return Math.min(snapshots.horizon(), durable());
  }

  /** How far the log is durable. */
  public long durable() {
    return durable.getAsLong();
  }

  /** Computes the set anew. */
  public SnapshotSet refresh() {
    SnapshotSet now = snapshots.snapshots(clock);
    set = now;
    return now;
  }
}
