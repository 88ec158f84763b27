package org.revenantdb.engine.version;

/** The last conflict that a writer has met: a row that another transaction has written. */
public interface RowConflict {
  /** The other transaction. */
  long conflictingWriter();

  /** The LSN of its commit, 0 if it has not ended. */
  long conflictLsn();

  /** Id of the tree that the row is in. */
  int conflictTree();

  /** The key of the row; the array must not be changed. */
  byte[] conflictKey();
}
