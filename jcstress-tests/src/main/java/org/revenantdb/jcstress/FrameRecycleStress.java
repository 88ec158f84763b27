package org.revenantdb.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.revenantdb.engine.buffer.OpenStays;
import org.revenantdb.engine.buffer.Stay;

/**
 * Claim: who looked up the stay of a page, and reads optimistically, never validates what a page
 * wrote that came into its frame later; who latches the stay is told that it is over.
 *
 * <p>The very stays and translation, with the steps of an eviction and of the next page's arrival.
 * The reader has looked up before. Results: whether what was read counts, and both words of the
 * page: 11 of the old one, 22 of the new.
 *
 * <p>Broken twins, both seen to fail on x86. {@link BrokenWithoutObsolete}: the version alone
 * protects those whose stamp is from before; a stamp that is taken after the latch was given up
 * validates on another page's bytes. {@link BrokenObsoleteAfterReuse}: the same, until the mark is
 * set.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none
 * -Djcstress.tests=FrameRecycleStress}
 */
public final class FrameRecycleStress {
  private FrameRecycleStress() {}

  /** A frame with a page in it, and who evicts it, takes the frame, and reads. */
  public abstract static class Frame {
    final OpenStays stays = new OpenStays();
    final Stay old = stays.newStay(0);

    Frame() {
      old.acquireExclusive();
      stays.install(old);
      stays.write(1);
      old.releaseExclusive();
    }

    void arrive() {
      Stay next = stays.newStay(1);
      next.acquireExclusive();
      stays.install(next);
      stays.write(2);
      next.releaseExclusive();
    }

    void read(II_Result r) {
      long stamp = old.readOptimistic();
      int content = OpenStays.read(old);
      r.r1 = old.validate(stamp) ? 1 : 0;
      r.r2 = r.r1 == 1 ? content : 0;
    }
  }

  /** As it is, with an optimistic reader. */
  @JCStressTest
  @Outcome(id = "1, 11", expect = ACCEPTABLE, desc = "Valid, from before.")
  @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "Not valid, whatever was read.")
  @Outcome(expect = FORBIDDEN, desc = "Took another page's bytes for the page.")
  @State
  public static class Optimistic extends Frame {
    /** Starts with the old page in the frame. */
    public Optimistic() {}

    /** Gives the frame to another page. */
    @Actor
    public void evictor() {
      old.acquireExclusive();
      stays.remove(old);
      old.markObsolete();
      old.releaseExclusive();
      arrive();
    }

    /** Reads the old page. */
    @Actor
    public void reader(II_Result r) {
      read(r);
    }
  }

  /** Another may have the frame before the evictor has given up the latch. */
  @JCStressTest
  @Outcome(id = "1, 11", expect = ACCEPTABLE, desc = "Valid, from before.")
  @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "Not valid, whatever was read.")
  @Outcome(expect = FORBIDDEN, desc = "Took another page's bytes for the page.")
  @State
  public static class ReusedWhileLatched extends Frame {
    /** Starts with the old page in the frame. */
    public ReusedWhileLatched() {}

    /** Gives the frame to another page. */
    @Actor
    public void evictor() {
      old.acquireExclusive();
      stays.remove(old);
      old.markObsolete();
      arrive();
      old.releaseExclusive();
    }

    /** Reads the old page. */
    @Actor
    public void reader(II_Result r) {
      read(r);
    }
  }

  /** As it is, with a reader that latches what it looked up. */
  @JCStressTest
  @Outcome(id = "1, 11", expect = ACCEPTABLE, desc = "Had it before.")
  @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "Told that it is over.")
  @Outcome(expect = FORBIDDEN, desc = "Took another page's bytes for the page.")
  @State
  public static class Shared extends Frame {
    /** Starts with the old page in the frame. */
    public Shared() {}

    /** Gives the frame to another page, if nobody is inside. */
    @Actor
    public void evictor() {
      if (old.tryAcquireExclusive()) {
        stays.remove(old);
        old.markObsolete();
        old.releaseExclusive();
        arrive();
      }
    }

    /** Reads the old page. */
    @Actor
    public void reader(II_Result r) {
      old.acquireShared();
      if (!old.isObsolete()) {
        r.r1 = 1;
        r.r2 = OpenStays.read(old);
      }
      old.releaseShared();
    }
  }

  /** The mark is forgotten. */
  @BrokenTwin
  @JCStressTest
  @Outcome(
      id = {"1, 11", "0, 0"},
      expect = ACCEPTABLE,
      desc = "From before, or not valid, by luck.")
  @Outcome(
      expect = ACCEPTABLE_INTERESTING,
      desc = "Took another page's bytes for the page: the twin is broken.")
  @State
  public static class BrokenWithoutObsolete extends Frame {
    /** Starts with the old page in the frame. */
    public BrokenWithoutObsolete() {}

    /** Gives the frame to another page. */
    @Actor
    public void evictor() {
      old.acquireExclusive();
      stays.remove(old);
      old.releaseExclusive();
      arrive();
    }

    /** Reads the old page. */
    @Actor
    public void reader(II_Result r) {
      read(r);
    }
  }

  /** The mark comes when the frame is another page's. */
  @BrokenTwin
  @JCStressTest
  @Outcome(
      id = {"1, 11", "0, 0"},
      expect = ACCEPTABLE,
      desc = "From before, or not valid, by luck.")
  @Outcome(
      expect = ACCEPTABLE_INTERESTING,
      desc = "Took another page's bytes for the page: the twin is broken.")
  @State
  public static class BrokenObsoleteAfterReuse extends Frame {
    /** Starts with the old page in the frame. */
    public BrokenObsoleteAfterReuse() {}

    /** Gives the frame to another page. */
    @Actor
    public void evictor() {
      old.acquireExclusive();
      stays.remove(old);
      old.releaseExclusive();
      arrive();
      old.acquireExclusive();
      old.markObsolete();
      old.releaseExclusive();
    }

    /** Reads the old page. */
    @Actor
    public void reader(II_Result r) {
      read(r);
    }
  }
}
