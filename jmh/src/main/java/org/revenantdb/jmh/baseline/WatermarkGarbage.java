package org.revenantdb.jmh.baseline;

import org.revenantdb.gc.Horizon;
import org.revenantdb.gc.SnapshotSet;
import org.revenantdb.gc.version.VolatileStore;

/**
 * What was superseded before the oldest snapshot goes, and nothing else: each thread looks, when a
 * transaction of its own has ended, which of the versions that it has brought are behind.
 *
 * <p>Source: HyPer, and Steam without eager pruning: thesis, Table 9, sections 5.3.1 and 5.3.2
 * (transaction; commit, watermark; foreground, interspersed). With our care: a version that is
 * behind already is not brought; the watermark is looked for anew after some milliseconds, as ours
 * is; all that is behind of a row goes at once; what the thread of a quiet session has left the
 * cleaner takes.
 */
final class WatermarkGarbage extends OtherGarbage {
  private final Horizon horizon;
  private final GarbageQueues queues = new GarbageQueues();

  WatermarkGarbage(Horizon horizon) {
    this.horizon = horizon;
  }

  /** By the watermark that is known, or, if that cannot tell, one that is not old. */
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
