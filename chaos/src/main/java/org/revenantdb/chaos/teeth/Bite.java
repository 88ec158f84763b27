package org.revenantdb.chaos.teeth;

import java.time.Duration;
import java.util.Locale;
import org.revenantdb.chaos.subject.Verdict;

/**
 * What came of hunting one broken subject.
 *
 * @param name of the subject
 * @param broken how it is broken, in words
 * @param seed of the hunt
 * @param found whether it was found
 * @param verdict the worst that was given
 * @param states that were looked at until then (of a process death: kills)
 * @param time that it took
 * @param story of what was found, shrunk; or why nothing was
 */
public record Bite(
    String name,
    String broken,
    long seed,
    boolean found,
    Verdict verdict,
    long states,
    Duration time,
    String story) {

  /**
   * All but the story, in a line.
   *
   * @return for instance {@code NoForce: found as LOST in 61 states and 0.3 s, seed 1}
   */
  public String line() {
    return String.format(
        Locale.ROOT,
        "%s: %s as %s in %d states and %.1f s, seed %d",
        name,
        found ? "found" : "NOT found",
        verdict,
        states,
        time.toMillis() / 1e3,
        seed);
  }
}
