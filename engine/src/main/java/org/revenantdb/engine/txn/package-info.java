/**
 * Transactions: their states, and the meaning of a writer's id for a reader.
 *
 * <p>Reading order: {@code TransactionTable}, {@code RowWaiters}, {@code Holds}.
 *
 * <p>The protocols are in {@code README.md} beside this file.
 */
package org.revenantdb.engine.txn;
