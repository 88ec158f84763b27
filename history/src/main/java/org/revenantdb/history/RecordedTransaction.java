package org.revenantdb.history;

import java.util.List;

/**
 * One transaction of a history, as its client saw it.
 *
 * @param process the client; it has one transaction at a time
 * @param life the number of earlier lives of the store
 * @param invoked the place at which it began
 * @param asked the place at which it requested its commit; {@link History#NEVER} if it did not
 * @param completed the place at which it was answered; {@link History#NEVER} if it was not
 * @param outcome the answer
 * @param accesses its accesses, in order
 */
public record RecordedTransaction(
    int process,
    int life,
    long invoked,
    long asked,
    long completed,
    TransactionOutcome outcome,
    List<Access> accesses) {

  /** Copies the accesses. */
  public RecordedTransaction {
    accesses = List.copyOf(accesses);
  }
}
