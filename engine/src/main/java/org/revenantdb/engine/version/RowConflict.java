package org.revenantdb.engine.version;

/** Where a row was met that another transaction has written, by who met it last. */
public interface RowConflict {
  /** Who was there first. */
  long conflictingWriter();

  /** The LSN of its commit, 0 if it has not ended. */
  long conflictLsn();

  /** Id of the tree that the row is in. */
  int conflictTree();

  /** Key of the row; nobody changes it. */
  byte[] conflictKey();
}
