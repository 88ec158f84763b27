package org.revenantdb.chaos.teeth;

import java.time.Duration;
import java.util.Locale;
import org.revenantdb.chaos.subject.Verdict;

/**
 * The result of hunting one broken subject.
 *
 * @param name of the subject
 * @param broken how it is broken, in words
 * @param seed of the hunt
 * @param found whether it was found
 * @param verdict the worst verdict
 * @param states the number of states checked until then (for a process death: kills)
 * @param time the duration of the hunt
 * @param story the failure that was found, shrunk; or the reason why none was
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
   * Everything but the story, in one line.
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
