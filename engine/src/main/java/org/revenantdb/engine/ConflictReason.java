package org.revenantdb.engine;

/**
 * The kinds of {@link ConflictException}. {@link DatabaseStatistics#retries} counts those of {@link
 * Database#run}.
 */
public enum ConflictReason {
  /** Another open or prepared transaction has written the row. */
  ROW_IN_USE("row in use"),
  /** A transaction that has committed since the snapshot has changed the row. */
  ROW_CHANGED("row changed"),
  /**
   * What a {@linkplain Isolation#SERIALIZABLE serializable} transaction has read was changed by one
   * that has committed or was prepared since. A commit or {@link Transaction#prepare} reports it,
   * or a read that has waited for a prepared transaction. Roll back and repeat, as {@link
   * Database#run} does.
   */
  NOT_SERIALIZABLE("not serializable"),
  /**
   * The transaction would wait for itself, directly or through others. The message has the cycle.
   * Roll back and repeat, as {@link Database#run} does; it does not repeat if only this thread can
   * end the cycle.
   */
  DEADLOCK("deadlock"),
  /**
   * Another transaction did not end within the lock timeout. {@link Database#run} does not repeat
   * the transaction: the timeout is the longest time that the user wants to wait.
   */
  LOCK_TIMEOUT("lock timeout"),
  /** Another transaction is creating, dropping or truncating the table. */
  TABLE_IN_USE("table in use"),
  /** The table was created or truncated since the snapshot. */
  TABLE_CHANGED("table changed");

  private final String text;

  ConflictReason(String text) {
    this.text = text;
  }

  /**
   * The reason in words, as messages show it.
   *
   * @return a few words
   */
  public String text() {
    return text;
  }
}
