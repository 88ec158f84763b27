package org.revenantdb.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.revenantdb.recovery.log.OpenLogBuffer;

/**
 * Claim: a thread that finds room in the ring does not overwrite bytes that the writer is still
 * reading. What an earlier lap has left there is not taken for a record of this lap.
 *
 * <p>Runs the production buffer. One actor is the writer: it reads the first record of a lap,
 * releases the place, and checks whether the next lap has a record there. The other actor copies
 * and publishes that record, if there is room. Results: whether there was room, what the writer has
 * read of the old lap (77), and what it found of the new one: 0 nothing, 11 the record.
 *
 * <p>Broken twin: the place is released before the old lap is read. Fails on x86.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none
 * -Djcstress.tests=LogReuseStress}
 */
public final class LogReuseStress {
  private static final byte[] RECORD = OpenLogBuffer.record(1);
  private static final long NEXT_LAP = OpenLogBuffer.FIRST + OpenLogBuffer.CAPACITY;

  private LogReuseStress() {}

  /** A ring whose first place has a record of a lap that is about to be written to the files. */
  public abstract static class Ring {
    final OpenLogBuffer buffer = new OpenLogBuffer();

    Ring() {
      buffer.copy(OpenLogBuffer.FIRST, OpenLogBuffer.record(7));
      buffer.publish(OpenLogBuffer.FIRST);
    }

    int copyIfRoom() {
      if (!buffer.hasRoomUpTo(NEXT_LAP + OpenLogBuffer.LENGTH)) {
        return 0;
      }
      buffer.copy(NEXT_LAP, RECORD);
      buffer.publish(NEXT_LAP);
      return 1;
    }

    int newLap() {
      return buffer.publishedEnd(NEXT_LAP) == NEXT_LAP ? 0 : buffer.bodyAt(NEXT_LAP);
    }
  }

  /** The production code. */
  @JCStressTest
  @Outcome(id = "0, 77, 0", expect = ACCEPTABLE, desc = "No room yet.")
  @Outcome(id = "1, 77, 0", expect = ACCEPTABLE, desc = "Room, and the record comes later.")
  @Outcome(id = "1, 77, 11", expect = ACCEPTABLE, desc = "Room, and the record is there.")
  @Outcome(expect = FORBIDDEN, desc = "A record was overwritten, or an old one taken for new.")
  @State
  public static class ReadFirst extends Ring {
    /** Starts with an old record. */
    public ReadFirst() {}

    /** Reads, and releases the lap. */
    @Actor
    public void writer(III_Result r) {
      r.r2 = buffer.bodyAt(OpenLogBuffer.FIRST);
      buffer.raiseWritten(NEXT_LAP);
      r.r3 = newLap();
    }

    /** Copies. */
    @Actor
    public void session(III_Result r) {
      r.r1 = copyIfRoom();
    }
  }

  /** Releases first, and reads the old lap later. */
  @BrokenTwin
  @JCStressTest
  @Outcome(id = "0, 77, 0", expect = ACCEPTABLE, desc = "No room yet.")
  @Outcome(
      id = {"1, 77, 0", "1, 77, 11"},
      expect = ACCEPTABLE,
      desc = "The old record was read in time, by luck.")
  @Outcome(expect = ACCEPTABLE_INTERESTING, desc = "It was overwritten: the twin is broken.")
  @State
  public static class BrokenRoomFirst extends Ring {
    /** Starts with an old record. */
    public BrokenRoomFirst() {}

    /** Releases the lap, and reads. */
    @Actor
    public void writer(III_Result r) {
      buffer.raiseWritten(NEXT_LAP);
      r.r2 = buffer.bodyAt(OpenLogBuffer.FIRST);
      r.r3 = newLap();
    }

    /** Copies. */
    @Actor
    public void session(III_Result r) {
      r.r1 = copyIfRoom();
    }
  }
}
