package org.revenantdb.engine;

import java.util.Arrays;
import java.util.List;

/**
 * The numbers of {@link DatabaseStatistics}: the name, kind, unit and description of each.
 *
 * <p>A name is the path of getters to the number: {@code versions.oldestSnapshot.lsn} is {@code
 * versions().oldestSnapshot().lsn()}. Later versions add constants, so a {@code switch} needs a
 * {@code default}.
 *
 * <p>The counters file and the command {@code stat} have the same numbers, except those of {@link
 * #isInCountersFile}.
 */
public enum Statistic {
  /*
   * The order is part of the counters file (docs/format.md §7). A new constant at the end of the table keeps the
   * version of that format. One between others changes it (CountersLayout.CURRENT_VERSION).
   */

  /** {@link CommitStatistics#durable}. */
  COMMITS_DURABLE(
      Group.COMMITS,
      "durable",
      Kind.COUNTER,
      Unit.COUNT,
      "commits that returned after their transaction was durable"),
  /** {@link CommitStatistics#lazy}. */
  COMMITS_LAZY(
      Group.COMMITS,
      "lazy",
      Kind.COUNTER,
      Unit.COUNT,
      "commits that did not wait until their transaction was durable"),
  /** {@link CommitStatistics#durableReadWaits}. */
  COMMITS_DURABLE_READ_WAITS(
      Group.COMMITS,
      "durableReadWaits",
      Kind.COUNTER,
      Unit.COUNT,
      "results held back until the commits they depend on were durable"),
  /** {@link CommitStatistics#durableReadWaitNanos}. */
  COMMITS_DURABLE_READ_WAIT_NANOS(
      Group.COMMITS,
      "durableReadWaitNanos",
      Kind.COUNTER,
      Unit.NANOSECONDS,
      "total time for which such results were held back"),
  /** {@link CommitStatistics#abortedPending}. */
  COMMITS_ABORTED_PENDING(
      Group.COMMITS,
      "abortedPending",
      Kind.GAUGE,
      Unit.COUNT,
      "aborted transactions that may have left rows to revert; short ones revert their rows themselves and never count"),
  /** {@link CommitStatistics#abortedCleaned}. */
  COMMITS_ABORTED_CLEANED(
      Group.COMMITS,
      "abortedCleaned",
      Kind.COUNTER,
      Unit.COUNT,
      "aborted transactions of which the cleaner has removed everything"),
  /** {@link PoolStatistics#hits}. */
  POOL_HITS(
      Group.POOL,
      "hits",
      Kind.COUNTER,
      Unit.COUNT,
      "page accesses that found the page in the pool"),
  /** {@link PoolStatistics#misses}. */
  POOL_MISSES(
      Group.POOL,
      "misses",
      Kind.COUNTER,
      Unit.COUNT,
      "page accesses that had to read the page from the data file"),
  /** {@link PoolStatistics#evictions}. */
  POOL_EVICTIONS(Group.POOL, "evictions", Kind.COUNTER, Unit.PAGES, "pages evicted from the pool"),
  /** {@link PoolStatistics#frameWaits}. */
  POOL_FRAME_WAITS(
      Group.POOL,
      "frameWaits",
      Kind.COUNTER,
      Unit.COUNT,
      "waits for a free frame, because all had to be written first or were in use"),
  /** {@link PoolStatistics#pagesReadAhead}. */
  POOL_PAGES_READ_AHEAD(
      Group.POOL,
      "pagesReadAhead",
      Kind.COUNTER,
      Unit.PAGES,
      "pages read before a scan reached them; files.pagesRead counts them too"),
  /** {@link PoolStatistics#leaf}, {@link PageClassStatistics#hits}. */
  POOL_LEAF_HITS(
      Group.POOL,
      "leaf.hits",
      Kind.COUNTER,
      Unit.COUNT,
      "accesses to leaves of tables that found the page in the pool"),
  /** {@link PoolStatistics#leaf}, {@link PageClassStatistics#misses}. */
  POOL_LEAF_MISSES(
      Group.POOL,
      "leaf.misses",
      Kind.COUNTER,
      Unit.COUNT,
      "accesses to leaves of tables that had to read the page from the data file"),
  /** {@link PoolStatistics#leaf}, {@link PageClassStatistics#evictions}. */
  POOL_LEAF_EVICTIONS(
      Group.POOL,
      "leaf.evictions",
      Kind.COUNTER,
      Unit.PAGES,
      "leaves of tables evicted from the pool"),
  /** {@link PoolStatistics#leaf}, {@link PageClassStatistics#resident}. */
  POOL_LEAF_RESIDENT(
      Group.POOL,
      "leaf.resident",
      Kind.GAUGE,
      Unit.PAGES,
      "leaves of tables in the pool",
      Cost.SCANS_POOL),
  /** {@link PoolStatistics#leaf}, {@link PageClassStatistics#dirty}. */
  POOL_LEAF_DIRTY(
      Group.POOL,
      "leaf.dirty",
      Kind.GAUGE,
      Unit.PAGES,
      "leaves of tables in the pool that have to be written",
      Cost.SCANS_POOL),
  /** {@link PoolStatistics#inner}, {@link PageClassStatistics#hits}. */
  POOL_INNER_HITS(
      Group.POOL,
      "inner.hits",
      Kind.COUNTER,
      Unit.COUNT,
      "accesses to inner pages of tables that found the page in the pool"),
  /** {@link PoolStatistics#inner}, {@link PageClassStatistics#misses}. */
  POOL_INNER_MISSES(
      Group.POOL,
      "inner.misses",
      Kind.COUNTER,
      Unit.COUNT,
      "accesses to inner pages of tables that had to read the page from the data file"),
  /** {@link PoolStatistics#inner}, {@link PageClassStatistics#evictions}. */
  POOL_INNER_EVICTIONS(
      Group.POOL,
      "inner.evictions",
      Kind.COUNTER,
      Unit.PAGES,
      "inner pages of tables evicted from the pool"),
  /** {@link PoolStatistics#inner}, {@link PageClassStatistics#resident}. */
  POOL_INNER_RESIDENT(
      Group.POOL,
      "inner.resident",
      Kind.GAUGE,
      Unit.PAGES,
      "inner pages of tables in the pool",
      Cost.SCANS_POOL),
  /** {@link PoolStatistics#inner}, {@link PageClassStatistics#dirty}. */
  POOL_INNER_DIRTY(
      Group.POOL,
      "inner.dirty",
      Kind.GAUGE,
      Unit.PAGES,
      "inner pages of tables in the pool that have to be written",
      Cost.SCANS_POOL),
  /** {@link PoolStatistics#overflow}, {@link PageClassStatistics#hits}. */
  POOL_OVERFLOW_HITS(
      Group.POOL,
      "overflow.hits",
      Kind.COUNTER,
      Unit.COUNT,
      "accesses to pages of large values that found the page in the pool"),
  /** {@link PoolStatistics#overflow}, {@link PageClassStatistics#misses}. */
  POOL_OVERFLOW_MISSES(
      Group.POOL,
      "overflow.misses",
      Kind.COUNTER,
      Unit.COUNT,
      "accesses to pages of large values that had to read the page from the data file"),
  /** {@link PoolStatistics#overflow}, {@link PageClassStatistics#evictions}. */
  POOL_OVERFLOW_EVICTIONS(
      Group.POOL,
      "overflow.evictions",
      Kind.COUNTER,
      Unit.PAGES,
      "pages of large values evicted from the pool"),
  /** {@link PoolStatistics#overflow}, {@link PageClassStatistics#resident}. */
  POOL_OVERFLOW_RESIDENT(
      Group.POOL,
      "overflow.resident",
      Kind.GAUGE,
      Unit.PAGES,
      "pages of large values in the pool",
      Cost.SCANS_POOL),
  /** {@link PoolStatistics#overflow}, {@link PageClassStatistics#dirty}. */
  POOL_OVERFLOW_DIRTY(
      Group.POOL,
      "overflow.dirty",
      Kind.GAUGE,
      Unit.PAGES,
      "pages of large values in the pool that have to be written",
      Cost.SCANS_POOL),
  /** {@link PoolStatistics#map}, {@link PageClassStatistics#hits}. */
  POOL_MAP_HITS(
      Group.POOL,
      "map.hits",
      Kind.COUNTER,
      Unit.COUNT,
      "accesses to space maps that found the page in the pool"),
  /** {@link PoolStatistics#map}, {@link PageClassStatistics#misses}. */
  POOL_MAP_MISSES(
      Group.POOL,
      "map.misses",
      Kind.COUNTER,
      Unit.COUNT,
      "accesses to space maps that had to read the page from the data file"),
  /** {@link PoolStatistics#map}, {@link PageClassStatistics#evictions}. */
  POOL_MAP_EVICTIONS(
      Group.POOL, "map.evictions", Kind.COUNTER, Unit.PAGES, "space maps evicted from the pool"),
  /** {@link PoolStatistics#map}, {@link PageClassStatistics#resident}. */
  POOL_MAP_RESIDENT(
      Group.POOL,
      "map.resident",
      Kind.GAUGE,
      Unit.PAGES,
      "space maps in the pool",
      Cost.SCANS_POOL),
  /** {@link PoolStatistics#map}, {@link PageClassStatistics#dirty}. */
  POOL_MAP_DIRTY(
      Group.POOL,
      "map.dirty",
      Kind.GAUGE,
      Unit.PAGES,
      "space maps in the pool that have to be written",
      Cost.SCANS_POOL),
  /** {@link FileStatistics#pagesRead}. */
  FILES_PAGES_READ(
      Group.FILES, "pagesRead", Kind.COUNTER, Unit.PAGES, "pages read from the data file"),
  /** {@link FileStatistics#pagesWritten}. */
  FILES_PAGES_WRITTEN(
      Group.FILES, "pagesWritten", Kind.COUNTER, Unit.PAGES, "pages written to the data file"),
  /** {@link FileStatistics#bytesRead}. */
  FILES_BYTES_READ(Group.FILES, "bytesRead", Kind.COUNTER, Unit.BYTES, "bytes read from all files"),
  /** {@link FileStatistics#bytesWritten}. */
  FILES_BYTES_WRITTEN(
      Group.FILES, "bytesWritten", Kind.COUNTER, Unit.BYTES, "bytes written to all files"),
  /** {@link FileStatistics#forces}. */
  FILES_FORCES(Group.FILES, "forces", Kind.COUNTER, Unit.COUNT, "forces of files"),
  /** {@link FileStatistics#checkpoints}. */
  FILES_CHECKPOINTS(Group.FILES, "checkpoints", Kind.COUNTER, Unit.COUNT, "checkpoints"),
  /** {@link FileStatistics#redoPoint}. */
  FILES_REDO_POINT(
      Group.FILES,
      "redoPoint",
      Kind.GAUGE,
      Unit.LSN,
      "position in the log from which a restart would redo changes"),
  /** {@link FileStatistics#durableLsn}. */
  FILES_DURABLE_LSN(
      Group.FILES, "durableLsn", Kind.GAUGE, Unit.LSN, "end of the durable part of the log"),
  /** {@link FileStatistics#logTail}. */
  FILES_LOG_TAIL(Group.FILES, "logTail", Kind.GAUGE, Unit.LSN, "end of the log"),
  /** {@link FileStatistics#restartPages}. */
  FILES_RESTART_PAGES(
      Group.FILES,
      "restartPages",
      Kind.GAUGE,
      Unit.PAGES,
      "largest number of pages that a restart might have to read"),
  /** {@link FileStatistics#pendingPages}. */
  FILES_PENDING_PAGES(
      Group.FILES,
      "pendingPages",
      Kind.GAUGE,
      Unit.PAGES,
      "pages that the last crash has left to be brought up to date in the background"),
  /** {@link FileStatistics#logDirectoryBytes}. */
  FILES_LOG_DIRECTORY_BYTES(
      Group.FILES,
      "logDirectoryBytes",
      Kind.GAUGE,
      Unit.BYTES,
      "size of the log directory; 0 if the database is open read-only"),
  /** {@link FileStatistics#dataFilePages}. */
  FILES_DATA_FILE_PAGES(
      Group.FILES, "dataFilePages", Kind.GAUGE, Unit.PAGES, "size of the data file"),
  /** {@link FileStatistics#splits}. */
  FILES_SPLITS(Group.FILES, "splits", Kind.COUNTER, Unit.COUNT, "splits of pages"),
  /** {@link FileStatistics#merges}. */
  FILES_MERGES(
      Group.FILES, "merges", Kind.COUNTER, Unit.COUNT, "merges of a page with its neighbour"),
  /** {@link FileStatistics#overflowValues}. */
  FILES_OVERFLOW_VALUES(
      Group.FILES, "overflowValues", Kind.COUNTER, Unit.COUNT, "values written to overflow pages"),
  /** {@link FileStatistics#overflowPagesFreed}. */
  FILES_OVERFLOW_PAGES_FREED(
      Group.FILES, "overflowPagesFreed", Kind.COUNTER, Unit.PAGES, "overflow pages freed"),
  /** {@link CleaningStatistics#passes}. */
  CLEANING_PASSES(Group.CLEANING, "passes", Kind.COUNTER, Unit.COUNT, "passes of the cleaner"),
  /** {@link CleaningStatistics#pagesCleaned}. */
  CLEANING_PAGES_CLEANED(
      Group.CLEANING, "pagesCleaned", Kind.COUNTER, Unit.PAGES, "pages that the cleaner visited"),
  /** {@link CleaningStatistics#rowsReverted}. */
  CLEANING_ROWS_REVERTED(
      Group.CLEANING,
      "rowsReverted",
      Kind.COUNTER,
      Unit.COUNT,
      "rows of aborted transactions reverted, by the cleaner or by the transactions themselves"),
  /** {@link CleaningStatistics#versionsDropped}. */
  CLEANING_VERSIONS_DROPPED(
      Group.CLEANING,
      "versionsDropped",
      Kind.COUNTER,
      Unit.COUNT,
      "older versions and deleted rows removed from pages"),
  /** {@link CleaningStatistics#pagesToVisit}. */
  CLEANING_PAGES_TO_VISIT(
      Group.CLEANING,
      "pagesToVisit",
      Kind.GAUGE,
      Unit.PAGES,
      "pages that the running pass of the cleaner has not visited yet; 0 between two passes"),
  /** {@link CleaningStatistics#pagesMarked}. */
  CLEANING_PAGES_MARKED(
      Group.CLEANING,
      "pagesMarked",
      Kind.GAUGE,
      Unit.PAGES,
      "pages for the next pass, because only the cleaner can free space on them"),
  /** {@link CleaningStatistics#pagesForLater}. */
  CLEANING_PAGES_FOR_LATER(
      Group.CLEANING,
      "pagesForLater",
      Kind.GAUGE,
      Unit.PAGES,
      "pages with older versions that can wait for the next writer of the page"),
  /** {@link CleaningStatistics#pagesPostponed}. */
  CLEANING_PAGES_POSTPONED(
      Group.CLEANING,
      "pagesPostponed",
      Kind.GAUGE,
      Unit.PAGES,
      "pages that wait for the end of a transaction"),
  /** {@link CleaningStatistics#pagesPostponedLong}. */
  CLEANING_PAGES_POSTPONED_LONG(
      Group.CLEANING,
      "pagesPostponedLong",
      Kind.GAUGE,
      Unit.PAGES,
      "pages that wait only for prepared or long transactions"),
  /** {@link CleaningStatistics#tablesToGiveBack}. */
  CLEANING_TABLES_TO_GIVE_BACK(
      Group.CLEANING,
      "tablesToGiveBack",
      Kind.GAUGE,
      Unit.COUNT,
      "dropped or truncated tables whose pages have not all been freed"),
  /** {@link CleaningStatistics#mapsToRead}. */
  CLEANING_MAPS_TO_READ(
      Group.CLEANING,
      "mapsToRead",
      Kind.GAUGE,
      Unit.PAGES,
      "space maps that the cleaner has to read after a restart; until it has, commits.abortedCleaned stays"),
  /** {@link VersionStatistics#snapshots}. */
  VERSIONS_SNAPSHOTS(Group.VERSIONS, "snapshots", Kind.GAUGE, Unit.COUNT, "open snapshots"),
  /** {@link VersionStatistics#oldestSnapshot}, {@link OldestSnapshot#lsn}. */
  VERSIONS_OLDEST_SNAPSHOT_LSN(
      Group.VERSIONS,
      "oldestSnapshot.lsn",
      Kind.GAUGE,
      Unit.LSN,
      "position in the log of the oldest open snapshot; 0 if none is open"),
  /** {@link VersionStatistics#oldestSnapshot}, {@link OldestSnapshot#since}. */
  VERSIONS_OLDEST_SNAPSHOT_SINCE(
      Group.VERSIONS,
      "oldestSnapshot.since",
      Kind.GAUGE,
      Unit.EPOCH_MILLISECONDS,
      "time when the oldest snapshot was first seen, up to two seconds after its begin; 0 if none is open"),
  /** {@link VersionStatistics#oldestSnapshot}, {@link OldestSnapshot#transactionId}. */
  VERSIONS_OLDEST_SNAPSHOT_TRANSACTION_ID(
      Group.VERSIONS,
      "oldestSnapshot.transactionId",
      Kind.GAUGE,
      Unit.ID,
      "transaction that reads in the oldest snapshot; 0 if it has not written"),
  /** {@link VersionStatistics#oldestSnapshot}, {@link OldestSnapshot#versions}. */
  VERSIONS_OLDEST_SNAPSHOT_VERSIONS(
      Group.VERSIONS,
      "oldestSnapshot.versions",
      Kind.GAUGE,
      Unit.COUNT,
      "older versions in memory that only the oldest snapshot needs, when the cleaner last looked; 0 before it has"),
  /** {@link VersionStatistics#memoryBytes}. */
  VERSIONS_MEMORY_BYTES(
      Group.VERSIONS,
      "memoryBytes",
      Kind.GAUGE,
      Unit.BYTES,
      "memory of older versions of rows, and of the index of those in files"),
  /** {@link VersionStatistics#runBytes}. */
  VERSIONS_RUN_BYTES(
      Group.VERSIONS, "runBytes", Kind.GAUGE, Unit.BYTES, "size of the files with older versions"),
  /** {@link VersionStatistics#runs}. */
  VERSIONS_RUNS(Group.VERSIONS, "runs", Kind.GAUGE, Unit.COUNT, "files with older versions"),
  /** {@link VersionStatistics#spilled}. */
  VERSIONS_SPILLED(
      Group.VERSIONS,
      "spilled",
      Kind.COUNTER,
      Unit.COUNT,
      "older versions written to files, because memory was too small"),
  /** {@link VersionStatistics#added}. */
  VERSIONS_ADDED(
      Group.VERSIONS,
      "added",
      Kind.COUNTER,
      Unit.COUNT,
      "older versions that left their page and were kept in memory"),
  /** {@link VersionStatistics#pruned}. */
  VERSIONS_PRUNED(
      Group.VERSIONS,
      "pruned",
      Kind.COUNTER,
      Unit.COUNT,
      "older versions dropped from memory when another version of their row arrived"),
  /** {@link VersionStatistics#swept}. */
  VERSIONS_SWEPT(
      Group.VERSIONS,
      "swept",
      Kind.COUNTER,
      Unit.COUNT,
      "older versions dropped from memory later, when no snapshot needed them"),
  /** {@link VersionStatistics#longestChain}. */
  VERSIONS_LONGEST_CHAIN(
      Group.VERSIONS,
      "longestChain",
      Kind.GAUGE,
      Unit.COUNT,
      "largest number of older versions that one row has had in memory"),
  /** {@link VersionStatistics#chainExcess}. */
  VERSIONS_CHAIN_EXCESS(
      Group.VERSIONS,
      "chainExcess",
      Kind.GAUGE,
      Unit.COUNT,
      "largest excess of the older versions of a row over the open snapshots, when a version arrived; 0 if never"),
  /** {@link VersionStatistics#snapshotRefreshes}. */
  VERSIONS_SNAPSHOT_REFRESHES(
      Group.VERSIONS,
      "snapshotRefreshes",
      Kind.COUNTER,
      Unit.COUNT,
      "times the engine collected the open snapshots to find versions to drop"),
  /** {@link RetryStatistics#repeated}. */
  RETRIES_REPEATED(
      Group.RETRIES,
      "repeated",
      Kind.COUNTER,
      Unit.COUNT,
      "attempts of Database.run made after another attempt had met a conflict"),
  /** {@link RetryStatistics#gaveUp}. */
  RETRIES_GAVE_UP(
      Group.RETRIES,
      "gaveUp",
      Kind.COUNTER,
      Unit.COUNT,
      "calls of Database.run that ended with a conflict"),
  /** {@link RetryStatistics#rowInUse}. */
  RETRIES_ROW_IN_USE(
      Group.RETRIES,
      "rowInUse",
      Kind.COUNTER,
      Unit.COUNT,
      "attempts of Database.run that failed with ROW_IN_USE"),
  /** {@link RetryStatistics#rowChanged}. */
  RETRIES_ROW_CHANGED(
      Group.RETRIES,
      "rowChanged",
      Kind.COUNTER,
      Unit.COUNT,
      "attempts of Database.run that failed with ROW_CHANGED"),
  /** {@link RetryStatistics#notSerializable}. */
  RETRIES_NOT_SERIALIZABLE(
      Group.RETRIES,
      "notSerializable",
      Kind.COUNTER,
      Unit.COUNT,
      "attempts of Database.run that failed with NOT_SERIALIZABLE"),
  /** {@link RetryStatistics#deadlock}. */
  RETRIES_DEADLOCK(
      Group.RETRIES,
      "deadlock",
      Kind.COUNTER,
      Unit.COUNT,
      "attempts of Database.run that failed with DEADLOCK"),
  /** {@link RetryStatistics#lockTimeout}. */
  RETRIES_LOCK_TIMEOUT(
      Group.RETRIES,
      "lockTimeout",
      Kind.COUNTER,
      Unit.COUNT,
      "attempts of Database.run that failed with LOCK_TIMEOUT"),
  /** {@link RetryStatistics#tableInUse}. */
  RETRIES_TABLE_IN_USE(
      Group.RETRIES,
      "tableInUse",
      Kind.COUNTER,
      Unit.COUNT,
      "attempts of Database.run that failed with TABLE_IN_USE"),
  /** {@link RetryStatistics#tableChanged}. */
  RETRIES_TABLE_CHANGED(
      Group.RETRIES,
      "tableChanged",
      Kind.COUNTER,
      Unit.COUNT,
      "attempts of Database.run that failed with TABLE_CHANGED"),
  /** {@link RetryStatistics#ceilingNanos}. */
  RETRIES_CEILING_NANOS(
      Group.RETRIES,
      "ceilingNanos",
      Kind.GAUGE,
      Unit.NANOSECONDS,
      "upper limit of pauses between attempts now, except after many attempts; 0 without contention"),
  /** {@link ArchiveStatistics#shippedLsn}. */
  ARCHIVE_SHIPPED_LSN(
      Group.ARCHIVE,
      "shippedLsn",
      Kind.GAUGE,
      Unit.LSN,
      "position up to which the archive has the log; 0 until that is known"),
  /** {@link ArchiveStatistics#lagBytes}. */
  ARCHIVE_LAG_BYTES(
      Group.ARCHIVE,
      "lagBytes",
      Kind.GAUGE,
      Unit.BYTES,
      "durable log that the archive does not have yet"),
  /** {@link ArchiveStatistics#lagNanos}. */
  ARCHIVE_LAG_NANOS(
      Group.ARCHIVE,
      "lagNanos",
      Kind.GAUGE,
      Unit.NANOSECONDS,
      "age of the oldest durable log that the archive does not have yet"),
  /** {@link ArchiveStatistics#bytes}. */
  ARCHIVE_BYTES(
      Group.ARCHIVE, "bytes", Kind.COUNTER, Unit.BYTES, "written to the log of the archive"),
  /** {@link ArchiveStatistics#failures}. */
  ARCHIVE_FAILURES(
      Group.ARCHIVE,
      "failures",
      Kind.COUNTER,
      Unit.COUNT,
      "attempts to write the archive that failed"),
  /** {@link ArchiveStatistics#bases}. */
  ARCHIVE_BASES(Group.ARCHIVE, "bases", Kind.COUNTER, Unit.COUNT, "bases made in the archive"),
  /** {@link ArchiveStatistics#gaps}. */
  ARCHIVE_GAPS(
      Group.ARCHIVE,
      "gaps",
      Kind.COUNTER,
      Unit.COUNT,
      "times that log did not reach the archive, so that it needed a new base");

  /** The seven parts of {@link DatabaseStatistics}. */
  public enum Group {
    /** {@link DatabaseStatistics#commits}. */
    COMMITS("commits"),
    /** {@link DatabaseStatistics#pool}. */
    POOL("pool"),
    /** {@link DatabaseStatistics#files}. */
    FILES("files"),
    /** {@link DatabaseStatistics#cleaning}. */
    CLEANING("cleaning"),
    /** {@link DatabaseStatistics#versions}. */
    VERSIONS("versions"),
    /** {@link DatabaseStatistics#retries}. */
    RETRIES("retries"),
    /** {@link DatabaseStatistics#archive}. */
    ARCHIVE("archive");

    private final String text;

    Group(String text) {
      this.text = text;
    }

    /**
     * Returns the name of the group, with which the names of its numbers begin.
     *
     * @return one word
     */
    public String text() {
      return text;
    }

    /**
     * Returns the numbers of this group.
     *
     * @return in the order of the table
     */
    public List<Statistic> statistics() {
      return Arrays.stream(Statistic.values()).filter(one -> one.group == this).toList();
    }
  }

  /** How a number changes. */
  public enum Kind {
    /** A count since the database was opened. It never becomes smaller while it is open. */
    COUNTER("counter"),
    /** A state at one moment, or a maximum. */
    GAUGE("gauge");

    private final String text;

    Kind(String text) {
      this.text = text;
    }

    /**
     * Returns the kind as an exporter prints it.
     *
     * @return one word
     */
    public String text() {
      return text;
    }
  }

  /** What a number counts. */
  public enum Unit {
    /** Things or events, as the description says. */
    COUNT("count"),
    /** Pages of 8 KiB. */
    PAGES("pages"),
    /** Bytes. */
    BYTES("bytes"),
    /** Nanoseconds. */
    NANOSECONDS("nanoseconds"),
    /** Milliseconds since 1970 in UTC. */
    EPOCH_MILLISECONDS("milliseconds since 1970"),
    /** A position in the log. The difference of two positions is a number of bytes. */
    LSN("log position"),
    /** The id of a transaction. */
    ID("id");

    private final String text;

    Unit(String text) {
      this.text = text;
    }

    /**
     * Returns the unit as it is shown.
     *
     * @return a few words
     */
    public String text() {
      return text;
    }
  }

  private enum Cost {
    READS_COUNTERS,
    SCANS_POOL
  }

  private final Group group;
  private final String text;
  private final Kind kind;
  private final Unit unit;
  private final String description;
  private final Cost cost;

  Statistic(Group group, String path, Kind kind, Unit unit, String description) {
    this(group, path, kind, unit, description, Cost.READS_COUNTERS);
  }

  Statistic(Group group, String path, Kind kind, Unit unit, String description, Cost cost) {
    this.group = group;
    this.text = group.text + "." + path;
    this.kind = kind;
    this.unit = unit;
    this.description = description;
    this.cost = cost;
  }

  /**
   * Returns the part of the statistics that has this number.
   *
   * @return the group
   */
  public Group group() {
    return group;
  }

  /**
   * Returns the unique name as an exporter and {@code stat} print it.
   *
   * @return the names of the getters, separated by dots, such as {@code commits.durable}
   */
  public String text() {
    return text;
  }

  /**
   * Returns whether this is a counter or a gauge.
   *
   * @return the kind
   */
  public Kind kind() {
    return kind;
  }

  /**
   * Returns the unit of the number.
   *
   * @return the unit
   */
  public Unit unit() {
    return unit;
  }

  /**
   * Returns what the number means.
   *
   * @return one line in English
   */
  public String description() {
    return description;
  }

  /**
   * Returns whether the counters file and {@code stat} have the number.
   *
   * @return {@code false} for a number that needs a scan of the whole pool
   */
  public boolean isInCountersFile() {
    return cost == Cost.READS_COUNTERS;
  }
}
