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
 * Claim (W2): a thread that sees an LSN as durable sees everything that was done before it was made
 * durable: the force.
 *
 * <p>Runs the production position of the log buffer; the force is a plain field. Results: the
 * position that was seen as durable, and whether the force was seen.
 *
 * <p>Broken twin: the position is raised before the force. Fails on x86. A plain store in the right
 * order may also be seen early, but x86 does not show that.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none
 * -Djcstress.tests=DurableLsnStress}
 */
public final class DurableLsnStress {
  private static final long LSN = OpenLogBuffer.FIRST + OpenLogBuffer.LENGTH;

  private DurableLsnStress() {}

  /** The log, and the medium. */
  public abstract static class Medium {
    final OpenLogBuffer buffer = new OpenLogBuffer();
    int forced;

    Medium() {}

    void look(JI_Result r) {
      r.r1 = buffer.durable() - OpenLogBuffer.FIRST;
      r.r2 = forced;
    }
  }

  /** The production code. */
  @JCStressTest
  @Outcome(
      id = {"0, 0", "0, 1", "40, 1"},
      expect = ACCEPTABLE,
      desc = "The position is really durable.")
  @Outcome(expect = FORBIDDEN, desc = "A commit is acknowledged that is not on the medium.")
  @State
  public static class ForcedFirst extends Medium {
    /** Starts with nothing forced. */
    public ForcedFirst() {}

    /** Forces. */
    @Actor
    public void writer() {
      forced = 1;
      buffer.raiseDurable(LSN);
    }

    /** Acknowledges. */
    @Actor
    public void session(JI_Result r) {
      look(r);
    }
  }

  /** Raises the position first. */
  @BrokenTwin
  @JCStressTest
  @Outcome(
      id = {"0, 0", "0, 1", "40, 1"},
      expect = ACCEPTABLE,
      desc = "The position is really durable, by luck.")
  @Outcome(expect = ACCEPTABLE_INTERESTING, desc = "It is not: the twin is broken.")
  @State
  public static class BrokenForcedLast extends Medium {
    /** Starts with nothing forced. */
    public BrokenForcedLast() {}

    /** Forces. */
    @Actor
    public void writer() {
      buffer.raiseDurable(LSN);
      forced = 1;
    }

    /** Acknowledges. */
    @Actor
    public void session(JI_Result r) {
      look(r);
    }
  }
}
