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
 * Claim: no reader validates what a removed node contains now. A thread that acquires the latch
 * after the removal learns that the node is gone (thesis, section 2.3.1).
 *
 * <p>Broken twin: the mark is beside the version, and is set after the latch was released. Fails on
 * x86.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none
 * -Djcstress.tests=ObsoleteStress}
 */
public final class ObsoleteStress {
  private ObsoleteStress() {}

  /** A node that is removed against an optimistic reader. */
  @JCStressTest
  @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "Valid, from before.")
  @Outcome(id = "., 0", expect = ACCEPTABLE, desc = "Not valid, whatever was read.")
  @Outcome(expect = FORBIDDEN, desc = "Took the rest of the removed node for its content.")
  @State
  public static class Optimistic {
    private final HybridLatch latch = new HybridLatch();
    private int content;

    /** Removes the node. */
    @Actor
    public void remover() {
      latch.acquireExclusive();
      latch.markObsolete();
      content = 1;
      latch.releaseExclusive();
    }

    /** Reads it. */
    @Actor
    public void reader(II_Result r) {
      long stamp = latch.readOptimistic();
      r.r1 = content;
      r.r2 = latch.validate(stamp) ? 1 : 0;
    }
  }

  /** A node that is removed against a reader that waits for it. */
  @JCStressTest
  @Outcome(
      id = {"0, 0", "1, 1"},
      expect = ACCEPTABLE,
      desc = "Before the removal, or after it and told so.")
  @Outcome(expect = FORBIDDEN, desc = "Acquired the latch of a removed node, and was not told.")
  @State
  public static class Shared {
    private final HybridLatch latch = new HybridLatch();
    private int content;

    /** Removes the node. */
    @Actor
    public void remover() {
      latch.acquireExclusive();
      content = 1;
      latch.markObsolete();
      latch.releaseExclusive();
    }

    /** Reads it. */
    @Actor
    public void reader(II_Result r) {
      latch.acquireShared();
      r.r1 = content;
      r.r2 = latch.isObsolete() ? 1 : 0;
      latch.releaseShared();
    }
  }

  /** The mark is set too late. */
  @BrokenTwin
  @JCStressTest
  @Outcome(
      id = {"0, 0", "1, 1"},
      expect = ACCEPTABLE,
      desc = "Before the removal, or after it and told so, by luck.")
  @Outcome(
      id = "1, 0",
      expect = ACCEPTABLE_INTERESTING,
      desc = "Acquired the latch of a removed node, and was not told: the twin is broken.")
  @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "Told so between two looks.")
  @State
  public static class BrokenMarkAfterRelease {
    private final HybridLatch latch = new HybridLatch();
    private int content;
    private volatile boolean obsolete;

    /** Removes the node. */
    @Actor
    public void remover() {
      latch.acquireExclusive();
      content = 1;
      latch.releaseExclusive();
      obsolete = true;
    }

    /** Reads it. */
    @Actor
    public void reader(II_Result r) {
      latch.acquireShared();
      r.r1 = content;
      r.r2 = obsolete ? 1 : 0;
      latch.releaseShared();
    }
  }
}
