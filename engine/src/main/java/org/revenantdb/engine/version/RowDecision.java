package org.revenantdb.engine.version;

import org.revenantdb.engine.txn.TransactionTable;

/**
 * The decision what happens to a row that a transaction writes to. It is a pure function of the
 * data of the leaf and of the transaction table. Source: "Constant Time Recovery in Azure SQL
 * Database" (VLDB 2019), §3.2, Figure 6; rule R3; {@code docs/protocols.md} §7.
 *
 * <pre>
 *   current version of    | predecessor     | put             | delete
 *   ----------------------+-----------------+-----------------+-----------------
 *   NOBODY: no row        |                 | INSERT       *  | NOTHING      *
 *   SELF                  | any             | REPLACE_OWN     | REPLACE_OWN   +
 *   OPEN                  | any             | CONFLICT        | CONFLICT
 *   ABORTED               | none            | REPLACE_ABORTED*| NOTHING      *
 *   ABORTED               | VISIBLE         | REPLACE_ABORTED | REPLACE_ABORTED +
 *   ABORTED               | LATER           | CONFLICT_BEFORE | CONFLICT_BEFORE
 *   VISIBLE               | any             | KEEP            | KEEP          +
 *   LATER                 | any             | CONFLICT        | CONFLICT
 *
 *   *  CONFLICT_GONE if the snapshot may see a row that was deleted, and taken away, since (§41)
 *   +  NOTHING if the version that decides is a deletion already: the current one, of ABORTED the predecessor
 * </pre>
 */
enum RowDecision {
  /** A new row. */
  INSERT,
  /** The transaction has written the row before: the predecessor stays. */
  REPLACE_OWN,
  /** An aborted version is replaced: the predecessor stays, if there is one. */
  REPLACE_ABORTED,
  /** The current version becomes the predecessor. */
  KEEP,
  /** There is nothing to delete. */
  NOTHING,
  /** Conflict with the writer of the current version. */
  CONFLICT,
  /** Conflict with the writer of the predecessor. */
  CONFLICT_BEFORE,
  /** Conflict with a transaction that has deleted the row, of which nothing is left. */
  CONFLICT_GONE;

  /** The writer of a version, as the transaction that writes sees it. */
  enum Writer {
    /** There is no such version. */
    NOBODY,
    /** The transaction itself. */
    SELF,
    /** Another transaction that has not ended. */
    OPEN,
    /** A transaction that has aborted. */
    ABORTED,
    /** A transaction that committed at or below the snapshot. */
    VISIBLE,
    /** A transaction that committed above the snapshot. */
    LATER;

    /**
     * The writer of a version that is not the transaction's own.
     *
     * @param status its status in the transaction table
     */
    static Writer of(long status, long snapshot) {
      if (status == TransactionTable.ACTIVE) {
        return OPEN;
      }
      if (status == TransactionTable.ABORTED) {
        return ABORTED;
      }
      return status > snapshot ? LATER : VISIBLE;
    }
  }

  /**
   * Decides.
   *
   * @param current writer of the current version
   * @param isDeletion whether the current version is a delete mark
   * @param before writer of the predecessor; used if the current version is aborted
   * @param wasDeletion whether the predecessor is a delete mark
   * @param deletes whether the row shall be deleted
   * @param isGone whether a deletion above the snapshot may have left nothing; used if there is no
   *     version, or only an aborted one
   */
  static RowDecision of(
      Writer current,
      boolean isDeletion,
      Writer before,
      boolean wasDeletion,
      boolean deletes,
      boolean isGone) {
    return switch (current) {
      case NOBODY -> isGone ? CONFLICT_GONE : deletes ? NOTHING : INSERT;
      case SELF -> deletes && isDeletion ? NOTHING : REPLACE_OWN;
      case OPEN, LATER -> CONFLICT;
      case VISIBLE -> deletes && isDeletion ? NOTHING : KEEP;
      case ABORTED -> overAborted(before, wasDeletion, deletes, isGone);
    };
  }

  private static RowDecision overAborted(
      Writer before, boolean wasDeletion, boolean deletes, boolean isGone) {
    if (before == Writer.NOBODY) {
      return isGone ? CONFLICT_GONE : deletes ? NOTHING : REPLACE_ABORTED;
    }
    if (before == Writer.LATER) {
      return CONFLICT_BEFORE;
    }
    return deletes && wasDeletion ? NOTHING : REPLACE_ABORTED;
  }
}
