package org.revenantdb.recovery.log;

import java.nio.file.Path;
import java.util.SortedMap;
import java.util.SortedSet;

/**
 * The data about former lives that a new life of the log needs.
 *
 * @param directory the log directory
 * @param databaseId the database, 16 bytes
 * @param life the new life
 * @param firstLsn where its first segment begins, so far ahead that no LSN is used twice
 * @param firstSize size of that segment
 * @param formerLife the life before it, 0 = none
 * @param formerEnd the end of that life's log
 * @param present all segment files: first position, size
 * @param freeAtOnce first positions of segments that no restart reads, whatever happens to the new
 *     life
 * @param freeLater first positions of segments that no restart reads after the new life's first
 *     segment is durable
 */
@SuppressWarnings("ArrayRecordComponent") // never compared nor printed
public record LifeStart(
    Path directory,
    byte[] databaseId,
    int life,
    long firstLsn,
    int firstSize,
    int formerLife,
    long formerEnd,
    SortedMap<Long, Integer> present,
    SortedSet<Long> freeAtOnce,
    SortedSet<Long> freeLater) {}
