package org.revenantdb.gc;

import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.NullMarked;

/**
 * Slots of two chunks. The second chunk may be retired and come into use again. This is the
 * production {@link ActiveSnapshots}, with sessions that look for a slot in the second chunk only.
 */
@NullMarked
public final class TwoChunks {
  /** The only slot of the second chunk. */
  private static final int SLOT = 1;

  private final AtomicLong clock = new AtomicLong();
  private final ActiveSnapshots snapshots = new ActiveSnapshots(1);

  /** Both chunks are open, and no slot is taken. */
  public TwoChunks() {
    widen();
  }

  /**
   * Opens a snapshot in the second chunk.
   *
   * @return the snapshot, or -1 if that chunk is not in use
   */
  public long open() {
    if (!snapshots.claim(SLOT, snapshots.stateAt(SLOT))) {
      return -1;
    }
    snapshots.publish(SLOT, clock.get());
    return snapshots.snapshot(SLOT);
  }

  /** Closes the snapshot in the second chunk, and retires the chunk if it is empty. */
  public void note() {
    snapshots.note(0);
  }

  /** Opens two snapshots and closes them, which brings the second chunk into use again. */
  public void widen() {
    int first = snapshots.open(clock::get);
    int second = snapshots.open(clock::get);
    snapshots.close(second);
    snapshots.close(first);
  }

  /** Commits, which moves the clock from 0 to 1, and takes the horizon. */
  public long prune() {
    clock.incrementAndGet();
    return snapshots.horizon(clock::get);
  }
}
