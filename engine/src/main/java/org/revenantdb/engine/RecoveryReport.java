package org.revenantdb.engine;

/**
 * What the open of a database did, and how long it took.
 *
 * @param created whether the database was created
 * @param clean whether it had been closed cleanly
 * @param nanos from the call of {@code open} until transactions could begin
 * @param analysisNanos the part of that time for the analysis of the log
 * @param logBytesRead bytes of log that analysis has read
 * @param pagesPending pages that were not up to date yet when transactions could begin. They are
 *     redone in the background; {@link FileStatistics#pendingPages} is the number that is left
 * @param pagesRead pages that were read until transactions could begin
 * @param pagesRestored pages that were torn and were restored from the double-write file
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
