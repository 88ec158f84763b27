package org.revenantdb.recovery.checkpoint;

/**
 * The transactions as a checkpoint sees them (R8).
 *
 * @param highestTransactionId no id above it has been given out
 * @param writing ids that have written and are undecided, and not prepared
 * @param prepared ids that are prepared; each has been said so anew since the checkpoint began
 * @param aborted ids in the map of aborted transactions
 */
@SuppressWarnings("ArrayRecordComponent") // handed over once, never compared
public record TransactionImage(
    long highestTransactionId, long[] writing, long[] prepared, long[] aborted) {}
