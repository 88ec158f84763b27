package org.revenantdb.engine;

import org.jspecify.annotations.Nullable;

/**
 * Counts since the database was opened.
 *
 * @param splits pages split
 * @param merges pages merged
 * @param overflowValues values written to overflow pages
 * @param overflowPagesFreed pages of such values given back
 * @param rowsReverted rows of aborted transactions taken back, by the cleaner or themselves
 * @param versionsDropped former versions and deleted rows taken away
 * @param cleanerPasses passes of the cleaner
 * @param pagesCleaned pages the cleaner visited
 * @param abortedTransactions transactions of which something may be left, now; short ones, which
 *     put their rows back themselves, are never among them
 * @param forgotten aborted transactions of which the cleaner has left nothing
 * @param durableCommits commits of durable transactions
 * @param lazyCommits commits that did not wait
 * @param durableReadWaits answers that had to wait until what they depend on was durable
 * @param durableReadWaitNanos how long they waited, together
 * @param checkpoints checkpoints
 * @param hits fixes of pages that were in memory
 * @param misses fixes of pages that had to be read
 * @param evictions pages that left memory
 * @param pagesRead pages read
 * @param pagesWritten pages written
 * @param bytesRead bytes read from all files
 * @param bytesWritten bytes written to all files
 * @param forces forces of files
 * @param logTail end of the log
 * @param durableLsn end of what is forced of it
 * @param redoPoint where a restart now would begin
 * @param restartPages how many pages a restart now might have to read, at most
 * @param logDirectoryBytes size of the log directory, 0 if the database is open read-only
 * @param dataFilePages pages of the data file
 * @param pagesReadAhead pages read before a scan came to them; they count as read, too
 * @param frameWaits how often somebody waited for memory to become free, since what was there had
 *     to be written first, or was in use
 * @param leafPages leaves of tables
 * @param innerPages inner pages of tables
 * @param overflowPages pages of large values
 * @param mapPages space maps
 * @param versionMemoryBytes memory that older versions of rows take, now, with what leads to those
 *     in files
 * @param versionRunBytes size of the files that they are in, now
 * @param versionRuns how many such files there are, now
 * @param versionsSpilled older versions written to files, since memory was too small for them
 * @param pagesToVisit pages that the running pass of the cleaner has yet to visit, now; 0 between
 *     two passes
 * @param pagesMarked pages on which only the cleaner can give something back, for its next pass,
 *     now
 * @param pagesForLater pages with versions that can wait for their next writer, now
 * @param pagesPostponed pages that wait until a transaction has ended, now
 * @param pagesPostponedLong pages that wait for prepared or long transactions alone, now
 * @param tablesToGiveBack tables that were dropped or truncated and whose pages have not all been
 *     given back, now
 * @param mapsToRead space maps that have yet to be read, now, to find what the life before a
 *     restart has left; before that no transaction is forgotten
 * @param snapshots snapshots that are open, now
 * @param oldestSnapshot the oldest of them; null if there is none
 * @param versionsAdded older versions of rows that left their page and were kept in memory
 * @param versionsPruned how many of them were dropped when another one came to their row
 * @param versionsSwept how many were dropped later, as no snapshot needed them any more
 * @param longestVersionChain the most older versions that one row had in memory at a time
 * @param versionChainExcess by how many, at most, these were more than the snapshots that were open
 *     when that was last looked at, when one had come to the row; 0 if never
 * @param snapshotRefreshes how often it was looked which snapshots are open, to find out what may
 *     be dropped
 * @param retries what {@link Database#run} has tried again, and why
 */
public record DatabaseStatistics(
    long splits,
    long merges,
    long overflowValues,
    long overflowPagesFreed,
    long rowsReverted,
    long versionsDropped,
    long cleanerPasses,
    long pagesCleaned,
    long abortedTransactions,
    long forgotten,
    long durableCommits,
    long lazyCommits,
    long durableReadWaits,
    long durableReadWaitNanos,
    long checkpoints,
    long hits,
    long misses,
    long evictions,
    long pagesRead,
    long pagesWritten,
    long bytesRead,
    long bytesWritten,
    long forces,
    long logTail,
    long durableLsn,
    long redoPoint,
    long restartPages,
    long logDirectoryBytes,
    long dataFilePages,
    long pagesReadAhead,
    long frameWaits,
    PageClassStatistics leafPages,
    PageClassStatistics innerPages,
    PageClassStatistics overflowPages,
    PageClassStatistics mapPages,
    long versionMemoryBytes,
    long versionRunBytes,
    long versionRuns,
    long versionsSpilled,
    long pagesToVisit,
    long pagesMarked,
    long pagesForLater,
    long pagesPostponed,
    long pagesPostponedLong,
    long tablesToGiveBack,
    long mapsToRead,
    long snapshots,
    @Nullable OldestSnapshot oldestSnapshot,
    long versionsAdded,
    long versionsPruned,
    long versionsSwept,
    long longestVersionChain,
    long versionChainExcess,
    long snapshotRefreshes,
    RetryStatistics retries) {}
