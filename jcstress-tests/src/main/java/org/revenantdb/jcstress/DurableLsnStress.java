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
 * Claim (W2): who sees an LSN durable sees all that was done before it was called so: the force.
 *
 * <p>The very position of the log buffer; the force is a plain field. Results: what was seen
 * durable, and whether the force was.
 *
 * <p>Broken twin: the position is raised before the force. Seen to fail on x86; that a plain store
 * in the right order may be seen early x86 does not show.
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

  /** As it is. */
  @JCStressTest
  @Outcome(
      id = {"0, 0", "0, 1", "40, 1"},
      expect = ACCEPTABLE,
      desc = "What is called durable is.")
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

  /** Says so first. */
  @BrokenTwin
  @JCStressTest
  @Outcome(
      id = {"0, 0", "0, 1", "40, 1"},
      expect = ACCEPTABLE,
      desc = "What is called durable is, by luck.")
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
