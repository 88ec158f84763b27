package org.revenantdb.gc.version;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.gc.ActiveSnapshots;
import org.revenantdb.gc.Horizon;
import org.revenantdb.gc.SnapshotSet;
import org.revenantdb.gc.spill.SpillFiles;
import org.revenantdb.gc.version.VolatileStore.Version;
import org.revenantdb.latch.WaitMeter;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.IoStatistics;

/** Steam step by step (docs/protocols.md §39), with clocks that the test moves. */
class SteamTest {
  private static final int TABLE = 7;
  private static final byte[] KEY = {1};
  private static final byte[] VALUE = {2};

  @TempDir Path directory;

  private final ActiveSnapshots snapshots = new ActiveSnapshots();
  private long clock = 50;
  private long nanos;
  private Horizon horizon;
  private VolatileStore store;

  @BeforeEach
  void open() {
    int[] slots = IntStream.range(0, 100).map(_ -> openAt(clock)).toArray();
    IntStream.of(slots).forEach(snapshots::close); // from now on a look has something to do
    horizon = new Horizon(snapshots, () -> clock, () -> clock, () -> nanos);
    SpillFiles files = new SpillFiles(directory, new byte[16], 1, new IoStatistics());
    store =
        new VolatileStore(
            files,
            1 << 20,
            horizon::refresh,
            GarbageStrategy.of(horizon),
            WaitMeter.NONE,
            cause -> {});
  }

  @AfterEach
  void close() {
    store.close();
  }

  private int openAt(long now) {
    clock = now;
    return snapshots.open(() -> clock);
  }

  /** A version leaves its page. */
  private void leave(byte[] key, long committedAt, long supersededAt) {
    clock = Math.max(clock, supersededAt);
    if (store.keeps(committedAt, supersededAt)) {
      store.push(TABLE, key, committedAt, supersededAt, 0, VALUE);
    }
  }

  private void assertFinds(long committedAt, long snapshot) {
    Version found = store.find(TABLE, KEY, snapshot);
    assertNotNull(found, "at " + snapshot);
    assertEquals(committedAt, found.committedAt());
  }

  private long inMemory() {
    return store.added() - store.pruned() - store.swept();
  }

  /** The schedule of the rule: the set is of 90, and empty. */
  @Test
  void R4_a_version_superseded_after_the_known_set_is_kept_for_a_snapshot_that_came_later() {
    clock = 90;
    horizon.refresh();
    int reader = openAt(100);
    leave(KEY, 50, 110);
    assertFinds(50, snapshots.snapshot(reader));
    leave(KEY, 110, 120);
    leave(KEY, 120, 130);
    assertFinds(50, snapshots.snapshot(reader));
  }

  /** As above, but the chain has room, so no set is computed: the old one decides. */
  @Test
  void R4_a_set_in_which_there_is_room_does_not_decide_beyond_its_bound() {
    openAt(60);
    openAt(70);
    openAt(80);
    clock = 90;
    horizon.refresh();
    int reader = openAt(100);
    long refreshes = horizon.refreshes();
    leave(KEY, 90, 110);
    assertEquals(refreshes, horizon.refreshes());
    assertFinds(90, snapshots.snapshot(reader));
    leave(KEY, 110, 120);
    leave(KEY, 120, 130);
    assertEquals(refreshes, horizon.refreshes());
    assertEquals(3, inMemory());
    leave(KEY, 130, 140);
    assertEquals(1, inMemory(), "what lies between 110 and 140 is in nobody's time");
    assertFinds(90, snapshots.snapshot(reader));
  }

  @Test
  void versions_between_two_snapshots_go_when_the_next_one_comes() {
    int old = openAt(60);
    int young = openAt(100);
    leave(KEY, 50, 70);
    leave(KEY, 70, 110);
    for (long at = 110; at < 1_000; at += 10) {
      leave(KEY, at, at + 10);
      assertTrue(inMemory() <= 2);
    }
    assertFinds(50, snapshots.snapshot(old));
    assertFinds(70, snapshots.snapshot(young));
    assertEquals(2, store.longestChain());
    assertEquals(0, store.chainExcess());
  }

  @Test
  void the_set_is_computed_once_in_a_few_milliseconds_for_rows_that_have_room() {
    openAt(60);
    openAt(70);
    clock = 100;
    horizon.refresh();
    long refreshes = horizon.refreshes();
    for (int row = 0; row < 100; row++) {
      leave(new byte[] {(byte) row}, 100, 110 + row);
    }
    assertEquals(refreshes, horizon.refreshes());
    nanos += TimeUnit.MILLISECONDS.toNanos(5);
    for (int row = 0; row < 100; row++) {
      leave(new byte[] {(byte) row}, 110 + row, 300 + row);
    }
    assertEquals(refreshes + 1, horizon.refreshes());
  }

  @Test
  void what_a_set_decides_costs_no_look_at_any_clock() {
    clock = 1_000;
    horizon.refresh();
    nanos += TimeUnit.HOURS.toNanos(1);
    long refreshes = horizon.refreshes();
    leave(KEY, 100, 200);
    assertEquals(refreshes, horizon.refreshes());
    assertEquals(0, store.added());
  }

  @Test
  void a_version_that_is_pushed_again_is_kept_once() {
    int reader = openAt(60);
    openAt(65);
    leave(KEY, 50, 70);
    leave(KEY, 50, 70); // what came behind the first push threw
    leave(KEY, 70, 80);
    leave(KEY, 80, 90);
    assertEquals(1, inMemory());
    assertFinds(50, snapshots.snapshot(reader));
  }

  @Test
  void with_no_snapshot_nothing_stays() {
    clock = 60;
    horizon.refresh();
    leave(KEY, 50, 70);
    leave(KEY, 70, 80);
    assertEquals(0, inMemory());
    assertTrue(store.isEmpty());
    assertEquals(0, store.rows());
  }

  @Test
  void memory_is_counted_to_the_byte_whatever_is_pruned() {
    int reader = openAt(60);
    openAt(200);
    leave(KEY, 50, 70);
    long one = store.memoryBytes();
    for (long at = 200; at < 500; at += 10) {
      leave(KEY, at, at + 10);
    }
    horizon.refresh();
    leave(KEY, 500, 510);
    leave(KEY, 510, 520);
    leave(KEY, 520, 530);
    store.prune(horizon.refresh());
    assertEquals(2, inMemory());
    snapshots.close(reader);
    store.prune(horizon.refresh());
    assertEquals(1, inMemory());
    assertEquals(one, store.memoryBytes());
  }

  @Test
  void a_pass_looks_at_all_rows_only_when_a_snapshot_has_ended_that_kept_something() {
    int reader = openAt(60);
    leave(KEY, 50, 70);
    int other = openAt(100);
    int another = openAt(110);
    store.prune(horizon.refresh());
    assertFalse(store.wantsPrune(horizon.refresh()));
    snapshots.close(another);
    assertFalse(store.wantsPrune(horizon.refresh()), "nothing was kept for it");
    snapshots.close(reader);
    assertTrue(store.wantsPrune(horizon.refresh()));
    store.prune(horizon.refresh());
    assertEquals(0, inMemory());
    assertFalse(store.wantsPrune(horizon.refresh()));
    snapshots.close(other);
    assertFalse(store.wantsPrune(horizon.refresh()));
  }

  /** Also of a snapshot between two others, at which no horizon moves. */
  @Test
  void a_pass_takes_what_a_snapshot_between_others_has_left() {
    openAt(60);
    leave(KEY, 50, 70);
    int middle = openAt(80);
    leave(KEY, 70, 90);
    int last = openAt(100);
    leave(KEY, 90, 110);
    store.prune(horizon.refresh());
    assertEquals(3, inMemory());
    snapshots.close(middle);
    store.prune(horizon.refresh());
    assertEquals(2, inMemory());
    assertNull(store.find(TABLE, KEY, 80));
    assertFinds(90, snapshots.snapshot(last));
    assertFinds(50, 60);
  }

  @Test
  void a_pass_at_rest_drops_the_versions_that_were_undecided_before() {
    openAt(60);
    openAt(70);
    horizon.refresh();
    for (int row = 0; row < 100; row++) {
      leave(new byte[] {(byte) row}, 80, 110 + row);
    }
    store.prune(horizon.refresh());
    assertEquals(0, store.rows());
    leave(KEY, 310, 320);
    assertTrue(store.wantsPrune(horizon.refresh()));
    store.prune(horizon.refresh());
    store.prune(horizon.refresh());
    assertTrue(store.isEmpty());
    assertFalse(store.wantsPrune(horizon.refresh()));
  }

  /** A pass that takes long prunes with the set that it has begun with. */
  @Test
  void R4_a_pass_with_an_old_set_drops_nothing_that_was_superseded_after_it() {
    openAt(60);
    openAt(65);
    SnapshotSet old = horizon.refresh();
    int reader = openAt(100);
    leave(KEY, 90, 110);
    store.prune(old);
    assertFinds(90, snapshots.snapshot(reader));
    assertTrue(store.wantsPrune(horizon.refresh()), "it has to be looked at again");
  }

  @Test
  void beside_writers_a_pass_looks_at_all_rows_when_many_versions_have_come_and_else_at_rest() {
    openAt(60);
    openAt(70);
    for (int row = 0; row < 100; row++) {
      leave(new byte[] {9, (byte) row}, 50, 80 + row);
    }
    store.prune(horizon.refresh());
    assertEquals(100, inMemory());
    leave(KEY, 200, 210);
    store.prune(horizon.refresh());
    assertEquals(101, inMemory(), "for one it is not worth it");
    store.prune(horizon.refresh());
    assertEquals(100, inMemory(), "none has come");
    for (int row = 0; row < 20; row++) {
      leave(new byte[] {8, (byte) row}, 220, 230);
    }
    assertEquals(120, inMemory());
    store.prune(horizon.refresh());
    assertEquals(100, inMemory(), "for many it is");
  }

  /** A pass of minutes ends with the set that it has begun with, beside younger looks. */
  @Test
  void a_pass_with_an_older_set_than_the_last_look_forgets_nothing_of_what_that_has_left() {
    openAt(60);
    SnapshotSet old = horizon.refresh();
    int reader = openAt(100);
    for (int row = 0; row < 100; row++) {
      leave(new byte[] {(byte) row}, 90, 110 + row);
    }
    store.prune(horizon.refresh());
    assertEquals(100, inMemory());
    store.prune(old);
    snapshots.close(reader);
    leave(KEY, 300, 310); // a writer who never rests: one for each pass
    store.prune(horizon.refresh());
    assertTrue(inMemory() <= 1, "left: " + inMemory());
  }

  @Test
  void a_snapshot_that_has_kept_little_is_no_reason_to_look_at_all_rows_beside_writers() {
    openAt(60);
    for (int row = 0; row < 100; row++) {
      leave(new byte[] {9, (byte) row}, 50, 80);
    }
    int young = openAt(90);
    leave(KEY, 85, 100);
    store.prune(horizon.refresh());
    assertEquals(101, inMemory());
    snapshots.close(young);
    leave(new byte[] {9, 0}, 200, 210);
    leave(new byte[] {9, 0}, 210, 220);
    store.prune(horizon.refresh());
    assertNotNull(store.find(TABLE, KEY, 90), "for one of them it is not worth it");
    store.prune(horizon.refresh());
    assertNull(store.find(TABLE, KEY, 90), "at rest it is");
  }

  /** The set is milliseconds old, and could not decide. */
  @Test
  void no_writer_is_refused_for_a_version_that_no_snapshot_needs() throws IOException {
    Path notADirectory = Files.createFile(directory.resolve("file"));
    SpillFiles files = new SpillFiles(notADirectory, new byte[16], 1, new IoStatistics());
    try (VolatileStore full =
        new VolatileStore(
            files,
            1 << 16,
            horizon::refresh,
            GarbageStrategy.of(horizon),
            WaitMeter.NONE,
            cause -> {})) {
      openAt(60);
      clock = 80;
      byte[] large = new byte[1 << 12];
      assertThrows(
          FileException.class,
          () -> {
            for (int row = 0; ; row++) {
              full.awaitRoom(); // until the spiller has failed
              full.push(TABLE, new byte[] {(byte) (row >> 8), (byte) row, 0}, 50, 80, 0, large);
            }
          });
      clock = 110;
      assertTrue(full.keeps(90, 110), "the known set cannot decide");
      full.push(TABLE, KEY, 90, 110, 0, large);
      assertNull(full.find(TABLE, KEY, 100));
    }
  }

  /** To keep a version, and drop it with the next one, would cost more than the look. */
  @Test
  void with_few_slots_each_version_is_decided_about_before_it_is_kept() {
    ActiveSnapshots few = new ActiveSnapshots();
    assumeTrue(few.slots() <= 32, "many processors");
    Horizon sharp = new Horizon(few, () -> clock, () -> clock, () -> nanos);
    GarbageStrategy steam = GarbageStrategy.of(sharp);
    clock = 100;
    few.open(() -> clock);
    clock = 200;
    assertTrue(steam.keeps(90, 110));
    assertFalse(steam.keeps(110, 120));
    assertFalse(steam.keeps(120, 200));
  }
}
