package org.revenantdb.engine;

import org.jspecify.annotations.NullMarked;
import org.revenantdb.engine.session.Backoff;
import org.revenantdb.engine.session.HillClimb;
import org.revenantdb.latch.WaitMeter;

/** Gives the jcstress tests access to the package-private pauses of a database. */
@NullMarked
public final class OpenBackoff {
  /** The result of {@link #look} for a caller that takes no sample. */
  public static final int NONE = -1;

  /** Where a thread leaves what it has seen. */
  private final ThreadLocal<Integer> seen = ThreadLocal.withInitial(() -> NONE);

  private final Backoff backoff =
      new Backoff(/* longest= */ 1_000_000, this::count, () -> 0, WaitMeter.NONE);

  /** A plain field: only the word under test orders accesses to it. */
  private int samples;

  /** Its first interval may end. */
  public OpenBackoff() {
    samples = 0; // the constructor of the other has counted, too
  }

  private long count() {
    int before = samples;
    samples = before + 1;
    seen.set(before);
    return 100;
  }

  /** A thread meets a conflict. Returns the number of samples at the moment when it took one. */
  public int look() {
    seen.set(NONE);
    backoff.look(HillClimb.INTERVAL);
    return seen.get();
  }
}
