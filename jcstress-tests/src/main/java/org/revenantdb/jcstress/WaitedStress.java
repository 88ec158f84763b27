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
 * Claim: a thread goes to sleep until an active transaction has ended. The session that ends the
 * transaction knows of that thread, even though the session marks COMMITTING first (protocols.md
 * §32).
 *
 * <p>Runs the production word. The twin {@link BrokenStore} marks COMMITTING with a store that
 * overwrites the former value. Fails on x86.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none -Djcstress.tests=WaitedStress}
 */
public final class WaitedStress {
  private WaitedStress() {}

  /** The production code. */
  @JCStressTest
  @Outcome(id = "true, false", expect = FORBIDDEN, desc = "Asleep, and no waker knows of it.")
  @Outcome(expect = ACCEPTABLE, desc = "It looks again, or is woken.")
  @State
  public static class SleeperIsKnown {
    private final OpenOutcomeWords word = new OpenOutcomeWords();

    /** Starts with an active transaction. */
    public SleeperIsKnown() {}

    /** Reads a row of the other transaction. */
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

    /** Starts with an active transaction. */
    public BrokenStore() {}

    /** Reads a row of the other transaction. */
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
