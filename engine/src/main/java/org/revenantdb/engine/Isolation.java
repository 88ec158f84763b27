package org.revenantdb.engine;

/**
 * Isolation level: which commits of other transactions a transaction sees while it is open
 * (docs/protocols.md §33). No level shows uncommitted data.
 */
public enum Isolation {
  /**
   * Each statement sees what was committed when the statement began. A write replaces whatever was
   * committed since. So two statements can return different results, and a value can be out of date
   * when it is written back; {@link Transaction#lockForUpdate} reads and locks in one step. A
   * cursor or a stream keeps the view of its statement until it is closed.
   */
  READ_COMMITTED,

  /**
   * All statements see what was committed when the transaction began. If two transactions write the
   * same row, the first one wins. Write skew is possible: two transactions that each read what the
   * other one writes can both commit if they write different rows.
   */
  SNAPSHOT,

  /**
   * As {@link #SNAPSHOT}; in addition the results are as if the transactions ran one after the
   * other, in the order of their commits. The commit of a transaction that has written is a
   * conflict if a later commit of another transaction would change one of its results. That
   * includes the absence of a row.
   *
   * <ul>
   *   <li>The commit of a transaction that has only read can be a conflict in two cases. A prepared
   *       transaction is undecided, or was undecided at the begin. Or the transaction has looked up
   *       the name of a table.
   *   <li>A transaction that was begun with {@link TransactionOptions#withReadOnly} while no
   *       transaction was prepared costs other transactions nothing. Its only conflict is the
   *       lookup of a name after a table was created or dropped since.
   *   <li>A serializable transaction sees each transaction of another level as a whole. The reads
   *       of those transactions are not checked.
   * </ul>
   */
  SERIALIZABLE
}
