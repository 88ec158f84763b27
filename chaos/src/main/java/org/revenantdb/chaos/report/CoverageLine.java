package org.revenantdb.chaos.report;

import org.revenantdb.chaos.trace.Site;

/**
 * A place that forces files, and whether anybody would notice if it did not.
 *
 * @param site the place; its kind of file is empty if it is only known from class files
 * @param forces how many were recorded there; 0 if no recording reached it
 * @param states how many states were built without them
 * @param detectedBy the profile and finding that noticed; empty if nothing did
 */
public record CoverageLine(Site site, long forces, long states, String detectedBy) {

  /**
   * Whether a recording came by.
   *
   * @return whether there were forces
   */
  public boolean reached() {
    return forces > 0;
  }

  /**
   * Whether the loss of these forces turned something red.
   *
   * @return whether it did
   */
  public boolean detected() {
    return !detectedBy.isEmpty();
  }
}
