package org.revenantdb.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.revenantdb.engine.space.OpenAllocator;

/**
 * Claims (R5, protocols.md §19) about pages that are claimed in memory: of all who want a page one
 * has it; a page that is given back behind the back of who looks for one is found by the next.
 *
 * <p>The very allocator. Page 100 is free, page 5 is given back; -1 is none.
 *
 * <p>Broken twins: {@link BrokenLookThenSet} claims without a compare-and-set, {@link
 * BrokenHintWithoutTurn} has a hint that is a page and nothing else. Both seen to fail on x86.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Djcstress.tests=PageClaimStress}
 */
public final class PageClaimStress {
  private static final int FREE = 100;
  private static final int BACK = 5;

  private PageClaimStress() {}

  /** The allocator, and a free page. */
  public abstract static class Claims {
    final OpenAllocator allocator = new OpenAllocator(FREE);

    Claims() {}
  }

  /** As it is. */
  @JCStressTest
  @Outcome(
      id = {"100, -1", "-1, 100"},
      expect = ACCEPTABLE,
      desc = "One has the page.")
  @Outcome(expect = FORBIDDEN, desc = "Both have it, or nobody.")
  @State
  public static class OneTaker extends Claims {
    /** Starts with one free page. */
    public OneTaker() {}

    /** Wants a page. */
    @Actor
    public void one(II_Result r) {
      r.r1 = allocator.claim();
    }

    /** Wants it, too. */
    @Actor
    public void other(II_Result r) {
      r.r2 = allocator.claim();
    }
  }

  /** Claims as they must not be, over the same bits. */
  public abstract static class BrokenClaims {
    final AtomicLongArray words = OpenAllocator.allButOne(FREE);
    final AtomicInteger hint = new AtomicInteger();

    BrokenClaims() {}

    /** The lowest free page from one on; -1 if there is none. */
    final int free(int from) {
      long mask = -1L << from;
      for (int w = from >>> 6; w < words.length(); w++, mask = -1L) {
        long bits = ~words.get(w) & mask;
        if (bits != 0) {
          return (w << 6) + Long.numberOfTrailingZeros(bits);
        }
      }
      return -1;
    }
  }

  /** Looked at, then set. */
  @BrokenTwin(inEveryMode = false)
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
  public static class BrokenLookThenSet extends BrokenClaims {
    /** Starts with one free page. */
    public BrokenLookThenSet() {}

    /** Wants a page. */
    @Actor
    public void one(II_Result r) {
      r.r1 = claim();
    }

    /** Wants it, too. */
    @Actor
    public void other(II_Result r) {
      r.r2 = claim();
    }

    private int claim() {
      int page = free(0);
      if (page >= 0) {
        words.set(page >>> 6, words.get(page >>> 6) | 1L << page);
      }
      return page;
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
  public static class GivenBack extends Claims {
    /** Starts with one free page. */
    public GivenBack() {}

    /** Wants a page. */
    @Actor
    public void taker(II_Result r) {
      r.r1 = allocator.claim();
    }

    /** Gives a lower one back. */
    @Actor
    public void giver() {
      allocator.release(BACK);
    }

    /** Wants another one. */
    @Arbiter
    public void next(II_Result r) {
      r.r2 = allocator.claim();
    }
  }

  /** A hint that a page which is given back lowers, but need not change. */
  @BrokenTwin(inEveryMode = false)
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
  public static class BrokenHintWithoutTurn extends BrokenClaims {
    /** Starts with one free page. */
    public BrokenHintWithoutTurn() {}

    /** Wants a page. */
    @Actor
    public void taker(II_Result r) {
      r.r1 = claim();
    }

    /** Gives a lower one back. */
    @Actor
    public void giver() {
      words.getAndAccumulate(BACK >>> 6, ~(1L << BACK), (word, mask) -> word & mask);
      hint.getAndAccumulate(BACK, Math::min);
    }

    /** Wants another one. */
    @Arbiter
    public void next(II_Result r) {
      r.r2 = claim();
    }

    private int claim() {
      int seen = hint.get();
      int page = free(seen);
      if (page >= 0) {
        words.getAndAccumulate(page >>> 6, 1L << page, (word, bit) -> word | bit);
        hint.compareAndSet(seen, page + 1);
      }
      return page;
    }
  }
}
