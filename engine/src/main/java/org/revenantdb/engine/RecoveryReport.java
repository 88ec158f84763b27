package org.revenantdb.engine;

/**
 * What opening the database took.
 *
 * @param created whether the database was created
 * @param clean whether it had been closed cleanly
 * @param nanos from the call of {@code open} until transactions could begin
 * @param analysisNanos of that, the analysis of the log
 * @param redoNanos of that, redo
 * @param logBytesRead bytes of log read, by analysis and redo together: each goes through it once
 * @param pagesRead pages read by redo
 * @param pagesRestored pages that were torn and came back from the double-write file
 * @param transactionsAborted transactions that the crash left undecided and that are now aborted
 */
public record RecoveryReport(
    boolean created,
    boolean clean,
    long nanos,
    long analysisNanos,
    long redoNanos,
    long logBytesRead,
    long pagesRead,
    int pagesRestored,
    int transactionsAborted) {}
