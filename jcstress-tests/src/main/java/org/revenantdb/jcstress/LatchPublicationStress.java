package org.revenantdb.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.revenantdb.latch.HybridLatch;

/**
 * Claim: everything that was written under the exclusive mode is seen under the next exclusive or
 * shared mode. A reader's reads are over before the next writer writes.
 *
 * <p>Broken twin: a reader that does not acquire the latch. Fails on x86.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none
 * -Djcstress.tests=LatchPublicationStress}
 */
public final class LatchPublicationStress {
  private LatchPublicationStress() {}

  /** Two plain fields, written under the exclusive mode. */
  @State
  public static class Pair {
    final HybridLatch latch = new HybridLatch();
    int x;
    int y;

    void write() {
      latch.acquireExclusive();
      x = 1;
      y = 1;
      latch.releaseExclusive();
    }
  }

  /** From exclusive to exclusive. */
  @JCStressTest
  @Outcome(
      id = {"0, 0", "1, 1"},
      expect = ACCEPTABLE,
      desc = "Before or after.")
  @Outcome(expect = FORBIDDEN, desc = "In between.")
  public static class ToExclusive {
    /** Writes both. */
    @Actor
    public void writer(Pair s) {
      s.write();
    }

    /** Reads both. */
    @Actor
    public void reader(Pair s, II_Result r) {
      s.latch.acquireExclusive();
      r.r1 = s.y;
      r.r2 = s.x;
      s.latch.releaseExclusive();
    }
  }

  /** From exclusive to shared, and from shared to exclusive. */
  @JCStressTest
  @Outcome(
      id = {"0, 0", "1, 1"},
      expect = ACCEPTABLE,
      desc = "Before or after.")
  @Outcome(expect = FORBIDDEN, desc = "In between.")
  public static class ToShared {
    /** Writes both. */
    @Actor
    public void writer(Pair s) {
      s.write();
    }

    /** Reads both. */
    @Actor
    public void reader(Pair s, II_Result r) {
      s.latch.acquireShared();
      r.r1 = s.y;
      r.r2 = s.x;
      s.latch.releaseShared();
    }
  }

  /** From exclusive to shared through a downgrade, while the writer still reads. */
  @JCStressTest
  @Outcome(
      id = {"0, 0", "1, 1"},
      expect = ACCEPTABLE,
      desc = "Before or after.")
  @Outcome(expect = FORBIDDEN, desc = "In between.")
  public static class Downgraded {
    /** Writes both, and stays as a reader for a moment. */
    @Actor
    public void writer(Pair s) {
      s.latch.acquireExclusive();
      s.x = 1;
      s.y = 1;
      s.latch.downgrade();
      s.latch.releaseShared();
    }

    /** Reads both. */
    @Actor
    public void reader(Pair s, II_Result r) {
      s.latch.acquireShared();
      r.r1 = s.y;
      r.r2 = s.x;
      s.latch.releaseShared();
    }
  }

  /** The reader does not acquire the latch. */
  @BrokenTwin
  @JCStressTest
  @Outcome(
      id = {"0, 0", "1, 1"},
      expect = ACCEPTABLE,
      desc = "Before or after, by luck.")
  @Outcome(
      id = {"0, 1", "1, 0"},
      expect = ACCEPTABLE_INTERESTING,
      desc = "In between: the twin is broken.")
  public static class BrokenReaderWithoutLatch {
    /** Writes both. */
    @Actor
    public void writer(Pair s) {
      s.write();
    }

    /** Reads both. */
    @Actor
    public void reader(Pair s, II_Result r) {
      r.r1 = s.y;
      r.r2 = s.x;
    }
  }
}
