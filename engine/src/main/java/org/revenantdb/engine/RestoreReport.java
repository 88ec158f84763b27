package org.revenantdb.engine;

import java.nio.file.Path;

/**
 * The result of {@link Database#restore}.
 *
 * @param target the directory of the database
 * @param base the number of the base that it comes from
 * @param lsn the position of the log at which it ends: it has all transactions that were committed
 *     there
 * @param upToMillis a time at or after the last of these commits, in milliseconds since 1970; 0 if
 *     the archive has none
 * @param pages pages of its data file
 * @param logBytes bytes of its log
 * @param nanos duration of the restore in nanoseconds
 */
public record RestoreReport(
    Path target, long base, long lsn, long upToMillis, long pages, long logBytes, long nanos) {}
