package org.revenantdb.engine;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The result of {@link Database#backup(Path, BackupOptions)} and its variants.
 *
 * @param target the directory of the copy; null if the copy was written to a stream
 * @param id the id of the copy, with which {@link BackupOptions#withSince} makes increments; null
 *     if it cannot be the base of one: the database is open read-only, or its list of backups could
 *     not be written
 * @param notNoted why it has no id; null if it has one
 * @param since the id of the backup that it was made since; null if it is whole
 * @param bytes bytes of pages and log in it
 * @param pages pages of the data file that it stands for
 * @param pagesRead pages that were read; for an increment this does not include those that are
 *     known not to have changed
 * @param pagesCopied pages that are in it
 * @param logBytes bytes of its log
 * @param redoPoint position of the log at which an open of the copy begins to read
 * @param endOfLog position of the log at which the copy ends: it has all transactions that were
 *     committed there
 * @param nanos duration of the backup in nanoseconds
 */
public record BackupReport(
    @Nullable Path target,
    @Nullable String id,
    @Nullable String notNoted,
    @Nullable String since,
    long bytes,
    long pages,
    long pagesRead,
    long pagesCopied,
    long logBytes,
    long redoPoint,
    long endOfLog,
    long nanos) {}
