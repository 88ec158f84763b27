package org.revenantdb.engine;

/**
 * Use of the pool of pages since the database was opened. Immutable and thread-safe.
 *
 * <p>The numbers of the pool include the four classes of pages, and a few pages of other types.
 */
public final class PoolStatistics {
  private final StatisticValues values;

  PoolStatistics(StatisticValues values) {
    this.values = values;
  }

  /** {@return page accesses that found the page in the pool} */
  public long hits() {
    return values.of(Statistic.POOL_HITS);
  }

  /** {@return page accesses that had to read the page from the data file} */
  public long misses() {
    return values.of(Statistic.POOL_MISSES);
  }

  /** {@return pages evicted from the pool} */
  public long evictions() {
    return values.of(Statistic.POOL_EVICTIONS);
  }

  /** {@return waits for a free frame, because all had to be written first or were in use} */
  public long frameWaits() {
    return values.of(Statistic.POOL_FRAME_WAITS);
  }

  /** {@return pages read before a scan reached them; files.pagesRead counts them too} */
  public long pagesReadAhead() {
    return values.of(Statistic.POOL_PAGES_READ_AHEAD);
  }

  /**
   * Returns the use of the pool by leaves of tables.
   *
   * @return the numbers of that class of pages
   */
  public PageClassStatistics leaf() {
    return new PageClassStatistics(
        values,
        Statistic.POOL_LEAF_HITS,
        Statistic.POOL_LEAF_MISSES,
        Statistic.POOL_LEAF_EVICTIONS,
        Statistic.POOL_LEAF_RESIDENT,
        Statistic.POOL_LEAF_DIRTY);
  }

  /**
   * Returns the use of the pool by inner pages of tables.
   *
   * @return the numbers of that class of pages
   */
  public PageClassStatistics inner() {
    return new PageClassStatistics(
        values,
        Statistic.POOL_INNER_HITS,
        Statistic.POOL_INNER_MISSES,
        Statistic.POOL_INNER_EVICTIONS,
        Statistic.POOL_INNER_RESIDENT,
        Statistic.POOL_INNER_DIRTY);
  }

  /**
   * Returns the use of the pool by pages of large values.
   *
   * @return the numbers of that class of pages
   */
  public PageClassStatistics overflow() {
    return new PageClassStatistics(
        values,
        Statistic.POOL_OVERFLOW_HITS,
        Statistic.POOL_OVERFLOW_MISSES,
        Statistic.POOL_OVERFLOW_EVICTIONS,
        Statistic.POOL_OVERFLOW_RESIDENT,
        Statistic.POOL_OVERFLOW_DIRTY);
  }

  /**
   * Returns the use of the pool by space maps.
   *
   * @return the numbers of that class of pages
   */
  public PageClassStatistics map() {
    return new PageClassStatistics(
        values,
        Statistic.POOL_MAP_HITS,
        Statistic.POOL_MAP_MISSES,
        Statistic.POOL_MAP_EVICTIONS,
        Statistic.POOL_MAP_RESIDENT,
        Statistic.POOL_MAP_DIRTY);
  }

  /** Returns the numbers that are not 0, one a line. */
  @Override
  public String toString() {
    return values.text(Statistic.Group.POOL);
  }
}
