package org.revenantdb.engine;

import org.jspecify.annotations.Nullable;

/**
 * The work of {@link Database#call} in a transaction. It may be called more than once. Work that
 * throws a checked exception is a {@link ThrowingCall}.
 *
 * @param <T> what it returns
 */
@FunctionalInterface
public interface TransactionCall<T extends @Nullable Object>
    extends ThrowingCall<T, RuntimeException> {
  /**
   * Does the work. If it throws, the transaction is rolled back.
   *
   * @param transaction the transaction, which is committed after this returns
   * @return the result
   */
  @Override
  T call(Transaction transaction);
}
