/**
 * Transactions: their states, and what a writer's id means to a reader.
 *
 * <p>Reading order: {@code TransactionTable}, {@code RowWaiters}, {@code Holds}.
 *
 * <p>The protocols are in {@code README.md} beside this file.
 */
package org.revenantdb.engine.txn;
