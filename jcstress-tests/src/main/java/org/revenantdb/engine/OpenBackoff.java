package org.revenantdb.engine;

import org.jspecify.annotations.NullMarked;
import org.revenantdb.engine.session.Backoff;
import org.revenantdb.engine.session.HillClimb;
import org.revenantdb.latch.WaitMeter;

/** What a database pauses below, which is package-private, for the jcstress tests. */
@NullMarked
public final class OpenBackoff {
  /** What {@link #look} says of who takes no sample. */
  public static final int NONE = -1;

  /** Where a thread leaves what it has seen. */
  private final ThreadLocal<Integer> seen = ThreadLocal.withInitial(() -> NONE);

  private final Backoff backoff =
      new Backoff(/* longest= */ 1_000_000, this::count, () -> 0, WaitMeter.NONE);

  /** Protected by nothing but what is to protect the climb. */
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

  /** Somebody meets a conflict; returns how many samples there were when this one took one. */
  public int look() {
    seen.set(NONE);
    backoff.look(HillClimb.INTERVAL);
    return seen.get();
  }
}
