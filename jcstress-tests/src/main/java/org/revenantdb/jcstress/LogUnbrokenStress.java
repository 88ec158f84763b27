package org.revenantdb.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;
import org.revenantdb.recovery.log.OpenLogBuffer;

/**
 * Claim: a committer that finds its record unbroken comes after the whole copy of each record
 * before it. So a process that is killed then leaves all of them in a mapped ring.
 *
 * <p>The very buffer: one actor publishes the first record. The other publishes the second one, and
 * asks whether it is unbroken. Results: whether it is, and what the first record says then, 11 =
 * all of it is there.
 *
 * <p>Broken twin: the committer asks for its own record only.
 *
 * <p>Claim: the end of a record of a later lap, which stands where the committer looks, leads it
 * past no hole. The writer has passed two records, a third one and a fourth one are missing, and
 * the fifth one shares its piece of the ring with the second one. Result: whether the fifth one is
 * unbroken, which it never is.
 *
 * <p>Broken twin: the committer follows the ends, and does not compare them with what is written.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none
 * -Djcstress.tests=LogUnbrokenStress}
 */
public final class LogUnbrokenStress {
  private static final byte[] RECORD = OpenLogBuffer.record(1);

  private LogUnbrokenStress() {}

  /** Two places, both reserved. */
  public abstract static class Ring {
    final OpenLogBuffer buffer = new OpenLogBuffer();
    final long first = buffer.reserve();
    final long second = buffer.reserve();

    Ring() {}

    void publish(long start) {
      buffer.copy(start, RECORD);
      buffer.publish(start);
    }
  }

  /** As it is. */
  @JCStressTest
  @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "A record before it is missing.")
  @Outcome(id = "1, 11", expect = ACCEPTABLE, desc = "Unbroken, and all before it is whole.")
  @Outcome(expect = FORBIDDEN, desc = "A commit was acknowledged behind a hole.")
  @State
  public static class AsksForAll extends Ring {
    /** Starts with two places. */
    public AsksForAll() {}

    /** Publishes the first record. */
    @Actor
    public void other() {
      publish(first);
    }

    /** Commits. */
    @Actor
    public void committer(II_Result r) {
      publish(second);
      r.r1 = buffer.isUnbrokenUpTo(second + OpenLogBuffer.LENGTH) ? 1 : 0;
      r.r2 = r.r1 == 0 ? 0 : buffer.bodyAt(first);
    }
  }

  /** Asks for its own record only. */
  @BrokenTwin
  @JCStressTest
  @Outcome(id = "1, 11", expect = ACCEPTABLE, desc = "All before it is whole, by luck.")
  @Outcome(expect = ACCEPTABLE_INTERESTING, desc = "Behind a hole: the twin is broken.")
  @State
  public static class BrokenAsksForItself extends Ring {
    /** Starts with two places. */
    public BrokenAsksForItself() {}

    /** Publishes the first record. */
    @Actor
    public void other() {
      publish(first);
    }

    /** Commits. */
    @Actor
    public void committer(II_Result r) {
      publish(second);
      r.r1 = buffer.publishedEnd(second) > second ? 1 : 0;
      r.r2 = buffer.bodyAt(first);
    }
  }

  /** Five places; the first two are published, and the fifth one is of the next lap. */
  public abstract static class NextLap {
    final OpenLogBuffer buffer = new OpenLogBuffer();
    final long fifth;

    NextLap() {
      for (int i = 0; i < 2; i++) {
        long start = buffer.reserve();
        buffer.copy(start, RECORD);
        buffer.publish(start);
      }
      buffer.reserve();
      buffer.reserve();
      fifth = buffer.reserve();
    }

    void goOn() {
      buffer.raiseWritten(OpenLogBuffer.FIRST + 2 * OpenLogBuffer.LENGTH);
      buffer.copy(fifth, RECORD);
      buffer.publish(fifth);
    }
  }

  /** As it is. */
  @JCStressTest
  @Outcome(id = "0", expect = ACCEPTABLE, desc = "Two records before it are missing.")
  @Outcome(expect = FORBIDDEN, desc = "A commit was acknowledged behind a hole.")
  @State
  public static class ComparesWithWritten extends NextLap {
    /** Starts with two records. */
    public ComparesWithWritten() {}

    /** Writes, and publishes the fifth one. */
    @Actor
    public void others() {
      goOn();
    }

    /** Asks. */
    @Actor
    public void committer(I_Result r) {
      r.r1 = buffer.isUnbrokenUpTo(fifth + OpenLogBuffer.LENGTH) ? 1 : 0;
    }
  }

  /** Follows the ends alone. */
  @BrokenTwin
  @JCStressTest
  @Outcome(id = "0", expect = ACCEPTABLE, desc = "The later lap was not published yet.")
  @Outcome(expect = ACCEPTABLE_INTERESTING, desc = "Past the hole: the twin is broken.")
  @State
  public static class BrokenFollowsEnds extends NextLap {
    /** Starts with two records. */
    public BrokenFollowsEnds() {}

    /** Writes, and publishes the fifth one. */
    @Actor
    public void others() {
      goOn();
    }

    /** Asks. */
    @Actor
    public void committer(I_Result r) {
      r.r1 = buffer.publishedEnd() >= fifth + OpenLogBuffer.LENGTH ? 1 : 0;
    }
  }
}
