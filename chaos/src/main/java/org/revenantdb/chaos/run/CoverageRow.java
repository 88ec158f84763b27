package org.revenantdb.chaos.run;

import org.revenantdb.chaos.trace.Site;

/**
 * Whether anyone notices that one place no longer forces.
 *
 * @param site the place and the kind of file
 * @param forces how many of the recordings' forces came from it; 0: no recording reached it
 * @param states that were opened without them
 * @param detectedBy what was found, in a line; empty: nothing, so the loss of the place goes
 *     unnoticed
 */
public record CoverageRow(Site site, int forces, long states, String detectedBy) {

  /**
   * Whether the loss of the place is noticed.
   *
   * @return true if so
   */
  public boolean detected() {
    return !detectedBy.isEmpty();
  }
}
