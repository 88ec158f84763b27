package org.revenantdb.engine;

/**
 * Why an attempt at a transaction has come to nothing: the kinds of {@link ConflictException}.
 * {@link DatabaseStatistics#retries} counts those of {@link Database#run}.
 */
public enum ConflictReason {
  /** A row, or the outcome of a prepared transaction, is another's that has not ended. */
  ROW_IN_USE("row in use"),
  /** A row was changed by one that has committed since the snapshot. */
  ROW_CHANGED("row changed"),
  /** What a serializable transaction has read was changed by one that has committed since. */
  NOT_SERIALIZABLE("not serializable"),
  /** It would have waited for itself. */
  DEADLOCK("deadlock"),
  /** A row, or the outcome of a prepared transaction, was waited for too long. */
  LOCK_TIMEOUT("lock timeout"),
  /** Somebody is creating, dropping or truncating the table. */
  TABLE_IN_USE("table in use"),
  /** The table was created or truncated since the snapshot. */
  TABLE_CHANGED("table changed");

  private final String text;

  ConflictReason(String text) {
    this.text = text;
  }

  /**
   * The name under which it is shown.
   *
   * @return a few words
   */
  public String text() {
    return text;
  }
}
