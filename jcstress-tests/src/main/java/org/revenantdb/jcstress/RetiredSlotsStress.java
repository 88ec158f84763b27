package org.revenantdb.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJ_Result;
import org.revenantdb.gc.TwoChunks;

/**
 * Claim (rule R4, protocols §38): a scan may skip a retired chunk of slots, and skips no open
 * snapshot by that.
 *
 * <p>One actor opens a snapshot in a chunk. The other closes its own snapshot, retires that chunk,
 * commits, which moves the clock from 0 to 1, and takes the horizon. In {@link Reopened} it brings
 * the chunk into use again before it commits. Results: the snapshot, -1 if the chunk was found
 * retired, and the horizon.
 *
 * <p>Broken twin: {@link BrokenClaimOnce} does not look at the chunk again after its claim. Fails
 * on x86.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none
 * -Djcstress.tests=RetiredSlotsStress}
 */
public final class RetiredSlotsStress {
  private RetiredSlotsStress() {}

  /** The production code. */
  @JCStressTest
  @Outcome(
      id = {"-1, 0", "-1, 1", "0, 0", "1, 1", "1, 0"},
      expect = ACCEPTABLE,
      desc = "The horizon is not above the snapshot.")
  @Outcome(id = "0, 1", expect = FORBIDDEN, desc = "The horizon has passed an open snapshot.")
  @State
  public static class Retired {
    private final TwoChunks chunks = new TwoChunks();

    /** Opens. */
    @Actor
    public void session(JJ_Result r) {
      r.r1 = chunks.open();
    }

    /** Closes and retires, commits, and takes the horizon. */
    @Actor
    public void pruner(JJ_Result r) {
      chunks.note();
      r.r2 = chunks.prune();
    }
  }

  /** The chunk may be open again when its state is read after the claim. */
  @JCStressTest
  @Outcome(
      id = {"-1, 0", "-1, 1", "0, 0", "1, 1", "1, 0"},
      expect = ACCEPTABLE,
      desc = "The horizon is not above the snapshot.")
  @Outcome(id = "0, 1", expect = FORBIDDEN, desc = "The horizon has passed an open snapshot.")
  @State
  public static class Reopened {
    private final TwoChunks chunks = new TwoChunks();

    /** Opens. */
    @Actor
    public void session(JJ_Result r) {
      r.r1 = chunks.open();
    }

    /** Closes and retires, brings into use again, commits, and takes the horizon. */
    @Actor
    public void pruner(JJ_Result r) {
      chunks.note();
      chunks.widen();
      r.r2 = chunks.prune();
    }
  }

  /** Reads the state of the chunk before the claim, and not again. */
  @BrokenTwin
  @JCStressTest
  @Outcome(
      id = {"-1, 1", "0, 0", "1, 1", "1, 0"},
      expect = ACCEPTABLE,
      desc = "The horizon is not above the snapshot, by luck.")
  @Outcome(
      id = "0, 1",
      expect = ACCEPTABLE_INTERESTING,
      desc = "The horizon has passed an open snapshot: the twin is broken.")
  @State
  public static class BrokenClaimOnce {
    private static final long FREE = Long.MAX_VALUE;
    private static final long CLAIMED = 0;
    private static final int OPEN = 0;
    private static final int RETIRED = 1;

    private final AtomicLong clock = new AtomicLong();
    private final AtomicLong slot = new AtomicLong(FREE);
    private final AtomicInteger chunk = new AtomicInteger(OPEN);

    /** Opens. */
    @Actor
    public void session(JJ_Result r) {
      if (chunk.get() == OPEN) {
        slot.set(CLAIMED);
        long snapshot = clock.get();
        slot.set(snapshot);
        r.r1 = snapshot;
      } else {
        r.r1 = -1;
      }
    }

    /** Retires, commits, and takes the horizon. */
    @Actor
    public void pruner(JJ_Result r) {
      if (slot.get() == FREE) {
        chunk.set(RETIRED);
      }
      clock.incrementAndGet();
      long now = clock.get();
      r.r2 = chunk.get() == RETIRED ? now : Math.min(now, slot.get());
    }
  }
}
