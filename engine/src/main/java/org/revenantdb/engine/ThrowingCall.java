package org.revenantdb.engine;

import org.jspecify.annotations.Nullable;

/**
 * The work of {@link Database#callThrowing} in a transaction. It may be called more than once.
 *
 * @param <T> what it returns
 * @param <X> the checked exception that it throws
 */
@FunctionalInterface
public interface ThrowingCall<T extends @Nullable Object, X extends Exception> {
  /**
   * Does the work.
   *
   * @param transaction the transaction, which is committed after this returns
   * @return the result
   * @throws X whatever the work throws: the transaction is rolled back
   */
  T call(Transaction transaction) throws X;
}
