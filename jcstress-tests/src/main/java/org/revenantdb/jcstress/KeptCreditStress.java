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
import org.openjdk.jcstress.infra.results.ZI_Result;
import org.revenantdb.recovery.log.OpenKeptCredit;

/**
 * Claim: no thread sleeps while credit is kept (R17). A waiting thread registers and then takes
 * back what is kept. A thread that releases credit keeps it, and then checks for waiting threads.
 * Kept credit is either taken or taken back, and only once.
 *
 * <p>Runs the production class. Result: the amount that was released to all threads.
 *
 * <p>Broken twin: {@link BrokenLooksFirst} takes back before it registers as waiting. Fails on x86.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none
 * -Djcstress.tests=KeptCreditStress}
 */
public final class KeptCreditStress {
  private KeptCreditStress() {}

  /** The production code. */
  @JCStressTest
  @Outcome(id = "0", expect = FORBIDDEN, desc = "Kept, while a thread sleeps that could have it.")
  @Outcome(id = "1", expect = ACCEPTABLE, desc = "Released, by one of the two.")
  @Outcome(expect = FORBIDDEN, desc = "Credit was invented.")
  @State
  public static class SaysFirst {
    private final OpenKeptCredit credit = new OpenKeptCredit();

    /** Nothing is kept. */
    public SaysFirst() {}

    /** Releases credit. */
    @Actor
    public void keeps() {
      credit.giveBack();
    }

    /** Is about to sleep. */
    @Actor
    public void waits() {
      credit.waits();
      credit.takeBack();
    }

    /** Adds up. */
    @Arbiter
    public void end(I_Result r) {
      r.r1 = credit.released();
    }
  }

  /** Takes back, then registers as waiting. */
  @BrokenTwin
  @JCStressTest
  @Outcome(id = "0", expect = ACCEPTABLE_INTERESTING, desc = "Kept: the twin is broken.")
  @Outcome(id = "1", expect = ACCEPTABLE, desc = "Released, by luck.")
  @State
  public static class BrokenLooksFirst {
    private final OpenKeptCredit credit = new OpenKeptCredit();

    /** Nothing is kept. */
    public BrokenLooksFirst() {}

    /** Releases credit. */
    @Actor
    public void keeps() {
      credit.giveBack();
    }

    /** Is about to sleep. */
    @Actor
    public void waits() {
      credit.takeBack();
      credit.waits();
    }

    /** Adds up. */
    @Arbiter
    public void end(I_Result r) {
      r.r1 = credit.released();
    }
  }

  /** One thread takes the credit, the other takes it back. */
  @JCStressTest
  @Outcome(id = "true, 0", expect = ACCEPTABLE, desc = "Taken.")
  @Outcome(id = "false, 1", expect = ACCEPTABLE, desc = "Taken back.")
  @Outcome(expect = FORBIDDEN, desc = "Credit was lost or invented.")
  @State
  public static class OneTakes {
    private final OpenKeptCredit credit = new OpenKeptCredit();
    private boolean isTaken;

    /** Each of the two may get it: jcstress runs the actors on threads of other stripes. */
    public OneTakes() {}

    /** Releases credit, and takes it again. */
    @Actor
    public void takes() {
      credit.giveBack();
      isTaken = credit.take();
    }

    /** Takes back until it got something, or the other took it. */
    @Actor
    public void takesBack() {
      credit.takeBack();
    }

    /** Adds up. */
    @Arbiter
    public void end(ZI_Result r) {
      r.r1 = isTaken;
      r.r2 = credit.released();
    }
  }
}
