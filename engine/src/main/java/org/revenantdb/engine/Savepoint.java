package org.revenantdb.engine;

/**
 * A point of a transaction to which it can go back: from {@link Transaction#savepoint}.
 *
 * <p>It is over when it was released, when the transaction went back to an earlier one or released
 * that, or has ended.
 */
public final class Savepoint {
  private final int overwritten;

  /**
   * A savepoint of a transaction.
   *
   * @param overwritten how many versions it had overwritten and kept
   */
  Savepoint(int overwritten) {
    this.overwritten = overwritten;
  }

  int overwritten() {
    return overwritten;
  }

  /** How much of the transaction was before it, for messages and debuggers. */
  @Override
  public String toString() {
    return "Savepoint[after " + overwritten + " overwritten versions]";
  }
}
