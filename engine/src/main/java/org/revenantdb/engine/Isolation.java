package org.revenantdb.engine;

/**
 * What a transaction sees of others that commit while it is open (docs/protocols.md §33). On no
 * level does anybody see what has not been committed.
 */
public enum Isolation {
  /**
   * Each statement sees what was committed when it began, and writes over whatever was committed
   * since: two statements of one transaction may be given different answers, and what was read may
   * be out of date when it is written back; {@link Transaction#lockForUpdate} reads and locks at
   * once. A cursor or a stream sees what its statement saw, until it is closed.
   */
  READ_COMMITTED,

  /**
   * The whole transaction sees what was committed when it began; of two that write a row the first
   * wins. Two that read what the other writes, and write different rows, may both commit.
   */
  SNAPSHOT,

  /**
   * As {@link #SNAPSHOT}, and in effect one after the other, in the order of their commits: the
   * commit of one that has written is in conflict if another has committed meanwhile what would
   * have changed an answer that it was given, be it a row that was not there. One that has only
   * read is refused only if somebody is, or was when it began, prepared and not decided about, or
   * if it has looked up the name of a table; one that was begun {@linkplain
   * TransactionOptions#withReadOnly to read alone} while nobody was prepared is nothing to others,
   * and refused only to look up a name when a table has been created or dropped since. Transactions
   * of other levels take part as far as serializable ones see them as a whole; what they themselves
   * have read nobody checks.
   */
  SERIALIZABLE
}
