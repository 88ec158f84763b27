package org.revenantdb.suite.copies;

import java.util.Set;

/**
 * The options of a run.
 *
 * @param seed of the first recording; the next one has the next number
 * @param rounds how many crashes
 * @param roundsOfARecording the most crashes of one recording
 * @param kinds what is made of the databases
 */
public record CopiesOptions(long seed, int rounds, int roundsOfARecording, Set<CopyKind> kinds) {

  /** The most crashes of one recording, unless something else is said. */
  public static final int USUAL = 8;

  /** Copies the set. */
  public CopiesOptions {
    kinds = Set.copyOf(kinds);
    if (kinds.isEmpty() || roundsOfARecording < 1) {
      throw new IllegalArgumentException("at least one kind, and one round of a recording");
    }
  }
}
