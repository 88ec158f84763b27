package org.revenantdb.engine.counters;

/**
 * What the counters file has beside the waits. Each is what the database's statistics call by the
 * same name; those of a class of pages have the class before a dot.
 */
public enum Counter {
  /* The order is part of the file (docs/format.md §7): new ones come last. */
  SPLITS("splits"),
  MERGES("merges"),
  OVERFLOW_VALUES("overflowValues"),
  OVERFLOW_PAGES_FREED("overflowPagesFreed"),
  ROWS_REVERTED("rowsReverted"),
  VERSIONS_DROPPED("versionsDropped"),
  CLEANER_PASSES("cleanerPasses"),
  PAGES_CLEANED("pagesCleaned"),
  ABORTED_TRANSACTIONS("abortedTransactions"),
  FORGOTTEN("forgotten"),
  DURABLE_COMMITS("durableCommits"),
  LAZY_COMMITS("lazyCommits"),
  DURABLE_READ_WAITS("durableReadWaits"),
  DURABLE_READ_WAIT_NANOS("durableReadWaitNanos"),
  CHECKPOINTS("checkpoints"),
  HITS("hits"),
  MISSES("misses"),
  EVICTIONS("evictions"),
  PAGES_READ("pagesRead"),
  PAGES_WRITTEN("pagesWritten"),
  BYTES_READ("bytesRead"),
  BYTES_WRITTEN("bytesWritten"),
  FORCES("forces"),
  LOG_TAIL("logTail"),
  DURABLE_LSN("durableLsn"),
  REDO_POINT("redoPoint"),
  RESTART_PAGES("restartPages"),
  LOG_DIRECTORY_BYTES("logDirectoryBytes"),
  DATA_FILE_PAGES("dataFilePages"),
  PAGES_READ_AHEAD("pagesReadAhead"),
  FRAME_WAITS("frameWaits"),
  LEAF_HITS("leafPages.hits"),
  LEAF_MISSES("leafPages.misses"),
  LEAF_EVICTIONS("leafPages.evictions"),
  INNER_HITS("innerPages.hits"),
  INNER_MISSES("innerPages.misses"),
  INNER_EVICTIONS("innerPages.evictions"),
  OVERFLOW_HITS("overflowPages.hits"),
  OVERFLOW_MISSES("overflowPages.misses"),
  OVERFLOW_EVICTIONS("overflowPages.evictions"),
  MAP_HITS("mapPages.hits"),
  MAP_MISSES("mapPages.misses"),
  MAP_EVICTIONS("mapPages.evictions"),
  VERSION_MEMORY_BYTES("versionMemoryBytes"),
  VERSION_RUN_BYTES("versionRunBytes"),
  VERSION_RUNS("versionRuns"),
  VERSIONS_SPILLED("versionsSpilled"),
  PAGES_TO_VISIT("pagesToVisit"),
  PAGES_MARKED("pagesMarked"),
  PAGES_FOR_LATER("pagesForLater"),
  PAGES_POSTPONED("pagesPostponed"),
  PAGES_POSTPONED_LONG("pagesPostponedLong"),
  TABLES_TO_GIVE_BACK("tablesToGiveBack"),
  MAPS_TO_READ("mapsToRead"),
  SNAPSHOTS("snapshots"),
  OLDEST_SNAPSHOT_LSN("oldestSnapshot.lsn"),
  OLDEST_SNAPSHOT_SINCE("oldestSnapshot.since"),
  OLDEST_SNAPSHOT_TRANSACTION("oldestSnapshot.transactionId"),
  VERSIONS_ADDED("versionsAdded"),
  VERSIONS_PRUNED("versionsPruned"),
  VERSIONS_SWEPT("versionsSwept"),
  LONGEST_VERSION_CHAIN("longestVersionChain"),
  VERSION_CHAIN_EXCESS("versionChainExcess"),
  SNAPSHOT_REFRESHES("snapshotRefreshes"),
  RETRIES("retries.retries"),
  RETRIES_GAVE_UP("retries.gaveUp"),
  RETRIES_ROW_IN_USE("retries.rowInUse"),
  RETRIES_ROW_CHANGED("retries.rowChanged"),
  RETRIES_NOT_SERIALIZABLE("retries.notSerializable"),
  RETRIES_DEADLOCK("retries.deadlock"),
  RETRIES_LOCK_TIMEOUT("retries.lockTimeout"),
  RETRIES_TABLE_IN_USE("retries.tableInUse"),
  RETRIES_TABLE_CHANGED("retries.tableChanged"),
  RETRIES_CEILING_NANOS("retries.ceilingNanos"),
  OLDEST_SNAPSHOT_VERSIONS("oldestSnapshot.versions");

  private final String text;

  Counter(String text) {
    this.text = text;
  }

  /** The name under which it is shown. */
  public String text() {
    return text;
  }
}
