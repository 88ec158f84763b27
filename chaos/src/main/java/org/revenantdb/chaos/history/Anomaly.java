package org.revenantdb.chaos.history;

import java.util.List;

/**
 * One thing that must not be.
 *
 * @param kind what sort of thing
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
