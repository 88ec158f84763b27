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
 * Claims (R5, protocols.md §25) about pages and extents that are claimed in memory. If several
 * threads want one, exactly one gets it. If a page is freed behind a search that is under way, the
 * next search finds it.
 *
 * <p>Runs the production search, claims and hint. Page 100 is free, and extent 100; page 5 is
 * freed; -1 means none.
 *
 * <p>Broken twins: {@link BrokenFirstSight} does not look again after it has entered a page. {@link
 * BrokenHintWithoutTurn} has a hint that a freed page need not change. Both fail on x86.
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

  /** The production code: claimed, allocated, left. */
  @JCStressTest
  @Outcome(
      id = {"100, -1", "-1, 100"},
      expect = ACCEPTABLE,
      desc = "One has the page.")
  @Outcome(expect = FORBIDDEN, desc = "Both have the page, or none.")
  @State
  public static class OneTaker extends Maps {
    /** Starts with one free page. */
    public OneTaker() {}

    /** Claims a page. */
    @Actor
    public void one(II_Result r) {
      r.r1 = map.claim();
      map.allocate(r.r1);
    }

    /** Claims it, too. */
    @Actor
    public void other(II_Result r) {
      r.r2 = map.claim();
      map.allocate(r.r2);
    }
  }

  /** Sees a free page, and enters it: its former owner may have come and gone in between. */
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
  @Outcome(expect = FORBIDDEN, desc = "None has it.")
  @State
  public static class BrokenFirstSight extends Maps {
    /** Starts with one free page. */
    public BrokenFirstSight() {}

    /** Claims a page. */
    @Actor
    public void one(II_Result r) {
      r.r1 = map.claimAtFirstSight();
      map.allocate(r.r1);
    }

    /** Claims it, too. */
    @Actor
    public void other(II_Result r) {
      r.r2 = map.claimAtFirstSight();
      map.allocate(r.r2);
    }
  }

  /** The production code, with an extent. */
  @JCStressTest
  @Outcome(
      id = {"100, -1", "-1, 100"},
      expect = ACCEPTABLE,
      desc = "One has the extent.")
  @Outcome(expect = FORBIDDEN, desc = "Both have the extent, or none.")
  @State
  public static class OneTakerOfAnExtent extends Maps {
    /** Starts with one free extent. */
    public OneTakerOfAnExtent() {}

    /** Claims an extent. */
    @Actor
    public void one(II_Result r) {
      r.r1 = map.takeExtent();
    }

    /** Claims it, too. */
    @Actor
    public void other(II_Result r) {
      r.r2 = map.takeExtent();
    }
  }

  /** The production code: the next search finds what the one before did not take. */
  @JCStressTest
  @Outcome(
      id = {"100, 5", "5, 100"},
      expect = ACCEPTABLE,
      desc = "Both pages are found, in either order.")
  @Outcome(expect = FORBIDDEN, desc = "The freed page is hidden, or given twice.")
  @State
  public static class GivenBack extends Maps {
    /** Starts with one free page. */
    public GivenBack() {}

    /** Claims a page. */
    @Actor
    public void taker(II_Result r) {
      r.r1 = map.claim();
    }

    /** Frees a lower one. */
    @Actor
    public void giver() {
      map.free(BACK);
    }

    /** Claims another one. */
    @Arbiter
    public void next(II_Result r) {
      r.r2 = map.claim();
    }
  }

  /** A freed page lowers the hint, but need not change it. */
  @BrokenTwin
  @JCStressTest
  @Outcome(
      id = {"100, 5", "5, 100"},
      expect = ACCEPTABLE,
      desc = "Both pages are found, by luck.")
  @Outcome(
      id = "100, -1",
      expect = ACCEPTABLE_INTERESTING,
      desc = "The freed page is hidden: the twin is broken.")
  @Outcome(expect = FORBIDDEN, desc = "Given twice.")
  @State
  public static class BrokenHintWithoutTurn extends Maps {
    /** Starts with one free page. */
    public BrokenHintWithoutTurn() {}

    /** Claims a page. */
    @Actor
    public void taker(II_Result r) {
      r.r1 = map.claim();
    }

    /** Frees a lower one. */
    @Actor
    public void giver() {
      map.freeWithoutTurn(BACK);
    }

    /** Claims another one. */
    @Arbiter
    public void next(II_Result r) {
      r.r2 = map.claim();
    }
  }
}
