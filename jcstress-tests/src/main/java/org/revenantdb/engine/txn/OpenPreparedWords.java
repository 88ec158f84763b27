package org.revenantdb.engine.txn;

import org.jspecify.annotations.NullMarked;

/** A transaction that is being prepared: its word in a chunk, and its second word elsewhere. */
@NullMarked
public final class OpenPreparedWords {
  private static final long ID = 7;

  private final OutcomeWords chunk = new OutcomeWords(1);
  private volatile PreparedWords prepared = PreparedWords.NONE;

  /** An active transaction. */
  public OpenPreparedWords() {
    chunk.enter(0);
  }

  /** Step one: the second word exists, and is unknown. */
  public void with() {
    prepared = prepared.with(ID);
  }

  /** Step two: the second word is set to active. */
  public void enter() {
    OutcomeWords word = prepared.of(ID);
    if (word != null) {
      word.enter(0);
    }
  }

  /** Step three. */
  public void moveAway() {
    chunk.moveAway(0);
  }

  /** What a look-up finds, as in the table. */
  public boolean isActive() {
    long state = chunk.get(0);
    if (state == OutcomeWords.ELSEWHERE) {
      PreparedWords now = prepared;
      OutcomeWords word = now.isEmpty() ? null : now.of(ID);
      state = word == null ? OutcomeWords.UNKNOWN : word.get(0);
    }
    return state == OutcomeWords.ACTIVE;
  }
}
