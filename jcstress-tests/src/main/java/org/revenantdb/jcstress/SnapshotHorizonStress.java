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
 * horizon. In {@link Helped} a third one looks, too, and may say what the snapshot is. Results: the
 * snapshot and the horizon.
 *
 * <p>Broken twins: {@link BrokenClockFirst} reads the clock and then publishes; {@link
 * BrokenHorizonLast} scans the slots and then reads the clock; in {@link BrokenOldReading} the one
 * who helps takes what he has read before he saw the claim; in {@link BrokenUnnumbered} he cannot
 * tell it from an earlier one. The first two seen to fail on x86.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Djcstress.tests=SnapshotHorizonStress}
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

  /** Opens, closes and opens again, while two look. */
  @JCStressTest
  @Outcome(
      id = {"0, 0", "1, 1", "1, 0"},
      expect = ACCEPTABLE,
      desc = "The horizon is not above the snapshot.")
  @Outcome(id = "0, 1", expect = FORBIDDEN, desc = "The horizon lets go of what is being read.")
  @State
  public static class Helped {
    private final AtomicLong clock = new AtomicLong();
    private final ActiveSnapshots snapshots = new ActiveSnapshots();

    /** Opens, closes, opens. */
    @Actor
    public void session(JJ_Result r) {
      snapshots.close(snapshots.open(clock::get));
      r.r1 = snapshots.snapshot(snapshots.open(clock::get));
    }

    /** Looks. */
    @Actor
    public void other() {
      snapshots.horizon(clock::get);
    }

    /** Commits, and looks. */
    @Actor
    public void pruner(JJ_Result r) {
      clock.incrementAndGet();
      r.r2 = snapshots.horizon(clock::get);
    }
  }

  /** Who helps has read the clock before he saw the claim. */
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
  public static class BrokenOldReading extends OneSlot {
    /** Opens. */
    @Actor
    public void session(JJ_Result r) {
      r.r1 = open(CLAIMED);
    }

    /** Helps. */
    @Actor
    public void other() {
      long now = clock.get();
      slot.compareAndSet(CLAIMED, now);
    }

    /** Commits, and looks. */
    @Actor
    public void pruner(JJ_Result r) {
      clock.incrementAndGet();
      r.r2 = horizon();
    }
  }

  /** All claims look the same. */
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
  public static class BrokenUnnumbered extends OneSlot {
    /** Opens, closes, opens. */
    @Actor
    public void session(JJ_Result r) {
      open(CLAIMED);
      slot.set(FREE);
      r.r1 = open(CLAIMED);
    }

    /** Helps. */
    @Actor
    public void other() {
      if (slot.get() == CLAIMED) {
        slot.compareAndSet(CLAIMED, clock.get());
      }
    }

    /** Commits, and looks. */
    @Actor
    public void pruner(JJ_Result r) {
      clock.incrementAndGet();
      r.r2 = horizon();
    }
  }

  /** What a twin does right. */
  abstract static class OneSlot {
    static final long FREE = Long.MAX_VALUE;
    static final long CLAIMED = Long.MAX_VALUE - 1;

    final AtomicLong clock = new AtomicLong();
    final AtomicLong slot = new AtomicLong(FREE);

    /** The snapshot that comes of a claim. */
    final long open(long claim) {
      slot.set(claim);
      slot.compareAndSet(claim, clock.get());
      return slot.get();
    }

    /** Helps, too. */
    final long horizon() {
      long now = clock.get();
      long seen = slot.get();
      while (seen == CLAIMED) {
        slot.compareAndSet(CLAIMED, clock.get());
        seen = slot.get();
      }
      return Math.min(now, seen);
    }
  }
}
