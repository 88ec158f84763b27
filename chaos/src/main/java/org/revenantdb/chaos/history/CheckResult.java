package org.revenantdb.chaos.history;

import java.util.List;
import java.util.Map;

/**
 * What a history came to at one level.
 *
 * @param level what it was held to
 * @param precedence what counted as order beside what was read and written
 * @param committed how many transactions count as committed
 * @param dependencies how many edges their graph has
 * @param steps how many edges were walked in the search for cycles
 * @param counts how many anomalies of each kind were met
 * @param anomalies the first few of each kind
 */
public record CheckResult(
    IsolationLevel level,
    Precedence precedence,
    int committed,
    long dependencies,
    long steps,
    Map<AnomalyKind, Integer> counts,
    List<Anomaly> anomalies) {

  /** Copies what it is given. */
  public CheckResult {
    counts = Map.copyOf(counts);
    anomalies = List.copyOf(anomalies);
  }

  /**
   * Whether the level allows the history.
   *
   * @return true if nothing was found
   */
  public boolean holds() {
    return anomalies.isEmpty();
  }

  /**
   * Whether something was found.
   *
   * @param kind of what
   * @return true if so
   */
  public boolean has(AnomalyKind kind) {
    return counts.containsKey(kind);
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    text.append(level).append(precedence == Precedence.NONE ? "" : " with " + precedence);
    text.append(", ").append(committed).append(" committed: ");
    text.append(holds() ? "allowed" : "forbidden " + counts);
    anomalies.forEach(anomaly -> text.append("\n\n").append(anomaly));
    return text.toString();
  }
}
