/**
 * Transactions: their states, and the meaning of a writer's id for a reader.
 *
 * <p>Reading order: {@code TransactionTable}, {@code RowWaiters}, {@code Holds}.
 */
package org.revenantdb.engine.txn;
