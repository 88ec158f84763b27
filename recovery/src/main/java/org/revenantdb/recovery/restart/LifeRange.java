package org.revenantdb.recovery.restart;

/**
 * The part of a life's log that a restart reads.
 *
 * @param life the life, 0 if its first segment is gone and nothing of it is read
 * @param start LSN where reading starts
 * @param end LSN where the life's log ends
 * @param onlyLife whether there is nothing in it but a LIFE record
 */
record LifeRange(int life, long start, long end, boolean onlyLife) {}
