package org.revenantdb.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.Z_Result;
import org.revenantdb.engine.txn.OpenPreparedWords;

/**
 * Claim: while a transaction is being prepared, and its word moves to another place, whoever looks
 * it up finds that it is active; never that nothing is known of it, which would be "committed for
 * all" (R1).
 *
 * <p>Broken twin: {@link BrokenMovedFirst} moves before the other word says so. Seen to fail on
 * x86.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none
 * -Djcstress.tests=PreparedStress}
 */
public final class PreparedStress {
  private PreparedStress() {}

  /** As it is. */
  @JCStressTest
  @Outcome(id = "false", expect = FORBIDDEN, desc = "Taken for committed.")
  @Outcome(id = "true", expect = ACCEPTABLE, desc = "Active, here or there.")
  @State
  public static class SaidFirst {
    private final OpenPreparedWords words = new OpenPreparedWords();

    /** Starts with one that is active. */
    public SaidFirst() {}

    /** Prepares. */
    @Actor
    public void session() {
      words.with();
      words.enter();
      words.moveAway();
    }

    /** Meets a row of it. */
    @Actor
    public void reader(Z_Result r) {
      r.r1 = words.isActive();
    }
  }

  /** Moves, then says so. */
  @BrokenTwin
  @JCStressTest
  @Outcome(
      id = "false",
      expect = ACCEPTABLE_INTERESTING,
      desc = "Taken for committed: the twin is broken.")
  @Outcome(id = "true", expect = ACCEPTABLE, desc = "Active, by luck.")
  @State
  public static class BrokenMovedFirst {
    private final OpenPreparedWords words = new OpenPreparedWords();

    /** Starts with one that is active. */
    public BrokenMovedFirst() {}

    /** Prepares. */
    @Actor
    public void session() {
      words.moveAway();
      words.with();
      words.enter();
    }

    /** Meets a row of it. */
    @Actor
    public void reader(Z_Result r) {
      r.r1 = words.isActive();
    }
  }
}
