package org.revenantdb.gc;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.revenantdb.latch.Tally;

/**
 * What the open snapshots still need, from a set that may be a little old, and what may be taken
 * away for good.
 *
 * <p>Two questions, two answers. An older version that is about to leave its page is kept in memory
 * if a snapshot can see it ({@link #known}, {@link #recent}); that nobody may be told of a delete
 * that a crash can take back does not make it needed. What tells that a row was deleted, or by whom
 * it was written, has to stay until that is durable as well ({@link #settled}, R10).
 *
 * <p>A stale set errs on the safe side (R4): see {@link SnapshotSet}. Thread-safe; nobody waits.
 */
public final class Horizon {
  /*
   * Protocol    docs/protocols.md §39.
   */
  /** As old may a set be that somebody would like to be new (thesis §5.3.3). */
  private static final long RECENT = TimeUnit.MILLISECONDS.toNanos(5);

  /** To look at so many costs less than to keep a version that a set of now would not. */
  static final int FEW_SLOTS = 32;

  private final ActiveSnapshots snapshots;
  private final LongSupplier clock;
  private final LongSupplier durable;
  private final LongSupplier nanoTime;
  private final Tally refreshes = new Tally();

  /** Whether somebody computes the set because it is old. */
  private final AtomicBoolean refreshing = new AtomicBoolean();

  private volatile SnapshotSet set;
  private volatile long refreshedAt;

  /**
   * The horizon of these snapshots.
   *
   * @param snapshots those that are open
   * @param clock what snapshots are taken from: the end of the log
   * @param durable how far the log is durable
   */
  public Horizon(ActiveSnapshots snapshots, LongSupplier clock, LongSupplier durable) {
    this(snapshots, clock, durable, System::nanoTime);
  }

  /**
   * As the other one, with another clock of the machine.
   *
   * @param snapshots those that are open
   * @param clock what snapshots are taken from: the end of the log
   * @param durable how far the log is durable
   * @param nanoTime how old the set is
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
   * A set that is a few milliseconds old at the most, unless somebody else is computing one right
   * now; of now, where that costs next to nothing.
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
   * What was committed at or before this is durable and visible to every snapshot, open or to come.
   *
   * @param snapshots from {@link #refresh}
   * @return an LSN
   */
  public long settled(SnapshotSet snapshots) {
    return Math.min(snapshots.horizon(), durable());
  }

  /**
   * How far the log is durable.
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
    if (now.bound() >= set.bound()) { // else it was begun earlier, and decides less
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
