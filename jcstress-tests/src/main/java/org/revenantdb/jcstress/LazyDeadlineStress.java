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
import org.revenantdb.recovery.log.OpenLazyDeadline;

/**
 * Claim: if a lazy commit relies on the deadline of another commit, the force of that deadline
 * covers it. The committer raises the tail and then finds a deadline. The writer clears the
 * deadline and then reads the tail.
 *
 * <p>Runs the production class. Results: whether the committer set a deadline of its own, and how
 * many commits the writer's force covers.
 *
 * <p>Broken twins: {@link BrokenTailFirst} reads the tail before it takes the deadline. {@link
 * BrokenRelease} clears the deadline with a release store only, in a model. Both fail on x86.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none
 * -Djcstress.tests=LazyDeadlineStress}
 */
public final class LazyDeadlineStress {
  private LazyDeadlineStress() {}

  /** The tail of a log, and a deadline that an earlier commit has set. */
  public abstract static class Committed {
    static final VarHandle TAIL =
        ConstantBootstraps.fieldVarHandle(
            MethodHandles.lookup(), "tail", VarHandle.class, Committed.class, int.class);

    final OpenLazyDeadline deadline = new OpenLazyDeadline();
    int tail;

    Committed() {
      deadline.request(/* nanos= */ 10);
    }

    void commit(II_Result r) {
      int before = (int) TAIL.getAndAdd(this, 1);
      r.r1 = deadline.request(/* nanos= */ 20 + before) ? 1 : 0;
    }
  }

  /** The production code. */
  @JCStressTest
  @Outcome(id = "0, 0", expect = FORBIDDEN, desc = "Relied on a force that does not cover it.")
  @Outcome(expect = ACCEPTABLE, desc = "Covered, or has a deadline of its own.")
  @State
  public static class TakenFirst extends Committed {
    /** Starts with a deadline. */
    public TakenFirst() {}

    /** Commits lazily. */
    @Actor
    public void session(II_Result r) {
      commit(r);
    }

    /** Forces. */
    @Actor
    public void writer(II_Result r) {
      deadline.take();
      r.r2 = (int) TAIL.getVolatile(this);
    }
  }

  /** Reads the tail, then takes the deadline. */
  @BrokenTwin
  @JCStressTest
  @Outcome(id = "0, 0", expect = ACCEPTABLE_INTERESTING, desc = "Left out: the twin is broken.")
  @Outcome(expect = ACCEPTABLE, desc = "Covered, or has a deadline of its own, by luck.")
  @State
  public static class BrokenTailFirst extends Committed {
    /** Starts with a deadline. */
    public BrokenTailFirst() {}

    /** Commits lazily. */
    @Actor
    public void session(II_Result r) {
      commit(r);
    }

    /** Forces. */
    @Actor
    public void writer(II_Result r) {
      r.r2 = (int) TAIL.getVolatile(this);
      deadline.take();
    }
  }

  /**
   * The deadline is cleared with release: the store may be delayed until after the tail is read.
   */
  @BrokenTwin
  @JCStressTest
  @Outcome(id = "0, 0", expect = ACCEPTABLE_INTERESTING, desc = "Left out: the twin is broken.")
  @Outcome(expect = ACCEPTABLE, desc = "Covered, or has a deadline of its own, by luck.")
  @State
  public static class BrokenRelease extends Committed {
    static final VarHandle SET =
        ConstantBootstraps.fieldVarHandle(
            MethodHandles.lookup(), "set", VarHandle.class, BrokenRelease.class, int.class);

    int set = 1;

    /** Starts with a deadline. */
    public BrokenRelease() {}

    /** Commits lazily. */
    @Actor
    public void session(II_Result r) {
      TAIL.getAndAdd(this, 1);
      r.r1 = (int) SET.getVolatile(this) == 0 ? 1 : 0;
    }

    /** Forces. */
    @Actor
    public void writer(II_Result r) {
      SET.setRelease(this, 0);
      r.r2 = (int) TAIL.getVolatile(this);
    }
  }
}
