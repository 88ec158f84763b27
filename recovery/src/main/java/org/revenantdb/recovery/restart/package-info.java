/**
 * What happens between finding a database and letting users in: analysis, the sealing of the log's
 * tail, a new life; and what pages may lack, for their redo later.
 *
 * <p>Reading order: {@link org.revenantdb.recovery.restart.Restart}, then one class a phase
 * (Analysis with TransactionStates and EndOfLog, PendingParts with RecordFetch, TailSeal), and
 * {@link org.revenantdb.recovery.restart.AbortedTransactions}, which is what is left of undo.
 *
 * <p>The protocol is in {@code README.md} beside this file.
 */
package org.revenantdb.recovery.restart;
