package org.revenantdb.jmh.tpcc;

import org.revenantdb.engine.Transaction;

/**
 * One of the five with its input: what a user has typed, drawn when it was made, so that it is the
 * same when it is run again after a conflict. One thread at a time.
 */
public interface TpccTransaction {
  /**
   * Which of the five.
   *
   * @return the type
   */
  TpccType type();

  /**
   * Does the work; whoever calls commits.
   *
   * @param transaction an open one, of the database of the tables
   * @return a number of what the user is shown: what an order costs, how many items are short
   * @throws UnusedItemException if the user has typed an item that there is none of: to be rolled
   *     back
   * @throws org.revenantdb.engine.ConflictException if another transaction was first
   */
  long run(Transaction transaction);
}
