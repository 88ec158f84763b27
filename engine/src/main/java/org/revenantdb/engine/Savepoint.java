package org.revenantdb.engine;

/**
 * A point of a transaction to which it can be rolled back; {@link Transaction#savepoint} returns
 * it.
 *
 * <p>It ends when it is released, when the transaction is rolled back to an earlier savepoint or
 * releases one, and when the transaction ends.
 */
public final class Savepoint {
  private final int overwritten;

  /**
   * A savepoint of a transaction.
   *
   * @param overwritten how many versions the transaction had overwritten and kept
   */
  Savepoint(int overwritten) {
    this.overwritten = overwritten;
  }

  int overwritten() {
    return overwritten;
  }

  /** The number of writes before it, for messages and debuggers. */
  @Override
  public String toString() {
    return "Savepoint[after " + overwritten + " overwritten versions]";
  }
}
