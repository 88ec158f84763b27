package org.revenantdb.engine.txn;

import org.jspecify.annotations.NullMarked;

/**
 * The word of one transaction, which is package-private, for the jcstress tests: a chunk of the
 * table with room for one.
 */
@NullMarked
public final class OpenOutcomeWords {
  /** What {@link #get} says of who has not begun to commit. */
  public static final long ACTIVE = OutcomeWords.ACTIVE;

  /** What {@link #get} says of who has, and may or may not have its place in the log. */
  public static final long COMMITTING = OutcomeWords.COMMITTING;

  private final OutcomeWords words = new OutcomeWords(1);

  /** One that has written. */
  public OpenOutcomeWords() {
    words.enter(0);
  }

  /** What became of it. */
  public long get() {
    return words.get(0);
  }

  /** It is about to reserve its commit record. */
  public void committing() {
    words.committing(0);
  }

  /** Its outcome is known; returns whether its session wakes those who sleep. */
  public boolean settle(long outcome) {
    return words.settle(0, outcome);
  }

  /** Whether the caller has to sleep until the outcome is known. */
  public boolean mustWait() {
    return words.mustWait(0);
  }

  /** Whether the caller has to sleep until it has ended. */
  public boolean mustWaitForEnd() {
    return words.mustWaitForEnd(0);
  }
}
