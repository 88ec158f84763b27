package org.revenantdb.engine;

/** Use of the pool by the pages of one class. Immutable and thread-safe. */
public final class PageClassStatistics {
  private final StatisticValues values;
  private final Statistic hits;
  private final Statistic misses;
  private final Statistic evictions;
  private final Statistic resident;
  private final Statistic dirty;

  PageClassStatistics(
      StatisticValues values,
      Statistic hits,
      Statistic misses,
      Statistic evictions,
      Statistic resident,
      Statistic dirty) {
    this.values = values;
    this.hits = hits;
    this.misses = misses;
    this.evictions = evictions;
    this.resident = resident;
    this.dirty = dirty;
  }

  /** {@return accesses that found the page in the pool, since the database was opened} */
  public long hits() {
    return values.of(hits);
  }

  /** {@return accesses that had to read the page from the data file, since then} */
  public long misses() {
    return values.of(misses);
  }

  /** {@return pages evicted from the pool, since then} */
  public long evictions() {
    return values.of(evictions);
  }

  /** {@return pages in the pool} */
  public long resident() {
    return values.of(resident);
  }

  /** {@return pages in the pool that have to be written} */
  public long dirty() {
    return values.of(dirty);
  }

  /** Returns the numbers that are not 0, one a line. */
  @Override
  public String toString() {
    return values.text(
        one -> one == hits || one == misses || one == evictions || one == resident || one == dirty);
  }
}
