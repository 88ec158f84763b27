/**
 * Transactions: their states, and what a writer's id means to a reader.
 *
 * <p>Reading order: {@code TransactionTable}, {@code RowWaiters}, {@code Holds}.
 */
package org.revenantdb.engine.txn;
