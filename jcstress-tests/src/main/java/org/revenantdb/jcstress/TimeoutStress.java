package org.revenantdb.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.revenantdb.latch.HybridLatch;

/**
 * Claim: if a deadline passes while the latch is released, the latch is not lost, and no mark stays
 * behind.
 *
 * <p>Results: whether the waiter got the latch, and whether it was free afterwards.
 *
 * <p>Broken twin: a waiter gives up without removing itself from the queue atomically, so that it
 * can get the latch after it has gone. Fails on x86.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none -Djcstress.tests=TimeoutStress}
 */
public final class TimeoutStress {
  private TimeoutStress() {}

  private static final long PATIENCE_NANOS = 2_000;

  /** A timed writer against the writer before it. */
  @JCStressTest
  @Outcome(
      id = {"0, 1", "1, 1"},
      expect = ACCEPTABLE,
      desc = "In time or not, the latch is free afterwards.")
  @Outcome(expect = FORBIDDEN, desc = "Given to a waiter that had gone.")
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

    /** Waits for a moment. */
    @Actor
    public void waiter(II_Result r) {
      if (latch.tryAcquireExclusive(PATIENCE_NANOS)) {
        r.r1 = 1;
        latch.releaseExclusive();
      }
    }

    /** The latch is free. */
    @Arbiter
    public void after(II_Result r) {
      r.r2 = latch.tryAcquireExclusive() ? 1 : 0;
    }
  }

  /** A timed reader against a writer. */
  @JCStressTest
  @Outcome(
      id = {"0, 1", "1, 1"},
      expect = ACCEPTABLE,
      desc = "In time or not, the latch is free afterwards.")
  @Outcome(expect = FORBIDDEN, desc = "Given to a waiter that had gone.")
  @State
  public static class ReaderAgainstUnlock {
    private final HybridLatch latch = new HybridLatch();

    /** Starts with the latch held. */
    public ReaderAgainstUnlock() {
      latch.acquireExclusive();
    }

    /** Releases the latch. */
    @Actor
    public void holder() {
      latch.releaseExclusive();
    }

    /** Waits for a moment. */
    @Actor
    public void waiter(II_Result r) {
      if (latch.tryAcquireShared(PATIENCE_NANOS)) {
        r.r1 = 1;
        latch.releaseShared();
      }
    }

    /** The latch is free. */
    @Arbiter
    public void after(II_Result r) {
      r.r2 = latch.tryAcquireExclusive() ? 1 : 0;
    }
  }

  /** Gives up by reading the state and then going. */
  @BrokenTwin
  @JCStressTest
  @Outcome(
      id = {"0, 1", "1, 1"},
      expect = ACCEPTABLE,
      desc = "In time or not, and free afterwards, by luck.")
  @Outcome(
      id = "0, 0",
      expect = ACCEPTABLE_INTERESTING,
      desc = "Given to a waiter that had gone: the twin is broken.")
  @State
  public static class BrokenGiveUp {
    private static final int FREE = 0;
    private static final int HELD = 1;
    private static final int HELD_WITH_WAITER = 2;
    private static final int GRANTED = 3;

    private final AtomicInteger state = new AtomicInteger(HELD);

    /** Releases, or hands over. */
    @Actor
    public void holder() {
      if (!state.compareAndSet(HELD, FREE)) {
        state.compareAndSet(HELD_WITH_WAITER, GRANTED);
      }
    }

    /** Waits for no time at all. */
    @Actor
    public void waiter(II_Result r) {
      if (!state.compareAndSet(HELD, HELD_WITH_WAITER)) {
        r.r1 = 1;
        state.set(FREE);
        return;
      }
      if (state.get() == GRANTED) {
        r.r1 = 1;
        state.set(FREE);
      } else {
        state.compareAndSet(HELD_WITH_WAITER, HELD); // fails if granted meanwhile, and does not ask
      }
    }

    /** The latch is free, or the holder has failed. */
    @Arbiter
    public void after(II_Result r) {
      r.r2 = state.get() == FREE ? 1 : 0;
    }
  }
}
