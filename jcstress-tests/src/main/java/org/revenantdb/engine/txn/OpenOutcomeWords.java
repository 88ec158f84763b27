package org.revenantdb.engine.txn;

import org.jspecify.annotations.NullMarked;

/**
 * Gives the jcstress tests access to the package-private word of one transaction: a chunk of the
 * table with room for one.
 */
@NullMarked
public final class OpenOutcomeWords {
  /** The result of {@link #get} for a transaction that has not begun to commit. */
  public static final long ACTIVE = OutcomeWords.ACTIVE;

  /** The result of {@link #get} for one that is committing, with or without a place in the log. */
  public static final long COMMITTING = OutcomeWords.COMMITTING;

  private final OutcomeWords words = new OutcomeWords(1);

  /** A transaction that has written. */
  public OpenOutcomeWords() {
    words.enter(0);
  }

  /** The state or outcome of the transaction. */
  public long get() {
    return words.get(0);
  }

  /** The transaction is about to reserve its commit record. */
  public void committing() {
    words.committing(0);
  }

  /** Sets the outcome; returns whether the session has to wake sleeping threads. */
  public boolean settle(long outcome) {
    return words.settle(0, outcome);
  }

  /** Whether the caller has to sleep until the outcome is known. */
  public boolean mustWait() {
    return words.mustWait(0);
  }

  /** Whether the caller has to sleep until the transaction has ended. */
  public boolean mustWaitForEnd() {
    return words.mustWaitForEnd(0);
  }
}
