package org.revenantdb.gc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;

class ActiveSnapshotsTest {
  private final AtomicLong clock = new AtomicLong();
  private final ActiveSnapshots snapshots = new ActiveSnapshots(4);

  private int openAt(long time) {
    clock.set(time);
    return snapshots.open(clock::get);
  }

  private long horizonAt(long time) {
    clock.set(time);
    return snapshots.horizon(clock::get);
  }

  @Test
  void empty_horizonIsNow() {
    assertEquals(0, horizonAt(0));
    assertEquals(7, horizonAt(7));
    assertEquals(0, snapshots.active());
    assertEquals(Long.MAX_VALUE, snapshots.oldest());
  }

  @Test
  void open_holdsTheHorizonUntilClosed() {
    int slot = openAt(5);
    assertEquals(5, snapshots.snapshot(slot));
    assertEquals(5, horizonAt(9));
    assertEquals(5, snapshots.oldest());
    assertEquals(1, snapshots.active());
    snapshots.close(slot);
    assertEquals(9, horizonAt(9));
  }

  @Test
  void open_extremesOfTheClockAreLegal() {
    int zero = openAt(0);
    int last = openAt(ActiveSnapshots.MAX_TIMESTAMP);
    assertEquals(0, snapshots.snapshot(zero));
    assertEquals(ActiveSnapshots.MAX_TIMESTAMP, snapshots.snapshot(last));
    assertEquals(0, snapshots.horizon(clock::get));
    snapshots.close(zero);
    assertEquals(ActiveSnapshots.MAX_TIMESTAMP, snapshots.horizon(clock::get));
    snapshots.close(last);
  }

  @Test
  void open_refusesWhatIsNoTimestamp() {
    assertThrows(IllegalArgumentException.class, () -> snapshots.open(() -> -1));
    assertThrows(
        IllegalArgumentException.class,
        () -> snapshots.open(() -> ActiveSnapshots.MAX_TIMESTAMP + 1));
    assertThrows(IllegalArgumentException.class, () -> snapshots.horizon(() -> -1));
    assertEquals(0, snapshots.active());
  }

  @Test
  void open_aClockThatFailsHalfWayLeavesNoSlotBehind() {
    LongSupplier failsOnSecondRead =
        new LongSupplier() {
          private int reads;

          @Override
          public long getAsLong() {
            if (++reads == 2) {
              throw new ArithmeticException("injected");
            }
            return 3;
          }
        };
    assertThrows(ArithmeticException.class, () -> snapshots.open(failsOnSecondRead));
    assertEquals(0, snapshots.active());
    assertEquals(9, horizonAt(9));
  }

  @Test
  void slot_notOpenIsRefused() {
    assertThrows(IllegalStateException.class, () -> snapshots.snapshot(0));
    assertThrows(IllegalStateException.class, () -> snapshots.close(0));
    assertThrows(IllegalStateException.class, () -> snapshots.advance(0, clock::get));
    assertThrows(IllegalArgumentException.class, () -> snapshots.close(-1));
    assertThrows(IllegalArgumentException.class, () -> snapshots.close(1 << 20));
    int slot = openAt(1);
    snapshots.close(slot);
    assertThrows(IllegalStateException.class, () -> snapshots.close(slot), "twice");
  }

  @Test
  void advance_movesTheHorizonWithoutAGap() {
    int slot = openAt(5);
    clock.set(8);
    LongSupplier looksMeanwhile =
        () -> {
          assertEquals(5, snapshots.horizon(clock::get), "the old value still counts");
          return clock.get();
        };
    assertEquals(8, snapshots.advance(slot, looksMeanwhile));
    assertEquals(8, snapshots.snapshot(slot));
    assertEquals(8, horizonAt(9));
    assertThrows(IllegalArgumentException.class, () -> snapshots.advance(slot, () -> 7));
    snapshots.close(slot);
  }

  /**
   * A snapshot at 50 is being advanced, to 90. A set that was computed in between at 100, and took
   * it for one at 50, would let go of what it is about to see.
   */
  @Test
  void R4_aSnapshotThatIsBeingAdvancedCountsAsItsLowerBound() {
    int slot = openAt(50);
    SnapshotSet[] set = new SnapshotSet[1];
    snapshots.advance(
        slot,
        () -> {
          clock.set(100); // commits go on behind the reading of the clock
          set[0] = snapshots.snapshots(clock::get);
          return 90;
        });
    assertTrue(set[0].needs(60, 95), "visible at 90");
    snapshots.close(slot);
  }

  /**
   * A snapshot is being opened: its slot is claimed, its value not yet known. A horizon that
   * ignored it, or took now, would let go of what it is about to see.
   */
  @Test
  void R4_aClaimedSlotCountsAsItsLowerBound() {
    clock.set(90);
    int slot = snapshots.claim(clock::get);
    clock.set(100); // commits go on
    assertEquals(90, snapshots.horizon(clock::get));
    SnapshotSet set = snapshots.snapshots(clock::get);
    assertEquals(90, set.bound());
    assertTrue(set.needs(89, 95), "visible at 94, which it may yet become");
    assertFalse(set.needs(80, 90));
    snapshots.publish(slot, clock.get());
    assertEquals(100, horizonAt(110));
    snapshots.close(slot);
  }

  /**
   * The schedule of R4: a set computed at 90, empty; then T takes 100; U's update commits at 110.
   */
  @Test
  void R4_aStaleSetDoesNotDecideWhatWasSupersededAfterIt() {
    clock.set(90);
    SnapshotSet stale = snapshots.snapshots(clock::get);
    int t = openAt(100);
    clock.set(110);
    assertTrue(stale.needs(50, 110), "T sees it; the set has never heard of T");
    assertFalse(stale.needs(50, 90), "superseded at the moment of the set: nobody new can see it");
    SnapshotSet fresh = snapshots.snapshots(clock::get);
    assertTrue(fresh.needs(50, 110));
    snapshots.close(t);
    assertFalse(snapshots.snapshots(clock::get).needs(50, 110));
  }

  /** A snapshot is opened at the very moment when a look reads the clock: the scan comes after. */
  @Test
  void R4_theClockIsReadBeforeTheSlots() {
    assertEquals(100, snapshots.horizon(this::opensAt100ThenReads110));
    assertEquals(1, snapshots.snapshots(this::opensAt100ThenReads110).size());
  }

  private long opensAt100ThenReads110() {
    clock.set(100);
    if (snapshots.active() == 0) {
      snapshots.open(clock::get);
    }
    clock.set(110);
    return 110;
  }

  /** A look falls between the first read of the clock and the claim, which it cannot see. */
  @Test
  void R4_theSnapshotIsReadAfterTheClaim() {
    AtomicLong horizon = new AtomicLong(-1);
    LongSupplier looksAfterTheFirstRead =
        () -> {
          long read = clock.get();
          if (horizon.get() < 0) {
            clock.set(100);
            horizon.set(snapshots.horizon(clock::get));
          }
          return read;
        };
    clock.set(90);
    int slot = snapshots.open(looksAfterTheFirstRead);
    assertEquals(100, horizon.get());
    assertEquals(100, snapshots.snapshot(slot), "not below what has been let go");
  }

  @Test
  void set_isSortedAndDistinct() {
    int[] slots = {openAt(3), openAt(9), openAt(9), openAt(20), openAt(0)};
    clock.set(30);
    SnapshotSet set = snapshots.snapshots(clock::get);
    List<Long> visited = new ArrayList<>();
    set.forEach(visited::add);
    assertEquals(List.of(0L, 3L, 9L, 20L), visited);
    assertEquals(4, set.size());
    assertEquals(30, set.bound());
    assertEquals(0, set.horizon());
    assertEquals("SnapshotSet[0, 3, 9, 20] and from 30 on", set.toString());
    for (int slot : slots) {
      snapshots.close(slot);
    }
  }

  @Test
  void set_needsExactlyWhatSomeSnapshotSees() {
    long[] members = {2, 5, 9};
    long bound = 12;
    SnapshotSet set = SnapshotSet.of(members.clone(), members.length, bound);
    for (long committed = 0; committed < 20; committed++) {
      for (long superseded = committed + 1; superseded < 20; superseded++) {
        boolean seen = false;
        for (long t = committed; t < superseded; t++) {
          seen |= t >= bound || t == 2 || t == 5 || t == 9;
        }
        assertEquals(seen, set.needs(committed, superseded), committed + ".." + superseded);
      }
    }
  }

  @Test
  void many_onehundredThousandAtOnce() {
    int n = 100_000;
    int[] slots = new int[n];
    BitSet used = new BitSet();
    for (int i = 0; i < n; i++) {
      slots[i] = openAt(i);
      assertFalse(used.get(slots[i]), "two snapshots in one slot");
      used.set(slots[i]);
    }
    assertEquals(n, snapshots.active());
    assertEquals(0, horizonAt(n));
    assertEquals(n, snapshots.snapshots(clock::get).size());
    assertTrue(snapshots.capacity() <= 4 * n, () -> snapshots.capacity() + " slots");
    for (int i = 0; i < n; i++) {
      assertEquals(i, snapshots.snapshot(slots[i]));
      if (i % 10_000 == 0) {
        assertEquals(i, snapshots.horizon(clock::get));
      }
      snapshots.close(slots[i]);
    }
    assertEquals(0, snapshots.active());
    int capacity = snapshots.capacity();
    for (int i = 0; i < 10_000; i++) {
      snapshots.close(openAt(n));
    }
    assertEquals(capacity, snapshots.capacity(), "slots are used again");
  }

  @Test
  void growth_slotsOfAllChunksAreDifferent() {
    BitSet cells = new BitSet();
    List<Integer> slots = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      int slot = openAt(i);
      slots.add(slot);
      assertFalse(cells.get(slot));
      cells.set(slot);
    }
    for (int i = 0; i < slots.size(); i++) {
      assertEquals(i, snapshots.snapshot(slots.get(i)), "slot " + slots.get(i));
    }
    assertNotEquals(4, snapshots.capacity());
    slots.forEach(snapshots::close);
  }
}
