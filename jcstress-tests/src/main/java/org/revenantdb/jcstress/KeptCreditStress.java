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
 * Claim: nobody sleeps while credit is kept: who waits says so and then takes back what is kept,
 * who gives back keeps it and then looks whether somebody waits (R17). And what is kept is taken or
 * taken back, once.
 *
 * <p>The very class. Result: how much was released to all.
 *
 * <p>Broken twin: {@link BrokenLooksFirst} takes back before he says that he waits. Seen to fail on
 * x86.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none
 * -Djcstress.tests=KeptCreditStress}
 */
public final class KeptCreditStress {
  private KeptCreditStress() {}

  /** As it is. */
  @JCStressTest
  @Outcome(id = "0", expect = FORBIDDEN, desc = "Kept, and somebody sleeps who could have it.")
  @Outcome(id = "1", expect = ACCEPTABLE, desc = "Released, by one of the two.")
  @Outcome(expect = FORBIDDEN, desc = "Credit was invented.")
  @State
  public static class SaysFirst {
    private final OpenKeptCredit credit = new OpenKeptCredit();

    /** Nothing is kept. */
    public SaysFirst() {}

    /** Gives back. */
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

  /** Takes back, then says that he waits. */
  @BrokenTwin
  @JCStressTest
  @Outcome(id = "0", expect = ACCEPTABLE_INTERESTING, desc = "Kept: the twin is broken.")
  @Outcome(id = "1", expect = ACCEPTABLE, desc = "Released, by luck.")
  @State
  public static class BrokenLooksFirst {
    private final OpenKeptCredit credit = new OpenKeptCredit();

    /** Nothing is kept. */
    public BrokenLooksFirst() {}

    /** Gives back. */
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

  /** One takes what the other takes back. */
  @JCStressTest
  @Outcome(id = "true, 0", expect = ACCEPTABLE, desc = "Taken.")
  @Outcome(id = "false, 1", expect = ACCEPTABLE, desc = "Taken back.")
  @Outcome(expect = FORBIDDEN, desc = "Credit was lost or invented.")
  @State
  public static class OneTakes {
    private final OpenKeptCredit credit = new OpenKeptCredit();
    private boolean isTaken;

    /** Each of the two may have it: jcstress runs the actors on threads of other stripes. */
    public OneTakes() {}

    /** Gives back, and takes it again. */
    @Actor
    public void takes() {
      credit.giveBack();
      isTaken = credit.take();
    }

    /** Takes back until there was something, or it was taken. */
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
