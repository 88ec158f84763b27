package org.revenantdb.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.revenantdb.engine.space.OpenMap;

/**
 * Claims (R5, protocols.md §25) about pages and extents that are claimed in memory: of all who want
 * one, one has it; a page that is given back behind the back of who looks for one is found by the
 * next.
 *
 * <p>The very search, claims and hint. Page 100 is free, and extent 100; page 5 is given back; -1
 * is none.
 *
 * <p>Broken twins: {@link BrokenFirstSight} does not look again when it has entered a page, {@link
 * BrokenHintWithoutTurn} has a hint that a page which is given back need not change. Both seen to
 * fail on x86.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none
 * -Djcstress.tests=PageClaimStress}
 */
public final class PageClaimStress {
  private static final int FREE = 100;
  private static final int BACK = 5;

  private PageClaimStress() {}

  /** The maps, with a free page and a free extent. */
  public abstract static class Maps {
    final OpenMap map = new OpenMap(FREE);

    Maps() {}
  }

  /** As it is: claimed, allocated, left. */
  @JCStressTest
  @Outcome(
      id = {"100, -1", "-1, 100"},
      expect = ACCEPTABLE,
      desc = "One has the page.")
  @Outcome(expect = FORBIDDEN, desc = "Both have it, or nobody.")
  @State
  public static class OneTaker extends Maps {
    /** Starts with one free page. */
    public OneTaker() {}

    /** Wants a page. */
    @Actor
    public void one(II_Result r) {
      r.r1 = map.claim();
      map.allocate(r.r1);
    }

    /** Wants it, too. */
    @Actor
    public void other(II_Result r) {
      r.r2 = map.claim();
      map.allocate(r.r2);
    }
  }

  /** Seen to be free, entered: the former owner may have come and left in between. */
  @BrokenTwin
  @JCStressTest
  @Outcome(
      id = {"100, -1", "-1, 100"},
      expect = ACCEPTABLE,
      desc = "One has the page, by luck.")
  @Outcome(
      id = "100, 100",
      expect = ACCEPTABLE_INTERESTING,
      desc = "Both have it: the twin is broken.")
  @Outcome(expect = FORBIDDEN, desc = "Nobody.")
  @State
  public static class BrokenFirstSight extends Maps {
    /** Starts with one free page. */
    public BrokenFirstSight() {}

    /** Wants a page. */
    @Actor
    public void one(II_Result r) {
      r.r1 = map.claimAtFirstSight();
      map.allocate(r.r1);
    }

    /** Wants it, too. */
    @Actor
    public void other(II_Result r) {
      r.r2 = map.claimAtFirstSight();
      map.allocate(r.r2);
    }
  }

  /** As it is, of an extent. */
  @JCStressTest
  @Outcome(
      id = {"100, -1", "-1, 100"},
      expect = ACCEPTABLE,
      desc = "One has the extent.")
  @Outcome(expect = FORBIDDEN, desc = "Both have it, or nobody.")
  @State
  public static class OneTakerOfAnExtent extends Maps {
    /** Starts with one free extent. */
    public OneTakerOfAnExtent() {}

    /** Wants an extent. */
    @Actor
    public void one(II_Result r) {
      r.r1 = map.takeExtent();
    }

    /** Wants it, too. */
    @Actor
    public void other(II_Result r) {
      r.r2 = map.takeExtent();
    }
  }

  /** As it is: whoever comes next finds what the one before did not take. */
  @JCStressTest
  @Outcome(
      id = {"100, 5", "5, 100"},
      expect = ACCEPTABLE,
      desc = "Both pages are found, in either order.")
  @Outcome(expect = FORBIDDEN, desc = "The page that came back is hidden, or given twice.")
  @State
  public static class GivenBack extends Maps {
    /** Starts with one free page. */
    public GivenBack() {}

    /** Wants a page. */
    @Actor
    public void taker(II_Result r) {
      r.r1 = map.claim();
    }

    /** Gives a lower one back. */
    @Actor
    public void giver() {
      map.free(BACK);
    }

    /** Wants another one. */
    @Arbiter
    public void next(II_Result r) {
      r.r2 = map.claim();
    }
  }

  /** A hint that a page which is given back lowers, but need not change. */
  @BrokenTwin
  @JCStressTest
  @Outcome(
      id = {"100, 5", "5, 100"},
      expect = ACCEPTABLE,
      desc = "Both pages are found, by luck.")
  @Outcome(
      id = "100, -1",
      expect = ACCEPTABLE_INTERESTING,
      desc = "The page that came back is hidden: the twin is broken.")
  @Outcome(expect = FORBIDDEN, desc = "Given twice.")
  @State
  public static class BrokenHintWithoutTurn extends Maps {
    /** Starts with one free page. */
    public BrokenHintWithoutTurn() {}

    /** Wants a page. */
    @Actor
    public void taker(II_Result r) {
      r.r1 = map.claim();
    }

    /** Gives a lower one back. */
    @Actor
    public void giver() {
      map.freeWithoutTurn(BACK);
    }

    /** Wants another one. */
    @Arbiter
    public void next(II_Result r) {
      r.r2 = map.claim();
    }
  }
}
