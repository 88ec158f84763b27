package org.revenantdb.engine;

import java.nio.file.Path;

/**
 * What {@link Database#restore} has made.
 *
 * @param target the directory of the database
 * @param base the number of the base that it comes from
 * @param lsn the position of the log at which it ends: it has all transactions that were committed
 *     there
 * @param upToMillis all of that was committed at this time or before, in milliseconds since 1970; 0
 *     if the archive does not say
 * @param pages pages of its data file
 * @param logBytes bytes of its log
 * @param nanos how long it took
 */
public record RestoreReport(
    Path target, long base, long lsn, long upToMillis, long pages, long logBytes, long nanos) {}
