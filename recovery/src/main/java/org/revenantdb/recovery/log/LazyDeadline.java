package org.revenantdb.recovery.log;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

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
   */
  private static final long NONE = 0;

  private static final VarHandle DEADLINE;

  static {
    try {
      DEADLINE = MethodHandles.lookup().findVarHandle(LazyDeadline.class, "deadline", long.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  private volatile long deadline = NONE;

  LazyDeadline() {}

  /**
   * Asks for a force within a time; what is to be forced is published.
   *
   * @param now the clock
   * @param nanos how long it may take
   * @return whether the writer must be told, which may sleep for longer
   */
  boolean request(long now, long nanos) {
    long wanted = now + nanos;
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
