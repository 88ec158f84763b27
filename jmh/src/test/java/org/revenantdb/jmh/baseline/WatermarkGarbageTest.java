package org.revenantdb.jmh.baseline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.gc.ActiveSnapshots;
import org.revenantdb.gc.Horizon;
import org.revenantdb.gc.spill.SpillFiles;
import org.revenantdb.gc.version.VolatileStore;
import org.revenantdb.latch.WaitMeter;
import org.revenantdb.recovery.file.IoStatistics;

/** Versions behind the oldest snapshot are removed, and none that a younger one needs. */
class WatermarkGarbageTest {
  private static final byte[] KEY = {1};

  @TempDir private Path folder;

  @Test
  void what_is_behind_the_oldest_snapshot_goes_and_no_more() {
    AtomicLong clock = new AtomicLong(5);
    ActiveSnapshots snapshots = new ActiveSnapshots();
    Horizon horizon = new Horizon(snapshots, clock::get, clock::get);
    WatermarkGarbage garbage = new WatermarkGarbage(horizon);
    SpillFiles files = new SpillFiles(folder, new byte[16], 1, new IoStatistics());
    try (VolatileStore store =
        new VolatileStore(files, 1 << 20, horizon::refresh, garbage, WaitMeter.NONE, cause -> {})) {
      int older = snapshots.open(clock::get);
      clock.set(15);
      int younger = snapshots.open(clock::get);
      clock.set(30);
      horizon.refresh();
      assertTrue(garbage.keeps(1, 10));
      store.push(1, KEY, 1, 10, 0, new byte[] {1});
      store.push(1, KEY, 10, 20, 0, new byte[] {2});
      store.push(1, KEY, 20, 25, 0, new byte[] {3}); // unneeded, but not behind
      long three = store.memoryBytes();
      garbage.ended();
      assertEquals(three, store.memoryBytes());
      snapshots.close(older);
      horizon.refresh();
      garbage.ended();
      assertNull(store.find(1, KEY, 5));
      assertNotNull(store.find(1, KEY, 15));
      assertNotNull(store.find(1, KEY, 20));
      snapshots.close(younger);
      horizon.refresh();
      garbage.ended();
      assertTrue(store.isEmpty());
    }
  }
}
