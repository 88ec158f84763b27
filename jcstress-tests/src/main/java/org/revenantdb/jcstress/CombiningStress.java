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
 * Claim (R22): a request that a waiter leaves with a latch is run exactly once, by any thread. The
 * owner of the request sees its effects. The owner learns correctly whether the request was run,
 * even if its timeout expires at the moment when another thread takes the request.
 *
 * <p>Broken twin: the owner gives up by a read and a later write. Fails on x86.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none
 * -Djcstress.tests=CombiningStress}
 */
public final class CombiningStress {
  private CombiningStress() {}

  /** A holder releases the latch while another thread arrives with a request. */
  @JCStressTest
  @Outcome(id = "1, 1, 1", expect = ACCEPTABLE, desc = "Run once, seen, and the latch is free.")
  @Outcome(expect = FORBIDDEN, desc = "Not run, run twice, not seen, or the latch is not free.")
  @State
  public static class RequestAgainstUnlock {
    private final HybridLatch latch = new HybridLatch();
    private int counter;

    /** Starts with the latch held. */
    public RequestAgainstUnlock() {
      latch.acquireExclusive();
    }

    /** Releases the latch. */
    @Actor
    public void holder() {
      latch.releaseExclusive();
    }

    /** Submits a request. */
    @Actor
    public void owner(III_Result r) {
      latch.runExclusive(() -> counter++);
      r.r1 = counter;
    }

    /** The request was run once. */
    @Arbiter
    public void after(III_Result r) {
      r.r2 = counter;
      r.r3 = latch.tryAcquireExclusive() ? 1 : 0;
    }
  }

  /** The same, and the owner has a short timeout. */
  @JCStressTest
  @Outcome(
      id = {"0, 0, 1", "1, 1, 1"},
      expect = ACCEPTABLE,
      desc = "Run or not, as the owner was told.")
  @Outcome(expect = FORBIDDEN, desc = "The owner was told wrong, or the latch is not free.")
  @State
  public static class TimedRequestAgainstUnlock {
    private static final WaitTerms SHORT = WaitTerms.endless().atMost(Duration.ofNanos(2_000));

    private final HybridLatch latch = new HybridLatch();
    private int counter;

    /** Starts with the latch held. */
    public TimedRequestAgainstUnlock() {
      latch.acquireExclusive();
    }

    /** Releases the latch. */
    @Actor
    public void holder() {
      latch.releaseExclusive();
    }

    /** Submits a request with a short timeout. */
    @Actor
    public void owner(III_Result r) {
      r.r1 = latch.runExclusive(() -> counter++, SHORT) == Acquisition.ACQUIRED ? 1 : 0;
    }

    /** The request was run, or not. */
    @Arbiter
    public void after(III_Result r) {
      r.r2 = counter;
      r.r3 = latch.tryAcquireExclusive() ? 1 : 0;
    }
  }

  /** Gives up without checking whether another thread has begun. */
  @BrokenTwin
  @JCStressTest
  @Outcome(
      id = {"0, 0", "1, 1"},
      expect = ACCEPTABLE,
      desc = "The owner was told right, by luck.")
  @Outcome(
      id = "0, 1",
      expect = ACCEPTABLE_INTERESTING,
      desc = "Run although the owner was told that it was not: the twin is broken.")
  @State
  public static class BrokenGiveUp {
    private static final int WAITING = 0;
    private static final int CLAIMED = 1;
    private static final int GONE = 2;

    private final AtomicInteger state = new AtomicInteger(WAITING);
    private final AtomicInteger counter = new AtomicInteger();

    /** Runs the request, if there is one. */
    @Actor
    public void holder() {
      if (state.compareAndSet(WAITING, CLAIMED)) {
        counter.incrementAndGet();
      }
    }

    /** Looks, and gives up. */
    @Actor
    public void owner(II_Result r) {
      if (state.get() == CLAIMED) {
        r.r1 = 1;
      } else {
        state.set(GONE); // whatever has happened since
      }
    }

    /** The request was run, or not. */
    @Arbiter
    public void after(II_Result r) {
      r.r2 = counter.get();
    }
  }
}
