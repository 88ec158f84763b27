package org.revenantdb.recovery.log;

import java.nio.file.Path;
import java.util.SortedSet;

/**
 * What a new life of the log must know of the former ones.
 *
 * @param directory the log directory
 * @param databaseId the database, 16 bytes
 * @param life the new life
 * @param firstSegment number of its first segment, so high that no LSN returns
 * @param formerLife the life before it, 0 = none
 * @param formerEnd where that life's log ends
 * @param present numbers of all segment files
 * @param freeAtOnce those that no restart reads, whatever becomes of the new life
 * @param freeLater those that no restart reads once the new life's first segment is durable
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
