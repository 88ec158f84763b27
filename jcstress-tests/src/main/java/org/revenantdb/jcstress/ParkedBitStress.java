package org.revenantdb.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.AtomicBoolean;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;
import org.revenantdb.latch.HybridLatch;
import org.revenantdb.latch.ParkingLot;

/**
 * Claim: a thread that parks is woken, however closely a release comes before or after.
 *
 * <p>A lost wake-up would hang the test. In the broken twin the waiter has a deadline, and reports
 * that it slept although it had nothing to wait for any more.
 *
 * <p>Broken twin: parks without looking again under the bucket lock. Fails on x86.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none
 * -Djcstress.tests=ParkedBitStress}
 */
public final class ParkedBitStress {
  private ParkedBitStress() {}

  /** The holder releases while a writer arrives. */
  @JCStressTest
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "The waiter got the latch, and released it.")
  @Outcome(expect = FORBIDDEN, desc = "The latch is not free.")
  @State
  public static class WriterAgainstUnlock {
    private final HybridLatch latch = new HybridLatch();

    /** Starts with the latch held. */
    public WriterAgainstUnlock() {
      latch.acquireExclusive();
    }

    /** Releases the latch. */
    @Actor
    public void holder() {
      latch.releaseExclusive();
    }

    /** Waits. */
    @Actor
    public void waiter(II_Result r) {
      latch.acquireExclusive();
      r.r1 = 1;
      latch.releaseExclusive();
    }

    /** The latch is free. */
    @Arbiter
    public void after(II_Result r) {
      r.r2 = latch.tryAcquireExclusive() ? 1 : 0;
    }
  }

  /** The last reader releases while a writer arrives. */
  @JCStressTest
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "The waiter got the latch, and released it.")
  @Outcome(expect = FORBIDDEN, desc = "The latch is not free.")
  @State
  public static class WriterAgainstLastReader {
    private final HybridLatch latch = new HybridLatch();

    /** Starts with the latch held. */
    public WriterAgainstLastReader() {
      latch.acquireShared();
    }

    /** Releases the latch. */
    @Actor
    public void holder() {
      latch.releaseShared();
    }

    /** Waits. */
    @Actor
    public void waiter(II_Result r) {
      latch.acquireExclusive();
      r.r1 = 1;
      latch.releaseExclusive();
    }

    /** The latch is free. */
    @Arbiter
    public void after(II_Result r) {
      r.r2 = latch.tryAcquireExclusive() ? 1 : 0;
    }
  }

  /** The writer downgrades while a reader arrives. */
  @JCStressTest
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "The waiter got the latch, and released it.")
  @Outcome(expect = FORBIDDEN, desc = "The latch is not free.")
  @State
  public static class ReaderAgainstDowngrade {
    private final HybridLatch latch = new HybridLatch();

    /** Starts with the latch held. */
    public ReaderAgainstDowngrade() {
      latch.acquireExclusive();
    }

    /** Downgrades, which lets readers in, and releases. */
    @Actor
    public void holder() {
      latch.downgrade();
      latch.releaseShared();
    }

    /** Waits. */
    @Actor
    public void waiter(II_Result r) {
      latch.acquireShared();
      r.r1 = 1;
      latch.releaseShared();
    }

    /** The latch is free. */
    @Arbiter
    public void after(II_Result r) {
      r.r2 = latch.tryAcquireExclusive() ? 1 : 0;
    }
  }

  /** A condition in the parking lot. */
  @JCStressTest
  @Outcome(id = "1", expect = ACCEPTABLE, desc = "It saw the condition.")
  @Outcome(expect = FORBIDDEN, desc = "It did not.")
  @State
  public static class Condition {
    private final AtomicBoolean done = new AtomicBoolean();

    /** Makes it true. */
    @Actor
    public void waker() {
      done.set(true);
      ParkingLot.global().unparkAll(this, 1);
    }

    /** Waits for it. */
    @Actor
    public void waiter(I_Result r) {
      while (!done.get()) {
        ParkingLot.global().park(this, 1, () -> !done.get());
      }
      r.r1 = 1;
    }
  }

  /** Parks without looking again under the bucket lock. */
  @BrokenTwin
  @JCStressTest
  @Outcome(id = "0", expect = ACCEPTABLE, desc = "Woken, or not parked, by luck.")
  @Outcome(
      id = "1",
      expect = ACCEPTABLE_INTERESTING,
      desc = "Slept to its deadline although the condition was true: the twin is broken.")
  @State
  public static class BrokenWithoutValidation {
    private static final long PATIENCE_NANOS = 200_000;

    private final AtomicBoolean done = new AtomicBoolean();

    /** Makes it true. */
    @Actor
    public void waker() {
      done.set(true);
      ParkingLot.global().unparkAll(this, 1);
    }

    /** Waits for it. */
    @Actor
    public void waiter(I_Result r) {
      if (!done.get()) {
        ParkingLot.Outcome outcome =
            ParkingLot.global().park(this, 1, () -> true, System.nanoTime() + PATIENCE_NANOS);
        r.r1 = outcome == ParkingLot.Outcome.TIMED_OUT && done.get() ? 1 : 0;
      }
    }
  }
}
