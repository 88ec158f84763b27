package org.revenantdb.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JI_Result;
import org.revenantdb.recovery.log.OpenLogBuffer;

/**
 * Claim (W1): two threads that reserve get places that do not overlap, without a hole between them.
 *
 * <p>Runs the production buffer. Results: published bytes in the end, and the content of the two
 * bodies: 1 and 2, in either order.
 *
 * <p>Broken twin: the tail is read and then written. Fails on x86.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none
 * -Djcstress.tests=LogReserveStress}
 */
public final class LogReserveStress {
  private static final byte[] ONE = OpenLogBuffer.record(1);
  private static final byte[] TWO = OpenLogBuffer.record(2);

  private LogReserveStress() {}

  /** The ring, and its content in the end. */
  public abstract static class Ring {
    final OpenLogBuffer buffer = new OpenLogBuffer();

    Ring() {}

    abstract long reserve();

    void put(byte[] record) {
      long start = reserve();
      buffer.copy(start, record);
      buffer.publish(start);
    }

    void scan(JI_Result r) {
      r.r1 = buffer.publishedEnd() - OpenLogBuffer.FIRST;
      r.r2 =
          buffer.bodyAt(OpenLogBuffer.FIRST) * 100
              + buffer.bodyAt(OpenLogBuffer.FIRST + OpenLogBuffer.LENGTH);
    }
  }

  /** The production code: one getAndAdd. */
  @JCStressTest
  @Outcome(
      id = {"80, 1122", "80, 2211"},
      expect = ACCEPTABLE,
      desc = "Both, one after the other.")
  @Outcome(expect = FORBIDDEN, desc = "A record was lost, torn or left a hole.")
  @State
  public static class Places extends Ring {
    /** Starts with an empty ring. */
    public Places() {}

    @Override
    long reserve() {
      return buffer.reserve();
    }

    /** Publishes. */
    @Actor
    public void one() {
      put(ONE);
    }

    /** Publishes. */
    @Actor
    public void two() {
      put(TWO);
    }

    /** Looks. */
    @Arbiter
    public void writer(JI_Result r) {
      scan(r);
    }
  }

  /** Reads the tail, then writes it. */
  @BrokenTwin
  @JCStressTest
  @Outcome(
      id = {"80, 1122", "80, 2211"},
      expect = ACCEPTABLE,
      desc = "Both, by luck.")
  @Outcome(expect = ACCEPTABLE_INTERESTING, desc = "One place for two: the twin is broken.")
  @State
  public static class BrokenReadThenWrite extends Ring {
    private volatile long tail = OpenLogBuffer.FIRST;

    /** Starts with an empty ring. */
    public BrokenReadThenWrite() {}

    @Override
    long reserve() {
      long start = tail;
      tail = start + OpenLogBuffer.LENGTH;
      return start;
    }

    /** Publishes. */
    @Actor
    public void one() {
      put(ONE);
    }

    /** Publishes. */
    @Actor
    public void two() {
      put(TWO);
    }

    /** Looks. */
    @Arbiter
    public void writer(JI_Result r) {
      scan(r);
    }
  }
}
