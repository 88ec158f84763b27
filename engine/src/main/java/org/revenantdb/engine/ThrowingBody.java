package org.revenantdb.engine;

/**
 * The work of {@link Database#runThrowing} in a transaction. It may be called more than once.
 *
 * @param <X> the checked exception that it throws
 */
@FunctionalInterface
public interface ThrowingBody<X extends Exception> {
  /**
   * Does the work.
   *
   * @param transaction the transaction, which is committed after this returns
   * @throws X whatever the work throws: the transaction is rolled back
   */
  void run(Transaction transaction) throws X;
}
