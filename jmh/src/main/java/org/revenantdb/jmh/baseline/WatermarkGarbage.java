package org.revenantdb.jmh.baseline;

import org.revenantdb.gc.Horizon;
import org.revenantdb.gc.SnapshotSet;
import org.revenantdb.gc.version.VolatileStore;

/**
 * Versions superseded before the oldest snapshot are removed, and no others. When a transaction has
 * ended, its thread checks which of the versions that it has added are behind the watermark.
 *
 * <p>Source: HyPer, and Steam without eager pruning: thesis, Table 9, sections 5.3.1 and 5.3.2
 * (transaction; commit, watermark; foreground, interspersed). With our adaptations: a version that
 * is already behind the watermark is not added. The watermark is computed again after some
 * milliseconds, as ours is. All versions of a row behind it are removed at once. The cleaner takes
 * what the thread of an idle session has left.
 */
final class WatermarkGarbage extends OtherGarbage {
  private final Horizon horizon;
  private final GarbageQueues queues = new GarbageQueues();

  WatermarkGarbage(Horizon horizon) {
    this.horizon = horizon;
  }

  /** With the known watermark or, if that is not enough, with a recent one. */
  @Override
  public boolean keeps(long committedAt, long supersededAt) {
    SnapshotSet set = horizon.known();
    if (supersededAt > set.bound()) {
      set = horizon.recent();
    }
    return supersededAt > set.horizon();
  }

  @Override
  void added(int table, byte[] key, long supersededAt) {
    queues.own().add(new GarbageQueues.Entry(table, key, supersededAt, supersededAt));
  }

  @Override
  void ended() {
    GarbageQueues.Own own = queues.own();
    VolatileStore store = store();
    if (store != null && !own.isEmpty()) {
      clean(own, store, horizon.recent().horizon());
    }
  }

  @Override
  public void pass(VolatileStore store, SnapshotSet snapshots) {
    queues.all().forEach(queue -> clean(queue, store, snapshots.horizon()));
  }

  @Override
  public boolean wantsPass(VolatileStore store, SnapshotSet snapshots) {
    return queues.haveFree(snapshots.horizon());
  }

  private static void clean(GarbageQueues.Own queue, VolatileStore store, long watermark) {
    queue.take(
        watermark,
        entry ->
            store.keep(entry.table(), entry.key(), version -> version.supersededAt() > watermark));
  }
}
