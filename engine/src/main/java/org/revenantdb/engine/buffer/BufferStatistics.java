package org.revenantdb.engine.buffer;

/**
 * What a buffer pool has done since it was created. The numbers are read one after the other, so
 * they need not belong to one moment.
 *
 * @param frames frames that the pool may have
 * @param framesUsed frames for which memory has been taken
 * @param dirty frames that have to be written, including those being written
 * @param hits pages found in the pool
 * @param misses pages that were not there
 * @param evictions pages that gave up their frame for another
 * @param pagesRead pages read from the data file
 * @param pagesWritten pages written to the data file
 * @param batches batches in which they were written
 * @param frameWaits how often a thread waited for a free frame
 * @param pagesAhead pages read without a request; they also count as read
 * @param leaf leaves of trees
 * @param inner inner pages of trees
 * @param overflow pages of large values
 * @param map space maps
 * @param other pages of other types, or of none yet
 */
public record BufferStatistics(
    int frames,
    int framesUsed,
    int dirty,
    long hits,
    long misses,
    long evictions,
    long pagesRead,
    long pagesWritten,
    long batches,
    long frameWaits,
    long pagesAhead,
    PageClassCounts leaf,
    PageClassCounts inner,
    PageClassCounts overflow,
    PageClassCounts map,
    PageClassCounts other) {}
