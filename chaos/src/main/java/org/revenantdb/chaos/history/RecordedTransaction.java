package org.revenantdb.chaos.history;

import java.util.List;

/**
 * One transaction of a history, as its client lived it.
 *
 * @param process the client: it has one transaction at a time
 * @param life how often the store had been opened before; 0 first
 * @param invoked the place in the order of events at which it began
 * @param asked the place at which its commit was asked for; {@link History#NEVER} if it was not
 * @param completed the place at which it was answered; {@link History#NEVER} if it was not
 * @param outcome what it was answered
 * @param accesses what it did, in order
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
