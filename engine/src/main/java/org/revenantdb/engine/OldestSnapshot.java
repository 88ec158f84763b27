package org.revenantdb.engine;

import org.jspecify.annotations.Nullable;

/**
 * The oldest of the snapshots that are open. What it holds back is what has been superseded since:
 * versions in memory and in files, pages that wait, and deleted rows.
 *
 * @param lsn which it is, as an end of the log
 * @param since when it was seen first, at most some two seconds after it was opened, in
 *     milliseconds since 1970
 * @param transactionId the transaction that reads in it; 0 if that has not written
 * @param versions older versions in memory that no other snapshot needs, when the cleaner last
 *     looked at all of them; 0 if it has not since this one was opened
 * @param name of that transaction, as {@link TransactionOptions#withName} says; null if it has none
 */
public record OldestSnapshot(
    long lsn, long since, long transactionId, long versions, @Nullable String name) {}
