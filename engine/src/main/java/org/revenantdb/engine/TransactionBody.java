package org.revenantdb.engine;

/**
 * The work of {@link Database#run} in a transaction. It may be called more than once. Work that
 * throws a checked exception is a {@link ThrowingBody}.
 */
@FunctionalInterface
public interface TransactionBody extends ThrowingBody<RuntimeException> {
  /**
   * Does the work. If it throws, the transaction is rolled back.
   *
   * @param transaction the transaction, which is committed after this returns
   */
  @Override
  void run(Transaction transaction);
}
