package org.revenantdb.engine.buffer;

/**
 * What a buffer pool has done with the pages of one class.
 *
 * @param hits pages found in the pool
 * @param misses pages that were not there and were read on request; not those read ahead
 * @param evictions pages that gave up their frame for another
 * @param resident pages that are in the pool now
 * @param dirty those of them that have to be written, or are being written
 */
public record PageClassCounts(long hits, long misses, long evictions, long resident, long dirty) {

  PageClassCounts plus(PageClassCounts other) {
    return new PageClassCounts(
        hits + other.hits,
        misses + other.misses,
        evictions + other.evictions,
        resident + other.resident,
        dirty + other.dirty);
  }
}
