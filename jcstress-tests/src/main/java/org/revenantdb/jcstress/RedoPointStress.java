package org.revenantdb.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJ_Result;
import org.openjdk.jcstress.infra.results.J_Result;
import org.revenantdb.recovery.log.OpenLogBuffer;

/**
 * Claim (protocols.md §2, §3): the redo point that a checkpoint computes is not above a record
 * whose page is still to be written.
 *
 * <p>The tail is the production one of the log buffer. The frame's two words, which are private to
 * the engine's pool, are modelled: volatile longs, 0 = none. Records count from 0.
 *
 * <p>Broken twins: {@link BrokenMarkLast} marks the frame after it has reserved. {@link
 * BrokenFlushingFirst} reads "being written" before "dirty". Both fail on x86.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none
 * -Djcstress.tests=RedoPointStress}
 */
public final class RedoPointStress {
  private static final long NONE = 0;

  private RedoPointStress() {}

  /** A log and a frame. */
  public abstract static class Frame {
    final OpenLogBuffer buffer = new OpenLogBuffer();
    volatile long firstLsn;
    volatile long flushing;

    Frame() {}

    static long orAtMost(long lsn, long limit) {
      return lsn == NONE ? limit : Math.min(lsn, limit);
    }

    /** Reads B first, then the frame. */
    long redoPoint() {
      long begin = buffer.tail();
      long limit = orAtMost(firstLsn, begin);
      return orAtMost(flushing, limit) - OpenLogBuffer.FIRST;
    }
  }

  /** The mark, then the place in the log. */
  @JCStressTest
  @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "The record is redone.")
  @Outcome(id = "0, 40", expect = FORBIDDEN, desc = "The record is lost with the page.")
  @State
  public static class MarkFirst extends Frame {
    /** Starts clean. */
    public MarkFirst() {}

    /** Changes the page. */
    @Actor
    public void session(JJ_Result r) {
      firstLsn = buffer.tail();
      r.r1 = buffer.reserve() - OpenLogBuffer.FIRST;
    }

    /** Computes the redo point. */
    @Actor
    public void checkpoint(JJ_Result r) {
      r.r2 = redoPoint();
    }
  }

  /** The place in the log, then the mark. */
  @BrokenTwin
  @JCStressTest
  @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "The record is redone, by luck.")
  @Outcome(
      id = "0, 40",
      expect = ACCEPTABLE_INTERESTING,
      desc = "The record is lost: the twin is broken.")
  @State
  public static class BrokenMarkLast extends Frame {
    /** Starts clean. */
    public BrokenMarkLast() {}

    /** Changes the page. */
    @Actor
    public void session(JJ_Result r) {
      long start = buffer.reserve();
      firstLsn = start;
      r.r1 = start - OpenLogBuffer.FIRST;
    }

    /** Computes the redo point. */
    @Actor
    public void checkpoint(JJ_Result r) {
      r.r2 = redoPoint();
    }
  }

  /** A dirty frame, while the page writer takes it. */
  public abstract static class Written extends Frame {
    Written() {
      firstLsn = buffer.reserve();
    }

    void take() {
      flushing = firstLsn;
      firstLsn = NONE;
    }
  }

  /** The checkpoint reads "dirty" before "being written". */
  @JCStressTest
  @Outcome(id = "0", expect = ACCEPTABLE, desc = "The record is redone.")
  @Outcome(id = "40", expect = FORBIDDEN, desc = "The record is lost with the page.")
  @State
  public static class DirtyFirst extends Written {
    /** Starts dirty. */
    public DirtyFirst() {}

    /** Takes the page. */
    @Actor
    public void pageWriter() {
      take();
    }

    /** Computes the redo point. */
    @Actor
    public void checkpoint(J_Result r) {
      r.r1 = redoPoint();
    }
  }

  /** The checkpoint reads "being written" before "dirty". */
  @BrokenTwin
  @JCStressTest
  @Outcome(id = "0", expect = ACCEPTABLE, desc = "The record is redone, by luck.")
  @Outcome(
      id = "40",
      expect = ACCEPTABLE_INTERESTING,
      desc = "The record is lost: the twin is broken.")
  @State
  public static class BrokenFlushingFirst extends Written {
    /** Starts dirty. */
    public BrokenFlushingFirst() {}

    /** Takes the page. */
    @Actor
    public void pageWriter() {
      take();
    }

    /** Computes the redo point. */
    @Actor
    public void checkpoint(J_Result r) {
      long limit = orAtMost(flushing, buffer.tail());
      r.r1 = orAtMost(firstLsn, limit) - OpenLogBuffer.FIRST;
    }
  }
}
