package org.revenantdb.engine;

/**
 * Counts of the pages of one class since the database was opened; the last two are of now.
 *
 * @param hits fixes of pages that were in memory
 * @param misses fixes of pages that had to be read
 * @param evictions pages that left memory
 * @param resident pages in memory
 * @param dirty pages in memory that have to be written
 */
public record PageClassStatistics(
    long hits, long misses, long evictions, long resident, long dirty) {}
