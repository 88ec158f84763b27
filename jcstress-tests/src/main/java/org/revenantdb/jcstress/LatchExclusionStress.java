package org.revenantdb.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.revenantdb.latch.HybridLatch;

/**
 * Claim: there is one exclusive holder at a time, whichever way it reached the exclusive mode.
 *
 * <p>Both actors increment a plain field under the latch. The second one sees the increment of the
 * first.
 *
 * <p>Broken twin: acquires the latch by a read and a later write. Fails on x86.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none
 * -Djcstress.tests=LatchExclusionStress}
 */
public final class LatchExclusionStress {
  private LatchExclusionStress() {}

  /** Two writers that wait. */
  @JCStressTest
  @Outcome(
      id = {"1, 2", "2, 1"},
      expect = ACCEPTABLE,
      desc = "One after the other.")
  @Outcome(expect = FORBIDDEN, desc = "Both held the latch.")
  @State
  public static class Exclusive {
    private final HybridLatch latch = new HybridLatch();
    private int count;

    /** Counts. */
    @Actor
    public void actor1(II_Result r) {
      r.r1 = countUp();
    }

    /** Counts. */
    @Actor
    public void actor2(II_Result r) {
      r.r2 = countUp();
    }

    private int countUp() {
      latch.acquireExclusive();
      int now = ++count;
      latch.releaseExclusive();
      return now;
    }
  }

  /** A reader that upgrades against a writer; the reader counts only if the upgrade succeeds. */
  @JCStressTest
  @Outcome(
      id = {"1, 2", "2, 1"},
      expect = ACCEPTABLE,
      desc = "One after the other.")
  @Outcome(id = "0, 1", expect = FORBIDDEN, desc = "The only reader could not upgrade.")
  @Outcome(expect = FORBIDDEN, desc = "Both held the latch.")
  @State
  public static class Upgraded {
    private final HybridLatch latch = new HybridLatch();
    private int count;

    /** Counts after an upgrade. */
    @Actor
    public void reader(II_Result r) {
      latch.acquireShared();
      if (latch.tryUpgrade()) {
        r.r1 = ++count;
        latch.downgrade();
      }
      latch.releaseShared();
    }

    /** Counts. */
    @Actor
    public void writer(II_Result r) {
      latch.acquireExclusive();
      r.r2 = ++count;
      latch.releaseExclusive();
    }
  }

  /** Reads first, and writes later. */
  @BrokenTwin
  @JCStressTest
  @Outcome(
      id = {"1, 2", "2, 1"},
      expect = ACCEPTABLE,
      desc = "One after the other, by luck.")
  @Outcome(id = "1, 1", expect = ACCEPTABLE_INTERESTING, desc = "Both held it: the twin is broken.")
  @State
  public static class BrokenCheckThenSet {
    private volatile boolean held;
    private int count;

    /** Counts. */
    @Actor
    public void actor1(II_Result r) {
      r.r1 = countUp();
    }

    /** Counts. */
    @Actor
    public void actor2(II_Result r) {
      r.r2 = countUp();
    }

    private int countUp() {
      while (held) {
        Thread.onSpinWait();
      }
      held = true;
      int now = ++count;
      held = false;
      return now;
    }
  }
}
