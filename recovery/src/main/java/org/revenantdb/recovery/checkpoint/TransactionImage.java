package org.revenantdb.recovery.checkpoint;

/**
 * The transactions at a checkpoint (R8).
 *
 * @param highestTransactionId no id above it has been given out
 * @param writing ids that have written, are undecided and not prepared
 * @param prepared ids that are prepared; each was published again since the checkpoint began
 * @param aborted ids in the map of aborted transactions
 */
@SuppressWarnings("ArrayRecordComponent") // passed on once, never compared
public record TransactionImage(
    long highestTransactionId, long[] writing, long[] prepared, long[] aborted) {}
