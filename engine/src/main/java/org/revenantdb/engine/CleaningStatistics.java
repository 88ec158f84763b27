package org.revenantdb.engine;

/**
 * The work of the cleaner: what it has done since the database was opened, and what is left now.
 * Immutable and thread-safe.
 *
 * <p>The numbers of pages that wait are approximate.
 */
public final class CleaningStatistics {
  private final StatisticValues values;

  CleaningStatistics(StatisticValues values) {
    this.values = values;
  }

  /** {@return passes of the cleaner} */
  public long passes() {
    return values.of(Statistic.CLEANING_PASSES);
  }

  /** {@return pages that the cleaner visited} */
  public long pagesCleaned() {
    return values.of(Statistic.CLEANING_PAGES_CLEANED);
  }

  /**
   * {@return rows of aborted transactions reverted, by the cleaner or by the transactions
   * themselves}
   */
  public long rowsReverted() {
    return values.of(Statistic.CLEANING_ROWS_REVERTED);
  }

  /** {@return older versions and deleted rows removed from pages} */
  public long versionsDropped() {
    return values.of(Statistic.CLEANING_VERSIONS_DROPPED);
  }

  /**
   * {@return pages that the running pass of the cleaner has not visited yet; 0 between two passes}
   */
  public long pagesToVisit() {
    return values.of(Statistic.CLEANING_PAGES_TO_VISIT);
  }

  /** {@return pages for the next pass, because only the cleaner can free space on them} */
  public long pagesMarked() {
    return values.of(Statistic.CLEANING_PAGES_MARKED);
  }

  /** {@return pages with older versions that can wait for the next writer of the page} */
  public long pagesForLater() {
    return values.of(Statistic.CLEANING_PAGES_FOR_LATER);
  }

  /** {@return pages that wait for the end of a transaction} */
  public long pagesPostponed() {
    return values.of(Statistic.CLEANING_PAGES_POSTPONED);
  }

  /** {@return pages that wait only for prepared or long transactions} */
  public long pagesPostponedLong() {
    return values.of(Statistic.CLEANING_PAGES_POSTPONED_LONG);
  }

  /** {@return dropped or truncated tables whose pages have not all been freed} */
  public long tablesToGiveBack() {
    return values.of(Statistic.CLEANING_TABLES_TO_GIVE_BACK);
  }

  /**
   * {@return space maps that the cleaner has to read after a restart; until it has,
   * commits.abortedCleaned stays}
   */
  public long mapsToRead() {
    return values.of(Statistic.CLEANING_MAPS_TO_READ);
  }

  /** Returns the numbers that are not 0, one a line. */
  @Override
  public String toString() {
    return values.text(Statistic.Group.CLEANING);
  }
}
