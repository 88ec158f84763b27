package org.revenantdb.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JI_Result;
import org.revenantdb.recovery.log.OpenLogBuffer;

/**
 * Claim: if the log writer sees the end of a record, it sees the whole record.
 *
 * <p>Runs the production buffer: one actor reserves, copies and publishes, the other scans as the
 * writer does. Results: published bytes, and the content of the body; 11 = both longs are there.
 *
 * <p>Broken twin: the end is stored before the record. Fails on x86.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none
 * -Djcstress.tests=LogPublishStress}
 */
public final class LogPublishStress {
  private static final byte[] RECORD = OpenLogBuffer.record(1);

  private LogPublishStress() {}

  /** The ring and its reader. */
  public abstract static class Ring {
    final OpenLogBuffer buffer = new OpenLogBuffer();

    Ring() {}

    void scan(JI_Result r) {
      long end = buffer.publishedEnd();
      r.r1 = end - OpenLogBuffer.FIRST;
      r.r2 = r.r1 == 0 ? 0 : buffer.bodyAt(OpenLogBuffer.FIRST);
    }
  }

  /** The production code. */
  @JCStressTest
  @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "Not published yet.")
  @Outcome(id = "40, 11", expect = ACCEPTABLE, desc = "Published, and whole.")
  @Outcome(expect = FORBIDDEN, desc = "A part of the body is missing: a bad CRC in the log.")
  @State
  public static class Published extends Ring {
    /** Starts with an empty ring. */
    public Published() {}

    /** Publishes. */
    @Actor
    public void session() {
      long start = buffer.reserve();
      buffer.copy(start, RECORD);
      buffer.publish(start);
    }

    /** Scans. */
    @Actor
    public void writer(JI_Result r) {
      scan(r);
    }
  }

  /** Stores the end first. */
  @BrokenTwin
  @JCStressTest
  @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "Not published yet.")
  @Outcome(id = "40, 11", expect = ACCEPTABLE, desc = "Published, and whole, by luck.")
  @Outcome(expect = ACCEPTABLE_INTERESTING, desc = "A part is missing: the twin is broken.")
  @State
  public static class BrokenEndFirst extends Ring {
    /** Starts with an empty ring. */
    public BrokenEndFirst() {}

    /** Publishes. */
    @Actor
    public void session() {
      long start = buffer.reserve();
      buffer.publish(start);
      buffer.copy(start, RECORD);
    }

    /** Scans. */
    @Actor
    public void writer(JI_Result r) {
      scan(r);
    }
  }
}
