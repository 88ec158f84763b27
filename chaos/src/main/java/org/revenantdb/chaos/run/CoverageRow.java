package org.revenantdb.chaos.run;

import org.revenantdb.chaos.trace.Site;

/**
 * Whether it is detected if one place no longer forces.
 *
 * @param site the place and the kind of file
 * @param forces the number of forces in the recordings that came from it; 0: no recording reached
 *     it
 * @param states the number of states opened without them
 * @param detectedBy the finding, in one line; empty: none
 * @param thorough whether each recording was cut several times without them, or until one loss was
 *     detected; false if the time was over first
 */
public record CoverageRow(Site site, int forces, long states, String detectedBy, boolean thorough) {

  /** What is known about the missing force. */
  public enum Loss {
    /** It was detected. */
    NOTICED,
    /** It was not detected in a thorough search. */
    UNNOTICED,
    /** It was not detected in a short search, which is no statement about the force. */
    UNDECIDED,
    /** No recording reached the place. */
    NOT_REACHED
  }

  /**
   * Returns what is known about the missing force.
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
   * Returns whether the missing force was detected.
   *
   * @return true if it was
   */
  public boolean detected() {
    return !detectedBy.isEmpty();
  }
}
