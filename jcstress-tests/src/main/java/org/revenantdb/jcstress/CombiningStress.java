package org.revenantdb.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;
import org.revenantdb.latch.Acquisition;
import org.revenantdb.latch.HybridLatch;
import org.revenantdb.latch.WaitTerms;

/**
 * Claim (R22): a request that a waiter leaves with a latch is run exactly once, by whomever, its
 * owner sees what it did, and its owner's account of it is true even if its time is over at the
 * moment when somebody takes it up.
 *
 * <p>Broken twin: gives up by looking and then going. Seen to fail on x86.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none
 * -Djcstress.tests=CombiningStress}
 */
public final class CombiningStress {
  private CombiningStress() {}

  /** A holder leaves while somebody arrives with a request. */
  @JCStressTest
  @Outcome(id = "1, 1, 1", expect = ACCEPTABLE, desc = "Run once, seen, and the latch is free.")
  @Outcome(expect = FORBIDDEN, desc = "Not run, run twice, not seen, or something stayed behind.")
  @State
  public static class RequestAgainstUnlock {
    private final HybridLatch latch = new HybridLatch();
    private int counter;

    /** Begins held. */
    public RequestAgainstUnlock() {
      latch.acquireExclusive();
    }

    /** Leaves. */
    @Actor
    public void holder() {
      latch.releaseExclusive();
    }

    /** Wants something done. */
    @Actor
    public void owner(III_Result r) {
      latch.runExclusive(() -> counter++);
      r.r1 = counter;
    }

    /** It was done once. */
    @Arbiter
    public void after(III_Result r) {
      r.r2 = counter;
      r.r3 = latch.tryAcquireExclusive() ? 1 : 0;
    }
  }

  /** The same, and the owner has little time. */
  @JCStressTest
  @Outcome(
      id = {"0, 0, 1", "1, 1, 1"},
      expect = ACCEPTABLE,
      desc = "Run or not, as its owner was told.")
  @Outcome(expect = FORBIDDEN, desc = "Its owner was told a lie, or something stayed behind.")
  @State
  public static class TimedRequestAgainstUnlock {
    private static final WaitTerms SHORT = WaitTerms.endless().atMost(Duration.ofNanos(2_000));

    private final HybridLatch latch = new HybridLatch();
    private int counter;

    /** Begins held. */
    public TimedRequestAgainstUnlock() {
      latch.acquireExclusive();
    }

    /** Leaves. */
    @Actor
    public void holder() {
      latch.releaseExclusive();
    }

    /** Wants something done, soon. */
    @Actor
    public void owner(III_Result r) {
      r.r1 = latch.runExclusive(() -> counter++, SHORT) == Acquisition.ACQUIRED ? 1 : 0;
    }

    /** It was done, or not. */
    @Arbiter
    public void after(III_Result r) {
      r.r2 = counter;
      r.r3 = latch.tryAcquireExclusive() ? 1 : 0;
    }
  }

  /** Gives up without asking whether somebody has begun. */
  @BrokenTwin
  @JCStressTest
  @Outcome(
      id = {"0, 0", "1, 1"},
      expect = ACCEPTABLE,
      desc = "Its owner was told the truth, by luck.")
  @Outcome(
      id = "0, 1",
      expect = ACCEPTABLE_INTERESTING,
      desc = "Run for one who was told that it was not: the twin is broken.")
  @State
  public static class BrokenGiveUp {
    private static final int WAITING = 0;
    private static final int CLAIMED = 1;
    private static final int GONE = 2;

    private final AtomicInteger state = new AtomicInteger(WAITING);
    private final AtomicInteger counter = new AtomicInteger();

    /** Runs it, if somebody waits. */
    @Actor
    public void holder() {
      if (state.compareAndSet(WAITING, CLAIMED)) {
        counter.incrementAndGet();
      }
    }

    /** Looks, and goes. */
    @Actor
    public void owner(II_Result r) {
      if (state.get() == CLAIMED) {
        r.r1 = 1;
      } else {
        state.set(GONE); // whatever has happened since
      }
    }

    /** It was done, or not. */
    @Arbiter
    public void after(II_Result r) {
      r.r2 = counter.get();
    }
  }
}
