package org.revenantdb.recovery.log;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.LongSupplier;

/**
 * The time by which the log must be forced for callers that do not wait for the force.
 *
 * <p>Threads: any thread may request a force; only the log writer takes the requests.
 */
final class LazyDeadline {
  /*
   * State       NONE, or a moment of System.nanoTime.
   *
   * Transitions NONE or later -> earlier   CAS             by a requesting thread, after its record was published
   *             any -> NONE                volatile store  by the writer, before it reads the tail and forces up to it
   *
   * Ordering    Asks: the tail is raised (getAndAdd), then the deadline is read. Takes: the deadline is cleared, then
   *             the tail is read. All four are in one order. A caller that finds a deadline which is cleared
   *             afterwards has raised the tail before the writer reads it, and is covered. A later caller finds NONE,
   *             and sets its own deadline. With a release store instead, both could miss each other (jcstress:
   *             LazyDeadlineStress).
   *
   * No clock    A deadline was set at some moment before now, to at most `longest` after that moment. So for a caller
   *             with a time limit of at least `longest` it is early enough, whatever the time is. `longest` is raised
   *             before the deadline is set. So a caller that reads the deadline first sees the `longest` that belongs
   *             to it.
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

  /** No deadline was set further ahead than this; it only grows. */
  private volatile long longest;

  LazyDeadline() {}

  /**
   * Requests a force within a time. The records to be forced are already published.
   *
   * @param nanos how long it may take
   * @param clock the clock, read only if it matters
   * @return whether the caller must wake the writer, because it may sleep for longer
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
   * The time until the deadline.
   *
   * @param now the time of the clock
   * @param most the greatest result, also if there is no request
   * @return 0 or less if the deadline has passed
   */
  long left(long now, long most) {
    long until = deadline;
    return until == NONE ? most : Math.min(most, until - now);
  }

  /**
   * Takes the requests.
   *
   * @return whether there was one; then the caller reads the tail and forces up to there
   */
  boolean take() {
    if (deadline == NONE) {
      return false;
    }
    deadline = NONE;
    return true;
  }
}
