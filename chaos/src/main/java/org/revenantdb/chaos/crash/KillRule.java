package org.revenantdb.chaos.crash;

/** When the parent kills a child. */
sealed interface KillRule {

  /** Not at all. */
  record Never() implements KillRule {}

  /** When it has said so much to its promises. */
  record AtPromise(KillPoint point) implements KillRule {}

  /**
   * A while after a phase began: inside of it a child cannot report.
   *
   * @param phase which phase
   * @param times how often it begins until then
   * @param delayNanos how long the child may go on
   */
  record Inside(Phase phase, int times, long delayNanos) implements KillRule {}
}
