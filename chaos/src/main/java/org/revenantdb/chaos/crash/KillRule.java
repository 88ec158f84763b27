package org.revenantdb.chaos.crash;

/** When the parent kills a child. */
sealed interface KillRule {

  /** Never. */
  record Never() implements KillRule {}

  /** At a number of reports to the ledger. */
  record AtPromise(KillPoint point) implements KillRule {}

  /**
   * Some time after a phase began, because a child cannot report inside a phase.
   *
   * @param phase the phase
   * @param times the number of the phase's beginnings until then
   * @param delayNanos how long the child may continue
   */
  record Inside(Phase phase, int times, long delayNanos) implements KillRule {}
}
