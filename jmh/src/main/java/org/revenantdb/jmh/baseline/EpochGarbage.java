package org.revenantdb.jmh.baseline;

import java.util.concurrent.atomic.AtomicLong;
import org.revenantdb.gc.SnapshotSet;
import org.revenantdb.gc.version.VolatileStore;

/**
 * Versions are garbage when all transactions have ended that were open in the epoch in which they
 * were created. Each thread checks its own, oldest first, when one of its transactions has ended.
 *
 * <p>Source: thesis, Tables 9 and 10: ERMIA (three epochs, advanced after each transaction) and
 * Deuteronomy (any number, after a hundred): epoch; threshold, watermark; foreground, interspersed.
 * There epochs guard the memory of versions. With our adaptations, a row loses all versions before
 * a free one at once, and the cleaner takes what the thread of an idle session has left.
 */
final class EpochGarbage extends OtherGarbage {
  private final Epochs epochs;
  private final long threshold;
  private final GarbageQueues queues = new GarbageQueues();
  private final AtomicLong transactions = new AtomicLong();

  /**
   * With its own epochs.
   *
   * @param three whether there are three, or any number
   * @param threshold the number of transactions after which the epoch is advanced
   */
  EpochGarbage(boolean three, long threshold) {
    this.epochs = new Epochs(three);
    this.threshold = threshold;
  }

  @Override
  int entered() {
    return epochs.enter();
  }

  @Override
  void left(int entry) {
    epochs.leave(entry);
  }

  /** Epochs contain no time, so they cannot show whether a version is already unneeded. */
  @Override
  public boolean keeps(long committedAt, long supersededAt) {
    return true;
  }

  @Override
  void added(int table, byte[] key, long supersededAt) {
    queues.own().add(new GarbageQueues.Entry(table, key, supersededAt, epochs.current()));
  }

  @Override
  void ended() {
    if (transactions.incrementAndGet() % threshold == 0) {
      epochs.advance();
    }
    VolatileStore store = store();
    if (store != null) {
      clean(queues.own(), store, epochs.free());
    }
  }

  @Override
  public void pass(VolatileStore store, SnapshotSet snapshots) {
    epochs.advance(); // perhaps no counting thread exists
    long free = epochs.advance();
    queues.all().forEach(queue -> clean(queue, store, free));
  }

  @Override
  public boolean wantsPass(VolatileStore store, SnapshotSet snapshots) {
    return queues.haveFree(epochs.advance());
  }

  private static void clean(GarbageQueues.Own queue, VolatileStore store, long free) {
    // The earlier versions of the row have earlier stamps, so they are free as well.
    queue.take(
        free,
        entry ->
            store.keep(
                entry.table(),
                entry.key(),
                version -> version.supersededAt() > entry.supersededAt()));
  }
}
