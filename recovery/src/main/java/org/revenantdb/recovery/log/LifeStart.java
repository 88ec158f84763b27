package org.revenantdb.recovery.log;

import java.nio.file.Path;
import java.util.SortedSet;

/**
 * The data about former lives that a new life of the log needs.
 *
 * @param directory the log directory
 * @param databaseId the database, 16 bytes
 * @param life the new life
 * @param firstSegment number of its first segment, so high that no LSN is used twice
 * @param formerLife the life before it, 0 = none
 * @param formerEnd the end of that life's log
 * @param present numbers of all segment files
 * @param freeAtOnce segments that no restart reads, whatever happens to the new life
 * @param freeLater segments that no restart reads after the new life's first segment is durable
 */
@SuppressWarnings("ArrayRecordComponent") // never compared nor printed
public record LifeStart(
    Path directory,
    byte[] databaseId,
    int life,
    long firstSegment,
    int formerLife,
    long formerEnd,
    SortedSet<Long> present,
    SortedSet<Long> freeAtOnce,
    SortedSet<Long> freeLater) {}
