package org.revenantdb.engine;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The result of {@link Database#backup(Path, BackupOptions)} and its variants.
 *
 * @param target the directory of the copy; null if the copy was written to a stream
 * @param bytes bytes of pages and log in it
 * @param pages pages of its data file
 * @param logBytes bytes of its log
 * @param redoPoint position of the log at which an open of the copy begins to read
 * @param endOfLog position of the log at which the copy ends: it has all transactions that were
 *     committed there
 * @param nanos duration of the backup in nanoseconds
 */
public record BackupReport(
    @Nullable Path target,
    long bytes,
    long pages,
    long logBytes,
    long redoPoint,
    long endOfLog,
    long nanos) {}
