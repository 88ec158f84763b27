package org.revenantdb.gc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
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
    assertNull(snapshots.oldest(0));
  }

  @Test
  void open_holdsTheHorizonUntilClosed() {
    int slot = openAt(5);
    assertEquals(5, snapshots.snapshot(slot));
    assertEquals(5, horizonAt(9));
    assertEquals(5, Objects.requireNonNull(snapshots.oldest(0)).snapshot());
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
    LongSupplier fails =
        () -> {
          throw new ArithmeticException("injected");
        };
    assertThrows(ArithmeticException.class, () -> snapshots.open(fails));
    assertEquals(0, snapshots.active());
    LongSupplier isLookedAtAndFails =
        () -> {
          assertEquals(3, horizonAt(3));
          throw new ArithmeticException("injected");
        };
    assertThrows(ArithmeticException.class, () -> snapshots.open(isLookedAtAndFails));
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
  void advance_movesTheHorizon() {
    int slot = openAt(5);
    clock.set(8);
    assertEquals(8, snapshots.advance(slot, clock::get));
    assertEquals(8, snapshots.snapshot(slot));
    assertEquals(8, horizonAt(9));
    assertThrows(IllegalArgumentException.class, () -> snapshots.advance(slot, () -> 7));
    assertEquals(8, snapshots.snapshot(slot), "it stays where it was");
    assertEquals(8, horizonAt(9));
    snapshots.close(slot);
    assertEquals(0, snapshots.active());
  }

  /** Another thread has set the snapshot in between, and has dropped the versions before it. */
  @Test
  void R4_advance_thatFailsBehindALookDoesNotGoBack() {
    int slot = openAt(5);
    LongSupplier isLookedAtAndFails =
        () -> {
          assertEquals(9, horizonAt(9));
          throw new ArithmeticException("injected");
        };
    assertThrows(ArithmeticException.class, () -> snapshots.advance(slot, isLookedAtAndFails));
    assertEquals(9, snapshots.snapshot(slot));
    snapshots.close(slot);
  }

  /**
   * A snapshot at 50 is being advanced, to 90. A set that was computed in between at 100, and took
   * it for one at 50, would let go of what it is about to see.
   */
  @Test
  void R4_aSnapshotThatIsBeingAdvancedGetsItsValueFromWhoLooks() {
    int slot = openAt(50);
    SnapshotSet[] set = new SnapshotSet[1];
    long advanced =
        snapshots.advance(
            slot,
            () -> {
              clock.set(100); // commits go on behind the reading of the clock
              set[0] = snapshots.snapshots(clock::get);
              return 90;
            });
    assertEquals(100, advanced, "not what the look did not know of");
    assertEquals(100, snapshots.snapshot(slot));
    assertFalse(set[0].needs(60, 95));
    assertTrue(set[0].needs(60, 101));
    snapshots.close(slot);
  }

  /**
   * A snapshot is being opened: its slot is claimed, its value not yet known, and its opener does
   * not get to run. A scan does not wait for it, and keeps nothing that it might have seen.
   */
  @Test
  void R4_aClaimedSlotGetsItsValueFromWhoLooks() {
    clock.set(90);
    int slot = snapshots.claim();
    clock.set(100); // commits go on
    SnapshotSet set = snapshots.snapshots(clock::get);
    assertEquals(100, set.bound());
    assertEquals(1, set.size());
    assertFalse(set.needs(89, 95), "nobody can see it any more");
    snapshots.publish(slot, 90); // the opener had read the clock before
    assertEquals(100, snapshots.snapshot(slot));
    assertEquals(100, horizonAt(110));
    snapshots.close(slot);
    int another = snapshots.claim();
    assertEquals(110, horizonAt(110));
    assertEquals(110, snapshots.snapshot(another));
    snapshots.close(another);
  }

  /**
   * One scan reads the clock at 90; another scans at 100, with no slot taken. Then a slot is
   * claimed, which the first scan sees. The clock value that it has read before is too old for this
   * claim.
   */
  @Test
  void R4_whoLooksReadsTheClockBehindTheClaim() {
    int[] slot = new int[1];
    long[] horizon = new long[1];
    LongSupplier claimedBehindTheFirstRead =
        () -> {
          long read = clock.get();
          if (read == 90) {
            horizon[0] = horizonAt(100);
            slot[0] = snapshots.claim();
          }
          return read;
        };
    clock.set(90);
    assertEquals(90, snapshots.horizon(claimedBehindTheFirstRead));
    assertEquals(100, horizon[0]);
    assertEquals(100, snapshots.snapshot(slot[0]));
    snapshots.close(slot[0]);
  }

  /**
   * A scan sees a claim, and reads the clock for it: 90. Meanwhile the claim has got its value and
   * was closed, another thread has scanned at 100, and the slot was claimed again. 90 is not for
   * that claim.
   */
  @Test
  void R4_whatWasReadForAnEarlierClaimIsNotGivenToALaterOne() {
    clock.set(80);
    int slot = snapshots.claim();
    int[] reads = new int[1];
    LongSupplier claimedAgainBehindTheSecondRead =
        () -> {
          long read = clock.get();
          if (++reads[0] == 1) {
            clock.set(90);
          } else if (reads[0] == 2) {
            assertEquals(90, read);
            snapshots.publish(slot, 90);
            snapshots.close(slot);
            assertEquals(100, horizonAt(100));
            assertEquals(slot, snapshots.claim());
          }
          return read;
        };
    snapshots.horizon(claimedAgainBehindTheSecondRead);
    assertEquals(100, snapshots.snapshot(slot));
    snapshots.close(slot);
  }

  /** The same, with a snapshot at 90 that is being advanced: 95 is not for that. */
  @Test
  void R4_whatWasReadForAnEarlierClaimIsNotGivenToOneThatAdvances() throws Exception {
    clock.set(80);
    int slot = snapshots.claim();
    CountDownLatch hasRead = new CountDownLatch(1);
    CountDownLatch advances = new CountDownLatch(1);
    int[] reads = new int[1];
    LongSupplier waitsBehindTheSecondRead =
        () -> {
          if (++reads[0] != 2) {
            return clock.get();
          }
          hasRead.countDown();
          await(advances);
          return 95;
        };
    FutureTask<Long> looks = new FutureTask<>(() -> snapshots.horizon(waitsBehindTheSecondRead));
    Thread.ofPlatform().daemon().start(looks);
    await(hasRead);
    snapshots.publish(slot, 90);
    clock.set(100);
    SnapshotSet set = snapshots.snapshots(clock::get);
    assertFalse(set.needs(92, 97), "90 does not see it, and later ones are above 100");
    snapshots.advance(
        slot,
        () -> {
          advances.countDown();
          try {
            looks.get();
          } catch (Exception e) {
            throw new AssertionError(e);
          }
          return clock.get();
        });
    assertEquals(100, snapshots.snapshot(slot));
    snapshots.close(slot);
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
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
    SnapshotSet set = SnapshotSet.of(members.clone(), members.length, bound, Long.MAX_VALUE);
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
    assertTrue(snapshots.slots() <= 4 * n, () -> snapshots.slots() + " slots");
    for (int i = 0; i < n; i++) {
      assertEquals(i, snapshots.snapshot(slots[i]));
      if (i % 10_000 == 0) {
        assertEquals(i, snapshots.horizon(clock::get));
      }
      snapshots.close(slots[i]);
    }
    assertEquals(0, snapshots.active());
    int capacity = snapshots.slots();
    for (int i = 0; i < 10_000; i++) {
      snapshots.close(openAt(n));
    }
    assertEquals(capacity, snapshots.slots(), "slots are used again");
  }

  @Test
  void slots_ofABurst_goOutOfUse_andComeBack() {
    int few = snapshots.slots();
    for (int burst = 0; burst < 3; burst++) {
      List<Integer> slots = new ArrayList<>();
      for (int i = 0; i < 1_000; i++) {
        slots.add(openAt(i));
      }
      assertTrue(snapshots.slots() >= 1_000);
      snapshots.note(1);
      assertTrue(snapshots.slots() >= 1_000, "they are taken");
      assertEquals(0, horizonAt(1_000));
      slots.forEach(snapshots::close);
      noteSomeTimes();
      assertEquals(few, snapshots.slots());
      assertEquals(2_000, horizonAt(2_000));
      clock.set(0);
    }
  }

  @Test
  void slots_ofABurst_areLookedAtAsLongAsOneIsTaken() {
    List<Integer> slots = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      slots.add(openAt(7));
    }
    int held = slots.stream().mapToInt(Integer::intValue).max().orElseThrow();
    slots.stream().filter(slot -> slot != held).forEach(snapshots::close);
    noteSomeTimes();
    assertEquals(4, snapshots.slots(), "nobody opens there any more");
    assertEquals(7, horizonAt(50));
    clock.set(60);
    assertEquals(60, snapshots.advance(held, clock::get));
    noteSomeTimes();
    assertEquals(60, horizonAt(70));
    assertEquals(held, Objects.requireNonNull(snapshots.oldest(1)).slot());
    snapshots.close(held);
    noteSomeTimes();
    assertEquals(80, horizonAt(80));
  }

  /**
   * An opener has chosen a slot, and its chunk is retired before the claim: a scan might skip its
   * snapshot. So might a scan from before the chunk was opened again, if another scan set the
   * snapshot meanwhile.
   */
  @Test
  void R4_aSlotIsNotClaimedIfItsChunkWasRetiredSinceItWasChosen() {
    openAndClose(100);
    int slot = snapshots.slots() - 1;
    int chosen = snapshots.stateAt(slot);
    noteSomeTimes();
    assertFalse(snapshots.claim(slot, chosen), "retired");
    assertFalse(snapshots.claim(slot, snapshots.stateAt(slot)), "retired before it was chosen");
    assertEquals(0, snapshots.active());
    openAndClose(100);
    assertFalse(snapshots.claim(slot, chosen), "retired and opened again");
    assertEquals(0, snapshots.active());
    assertTrue(snapshots.claim(slot, snapshots.stateAt(slot)));
    snapshots.publish(slot, 9);
    assertEquals(9, horizonAt(10));
    snapshots.close(slot);
  }

  private void openAndClose(int count) {
    List<Integer> slots = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      slots.add(openAt(0));
    }
    slots.forEach(snapshots::close);
  }

  private void noteSomeTimes() {
    for (int i = 0; i < 20; i++) {
      snapshots.note(1);
    }
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
    assertNotEquals(4, snapshots.slots());
    slots.forEach(snapshots::close);
  }

  @Test
  void oldest_isTheOneThatWasNotedFirstOfThoseThatHoldMostBack() {
    assertNull(snapshots.oldest(1_000));
    int first = openAt(5);
    int second = openAt(5);
    int later = openAt(9);
    assertEquals(1_000, snapshots.oldest(1_000).since(), "not noted yet: now");
    snapshots.note(2_000);
    snapshots.note(3_000);
    assertEquals(5, snapshots.oldest(9_000).snapshot());
    assertEquals(2_000, snapshots.oldest(9_000).since());
    snapshots.close(first);
    snapshots.close(second);
    assertEquals(new ActiveSnapshots.Open(later, 9, 2_000), snapshots.oldest(9_000));
    int again = openAt(9); // in a slot that was noted for another
    snapshots.close(later);
    assertEquals(new ActiveSnapshots.Open(again, 9, 9_000), snapshots.oldest(9_000));
    snapshots.note(9_500);
    clock.set(12);
    snapshots.advance(again, clock::get);
    assertEquals(new ActiveSnapshots.Open(again, 12, 9_900), snapshots.oldest(9_900));
    snapshots.close(again);
    assertNull(snapshots.oldest(9_900));
  }

  @Test
  void oldest_namesTheSlotInAnyChunk() {
    List<Integer> slots = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      slots.add(openAt(i));
    }
    for (int i = 0; i < 200; i++) {
      assertEquals(new ActiveSnapshots.Open(slots.get(i), i, 7), snapshots.oldest(7));
      snapshots.close(slots.get(i));
    }
  }
}
