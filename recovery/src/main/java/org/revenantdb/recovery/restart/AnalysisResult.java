package org.revenantdb.recovery.restart;

import java.util.List;

/**
 * What the log says about the database.
 *
 * @param redoPoint where redo begins
 * @param analysisPoint from where transactions were followed
 * @param endOfLog where the last life's log ends; no page can have a higher LSN
 * @param durableKnown how far the log was known to be durable before this restart
 * @param life the life that comes next
 * @param aborted ids that belong into the map of aborted transactions: those that were in it, and
 *     all that were undecided
 * @param undecided the ids among them that were undecided in the last life
 * @param prepared the prepared transactions, in ascending order of ids; they stay prepared in the
 *     next life
 * @param highestTransactionId no higher id was ever durable
 * @param highestPageId the highest page that the redo range names, unsigned, 0 if none
 * @param logBytesRead bytes of records that analysis read
 * @param cleanShutdown whether there is nothing to redo
 */
@SuppressWarnings("ArrayRecordComponent") // handed over once, never compared
public record AnalysisResult(
    long redoPoint,
    long analysisPoint,
    long endOfLog,
    long durableKnown,
    int life,
    long[] aborted,
    long[] undecided,
    List<PreparedTransaction> prepared,
    long highestTransactionId,
    int highestPageId,
    long logBytesRead,
    boolean cleanShutdown) {}
