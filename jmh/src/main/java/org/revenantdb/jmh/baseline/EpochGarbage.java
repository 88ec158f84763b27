package org.revenantdb.jmh.baseline;

import java.util.concurrent.atomic.AtomicLong;
import org.revenantdb.gc.SnapshotSet;
import org.revenantdb.gc.version.VolatileStore;

/**
 * Versions are garbage when all transactions have ended that were open in the epoch in which they
 * came: each thread looks at its own, oldest first, when a transaction of its own has ended.
 *
 * <p>Source: thesis, Tables 9 and 10: ERMIA (three epochs, advanced after each transaction) and
 * Deuteronomy (any number, after a hundred): epoch; threshold, watermark; foreground, interspersed.
 * There epochs guard the memory of versions; with our care a row loses at once all that came to it
 * before what is free, and the cleaner takes what the thread of a quiet session has left.
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
   * @param threshold after so many transactions the epoch is advanced
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

  /** Epochs know no time: whether a version is needed already by nobody they cannot tell. */
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
    epochs.advance(); // nobody may be there who counts
    long free = epochs.advance();
    queues.all().forEach(queue -> clean(queue, store, free));
  }

  @Override
  public boolean wantsPass(VolatileStore store, SnapshotSet snapshots) {
    return queues.haveFree(epochs.advance());
  }

  private static void clean(GarbageQueues.Own queue, VolatileStore store, long free) {
    // What the row got before was stamped before, and is free as well.
    queue.take(
        free,
        entry ->
            store.keep(
                entry.table(),
                entry.key(),
                version -> version.supersededAt() > entry.supersededAt()));
  }
}
