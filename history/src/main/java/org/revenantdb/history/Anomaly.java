package org.revenantdb.history;

import java.util.List;

/**
 * One anomaly in a history.
 *
 * @param kind the kind of anomaly
 * @param story in words: the transactions, and why each comes before the next
 * @param transactions their numbers in the history, each once
 */
public record Anomaly(AnomalyKind kind, String story, List<Integer> transactions) {

  /** Copies the numbers. */
  public Anomaly {
    transactions = List.copyOf(transactions);
  }

  @Override
  public String toString() {
    return kind + " (" + kind.literature() + "): " + story;
  }
}
