package org.revenantdb.recovery.log;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.LongSupplier;

/**
 * When the log has to be forced for those who do not wait for it.
 *
 * <p>Threads: any may ask for a force; one, the log writer, takes what was asked for.
 */
final class LazyDeadline {
  /*
   * State       NONE, or a moment of System.nanoTime.
   *
   * Transitions NONE or later -> earlier   CAS             by who asks, after its record was published
   *             any -> NONE                volatile store  by the writer, before it reads the tail and forces up to it
   *
   * Ordering    Asks: tail raised (getAndAdd), then the deadline is read. Takes: the deadline cleared, then the tail
   *             read. All four are in one order: who finds a deadline that is cleared afterwards has raised the tail
   *             before the writer reads it, and is covered; who comes later finds NONE, and sets its own. With a
   *             release store instead both could miss each other (jcstress: LazyDeadlineStress).
   *
   * No clock    A deadline was set at some moment before now, to at most `longest` behind it: who does not want it
   *             sooner than that finds it early enough whatever the time is. `longest` is raised before the deadline
   *             is set, so who reads the deadline first has seen what it was set by.
   */
  private static final long NONE = 0;

  private static final VarHandle DEADLINE;

  static {
    try {
      DEADLINE = MethodHandles.lookup().findVarHandle(LazyDeadline.class, "deadline", long.class);
      LONGEST = MethodHandles.lookup().findVarHandle(LazyDeadline.class, "longest", long.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  private static final VarHandle LONGEST;

  private volatile long deadline = NONE;

  /** No deadline was set farther ahead than this; only grows. */
  private volatile long longest;

  LazyDeadline() {}

  /**
   * Asks for a force within a time; what is to be forced is published.
   *
   * @param nanos how long it may take
   * @param clock the time, read only if it matters
   * @return whether the writer must be told, which may sleep for longer
   */
  boolean request(long nanos, LongSupplier clock) {
    if (deadline != NONE && nanos >= longest) { // in this order
      return false;
    }
    raiseLongest(nanos);
    long wanted = clock.getAsLong() + nanos;
    if (wanted == NONE) {
      wanted++;
    }
    long old = deadline;
    while (old == NONE || wanted - old < 0) {
      if (DEADLINE.compareAndSet(this, old, wanted)) {
        return true;
      }
      old = deadline;
    }
    return false;
  }

  private void raiseLongest(long nanos) {
    long old = longest;
    while (old < nanos && !LONGEST.compareAndSet(this, old, nanos)) {
      old = longest;
    }
  }

  /**
   * Says how long nothing has to be done.
   *
   * @param now the clock
   * @param most the answer if nobody has asked
   * @return 0 or less if it is time
   */
  long left(long now, long most) {
    long until = deadline;
    return until == NONE ? most : Math.min(most, until - now);
  }

  /**
   * Takes what was asked for.
   *
   * @return whether anybody had; then the caller reads the tail and forces up to there
   */
  boolean take() {
    if (deadline == NONE) {
      return false;
    }
    deadline = NONE;
    return true;
  }
}
