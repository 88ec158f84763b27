package org.revenantdb.engine;

/**
 * What a follower has done, and how far it is. Immutable.
 *
 * @param lsn the position of the log that new snapshots have: each commit at or below it, and
 *     nothing else
 * @param lagNanos nanoseconds since everything was shown that the archive had. While the archive
 *     cannot be read it grows
 * @param upToMillis everything that was durable in the database at this time is shown, in
 *     milliseconds since 1970 by the clock of that machine; 0 if that is not known yet. It stands
 *     still while nothing is written there
 * @param viewsOpen engines that are open: one for new snapshots, and each older one that has a
 *     snapshot
 * @param refreshes looks at the archive that went well
 * @param viewsOpened engines that were opened
 * @param folds data files that were made
 * @param failures looks at the archive, or attempts to show what it has, that failed
 */
public record FollowerStatistics(
    long lsn,
    long lagNanos,
    long upToMillis,
    int viewsOpen,
    long refreshes,
    long viewsOpened,
    long folds,
    long failures) {}
