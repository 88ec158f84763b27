package org.revenantdb.jmh.baseline;

import org.revenantdb.gc.Horizon;
import org.revenantdb.gc.SnapshotSet;
import org.revenantdb.gc.version.VolatileStore;

/**
 * A separate thread periodically computes the watermark and finds the versions behind it. The
 * threads that write remove the versions assigned to them when one of their transactions has ended.
 *
 * <p>Source: Hekaton according to the thesis: Tables 9 and 10, section 5.5 (watermark; found in the
 * background, removed in the foreground; all chains newest first, so that no traversal meets
 * garbage). With our adaptations: work is assigned in turns to threads that have written, and the
 * cleaner takes what an idle thread leaves.
 */
final class AssignedGarbage extends OtherGarbage {
  private final Horizon horizon;
  private final GarbageQueues brought = new GarbageQueues();
  private final GarbageQueues assigned = new GarbageQueues();
  private final Thread thread;
  private volatile long watermark;
  private int next;

  /**
   * Begins.
   *
   * @param millis between two looks
   */
  AssignedGarbage(Horizon horizon, long millis) {
    this.horizon = horizon;
    this.watermark = horizon.refresh().horizon();
    this.thread = every(millis, this::assign);
  }

  /** Used only by the separate thread. */
  private void assign() {
    long now = horizon.refresh().horizon();
    watermark = now;
    brought.all().forEach(queue -> queue.take(now, this::assign));
  }

  private void assign(GarbageQueues.Entry entry) {
    int workers = assigned.all().size();
    assigned.all().get(Math.floorMod(next++, workers)).add(entry);
  }

  /** By the watermark of the last look. */
  @Override
  public boolean keeps(long committedAt, long supersededAt) {
    return supersededAt > watermark;
  }

  @Override
  void added(int table, byte[] key, long supersededAt) {
    assigned.own(); // so there is one at least when the version is found
    brought.own().add(new GarbageQueues.Entry(table, key, supersededAt, supersededAt));
  }

  @Override
  void ended() {
    VolatileStore store = store();
    if (store != null) {
      clean(assigned.own(), store, watermark);
    }
  }

  @Override
  public void pass(VolatileStore store, SnapshotSet snapshots) {
    long now = snapshots.horizon();
    brought.all().forEach(queue -> clean(queue, store, now));
    assigned.all().forEach(queue -> clean(queue, store, now));
  }

  @Override
  public boolean wantsPass(VolatileStore store, SnapshotSet snapshots) {
    return assigned.haveFree(snapshots.horizon());
  }

  private static void clean(GarbageQueues.Own queue, VolatileStore store, long watermark) {
    queue.take(
        watermark,
        entry ->
            store.keep(entry.table(), entry.key(), version -> version.supersededAt() > watermark));
  }

  @Override
  void close() {
    end(thread);
  }
}
