package org.revenantdb.gc;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.revenantdb.latch.Tally;

/**
 * Decides what the open snapshots still need, from a set that may be a little old, and what may be
 * removed for good.
 *
 * <p>There are two questions with two answers. An older version that is about to leave its page is
 * kept in memory if a snapshot can see it ({@link #known}, {@link #recent}). Whether the delete or
 * update that superseded it is durable does not matter for that. But the mark that a row was
 * deleted, and the id of its writer, must also stay until the change is durable ({@link #settled}):
 * no reader may act on a change that a crash can undo (R10).
 *
 * <p>A stale set errs on the safe side (R4): see {@link SnapshotSet}. Thread-safe; no method waits.
 */
public final class Horizon {
  /*
   * Protocol    docs/protocols.md §39.
   */
  /** The greatest age of a set that counts as recent (thesis §5.3.3). */
  private static final long RECENT = TimeUnit.MILLISECONDS.toNanos(5);

  /**
   * Reading this many slots costs less than keeping a version that a current set would not keep.
   */
  static final int FEW_SLOTS = 32;

  private final ActiveSnapshots snapshots;
  private final LongSupplier clock;
  private final LongSupplier durable;
  private final LongSupplier nanoTime;
  private final Tally refreshes = new Tally();

  /** Whether a thread is computing the set because it is old. */
  private final AtomicBoolean refreshing = new AtomicBoolean();

  private volatile SnapshotSet set;
  private volatile long refreshedAt;

  /**
   * The horizon of these snapshots.
   *
   * @param snapshots those that are open
   * @param clock the clock of snapshots: the end of the log
   * @param durable the end of the durable part of the log
   */
  public Horizon(ActiveSnapshots snapshots, LongSupplier clock, LongSupplier durable) {
    this(snapshots, clock, durable, System::nanoTime);
  }

  /**
   * As the other constructor, with another source of time.
   *
   * @param snapshots those that are open
   * @param clock the clock of snapshots: the end of the log
   * @param durable the end of the durable part of the log
   * @param nanoTime measures the age of the set
   */
  public Horizon(
      ActiveSnapshots snapshots, LongSupplier clock, LongSupplier durable, LongSupplier nanoTime) {
    this.snapshots = snapshots;
    this.clock = clock;
    this.durable = durable;
    this.nanoTime = nanoTime;
    this.set = snapshots.snapshots(clock);
    this.refreshedAt = nanoTime.getAsLong();
  }

  /**
   * The set that was computed last.
   *
   * @return the set; it may be old
   */
  public SnapshotSet known() {
    return set;
  }

  /**
   * A set that is at most a few milliseconds old, unless another thread is computing a new one
   * right now. If there are few slots, the set is current.
   *
   * @return the set
   */
  public SnapshotSet recent() {
    if (snapshots.slots() <= FEW_SLOTS) {
      return refresh();
    }
    if (nanoTime.getAsLong() - refreshedAt < RECENT || !refreshing.compareAndSet(false, true)) {
      return set;
    }
    try {
      return refresh();
    } finally {
      refreshing.set(false);
    }
  }

  /**
   * Everything that was committed at or before this LSN is durable, and visible to every open or
   * future snapshot.
   *
   * @param snapshots from {@link #refresh}
   * @return an LSN
   */
  public long settled(SnapshotSet snapshots) {
    return Math.min(snapshots.horizon(), durable());
  }

  /**
   * The end of the durable part of the log.
   *
   * @return an LSN
   */
  public long durable() {
    return durable.getAsLong();
  }

  /**
   * Computes the set anew.
   *
   * @return the set
   */
  public SnapshotSet refresh() {
    SnapshotSet now = snapshots.snapshots(clock);
    if (now.bound()
        >= set.bound()) { // else it was begun earlier, and can decide about fewer versions
      set = now;
    }
    refreshedAt = nanoTime.getAsLong();
    refreshes.increment();
    return now;
  }

  /**
   * How often the set was computed.
   *
   * @return a number that only grows
   */
  public long refreshes() {
    return refreshes.sum();
  }
}
