package org.revenantdb.engine;

/**
 * What {@link Database#run} does in a transaction; it may be called more than once.
 *
 * @param <X> what it throws
 */
@FunctionalInterface
public interface TransactionBody<X extends Exception> {
  /**
   * Does the work.
   *
   * @param transaction the transaction, which is committed after this returns
   * @throws X whatever the work throws: the transaction is rolled back
   */
  void run(Transaction transaction) throws X;
}
