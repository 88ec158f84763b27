package org.revenantdb.jmh.tpcc;

import org.revenantdb.engine.Transaction;

/**
 * One of the five with its input, the typed values, which are drawn when it is created. So they are
 * the same when it is repeated after a conflict. One thread at a time.
 */
public interface TpccTransaction {
  /**
   * Which of the five.
   *
   * @return the type
   */
  TpccType type();

  /**
   * Does the work; the caller commits.
   *
   * @param transaction an open one, of the database of the tables
   * @return a number of the output: the total of an order, the number of items that are short
   * @throws UnusedItemException if the user has typed an item that there is none of: to be rolled
   *     back
   * @throws org.revenantdb.engine.ConflictException if another transaction was first
   */
  long run(Transaction transaction);
}
