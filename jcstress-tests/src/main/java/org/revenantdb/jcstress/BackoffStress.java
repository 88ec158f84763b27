package org.revenantdb.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.revenantdb.engine.OpenBackoff;

/**
 * Claim: when several threads find that the interval of a climb may end, one at a time takes a
 * sample, and each sees what the previous one has left (protocols.md §40, B1).
 *
 * <p>Runs the production word. The twin {@link BrokenFlag} reads the word and then sets it. Fails
 * on x86.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none -Djcstress.tests=BackoffStress}
 */
public final class BackoffStress {
  private BackoffStress() {}

  /** The production code. */
  @JCStressTest
  @Outcome(id = "0, 0", expect = FORBIDDEN, desc = "Both take a sample, and neither saw the other.")
  @Outcome(id = "1, 1", expect = FORBIDDEN, desc = "Each saw a sample that was not taken yet.")
  @Outcome(
      id = {"0, -1", "-1, 0"},
      expect = ACCEPTABLE,
      desc = "One takes a sample.")
  @Outcome(
      id = {"0, 1", "1, 0"},
      expect = ACCEPTABLE,
      desc = "One after the other; the second finds that the interval may not end yet.")
  @State
  public static class OneAtATime {
    private final OpenBackoff backoff = new OpenBackoff();

    /** Starts with an interval that may end. */
    public OneAtATime() {}

    /** Meets a conflict. */
    @Actor
    public void one(II_Result r) {
      r.r1 = backoff.look();
    }

    /** Meets another one. */
    @Actor
    public void other(II_Result r) {
      r.r2 = backoff.look();
    }
  }

  /** Reads the word, then sets it: a model of the word. */
  @BrokenTwin
  @JCStressTest
  @Outcome(
      id = "0, 0",
      expect = ACCEPTABLE_INTERESTING,
      desc = "Neither saw the other: the twin is broken.")
  @Outcome(expect = ACCEPTABLE, desc = "One at a time, by luck.")
  @State
  public static class BrokenFlag {
    private volatile boolean looking;
    private int samples;

    /** Starts with an interval that may end. */
    public BrokenFlag() {}

    private int look() {
      if (looking) {
        return OpenBackoff.NONE;
      }
      looking = true;
      int before = samples;
      samples = before + 1;
      looking = false;
      return before;
    }

    /** Meets a conflict. */
    @Actor
    public void one(II_Result r) {
      r.r1 = look();
    }

    /** Meets another one. */
    @Actor
    public void other(II_Result r) {
      r.r2 = look();
    }
  }
}
