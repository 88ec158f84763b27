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
 * Claim: a thread looked up the stay of a page. If it then reads optimistically, it never validates
 * bytes of another page that came into the frame later. If it latches the stay, it learns that the
 * stay is over.
 *
 * <p>Runs the production stays and translation, with the steps of an eviction and of the next
 * page's arrival. The reader has looked the stay up before. Results: whether the read validates,
 * and both words of the page: 11 of the old one, 22 of the new.
 *
 * <p>Broken twins, both fail on x86. {@link BrokenWithoutObsolete}: the version alone protects only
 * readers whose stamp is from before. A stamp that is taken after the latch was released validates
 * on another page's bytes. {@link BrokenObsoleteAfterReuse}: the same, until the mark is set.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none
 * -Djcstress.tests=FrameRecycleStress}
 */
public final class FrameRecycleStress {
  private FrameRecycleStress() {}

  /** A frame with a page in it, an evictor, the loader of the next page, and a reader. */
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

  /** The production code, with an optimistic reader. */
  @JCStressTest
  @Outcome(id = "1, 11", expect = ACCEPTABLE, desc = "Valid, from before.")
  @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "Not valid, whatever was read.")
  @Outcome(expect = FORBIDDEN, desc = "Took bytes of another page for the page.")
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

  /** Another page may get the frame before the evictor has released the latch. */
  @JCStressTest
  @Outcome(id = "1, 11", expect = ACCEPTABLE, desc = "Valid, from before.")
  @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "Not valid, whatever was read.")
  @Outcome(expect = FORBIDDEN, desc = "Took bytes of another page for the page.")
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

  /** The production code, with a reader that latches what it looked up. */
  @JCStressTest
  @Outcome(id = "1, 11", expect = ACCEPTABLE, desc = "Had it before.")
  @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "Learned that the stay is over.")
  @Outcome(expect = FORBIDDEN, desc = "Took bytes of another page for the page.")
  @State
  public static class Shared extends Frame {
    /** Starts with the old page in the frame. */
    public Shared() {}

    /** Gives the frame to another page, if no reader holds the latch. */
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

  /** The mark is not set. */
  @BrokenTwin
  @JCStressTest
  @Outcome(
      id = {"1, 11", "0, 0"},
      expect = ACCEPTABLE,
      desc = "From before, or not valid, by luck.")
  @Outcome(
      expect = ACCEPTABLE_INTERESTING,
      desc = "Took bytes of another page for the page: the twin is broken.")
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

  /** The mark is set when the frame already belongs to another page. */
  @BrokenTwin
  @JCStressTest
  @Outcome(
      id = {"1, 11", "0, 0"},
      expect = ACCEPTABLE,
      desc = "From before, or not valid, by luck.")
  @Outcome(
      expect = ACCEPTABLE_INTERESTING,
      desc = "Took bytes of another page for the page: the twin is broken.")
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
