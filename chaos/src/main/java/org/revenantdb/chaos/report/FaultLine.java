package org.revenantdb.chaos.report;

import java.util.Map;
import org.revenantdb.chaos.subject.Verdict;

/**
 * A fault at a place, and what came of it.
 *
 * @param fault its kind
 * @param place where it was injected: a site, or a kind of file
 * @param occurrences how often it was
 * @param verdicts how often each was given
 */
public record FaultLine(String fault, String place, long occurrences, Map<Verdict, Long> verdicts) {

  /** Copies the map. */
  public FaultLine {
    verdicts = Map.copyOf(verdicts);
  }
}
