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
 * <p>The very class, on one stripe. Result: the ids that were given out, and how many nobody gets.
 *
 * <p>Broken twin: {@link BrokenReadThenSet} takes back by a read and a store. Seen to fail on x86.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none
 * -Djcstress.tests=TransactionIdsStress}
 */
public final class TransactionIdsStress {
  private TransactionIdsStress() {}

  /** One is given out, one takes the next while the other takes back. */
  @JCStressTest
  @Outcome(id = "1, 62", expect = ACCEPTABLE, desc = "Given out, and the others taken back.")
  @Outcome(id = "64, 63", expect = ACCEPTABLE, desc = "Taken back; he has the next block.")
  @Outcome(
      id = "1, 0",
      expect = ACCEPTABLE,
      desc = "Given out in between; the others are left to him, and to the next who takes back.")
  @Outcome(expect = FORBIDDEN, desc = "An id is given out and unused, or neither.")
  @State
  public static class TakenBack {
    private final OpenTransactionIds ids = new OpenTransactionIds(1);

    /** 63 are left. */
    public TakenBack() {}

    /** Takes one. */
    @Actor
    public void one(II_Result r) {
      r.r1 = ids.next();
    }

    /** Takes back. */
    @Actor
    public void cleaner() {
      ids.takeBack();
    }

    /** Adds up. */
    @Arbiter
    public void end(II_Result r) {
      r.r2 = ids.unused();
    }
  }

  /** All are given out, and two want the next. */
  @JCStressTest
  @Outcome(
      id = {"64, 65, 0", "65, 64, 0"},
      expect = ACCEPTABLE,
      desc = "One has got a block for both.")
  @Outcome(
      id = {"64, 128, 63", "128, 64, 63"},
      expect = ACCEPTABLE,
      desc = "Each has got a block; of one of these nobody gets any other.")
  @Outcome(expect = FORBIDDEN, desc = "An id for two, or for nobody.")
  @State
  public static class NothingLeft {
    private final OpenTransactionIds ids = new OpenTransactionIds(64);

    /** None is left. */
    public NothingLeft() {}

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
