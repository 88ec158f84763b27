package org.revenantdb.chaos.report;

import java.util.List;

/**
 * A process that died, or several in a row, and the opening after it.
 *
 * @param seeds of the lives that ended
 * @param place what they were doing, in a few words
 * @param recoveryMillis the duration of the opening
 */
public record DeathLine(List<Long> seeds, String place, double recoveryMillis) {

  /** Copies the list. */
  public DeathLine {
    seeds = List.copyOf(seeds);
  }
}
