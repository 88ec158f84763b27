package org.revenantdb.engine.version;

import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.txn.Horizon;
import org.revenantdb.engine.version.VolatileStore.Version;
import org.revenantdb.gc.SnapshotSet;

/** Drops versions by the set of open snapshots. */
final class Steam implements GarbageStrategy {
  private final Horizon horizon;

  Steam(Horizon horizon) {
    this.horizon = horizon;
  }

  @Override
  public boolean keeps(long committedAt, long supersededAt) {
    return horizon.needs(committedAt, supersededAt);
  }

  @Override
  public @Nullable Version added(VolatileStore store, int table, byte[] key, Version versions) {
    return versions;
  }

  @Override
  public void pass(VolatileStore store, SnapshotSet snapshots) {
    store.keep(version -> snapshots.needs(version.committedAt(), version.supersededAt()));
  }
}
