package org.revenantdb.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.Z_Result;
import org.revenantdb.recovery.restart.OpenPendingParts;

/**
 * Claim (protocols.md §44): a checkpoint computes its redo point while pages are redone on demand.
 * The redo point is not above a part of a page that was redone and is still to be written. The
 * frame is marked dirty before the page stops being pending. The checkpoint reads the pending pages
 * before the frames.
 *
 * <p>Runs the production table of pending pages. The word of the frame, which is private to the
 * pool, is modelled: a volatile long, 0 = clean.
 *
 * <p>Broken twins, in which the table is a word as well: {@link BrokenDoneFirst} marks the frame
 * last. {@link BrokenFramesFirst} reads the frames before the pending pages.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none
 * -Djcstress.tests=RedoOnDemandStress}
 */
public final class RedoOnDemandStress {
  private RedoOnDemandStress() {}

  /** Two pages that lack a part, and the frame of the first. */
  public abstract static class Pages {
    final OpenPendingParts pending = new OpenPendingParts();
    volatile long firstLsn;

    Pages() {}

    long dirty() {
      long first = firstLsn;
      return first == 0 ? Long.MAX_VALUE : first;
    }

    static boolean isCovered(long redoPoint) {
      return redoPoint <= OpenPendingParts.firstLsn();
    }
  }

  /** The production code. */
  @JCStressTest
  @Outcome(id = "true", expect = ACCEPTABLE, desc = "The part of the first page is redone again.")
  @Outcome(id = "false", expect = FORBIDDEN, desc = "The redo point has passed the part.")
  @State
  public static class DirtyThenDone extends Pages {
    /** Starts with both pages pending. */
    public DirtyThenDone() {}

    /** Redoes the first page. */
    @Actor
    public void loader() {
      firstLsn = OpenPendingParts.firstLsn();
      pending.done();
    }

    /** Redoes the second one. */
    @Actor
    public void other() {
      pending.secondDone();
    }

    /** Computes the redo point. */
    @Actor
    public void checkpoint(Z_Result r) {
      long oldest = pending.oldestLsn();
      r.r1 = isCovered(Math.min(oldest, dirty()));
    }
  }

  /** A page that lacks a part, and its frame: a model of both. */
  public abstract static class Words {
    volatile boolean pending = true;
    volatile boolean dirty;

    Words() {}
  }

  /** The page leaves the table, then its frame is marked. */
  @BrokenTwin
  @JCStressTest
  @Outcome(id = "true", expect = ACCEPTABLE, desc = "The part is redone again, by luck.")
  @Outcome(
      id = "false",
      expect = ACCEPTABLE_INTERESTING,
      desc = "The redo point has passed the part: the twin is broken.")
  @State
  public static class BrokenDoneFirst extends Words {
    /** Starts with the page pending. */
    public BrokenDoneFirst() {}

    /** Redoes the page. */
    @Actor
    public void loader() {
      pending = false;
      dirty = true;
    }

    /** Computes the redo point. */
    @Actor
    public void checkpoint(Z_Result r) {
      boolean isPending = pending;
      r.r1 = isPending || dirty;
    }
  }

  /** The checkpoint reads the frames, then the pending pages. */
  @BrokenTwin
  @JCStressTest
  @Outcome(id = "true", expect = ACCEPTABLE, desc = "The part is redone again, by luck.")
  @Outcome(
      id = "false",
      expect = ACCEPTABLE_INTERESTING,
      desc = "The redo point has passed the part: the twin is broken.")
  @State
  public static class BrokenFramesFirst extends Words {
    /** Starts with the page pending. */
    public BrokenFramesFirst() {}

    /** Redoes the page. */
    @Actor
    public void loader() {
      dirty = true;
      pending = false;
    }

    /** Computes the redo point. */
    @Actor
    public void checkpoint(Z_Result r) {
      boolean isDirty = dirty;
      r.r1 = pending || isDirty;
    }
  }
}
