package org.revenantdb.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;
import org.revenantdb.recovery.log.OpenLogBuffer;

/**
 * Claim: when the writer replaces the ring of a log, each record is in the ring in which the writer
 * looks for it: in the former one if the writer has written it before, else in the new one.
 *
 * <p>The very buffer: one actor publishes a record. The other is the writer: it pauses
 * reservations, waits for what was reserved before and takes it, replaces the ring, and resumes.
 * Result: what the writer finds, 11 = all of the record.
 *
 * <p>Broken twin: the writer pauses nothing, and takes the tail that it reads.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none -Djcstress.tests=LogMoveStress}
 */
public final class LogMoveStress {
  private static final byte[] RECORD = OpenLogBuffer.record(1);

  private LogMoveStress() {}

  /** A buffer, and what its writer has found. */
  public abstract static class Ring {
    final OpenLogBuffer buffer = new OpenLogBuffer();
    int found;

    Ring() {}

    void publish() {
      long start = buffer.reserve();
      buffer.copy(start, RECORD);
      buffer.publish(start);
    }

    void takeUpTo(long end) {
      while (buffer.publishedEnd() < end) {
        Thread.onSpinWait();
      }
      if (end > OpenLogBuffer.FIRST) {
        found = buffer.writtenAt(OpenLogBuffer.FIRST);
      }
      buffer.raiseWritten(end);
    }

    /** What the writer has taken before the ring was replaced, or takes afterwards. */
    int take() {
      return found == 0 ? buffer.writtenAt(OpenLogBuffer.FIRST) : found;
    }
  }

  /** As it is. */
  @JCStressTest
  @Outcome(id = "11", expect = ACCEPTABLE, desc = "The record is where the writer looks.")
  @Outcome(expect = FORBIDDEN, desc = "The record is in the other ring.")
  @State
  public static class Pauses extends Ring {
    /** Starts with an empty buffer. */
    public Pauses() {}

    /** Publishes the record. */
    @Actor
    public void committer() {
      publish();
    }

    /** Replaces the ring. */
    @Actor
    public void writer() {
      takeUpTo(buffer.pause());
      buffer.replace();
      buffer.resume();
    }

    /** Looks for the record. */
    @Arbiter
    public void look(I_Result r) {
      r.r1 = take();
    }
  }

  /** Pauses nothing. */
  @BrokenTwin
  @JCStressTest
  @Outcome(id = "11", expect = ACCEPTABLE, desc = "The record is where the writer looks, by luck.")
  @Outcome(expect = ACCEPTABLE_INTERESTING, desc = "In the other ring: the twin is broken.")
  @State
  public static class BrokenGoesOn extends Ring {
    /** Starts with an empty buffer. */
    public BrokenGoesOn() {}

    /** Publishes the record. */
    @Actor
    public void committer() {
      publish();
    }

    /** Replaces the ring. */
    @Actor
    public void writer() {
      takeUpTo(buffer.tail());
      buffer.replace();
    }

    /** Looks for the record. */
    @Arbiter
    public void look(I_Result r) {
      r.r1 = take();
    }
  }
}
