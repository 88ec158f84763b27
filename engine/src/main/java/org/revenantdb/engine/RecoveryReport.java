package org.revenantdb.engine;

/**
 * What opening the database took.
 *
 * @param created whether the database was created
 * @param clean whether it had been closed cleanly
 * @param nanos from the call of {@code open} until transactions could begin
 * @param analysisNanos of that, the analysis of the log
 * @param logBytesRead bytes of log that analysis has read
 * @param pagesPending pages that had still to be brought up to date when transactions could begin.
 *     That is done in the background; {@link FileStatistics#pendingPages} says how many are left
 * @param pagesRead pages that were read until transactions could begin
 * @param pagesRestored pages that were torn and came back from the double-write file
 * @param transactionsAborted transactions that the crash left undecided and that are now aborted
 */
public record RecoveryReport(
    boolean created,
    boolean clean,
    long nanos,
    long analysisNanos,
    long logBytesRead,
    int pagesPending,
    long pagesRead,
    int pagesRestored,
    int transactionsAborted) {}
