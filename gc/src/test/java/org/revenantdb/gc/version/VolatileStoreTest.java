package org.revenantdb.gc.version;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.gc.ActiveSnapshots;
import org.revenantdb.gc.Horizon;
import org.revenantdb.gc.spill.SpillFiles;
import org.revenantdb.latch.WaitMeter;
import org.revenantdb.recovery.file.IoStatistics;

class VolatileStoreTest {
  private static final int TABLE = 7;
  private static final byte[] KEY = {1};
  private static final byte[] VALUE = {2};

  @TempDir Path directory;

  private VolatileStore store;

  @BeforeEach
  void open() {
    // A clock that stands still: every version is superseded after the set.
    Horizon all = new Horizon(new ActiveSnapshots(), () -> 0, () -> 0);
    SpillFiles files = new SpillFiles(directory, new byte[16], 1, new IoStatistics());
    store =
        new VolatileStore(
            files, 1 << 20, all::refresh, GarbageStrategy.of(all), WaitMeter.NONE, cause -> {});
  }

  @Test
  void find_givesEachSnapshotTheVersionOfItsTime() {
    store.push(TABLE, KEY, 100, 200, 0, VALUE);
    store.push(TABLE, KEY, 200, 300, 0, VALUE);
    assertNull(store.find(TABLE, KEY, 99));
    assertCommittedAt(100, store.find(TABLE, KEY, 100));
    assertCommittedAt(100, store.find(TABLE, KEY, 199));
    assertCommittedAt(200, store.find(TABLE, KEY, 200));
    assertCommittedAt(200, store.find(TABLE, KEY, 299));
  }

  /**
   * A row was deleted at 300, an old snapshot kept its value here, the cleaner removed the delete
   * mark, and the leaf has a later insert. A snapshot after the deletion sees nothing; it once got
   * the value from before the deletion.
   */
  @Test
  void a_deleted_version_is_not_seen_by_snapshots_after_its_deletion() {
    store.push(TABLE, KEY, 200, 300, 0, VALUE);
    assertNull(store.find(TABLE, KEY, 300));
    assertNull(store.find(TABLE, KEY, 1_000));
  }

  private static void assertCommittedAt(long lsn, VolatileStore.Version version) {
    assertNotNull(version);
    assertEquals(lsn, version.committedAt());
  }
}
