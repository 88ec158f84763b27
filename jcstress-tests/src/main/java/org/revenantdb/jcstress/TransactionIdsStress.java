package org.revenantdb.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;
import org.revenantdb.engine.txn.OpenTransactionIds;

/**
 * Claim (rule R21, protocols §7): an id is given out once, or nobody ever gets it, not both; and
 * each id of a block is one of the two.
 *
 * <p>The very class: two take an id of the same block, of which one is given out and 63 are left,
 * while a third takes back what is left. Result: the two ids, and how many nobody gets.
 *
 * <p>Broken twin: {@link BrokenReadThenSet} takes back by a read and a store. Seen to fail on x86.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Djcstress.tests=TransactionIdsStress}
 */
public final class TransactionIdsStress {
  private TransactionIdsStress() {}

  /** As it is. */
  @JCStressTest
  @Outcome(
      id = {"1, 2, 61", "2, 1, 61"},
      expect = ACCEPTABLE,
      desc = "Both were first.")
  @Outcome(
      id = {"1, 64, 62", "64, 1, 62"},
      expect = ACCEPTABLE,
      desc = "One was first; the other has a new block.")
  @Outcome(
      id = {"64, 65, 63", "65, 64, 63", "64, 128, 63", "128, 64, 63"},
      expect = ACCEPTABLE,
      desc = "Taken back first; one who lost has a block that nobody else gets.")
  @Outcome(expect = FORBIDDEN, desc = "An id for two, or for one and unused, or for nobody.")
  @State
  public static class TakenBack {
    private final OpenTransactionIds ids = new OpenTransactionIds();

    /** Of the first block one is given out. */
    public TakenBack() {}

    /** Takes one. */
    @Actor
    public void one(III_Result r) {
      r.r1 = ids.next();
    }

    /** Takes one. */
    @Actor
    public void other(III_Result r) {
      r.r2 = ids.next();
    }

    /** Takes back. */
    @Actor
    public void cleaner() {
      ids.takeBack();
    }

    /** Adds up. */
    @Arbiter
    public void end(III_Result r) {
      r.r3 = ids.unused();
    }
  }

  /** A block of four of which none is given out; what is left is read, then a store ends it. */
  @BrokenTwin
  @JCStressTest
  @Outcome(id = "0, 3", expect = ACCEPTABLE, desc = "Given out first, by luck.")
  @Outcome(id = "4, 4", expect = ACCEPTABLE, desc = "Taken back first, by luck.")
  @Outcome(
      id = "0, 4",
      expect = ACCEPTABLE_INTERESTING,
      desc = "Given out, and unused: the twin is broken.")
  @State
  public static class BrokenReadThenSet {
    private final AtomicInteger word = new AtomicInteger();

    /** Nobody has an id yet. */
    public BrokenReadThenSet() {}

    /** Takes one. */
    @Actor
    public void one(II_Result r) {
      r.r1 = word.getAndIncrement();
    }

    /** Takes back. */
    @Actor
    public void cleaner(II_Result r) {
      int id = word.get();
      word.set(4);
      r.r2 = 4 - id;
    }
  }
}
