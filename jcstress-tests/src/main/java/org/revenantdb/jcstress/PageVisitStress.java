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
 * Visits of the cleaner (protocols.md §35): a page that one thread takes from the pass, while
 * another merges it away, is given back by nobody before the first has left it.
 *
 * <p>The very bitmap and visits. First result: the page was taken; second: it can be claimed.
 *
 * <p>Broken twin: {@link BrokenSilentTaker} takes the page before it tells that it is on its way.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none
 * -Djcstress.tests=PageVisitStress}
 */
public final class PageVisitStress {
  private PageVisitStress() {}

  /** As it is: tells, then takes. */
  @JCStressTest
  @Outcome(
      id = {"0, 0", "0, 1"},
      expect = ACCEPTABLE,
      desc = "It was merged away first, and is given back, perhaps by who wanted to take it.")
  @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "Taken, and his until he leaves it.")
  @Outcome(expect = FORBIDDEN, desc = "Somebody is on his way to a page that others can claim.")
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

  /** Takes, then tells. */
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
