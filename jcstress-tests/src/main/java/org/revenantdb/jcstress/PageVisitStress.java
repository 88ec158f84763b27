package org.revenantdb.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.revenantdb.engine.space.OpenVisits;

/**
 * Claim about visits of the cleaner (protocols.md §35): one thread takes a page from the pass while
 * another merges it away. No thread frees the page before the first has left it.
 *
 * <p>Runs the production bitmap and visits. First result: the page was taken; second: it can be
 * claimed.
 *
 * <p>Broken twin: {@link BrokenSilentTaker} takes the page before it announces its visit. Fails on
 * x86.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none
 * -Djcstress.tests=PageVisitStress}
 */
public final class PageVisitStress {
  private PageVisitStress() {}

  /** The production code: announces the visit, then takes the page. */
  @JCStressTest
  @Outcome(
      id = {"0, 0", "0, 1"},
      expect = ACCEPTABLE,
      desc = "Merged away first, and freed, perhaps by the thread that wanted to take it.")
  @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "Taken, and not freed until it is left.")
  @Outcome(expect = FORBIDDEN, desc = "A thread is on its way to a page that others can claim.")
  @State
  public static class Taker {
    private final OpenVisits visits = new OpenVisits();

    /** Starts with one page in the pass. */
    public Taker() {}

    /** Takes it. */
    @Actor
    public void taker(II_Result r) {
      r.r1 = visits.take();
    }

    /** Merges it away. */
    @Actor
    public void merger(II_Result r) {
      r.r2 = visits.free();
    }
  }

  /** Takes the page, then announces the visit. */
  @BrokenTwin
  @JCStressTest
  @Outcome(
      id = {"0, 0", "0, 1", "1, 0"},
      expect = ACCEPTABLE,
      desc = "Right, by luck.")
  @Outcome(
      id = "1, 1",
      expect = ACCEPTABLE_INTERESTING,
      desc = "Taken, and others can claim it: the twin is broken.")
  @State
  public static class BrokenSilentTaker {
    private final OpenVisits visits = new OpenVisits();

    /** Starts with one page in the pass. */
    public BrokenSilentTaker() {}

    /** Takes it. */
    @Actor
    public void taker(II_Result r) {
      r.r1 = visits.takeSilently();
    }

    /** Merges it away. */
    @Actor
    public void merger(II_Result r) {
      r.r2 = visits.free();
    }
  }
}
