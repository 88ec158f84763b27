package org.revenantdb.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.AtomicLong;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;
import org.revenantdb.engine.txn.OpenOutcomeWords;

/**
 * Claim: whoever goes to sleep until an active transaction has ended is known to the session that
 * ends it, though that marks COMMITTING first (protocols.md §32).
 *
 * <p>The very word. {@link BrokenStore} marks COMMITTING with a store, over whatever was there:
 * seen to fail on x86.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none -Djcstress.tests=WaitedStress}
 */
public final class WaitedStress {
  private WaitedStress() {}

  /** As it is. */
  @JCStressTest
  @Outcome(id = "true, false", expect = FORBIDDEN, desc = "Asleep, and nobody knows of it.")
  @Outcome(expect = ACCEPTABLE, desc = "It looks again, or is woken.")
  @State
  public static class SleeperIsKnown {
    private final OpenOutcomeWords word = new OpenOutcomeWords();

    /** Starts with one that is active. */
    public SleeperIsKnown() {}

    /** Meets a row of the other one. */
    @Actor
    public void writer(ZZ_Result r) {
      r.r1 = word.mustWaitForEnd();
    }

    /** Commits. */
    @Actor
    public void session(ZZ_Result r) {
      word.committing();
      r.r2 = word.settle(/* outcome= */ 400);
    }
  }

  /** Stores COMMITTING: a model of the word. */
  @BrokenTwin
  @JCStressTest
  @Outcome(
      id = "true, false",
      expect = ACCEPTABLE_INTERESTING,
      desc = "Asleep: the twin is broken.")
  @Outcome(expect = ACCEPTABLE, desc = "It looks again, or is woken, by luck.")
  @State
  public static class BrokenStore {
    private static final long ACTIVE = 1;
    private static final long COMMITTING = 2;
    private static final long WAITED = 6;

    private final AtomicLong word = new AtomicLong(ACTIVE);

    /** Starts with one that is active. */
    public BrokenStore() {}

    /** Meets a row of the other one. */
    @Actor
    public void writer(ZZ_Result r) {
      r.r1 = word.compareAndSet(ACTIVE, WAITED);
    }

    /** Commits. */
    @Actor
    public void session(ZZ_Result r) {
      word.set(COMMITTING);
      r.r2 = word.getAndSet(400) == WAITED;
    }
  }
}
