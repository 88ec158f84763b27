package org.revenantdb.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.AtomicLong;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJ_Result;
import org.revenantdb.gc.ActiveSnapshots;

/**
 * Claim (rule R4): a horizon is never above a snapshot that is open when it is used.
 *
 * <p>One actor opens a snapshot, another commits, which moves the clock from 0 to 1, and takes the
 * horizon. In {@link Helped} one does all of that, and claims the slot before and after; the other
 * looks, too, and may be the one who says what a snapshot is: with a reading of the clock that has
 * become old, as he is stopped behind it. Results: the snapshot and the horizon.
 *
 * <p>Broken twins: {@link BrokenClockFirst} reads the clock and then publishes; {@link
 * BrokenHorizonLast} scans the slots and then reads the clock; in {@link BrokenOldReading} the one
 * who helps takes what he has read before he saw the claim; in {@link BrokenUnnumbered} he cannot
 * tell it from an earlier one. All seen to fail on x86.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none
 * -Djcstress.tests=SnapshotHorizonStress}
 */
public final class SnapshotHorizonStress {
  private SnapshotHorizonStress() {}

  /** As it is. */
  @JCStressTest
  @Outcome(
      id = {"0, 0", "1, 1", "1, 0"},
      expect = ACCEPTABLE,
      desc = "The horizon is not above the snapshot.")
  @Outcome(id = "0, 1", expect = FORBIDDEN, desc = "The horizon lets go of what is being read.")
  @State
  public static class Slots {
    private final AtomicLong clock = new AtomicLong();
    private final ActiveSnapshots snapshots = new ActiveSnapshots();

    /** Opens. */
    @Actor
    public void session(JJ_Result r) {
      r.r1 = snapshots.snapshot(snapshots.open(clock::get));
    }

    /** Commits, and looks. */
    @Actor
    public void pruner(JJ_Result r) {
      clock.incrementAndGet();
      r.r2 = snapshots.horizon(clock::get);
    }
  }

  /** Reads the clock, then publishes. */
  @BrokenTwin
  @JCStressTest
  @Outcome(
      id = {"0, 0", "1, 1", "1, 0"},
      expect = ACCEPTABLE,
      desc = "The horizon is not above the snapshot, by luck.")
  @Outcome(
      id = "0, 1",
      expect = ACCEPTABLE_INTERESTING,
      desc = "The horizon lets go of what is being read: the twin is broken.")
  @State
  public static class BrokenClockFirst {
    private static final long FREE = Long.MAX_VALUE;

    private final AtomicLong clock = new AtomicLong();
    private final AtomicLong slot = new AtomicLong(FREE);

    /** Opens. */
    @Actor
    public void session(JJ_Result r) {
      long snapshot = clock.get();
      slot.set(snapshot);
      r.r1 = snapshot;
    }

    /** Commits, and looks. */
    @Actor
    public void pruner(JJ_Result r) {
      clock.incrementAndGet();
      long now = clock.get();
      r.r2 = Math.min(now, slot.get());
    }
  }

  /** Publishes a bound first, but the pruner reads the clock after the slot. */
  @BrokenTwin
  @JCStressTest
  @Outcome(
      id = {"0, 0", "1, 1", "1, 0"},
      expect = ACCEPTABLE,
      desc = "The horizon is not above the snapshot, by luck.")
  @Outcome(
      id = "0, 1",
      expect = ACCEPTABLE_INTERESTING,
      desc = "The horizon lets go of what is being read: the twin is broken.")
  @State
  public static class BrokenHorizonLast {
    private static final long FREE = Long.MAX_VALUE;

    private final AtomicLong clock = new AtomicLong();
    private final AtomicLong slot = new AtomicLong(FREE);

    /** Opens. */
    @Actor
    public void session(JJ_Result r) {
      slot.set(clock.get());
      long snapshot = clock.get();
      slot.set(snapshot);
      r.r1 = snapshot;
    }

    /** Looks, and others commit meanwhile. */
    @Actor
    public void pruner(JJ_Result r) {
      long seen = slot.get();
      clock.incrementAndGet();
      r.r2 = Math.min(clock.get(), seen);
    }
  }

  /** Opens, closes, commits, looks and opens again, while another looks. */
  @JCStressTest
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "The snapshot is of after the look.")
  @Outcome(id = "0, 1", expect = FORBIDDEN, desc = "The horizon lets go of what is being read.")
  @State
  public static class Helped extends Stopped {
    private final ActiveSnapshots snapshots = new ActiveSnapshots();

    /** Opens, closes; commits, and looks; opens. */
    @Actor
    public void session(JJ_Result r) {
      snapshots.close(open());
      clock.incrementAndGet();
      r.r2 = snapshots.horizon(clock::get);
      r.r1 = snapshots.snapshot(open());
    }

    /** Looks, some times. */
    @Actor
    public void helper() {
      for (int i = 0; i < LOOKS; i++) {
        snapshots.horizon(() -> readAndStop(LOOKER));
      }
    }

    private int open() {
      return snapshots.open(() -> readAndStop(OPENER));
    }
  }

  /** Who helps has read the clock before he saw the claim. */
  @BrokenTwin
  @JCStressTest
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "The snapshot is of after the look, by luck.")
  @Outcome(
      id = "0, 1",
      expect = ACCEPTABLE_INTERESTING,
      desc = "The horizon lets go of what is being read: the twin is broken.")
  @State
  public static class BrokenOldReading extends OneSlot {
    /** Opens, closes; commits, and looks; opens. */
    @Actor
    public void session(JJ_Result r) {
      run(/* first= */ CLAIMED, /* second= */ CLAIMED + 1, r);
    }

    /** Helps. */
    @Actor
    public void helper() {
      long now = readAndStop(2 * LOOKER);
      long seen = slot.get();
      if (isClaimed(seen)) {
        slot.compareAndSet(seen, now);
      }
    }
  }

  /** All claims look the same. */
  @BrokenTwin
  @JCStressTest
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "The snapshot is of after the look, by luck.")
  @Outcome(
      id = "0, 1",
      expect = ACCEPTABLE_INTERESTING,
      desc = "The horizon lets go of what is being read: the twin is broken.")
  @State
  public static class BrokenUnnumbered extends OneSlot {
    /** Opens, closes; commits, and looks; opens. */
    @Actor
    public void session(JJ_Result r) {
      run(/* first= */ CLAIMED, /* second= */ CLAIMED, r);
    }

    /** Helps, some times. */
    @Actor
    public void helper() {
      for (int i = 0; i < LOOKS; i++) {
        long seen = slot.get();
        if (isClaimed(seen)) {
          slot.compareAndSet(seen, readAndStop(LOOKER));
        }
      }
    }
  }

  /** A clock, and those who are stopped when they have read it. */
  abstract static class Stopped {
    /** Until the other has come upon the claim. */
    static final int OPENER = 6;

    /** Twice: from one claim of the other's, which he has come upon, into the next. */
    static final int LOOKER = 4;

    /** So that one of them comes upon a claim, whoever of the two is first. */
    static final int LOOKS = 5;

    final AtomicLong clock = new AtomicLong();

    final long readAndStop(int stop) {
      long now = clock.get();
      for (int i = 0; i < stop; i++) {
        Thread.onSpinWait();
      }
      return now;
    }
  }

  /** What a twin does right. */
  abstract static class OneSlot extends Stopped {
    static final long CLAIMED = Long.MAX_VALUE - 2;
    private static final long FREE = Long.MAX_VALUE;

    final AtomicLong slot = new AtomicLong(FREE);

    static boolean isClaimed(long seen) {
      return seen == CLAIMED || seen == CLAIMED + 1;
    }

    final void run(long first, long second, JJ_Result r) {
      open(first);
      slot.set(FREE);
      clock.incrementAndGet();
      r.r2 = clock.get(); // nobody's slot is taken
      r.r1 = open(second);
    }

    /** The snapshot that comes of a claim. */
    private long open(long claim) {
      slot.set(claim);
      slot.compareAndSet(claim, readAndStop(OPENER));
      return slot.get();
    }
  }
}
