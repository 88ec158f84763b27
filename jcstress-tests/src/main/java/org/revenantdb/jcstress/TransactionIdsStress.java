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
 * Claim (rule R21, protocols §7): each id of a block is either assigned once or never, and not
 * both.
 *
 * <p>Runs the production class, on one stripe. Result: the assigned ids, and how many ids are never
 * assigned.
 *
 * <p>Broken twin: {@link BrokenReadThenSet} takes back by a read and a store. Fails on x86.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none
 * -Djcstress.tests=TransactionIdsStress}
 */
public final class TransactionIdsStress {
  private TransactionIdsStress() {}

  /** One id is assigned; one actor takes the next while the other takes back. */
  @JCStressTest
  @Outcome(id = "1, 62", expect = ACCEPTABLE, desc = "Assigned, and the others taken back.")
  @Outcome(id = "64, 63", expect = ACCEPTABLE, desc = "Taken back; the taker has the next block.")
  @Outcome(
      id = "1, 0",
      expect = ACCEPTABLE,
      desc = "Assigned in between; the others are left to the taker, and to the next take-back.")
  @Outcome(expect = FORBIDDEN, desc = "An id is assigned and unused, or neither.")
  @State
  public static class TakenBack {
    private final OpenTransactionIds ids = new OpenTransactionIds(1);

    /** 63 ids are left. */
    public TakenBack() {}

    /** Takes an id. */
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

  /** All ids are assigned, and two threads want the next. */
  @JCStressTest
  @Outcome(
      id = {"64, 65, 0", "65, 64, 0"},
      expect = ACCEPTABLE,
      desc = "One has fetched a block for both.")
  @Outcome(
      id = {"64, 128, 63", "128, 64, 63"},
      expect = ACCEPTABLE,
      desc = "Each has fetched a block; the other ids of one block are never assigned.")
  @Outcome(expect = FORBIDDEN, desc = "An id went to both, or was lost.")
  @State
  public static class NothingLeft {
    private final OpenTransactionIds ids = new OpenTransactionIds(64);

    /** No id is left. */
    public NothingLeft() {}

    /** Takes an id. */
    @Actor
    public void one(III_Result r) {
      r.r1 = ids.next();
    }

    /** Takes an id. */
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

  /** A block of four, none assigned; the rest is read, then a store ends the block. */
  @BrokenTwin
  @JCStressTest
  @Outcome(id = "0, 3", expect = ACCEPTABLE, desc = "Assigned first, by luck.")
  @Outcome(id = "4, 4", expect = ACCEPTABLE, desc = "Taken back first, by luck.")
  @Outcome(
      id = "0, 4",
      expect = ACCEPTABLE_INTERESTING,
      desc = "Assigned, and unused: the twin is broken.")
  @State
  public static class BrokenReadThenSet {
    private final AtomicInteger word = new AtomicInteger();

    /** No id is assigned yet. */
    public BrokenReadThenSet() {}

    /** Takes an id. */
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
