package org.revenantdb.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;
import org.revenantdb.engine.txn.Holds;

/**
 * Claim (R16, protocols.md §24): one transaction begins to write to a table, and another thread
 * drops it. At least one of them sees the other. If both could believe that they were first, the
 * transaction would write into freed pages.
 *
 * <p>Runs the production list of the tables that a transaction holds. The count of droppers is
 * modelled by a word of the same kind, raised and read as the table does it. Results: the writer
 * sees no dropper; the dropper sees no writer.
 *
 * <p>Broken twins: {@link BrokenEnterWithoutFence} models the list, and enters a table with no
 * fence after it. {@link BrokenRaiseWithoutFence} has the production list, and raises the count
 * with release only (on x86, an atomic addition would be a fence anyway). Both fail on x86.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none -Djcstress.tests=HoldsStress}
 */
public final class HoldsStress {
  /** The number of held tables before the list has to grow. */
  private static final int BEFORE_GROWTH = 8;

  private HoldsStress() {}

  /** A table without droppers, and a transaction. */
  public abstract static class Drop {
    final Object table = new Object();
    final AtomicInteger droppers = new AtomicInteger();
    final Holds holds = new Holds();

    Drop() {}

    boolean enterAndLook() {
      holds.enter(table);
      return droppers.get() == 0;
    }

    boolean raiseAndAsk() {
      droppers.getAndIncrement();
      VarHandle.fullFence();
      return !holds.holds(table);
    }
  }

  /** The production code. */
  @JCStressTest
  @Outcome(id = "true, true", expect = FORBIDDEN, desc = "Both believe that they were first.")
  @Outcome(expect = ACCEPTABLE, desc = "At least one sees the other.")
  @State
  public static class FirstTable extends Drop {
    /** Starts with a transaction that has not written. */
    public FirstTable() {}

    /** Writes to the table for the first time. */
    @Actor
    public void writer(ZZ_Result r) {
      r.r1 = enterAndLook();
    }

    /** Drops it. */
    @Actor
    public void dropper(ZZ_Result r) {
      r.r2 = raiseAndAsk();
    }
  }

  /** The production code with a list that has to grow: the dropper may read the former list. */
  @JCStressTest
  @Outcome(id = "true, true", expect = FORBIDDEN, desc = "Both believe that they were first.")
  @Outcome(expect = ACCEPTABLE, desc = "At least one sees the other.")
  @State
  public static class OneTableMore extends Drop {
    /** Starts with a transaction whose list is full. */
    public OneTableMore() {
      for (int i = 0; i < BEFORE_GROWTH; i++) {
        holds.enter(holds);
      }
    }

    /** Writes to the table for the first time. */
    @Actor
    public void writer(ZZ_Result r) {
      r.r1 = enterAndLook();
    }

    /** Drops it. */
    @Actor
    public void dropper(ZZ_Result r) {
      r.r2 = raiseAndAsk();
    }
  }

  /** Enters the table, and reads the count at once: the entry may be in the store buffer. */
  @BrokenTwin
  @JCStressTest
  @Outcome(
      id = "true, true",
      expect = ACCEPTABLE_INTERESTING,
      desc = "Both believe that they were first: the twin is broken.")
  @Outcome(expect = ACCEPTABLE, desc = "At least one sees the other, by luck.")
  @State
  public static class BrokenEnterWithoutFence {
    private final Object table = new Object();
    private final AtomicInteger droppers = new AtomicInteger();
    private final AtomicReferenceArray<Object> held = new AtomicReferenceArray<>(BEFORE_GROWTH);

    /** Starts with a transaction that has not written. */
    public BrokenEnterWithoutFence() {}

    /** Writes to the table for the first time. */
    @Actor
    public void writer(ZZ_Result r) {
      held.setRelease(0, table);
      r.r1 = droppers.get() == 0;
    }

    /** Drops it. */
    @Actor
    public void dropper(ZZ_Result r) {
      droppers.getAndIncrement();
      VarHandle.fullFence();
      r.r2 = held.getAcquire(0) == null;
    }
  }

  /** Raises the count, and reads the list at once: the count may be in the store buffer. */
  @BrokenTwin
  @JCStressTest
  @Outcome(
      id = "true, true",
      expect = ACCEPTABLE_INTERESTING,
      desc = "Both believe that they were first: the twin is broken.")
  @Outcome(expect = ACCEPTABLE, desc = "At least one sees the other, by luck.")
  @State
  public static class BrokenRaiseWithoutFence extends Drop {
    /** Starts with a transaction that has not written. */
    public BrokenRaiseWithoutFence() {}

    /** Writes to the table for the first time. */
    @Actor
    public void writer(ZZ_Result r) {
      r.r1 = enterAndLook();
    }

    /** Drops it. */
    @Actor
    public void dropper(ZZ_Result r) {
      droppers.setRelease(1);
      r.r2 = !holds.holds(table);
    }
  }
}
