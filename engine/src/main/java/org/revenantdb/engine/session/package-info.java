/**
 * The way of a user's call: the gate, transactions from begin to end, reads, writes, waits for
 * rows, conflicts and retries, prepared and forgotten transactions, and the boundary that turns
 * failures into the exceptions of the API.
 *
 * <p>Reading order: {@code Engine}, {@code Spares}, {@code OperationGate}; {@code
 * TransactionState}, {@code TransactionCore}; {@code CommitPath}, {@code RollbackPath}, {@code
 * TransactionEnd}; {@code SerialCommit}, {@code PreparePath}, {@code PreparedTransactions}, {@code
 * DurableOutcome}; {@code WriteStatement}, {@code RowConflicts}, {@code RowWait}, {@code
 * WaitGraph}, {@code PreparedWait}; {@code TablesSeen}, {@code TableChanges}, {@code TableSteps},
 * {@code TableDrops}; {@code SavepointSteps}, {@code KeptReadings}; {@code Retry}, {@code
 * RepeatedAttempt}, {@code Backoff}; {@code OpenTransactions}, {@code ForgottenTransactions};
 * {@code Boundary}.
 *
 * <p>The classes of one protocol step are static methods over a {@code TransactionCore}. So a
 * transaction allocates nothing for them.
 *
 * <p>The protocols are in {@code README.md} beside this file.
 */
@NullMarked
package org.revenantdb.engine.session;

import org.jspecify.annotations.NullMarked;
