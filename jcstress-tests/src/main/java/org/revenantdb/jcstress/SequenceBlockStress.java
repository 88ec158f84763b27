package org.revenantdb.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.AtomicLong;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJ_Result;
import org.revenantdb.engine.catalog.SequenceBlock;

/**
 * Claim: a block is ended while a thread takes a number of it. The number either goes to that
 * thread or is part of the rest, never both and never neither (S5 of protocols §21).
 *
 * <p>Runs the production class, with a block of one number. Result: the index that was taken, where
 * 1 is behind the end; the size of the rest.
 *
 * <p>Broken twin: {@link BrokenReadsThenWrites} reads how many were taken, then sets it. Fails on
 * x86.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none
 * -Djcstress.tests=SequenceBlockStress}
 */
public final class SequenceBlockStress {
  private SequenceBlockStress() {}

  /** The production code. */
  @JCStressTest
  @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "Taken before the end.")
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "Ended before it was taken.")
  @Outcome(expect = FORBIDDEN, desc = "A number was given twice, or was lost.")
  @State
  public static class Ended {
    private final SequenceBlock block = new SequenceBlock(7, 1);

    /** One number. */
    public Ended() {}

    /** Takes a number. */
    @Actor
    public void takes(JJ_Result r) {
      r.r1 = block.take();
    }

    /** Ends the block. */
    @Actor
    public void ends(JJ_Result r) {
      r.r2 = block.end().size();
    }
  }

  /** Two steps in place of one. */
  @BrokenTwin
  @JCStressTest
  @Outcome(id = "0, 1", expect = ACCEPTABLE_INTERESTING, desc = "Given twice: the twin is broken.")
  @Outcome(expect = ACCEPTABLE, desc = "By luck.")
  @State
  public static class BrokenReadsThenWrites {
    private final AtomicLong taken = new AtomicLong();

    /** One number. */
    public BrokenReadsThenWrites() {}

    /** Takes a number. */
    @Actor
    public void takes(JJ_Result r) {
      r.r1 = taken.getAndIncrement();
    }

    /** Ends the block. */
    @Actor
    public void ends(JJ_Result r) {
      long used = Math.min(taken.get(), 1);
      taken.set(1);
      r.r2 = 1 - used;
    }
  }
}
