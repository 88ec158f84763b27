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
import org.revenantdb.recovery.log.OpenLogBuffer;

/**
 * Claim: who finds room in the ring finds the writer's zeros there, so they cannot wipe out what he
 * copies.
 *
 * <p>The very buffer. One actor is the writer that gives a written lap back, the other copies the
 * first record of the next lap if there is room. Results: whether there was, and what the body says
 * in the end.
 *
 * <p>Broken twin: room is given before the zeros are written. Seen to fail on x86.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Djcstress.tests=LogReuseStress}
 */
public final class LogReuseStress {
  private static final byte[] RECORD = OpenLogBuffer.record(1);
  private static final long NEXT_LAP = OpenLogBuffer.FIRST + OpenLogBuffer.CAPACITY;

  private LogReuseStress() {}

  /** A ring that is full of a lap that is in the files. */
  public abstract static class Ring {
    final OpenLogBuffer buffer = new OpenLogBuffer();

    Ring() {
      buffer.copyBody(OpenLogBuffer.FIRST, OpenLogBuffer.record(7));
    }

    int copyIfRoom() {
      if (!buffer.hasRoomUpTo(NEXT_LAP + OpenLogBuffer.LENGTH)) {
        return 0;
      }
      buffer.copyBody(NEXT_LAP, RECORD);
      return 1;
    }
  }

  /** As it is. */
  @JCStressTest
  @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "No room yet, and zeros in the end.")
  @Outcome(id = "1, 11", expect = ACCEPTABLE, desc = "Room, and the record is there.")
  @Outcome(expect = FORBIDDEN, desc = "The zeros fell on the record.")
  @State
  public static class Emptied extends Ring {
    /** Starts with a full ring. */
    public Emptied() {}

    /** Gives the lap back. */
    @Actor
    public void writer() {
      buffer.empty(OpenLogBuffer.FIRST, NEXT_LAP);
      buffer.raiseWritten(NEXT_LAP);
    }

    /** Copies. */
    @Actor
    public void session(II_Result r) {
      r.r1 = copyIfRoom();
    }

    /** Looks. */
    @Arbiter
    public void end(II_Result r) {
      r.r2 = buffer.bodyAt(NEXT_LAP);
    }
  }

  /** Room first, zeros later. */
  @BrokenTwin
  @JCStressTest
  @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "No room yet.")
  @Outcome(id = "1, 11", expect = ACCEPTABLE, desc = "The record is there, by luck.")
  @Outcome(expect = ACCEPTABLE_INTERESTING, desc = "The record is wiped out: the twin is broken.")
  @State
  public static class BrokenRoomFirst extends Ring {
    /** Starts with a full ring. */
    public BrokenRoomFirst() {}

    /** Gives the lap back. */
    @Actor
    public void writer() {
      buffer.raiseWritten(NEXT_LAP);
      buffer.empty(OpenLogBuffer.FIRST, NEXT_LAP);
    }

    /** Copies. */
    @Actor
    public void session(II_Result r) {
      r.r1 = copyIfRoom();
    }

    /** Looks. */
    @Arbiter
    public void end(II_Result r) {
      r.r2 = buffer.bodyAt(NEXT_LAP);
    }
  }
}
