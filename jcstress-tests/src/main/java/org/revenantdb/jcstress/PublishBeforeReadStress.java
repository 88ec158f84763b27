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
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Claim: if two threads each publish a word of their own and then read the word of the other, at
 * least one of them sees the other's word.
 *
 * <p>A transaction that starts publishes its lower bound and then reads the clock. A pruner
 * advances the clock and then reads the bounds. If both could miss, the pruner would drop a version
 * that the new snapshot needs. A store with release and a load with acquire are not enough: the
 * store may still be in the processor's store buffer when the load is answered.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none
 * -Djcstress.tests=PublishBeforeRead}
 */
public final class PublishBeforeReadStress {

  private PublishBeforeReadStress() {}

  /** The two words; each actor writes one and reads the other. */
  public abstract static class Words {
    static final VarHandle BOUND =
        ConstantBootstraps.fieldVarHandle(
            MethodHandles.lookup(), "bound", VarHandle.class, Words.class, int.class);
    static final VarHandle CLOCK =
        ConstantBootstraps.fieldVarHandle(
            MethodHandles.lookup(), "clock", VarHandle.class, Words.class, int.class);

    int bound;
    int clock;

    Words() {}
  }

  /** The claim: volatile accesses are in one order that all threads agree on. */
  @JCStressTest
  @Outcome(id = "0, 0", expect = FORBIDDEN, desc = "Both missed the other's word.")
  @Outcome(expect = ACCEPTABLE, desc = "At least one saw the other.")
  @State
  public static class WithVolatile extends Words {
    /** Starts with both words at zero. */
    public WithVolatile() {}

    /**
     * Publishes the bound, reads the clock.
     *
     * @param result what was read, first
     */
    @Actor
    public void transaction(II_Result result) {
      BOUND.setVolatile(this, 1);
      result.r1 = (int) CLOCK.getVolatile(this);
    }

    /**
     * Advances the clock, reads the bound.
     *
     * @param result what was read, second
     */
    @Actor
    public void pruner(II_Result result) {
      CLOCK.setVolatile(this, 1);
      result.r2 = (int) BOUND.getVolatile(this);
    }
  }

  /** The twin: release and acquire alone. */
  @BrokenTwin
  @JCStressTest
  @Outcome(id = "0, 0", expect = ACCEPTABLE_INTERESTING, desc = "Both missed the other's word.")
  @Outcome(expect = ACCEPTABLE, desc = "At least one saw the other.")
  @State
  public static class WithReleaseAndAcquire extends Words {
    /** Starts with both words at zero. */
    public WithReleaseAndAcquire() {}

    /**
     * Publishes the bound, reads the clock.
     *
     * @param result what was read, first
     */
    @Actor
    public void transaction(II_Result result) {
      BOUND.setRelease(this, 1);
      result.r1 = (int) CLOCK.getAcquire(this);
    }

    /**
     * Advances the clock, reads the bound.
     *
     * @param result what was read, second
     */
    @Actor
    public void pruner(II_Result result) {
      CLOCK.setRelease(this, 1);
      result.r2 = (int) BOUND.getAcquire(this);
    }
  }
}
