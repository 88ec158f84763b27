package org.revenantdb.history;

import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * The result of a check of a history at one level.
 *
 * <p>Threads: any; it is immutable.
 *
 * @param level the level
 * @param precedence what counted as an order in addition to reads and writes
 * @param committed the number of transactions that count as committed
 * @param dependencies the number of edges in their graph
 * @param steps the number of edges followed in the search for cycles
 * @param counts the number of anomalies of each kind, in the order of the kinds
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

  /** Copies its arguments. */
  public CheckResult {
    Map<AnomalyKind, Integer> ordered = new EnumMap<>(AnomalyKind.class);
    ordered.putAll(counts);
    counts = Collections.unmodifiableMap(ordered);
    anomalies = List.copyOf(anomalies);
  }

  /**
   * Returns whether the level allows the history.
   *
   * @return true if there is no anomaly
   */
  public boolean holds() {
    return anomalies.isEmpty();
  }

  /**
   * Returns whether there is an anomaly of a kind.
   *
   * @param kind the kind
   * @return true if there is
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
