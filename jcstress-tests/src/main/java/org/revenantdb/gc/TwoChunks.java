package org.revenantdb.gc;

import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.NullMarked;

/**
 * Slots of two chunks, of which the second may go out of use and come into use again: {@link
 * ActiveSnapshots} as it is, with sessions that look for a slot in the second chunk only.
 */
@NullMarked
public final class TwoChunks {
  /** The only slot of the second chunk. */
  private static final int SLOT = 1;

  private final AtomicLong clock = new AtomicLong();
  private final ActiveSnapshots snapshots = new ActiveSnapshots(1);

  /** Both chunks are open, and nobody has a slot. */
  public TwoChunks() {
    widen();
  }

  /**
   * Opens a snapshot in the second chunk.
   *
   * @return it, or -1 if that chunk is not in use
   */
  public long open() {
    if (!snapshots.claim(SLOT, snapshots.stateAt(SLOT))) {
      return -1;
    }
    snapshots.publish(SLOT, clock.get());
    return snapshots.snapshot(SLOT);
  }

  /** Closes the second chunk, and retires it if it is empty. */
  public void note() {
    snapshots.note(0);
  }

  /** Opens two snapshots and closes them, for which the second chunk comes into use again. */
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
