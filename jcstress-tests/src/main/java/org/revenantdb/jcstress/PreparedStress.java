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
 * Claim: while a transaction is being prepared, its word moves to another place. Each look-up in
 * that time finds the transaction active. It never finds nothing, which would mean "committed for
 * all" (R1).
 *
 * <p>Broken twin: {@link BrokenMovedFirst} moves the word before the second word is set. Fails on
 * x86.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none
 * -Djcstress.tests=PreparedStress}
 */
public final class PreparedStress {
  private PreparedStress() {}

  /** The production code. */
  @JCStressTest
  @Outcome(id = "false", expect = FORBIDDEN, desc = "Taken for committed.")
  @Outcome(id = "true", expect = ACCEPTABLE, desc = "Active, in one of the two words.")
  @State
  public static class SaidFirst {
    private final OpenPreparedWords words = new OpenPreparedWords();

    /** Starts with an active transaction. */
    public SaidFirst() {}

    /** Prepares. */
    @Actor
    public void session() {
      words.with();
      words.enter();
      words.moveAway();
    }

    /** Reads a row of the transaction. */
    @Actor
    public void reader(Z_Result r) {
      r.r1 = words.isActive();
    }
  }

  /** Moves the word, then sets the second one. */
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

    /** Starts with an active transaction. */
    public BrokenMovedFirst() {}

    /** Prepares. */
    @Actor
    public void session() {
      words.moveAway();
      words.with();
      words.enter();
    }

    /** Reads a row of the transaction. */
    @Actor
    public void reader(Z_Result r) {
      r.r1 = words.isActive();
    }
  }
}
