package org.revenantdb.gc.version;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.gc.ActiveSnapshots;
import org.revenantdb.gc.Horizon;
import org.revenantdb.gc.VersionFlags;
import org.revenantdb.gc.spill.SpillFiles;
import org.revenantdb.gc.version.VolatileStore.Version;
import org.revenantdb.latch.WaitMeter;
import org.revenantdb.recovery.file.IoStatistics;

/**
 * Rows as their cells and chains have them, against plain histories: whatever is written, taken
 * back, deleted, opened, advanced, closed and pruned in whatever order, each open snapshot reads
 * what its history says, and no row has more versions than there are snapshots.
 *
 * <p>{@code -Drevenant.seed=n} repeats a run.
 */
class SteamModelTest {
  private static final int TABLE = 3;
  private static final int ROWS = 6;
  private static final int STEPS = 4_000;
  private static final byte[] DELETED = {};

  /** A version of a row, in its cell. */
  private record InCell(long committedAt, byte[] value) {}

  /** A row of the leaf, with all that it ever was. */
  private static final class Row {
    final byte[] key;
    final TreeMap<Long, byte[]> history = new TreeMap<>();
    InCell current;
    InCell predecessor;

    Row(int number) {
      key = ByteBuffer.allocate(4).putInt(number).array();
    }
  }

  @TempDir Path directory;

  private final long seed =
      Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));
  private final Random random = new Random(seed);
  private final ActiveSnapshots snapshots = new ActiveSnapshots();
  private final List<Row> rows = new ArrayList<>();
  private final List<Integer> open = new ArrayList<>();
  private long clock = 1;
  private long nanos;
  private Horizon horizon;
  private VolatileStore store;

  @BeforeEach
  void open() {
    System.out.println("SteamModelTest -Drevenant.seed=" + seed);
    horizon = new Horizon(snapshots, () -> clock, () -> clock, () -> nanos);
    SpillFiles files = new SpillFiles(directory, new byte[16], 1, new IoStatistics());
    store =
        new VolatileStore(
            files,
            64 << 20,
            horizon::refresh,
            GarbageStrategy.of(horizon),
            WaitMeter.NONE,
            cause -> {});
    for (int row = 0; row < ROWS; row++) {
      rows.add(new Row(row));
    }
  }

  @AfterEach
  void close() {
    store.close();
  }

  @RepeatedTest(20)
  void every_snapshot_reads_its_history_and_no_chain_is_longer_than_its_set() {
    int most = 1 + random.nextInt(12);
    for (int step = 0; step < STEPS; step++) {
      switch (random.nextInt(16)) {
        case 0, 1 -> {
          if (open.size() < most) {
            open.add(snapshots.open(() -> clock));
          }
        }
        case 2 -> {
          if (!open.isEmpty()) {
            snapshots.close(open.remove(random.nextInt(open.size())));
          }
        }
        case 3 -> {
          if (!open.isEmpty()) {
            snapshots.advance(open.get(random.nextInt(open.size())), () -> clock);
          }
        }
        case 4 -> nanos += random.nextInt(6_000_000);
        case 5 -> horizon.refresh();
        case 6 -> prune();
        default -> write(rows.get(random.nextInt(ROWS)));
      }
      assertReads();
    }
    open.forEach(snapshots::close);
    prune();
    prune();
    assertEquals(0, store.memoryBytes(), this::seed);
    assertEquals(0, store.rows(), this::seed);
    assertEquals(store.added(), store.pruned() + store.swept(), this::seed);
    assertEquals(0, store.chainExcess(), this::seed);
  }

  private void prune() {
    store.prune(horizon.refresh());
  }

  private String seed() {
    return "seed " + seed;
  }

  /** By a transaction of its own, which commits or is aborted. */
  private void write(Row row) {
    int writer = snapshots.open(() -> clock);
    clock += random.nextInt(2); // its record, or another's
    byte[] value = DELETED;
    if (random.nextInt(5) > 0) {
      value = new byte[1 + random.nextInt(20)];
      random.nextBytes(value);
    }
    InCell before = row.predecessor;
    InCell current = row.current;
    if (before != null && store.keeps(before.committedAt(), current.committedAt())) {
      push(row, before, current.committedAt());
    }
    row.predecessor = current;
    row.current = null; // not committed
    assertReads();
    if (random.nextInt(4) == 0) {
      row.current = current;
      row.predecessor = null;
    } else {
      clock++;
      row.current = new InCell(clock, value);
      row.history.put(clock, value);
    }
    snapshots.close(writer);
  }

  private void push(Row row, InCell version, long supersededAt) {
    byte[] value = version.value();
    store.push(
        TABLE,
        row.key,
        version.committedAt(),
        supersededAt,
        value.length == 0 ? VersionFlags.DELETED : 0,
        value);
    int length = 0;
    long until = Long.MAX_VALUE;
    for (Version there = store.newest(TABLE, row.key); there != null; there = there.older()) {
      length++;
      assertTrue(there.supersededAt() <= until, this::seed);
      until = there.committedAt();
    }
    int there = length;
    assertTrue(
        length <= horizon.known().size(),
        () -> there + " versions, " + horizon.known() + ", " + seed());
  }

  private void assertReads() {
    for (int slot : open) {
      long snapshot = snapshots.snapshot(slot);
      for (Row row : rows) {
        Map.Entry<Long, byte[]> expected = row.history.floorEntry(snapshot);
        byte[] should = expected == null ? DELETED : expected.getValue();
        assertEquals(
            ByteBuffer.wrap(should),
            ByteBuffer.wrap(read(row, snapshot)),
            () -> "row " + rows.indexOf(row) + " at " + snapshot + ", " + seed());
      }
    }
  }

  private byte[] read(Row row, long snapshot) {
    if (row.current != null && row.current.committedAt() <= snapshot) {
      return row.current.value();
    }
    if (row.predecessor != null && row.predecessor.committedAt() <= snapshot) {
      return row.predecessor.value();
    }
    Version version = store.find(TABLE, row.key, snapshot);
    return version == null ? DELETED : version.value();
  }
}
