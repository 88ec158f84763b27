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
 * Claim (rule R4): a horizon is never above a snapshot that is open when the horizon is used.
 *
 * <p>One actor opens a snapshot. The other commits, which moves the clock from 0 to 1, and takes
 * the horizon. In {@link Helped} one actor does all of that, and claims the slot before and after.
 * The other also takes horizons, and may be the one that completes the claim, with a reading of the
 * clock that has become old because it was stopped after the reading. Results: the snapshot and the
 * horizon.
 *
 * <p>Broken twins: {@link BrokenClockFirst} reads the clock and then publishes. {@link
 * BrokenHorizonLast} scans the slots and then reads the clock. In {@link BrokenOldReading} the
 * helper uses a reading from before it saw the claim. In {@link BrokenUnnumbered} the helper cannot
 * distinguish the claim from an earlier one. All fail on x86.
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none
 * -Djcstress.tests=SnapshotHorizonStress}
 */
public final class SnapshotHorizonStress {
  private SnapshotHorizonStress() {}

  /** The production code. */
  @JCStressTest
  @Outcome(
      id = {"0, 0", "1, 1", "1, 0"},
      expect = ACCEPTABLE,
      desc = "The horizon is not above the snapshot.")
  @Outcome(id = "0, 1", expect = FORBIDDEN, desc = "The horizon has passed an open snapshot.")
  @State
  public static class Slots {
    private final AtomicLong clock = new AtomicLong();
    private final ActiveSnapshots snapshots = new ActiveSnapshots();

    /** Opens. */
    @Actor
    public void session(JJ_Result r) {
      r.r1 = snapshots.snapshot(snapshots.open(clock::get));
    }

    /** Commits, and takes the horizon. */
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
      desc = "The horizon has passed an open snapshot: the twin is broken.")
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

    /** Commits, and takes the horizon. */
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
      desc = "The horizon has passed an open snapshot: the twin is broken.")
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

    /** Takes the horizon while others commit. */
    @Actor
    public void pruner(JJ_Result r) {
      long seen = slot.get();
      clock.incrementAndGet();
      r.r2 = Math.min(clock.get(), seen);
    }
  }

  /** Opens, closes, commits, takes the horizon and opens again, while another thread looks. */
  @JCStressTest
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "The snapshot was taken after the horizon.")
  @Outcome(id = "0, 1", expect = FORBIDDEN, desc = "The horizon has passed an open snapshot.")
  @State
  public static class Helped extends Stopped {
    private final ActiveSnapshots snapshots = new ActiveSnapshots();

    /** Opens, closes; commits, and takes the horizon; opens. */
    @Actor
    public void session(JJ_Result r) {
      snapshots.close(open());
      clock.incrementAndGet();
      r.r2 = snapshots.horizon(clock::get);
      r.r1 = snapshots.snapshot(open());
    }

    /** Takes the horizon several times. */
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

  /** The helper has read the clock before it saw the claim. */
  @BrokenTwin
  @JCStressTest
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "The snapshot is later than the horizon.")
  @Outcome(
      id = "0, 1",
      expect = ACCEPTABLE_INTERESTING,
      desc = "The horizon has passed an open snapshot: the twin is broken.")
  @State
  public static class BrokenOldReading extends OneSlot {
    /** Opens, closes; commits, and takes the horizon; opens. */
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
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "The snapshot is later than the horizon.")
  @Outcome(
      id = "0, 1",
      expect = ACCEPTABLE_INTERESTING,
      desc = "The horizon has passed an open snapshot: the twin is broken.")
  @State
  public static class BrokenUnnumbered extends OneSlot {
    /** Opens, closes; commits, and takes the horizon; opens. */
    @Actor
    public void session(JJ_Result r) {
      run(/* first= */ CLAIMED, /* second= */ CLAIMED, r);
    }

    /** Helps several times. */
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

  /** A clock that stops threads after they have read it. */
  abstract static class Stopped {
    /** Waits until the other thread has found the claim. */
    static final int OPENER = 6;

    /** Waits twice: from one claim, which the other thread has found, into the next. */
    static final int LOOKER = 4;

    /** Ensures that one of the two finds a claim, whichever is first. */
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

  /** The steps that a twin does right. */
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

    /** The snapshot that results from a claim. */
    private long open(long claim) {
      slot.set(claim);
      slot.compareAndSet(claim, readAndStop(OPENER));
      return slot.get();
    }
  }
}
