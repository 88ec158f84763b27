package org.revenantdb.chaos.run;

import org.revenantdb.chaos.trace.Site;

/**
 * Whether anyone notices that one place no longer forces.
 *
 * @param site the place and the kind of file
 * @param forces how many of the recordings' forces came from it; 0: no recording reached it
 * @param states that were opened without them
 * @param detectedBy what was found, in a line; empty: nothing
 * @param thorough whether each recording was cut several times without them, or until one was
 *     detected; else the time was over first
 */
public record CoverageRow(Site site, int forces, long states, String detectedBy, boolean thorough) {

  /** What is known of the loss of a place. */
  public enum Loss {
    /** Something turned red. */
    NOTICED,
    /** Nothing did, and it was tried thoroughly: nobody would miss the force. */
    UNNOTICED,
    /** Nothing did, but it was not tried for long: says nothing of the force. */
    UNDECIDED,
    /** No recording came there. */
    NOT_REACHED
  }

  /**
   * What is known of the loss of the place.
   *
   * @return one of the four
   */
  public Loss loss() {
    if (detected()) {
      return Loss.NOTICED;
    }
    if (forces == 0) {
      return Loss.NOT_REACHED;
    }
    return thorough ? Loss.UNNOTICED : Loss.UNDECIDED;
  }

  /**
   * Whether the loss of the place is noticed.
   *
   * @return true if so
   */
  public boolean detected() {
    return !detectedBy.isEmpty();
  }
}
