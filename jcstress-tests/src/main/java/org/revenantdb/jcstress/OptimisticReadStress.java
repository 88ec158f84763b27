package org.revenantdb.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.revenantdb.latch.HybridLatch;

/**
 * Claim: if the stamp validates, the values that an optimistic read has copied are those of one
 * moment.
 *
 * <p>Results are the two copies, and whether they validated.
 *
 * <p>Broken twins. {@link BrokenPlainVersion} reads the version plainly and without a fence. It
 * fails on x86, where the compiler merges the two reads. {@link BrokenEvenWhileWriting} has a
 * writer that changes the version at its end only. It fails on x86. {@link BrokenWithoutFences} has
 * opaque versions and no fence. Its failure cannot be seen on x86, which keeps the order of loads
 * and the order of stores; it is there for weakly ordered processors.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none
 * -Djcstress.tests=OptimisticReadStress}
 */
public final class OptimisticReadStress {
  private OptimisticReadStress() {}

  /** The latch. */
  @JCStressTest
  @Outcome(
      id = {"0, 0, 1", "1, 1, 1"},
      expect = ACCEPTABLE,
      desc = "Before or after.")
  @Outcome(id = "., ., 0", expect = ACCEPTABLE, desc = "Disturbed, and not validated.")
  @Outcome(expect = FORBIDDEN, desc = "Torn, and validated.")
  @State
  public static class Latch {
    private final HybridLatch latch = new HybridLatch();
    private int x;
    private int y;

    /** Writes both. */
    @Actor
    public void writer() {
      latch.acquireExclusive();
      x = 1;
      y = 1;
      latch.releaseExclusive();
    }

    /** Reads both. */
    @Actor
    public void reader(III_Result r) {
      long stamp = latch.readOptimistic();
      r.r1 = y;
      r.r2 = x;
      r.r3 = latch.validate(stamp) ? 1 : 0;
    }
  }

  /** A writer that wrote nothing, beside a writer that did. */
  @JCStressTest
  @Outcome(
      id = {"0, 0, 1", "1, 1, 1"},
      expect = ACCEPTABLE,
      desc = "Before or after.")
  @Outcome(id = "., ., 0", expect = ACCEPTABLE, desc = "Disturbed, and not validated.")
  @Outcome(expect = FORBIDDEN, desc = "Torn, and validated.")
  @State
  public static class LatchUnmodified {
    private final HybridLatch latch = new HybridLatch();
    private int x;
    private int y;

    /** Acquires and releases, then writes both. */
    @Actor
    public void writer() {
      latch.acquireExclusive();
      latch.releaseExclusiveUnmodified();
      latch.acquireExclusive();
      x = 1;
      y = 1;
      latch.releaseExclusive();
    }

    /** Reads both. */
    @Actor
    public void reader(III_Result r) {
      long stamp = latch.readOptimistic();
      r.r1 = y;
      r.r2 = x;
      r.r3 = latch.validate(stamp) ? 1 : 0;
    }
  }

  /** If the upgrade succeeds, what was read optimistically is still true. */
  @JCStressTest
  @Outcome(
      id = {"0, 0, 1", "1, 1, 1"},
      expect = ACCEPTABLE,
      desc = "Upgraded, and unchanged since.")
  @Outcome(id = "., ., 0", expect = ACCEPTABLE, desc = "Not upgraded.")
  @Outcome(expect = FORBIDDEN, desc = "Upgraded after a change.")
  @State
  public static class LatchUpgraded {
    private final HybridLatch latch = new HybridLatch();
    private int x;

    /** Writes. */
    @Actor
    public void writer() {
      latch.acquireExclusive();
      x = 1;
      latch.releaseExclusive();
    }

    /** Reads, upgrades, reads again. */
    @Actor
    public void reader(III_Result r) {
      long stamp = latch.readOptimistic();
      r.r1 = x;
      if (latch.tryUpgradeOptimistic(stamp)) {
        r.r2 = x;
        r.r3 = 1;
        latch.releaseExclusive();
      }
    }
  }

  /** If the latch is then held shared, what was read optimistically is still true. */
  @JCStressTest
  @Outcome(
      id = {"0, 0, 1", "1, 1, 1"},
      expect = ACCEPTABLE,
      desc = "Held, and unchanged since.")
  @Outcome(id = "., ., 0", expect = ACCEPTABLE, desc = "Not held.")
  @Outcome(expect = FORBIDDEN, desc = "Held after a change.")
  @State
  public static class LatchUpgradedToShared {
    private final HybridLatch latch = new HybridLatch();
    private int x;

    /** Writes. */
    @Actor
    public void writer() {
      latch.acquireExclusive();
      x = 1;
      latch.releaseExclusive();
    }

    /** Reads, upgrades, reads again. */
    @Actor
    public void reader(III_Result r) {
      long stamp = latch.readOptimistic();
      r.r1 = x;
      if (latch.tryUpgradeOptimisticToShared(stamp)) {
        r.r2 = x;
        r.r3 = 1;
        latch.releaseShared();
      }
    }
  }

  /** Reads the version plainly. */
  @BrokenTwin
  @JCStressTest
  @Outcome(
      id = {"0, 0, 1", "1, 1, 1"},
      expect = ACCEPTABLE,
      desc = "Before or after.")
  @Outcome(id = "., ., 0", expect = ACCEPTABLE, desc = "Disturbed, and not validated.")
  @Outcome(expect = ACCEPTABLE_INTERESTING, desc = "Torn, and validated: the twin is broken.")
  @State
  public static class BrokenPlainVersion {
    private long version;
    private int x;
    private int y;

    /** Writes both. */
    @Actor
    public void writer() {
      version = 1;
      x = 1;
      y = 1;
      version = 2;
    }

    /** Reads both. */
    @Actor
    public void reader(III_Result r) {
      long stamp = version;
      int b = y;
      int a = x;
      r.r1 = b;
      r.r2 = a;
      r.r3 = (stamp & 1) == 0 && stamp == version ? 1 : 0;
    }
  }

  /** Changes the version after it has written, and not before. */
  @BrokenTwin
  @JCStressTest
  @Outcome(
      id = {"0, 0, 1", "1, 1, 1"},
      expect = ACCEPTABLE,
      desc = "Before or after.")
  @Outcome(id = "., ., 0", expect = ACCEPTABLE, desc = "Disturbed, and not validated.")
  @Outcome(expect = ACCEPTABLE_INTERESTING, desc = "Torn, and validated: the twin is broken.")
  @State
  public static class BrokenEvenWhileWriting {
    private volatile long version;
    private int x;
    private int y;

    /** Writes both. */
    @Actor
    public void writer() {
      x = 1;
      y = 1;
      version = 2;
    }

    /** Reads both. */
    @Actor
    public void reader(III_Result r) {
      long stamp = version;
      r.r1 = y;
      r.r2 = x;
      VarHandle.acquireFence();
      r.r3 = stamp == version ? 1 : 0;
    }
  }

  /** Does everything in the right order, but without the fences. */
  @BrokenTwin(mustShow = false) // x86 keeps loads in order, and stores
  @JCStressTest
  @Outcome(
      id = {"0, 0, 1", "1, 1, 1"},
      expect = ACCEPTABLE,
      desc = "Before or after.")
  @Outcome(id = "., ., 0", expect = ACCEPTABLE, desc = "Disturbed, and not validated.")
  @Outcome(expect = ACCEPTABLE_INTERESTING, desc = "Torn, and validated: the twin is broken.")
  @State
  public static class BrokenWithoutFences {
    private static final VarHandle VERSION =
        ConstantBootstraps.fieldVarHandle(
            MethodHandles.lookup(),
            "version",
            VarHandle.class,
            BrokenWithoutFences.class,
            long.class);

    @SuppressWarnings("UnusedVariable") // through VERSION
    private long version;

    private int x;
    private int y;

    /** Writes both. */
    @Actor
    public void writer() {
      VERSION.setOpaque(this, 1L);
      x = 1;
      y = 1;
      VERSION.setRelease(this, 2L);
    }

    /** Reads both. */
    @Actor
    public void reader(III_Result r) {
      long stamp = (long) VERSION.getAcquire(this);
      r.r1 = y;
      r.r2 = x;
      r.r3 = (stamp & 1) == 0 && stamp == (long) VERSION.getOpaque(this) ? 1 : 0;
    }
  }
}
