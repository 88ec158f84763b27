package org.revenantdb.engine.lifecycle;

import java.util.EnumMap;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.ConflictReason;
import org.revenantdb.engine.DatabaseStatistics;
import org.revenantdb.engine.Statistic;
import org.revenantdb.engine.access.ApiAccess;
import org.revenantdb.engine.archive.Archiver;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.buffer.BufferStatistics;
import org.revenantdb.engine.catalog.Catalog;
import org.revenantdb.engine.change.Journal;
import org.revenantdb.engine.session.Engine;
import org.revenantdb.engine.session.OpenTransactions;
import org.revenantdb.engine.session.Retries;
import org.revenantdb.engine.version.Cleaner;
import org.revenantdb.engine.version.Storage;
import org.revenantdb.gc.ActiveSnapshots;
import org.revenantdb.recovery.checkpoint.Checkpointer;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.log.PageSpace;
import org.revenantdb.recovery.restart.PendingParts;

/**
 * Reads each {@link Statistic} of an open database from its counter.
 *
 * <p>Threads: any thread inside the gate, or a thread that the close ends.
 *
 * @param io the counters of this open database
 * @param checkpointer null if the database is read-only
 * @param cleaner null likewise, and while the database is being opened
 * @param archiver null without an archive
 */
record StatisticSources(
    Engine engine,
    Catalog catalog,
    Journal log,
    BufferPool pool,
    PageSpace restartPages,
    PendingParts pending,
    IoStatistics io,
    @Nullable Checkpointer checkpointer,
    @Nullable Cleaner cleaner,
    @Nullable Archiver archiver) {

  /** The oldest snapshot; all zero if none is open. */
  private record Oldest(long lsn, long since, long versions, OpenTransactions.Holder holder) {
    static final Oldest NONE = new Oldest(0, 0, 0, OpenTransactions.Holder.NOBODY);
  }

  /** Reads all of them. It looks at each frame of the pool. */
  DatabaseStatistics all() {
    return read(pool::statistics);
  }

  /** Reads those of the counters file; the others are 0. */
  DatabaseStatistics ofFile() {
    return read(pool::statisticsOfWork);
  }

  private DatabaseStatistics read(Supplier<BufferStatistics> ofPool) {
    long nanoTime = System.nanoTime();
    BufferStatistics pages = ofPool.get();
    Retries.Counts retries = engine.retries().counts();
    Oldest oldest = oldest();
    Map<Statistic, Long> values = new EnumMap<>(Statistic.class);
    for (Statistic one : Statistic.values()) {
      values.put(one, value(one, pages, retries, oldest));
    }
    return ApiAccess.api().statistics(values, oldest.holder().name(), io, nanoTime);
  }

  /** Without a default, so that a statistic without a source does not compile. */
  private long value(
      Statistic statistic, BufferStatistics pages, Retries.Counts retries, Oldest oldest) {
    Storage storage = engine.storage();
    Storage.Counters counters = storage.counters();
    return switch (statistic) {
      case COMMITS_DURABLE -> counters.durableCommits.sum();
      case COMMITS_LAZY -> counters.lazyCommits.sum();
      case COMMITS_DURABLE_READ_WAITS -> counters.durableReadWaits.sum();
      case COMMITS_DURABLE_READ_WAIT_NANOS -> counters.durableReadWaitNanos.sum();
      case COMMITS_ABORTED_PENDING -> storage.transactions().aborted().size();
      case COMMITS_ABORTED_CLEANED -> counters.forgotten.sum();
      case POOL_HITS -> pages.hits();
      case POOL_MISSES -> pages.misses();
      case POOL_EVICTIONS -> pages.evictions();
      case POOL_FRAME_WAITS -> pages.frameWaits();
      case POOL_PAGES_READ_AHEAD -> pages.pagesAhead();
      case POOL_LEAF_HITS -> pages.leaf().hits();
      case POOL_LEAF_MISSES -> pages.leaf().misses();
      case POOL_LEAF_EVICTIONS -> pages.leaf().evictions();
      case POOL_LEAF_RESIDENT -> pages.leaf().resident();
      case POOL_LEAF_DIRTY -> pages.leaf().dirty();
      case POOL_INNER_HITS -> pages.inner().hits();
      case POOL_INNER_MISSES -> pages.inner().misses();
      case POOL_INNER_EVICTIONS -> pages.inner().evictions();
      case POOL_INNER_RESIDENT -> pages.inner().resident();
      case POOL_INNER_DIRTY -> pages.inner().dirty();
      case POOL_OVERFLOW_HITS -> pages.overflow().hits();
      case POOL_OVERFLOW_MISSES -> pages.overflow().misses();
      case POOL_OVERFLOW_EVICTIONS -> pages.overflow().evictions();
      case POOL_OVERFLOW_RESIDENT -> pages.overflow().resident();
      case POOL_OVERFLOW_DIRTY -> pages.overflow().dirty();
      case POOL_MAP_HITS -> pages.map().hits();
      case POOL_MAP_MISSES -> pages.map().misses();
      case POOL_MAP_EVICTIONS -> pages.map().evictions();
      case POOL_MAP_RESIDENT -> pages.map().resident();
      case POOL_MAP_DIRTY -> pages.map().dirty();
      case FILES_PAGES_READ -> pages.pagesRead();
      case FILES_PAGES_WRITTEN -> pages.pagesWritten();
      case FILES_BYTES_READ -> io.bytesRead();
      case FILES_BYTES_WRITTEN -> io.bytesWritten();
      case FILES_FORCES -> io.forces();
      case FILES_CHECKPOINTS -> counters.checkpoints.sum();
      case FILES_REDO_POINT -> redoPoint();
      case FILES_DURABLE_LSN -> log.durableLsn();
      case FILES_LOG_TAIL -> log.tail();
      case FILES_RESTART_PAGES -> restartPages.inUse();
      case FILES_PENDING_PAGES -> pending.left();
      case FILES_LOG_DIRECTORY_BYTES -> log.bytesInDirectory();
      case FILES_DATA_FILE_PAGES -> storage.allocator().pages();
      case FILES_SPLITS -> counters.splits.sum();
      case FILES_MERGES -> counters.merges.sum();
      case FILES_OVERFLOW_VALUES -> counters.overflowValues.sum();
      case FILES_OVERFLOW_PAGES_FREED -> counters.overflowPagesFreed.sum();
      case CLEANING_PASSES -> counters.cleanerPasses.sum();
      case CLEANING_PAGES_CLEANED -> counters.pagesCleaned.sum();
      case CLEANING_ROWS_REVERTED -> counters.rowsReverted.sum();
      case CLEANING_VERSIONS_DROPPED -> counters.versionsDropped.sum();
      case CLEANING_PAGES_TO_VISIT -> storage.marks().leftInPass();
      case CLEANING_PAGES_MARKED -> storage.marks().fresh();
      case CLEANING_PAGES_FOR_LATER -> storage.marks().later();
      case CLEANING_PAGES_POSTPONED -> storage.marks().postponed();
      case CLEANING_PAGES_POSTPONED_LONG -> storage.marks().postponedLong();
      case CLEANING_TABLES_TO_GIVE_BACK -> catalog.dropped().count();
      case CLEANING_MAPS_TO_READ -> cleaner == null ? 0 : cleaner.mapsToRead();
      case VERSIONS_SNAPSHOTS -> engine.snapshots().active();
      case VERSIONS_OLDEST_SNAPSHOT_LSN -> oldest.lsn();
      case VERSIONS_OLDEST_SNAPSHOT_SINCE -> oldest.since();
      case VERSIONS_OLDEST_SNAPSHOT_TRANSACTION_ID -> oldest.holder().id();
      case VERSIONS_OLDEST_SNAPSHOT_VERSIONS -> oldest.versions();
      case VERSIONS_MEMORY_BYTES -> storage.versions().memoryBytes();
      case VERSIONS_RUN_BYTES -> storage.versions().runBytes();
      case VERSIONS_RUNS -> storage.versions().runs();
      case VERSIONS_SPILLED -> storage.versions().spilled();
      case VERSIONS_ADDED -> storage.versions().added();
      case VERSIONS_PRUNED -> storage.versions().pruned();
      case VERSIONS_SWEPT -> storage.versions().swept();
      case VERSIONS_LONGEST_CHAIN -> storage.versions().longestChain();
      case VERSIONS_CHAIN_EXCESS -> storage.versions().chainExcess();
      case VERSIONS_SNAPSHOT_REFRESHES -> storage.horizon().refreshes();
      case RETRIES_REPEATED -> retries.repeated();
      case RETRIES_GAVE_UP -> retries.gaveUp();
      case RETRIES_ROW_IN_USE -> retries.failed(ConflictReason.ROW_IN_USE);
      case RETRIES_ROW_CHANGED -> retries.failed(ConflictReason.ROW_CHANGED);
      case RETRIES_NOT_SERIALIZABLE -> retries.failed(ConflictReason.NOT_SERIALIZABLE);
      case RETRIES_DEADLOCK -> retries.failed(ConflictReason.DEADLOCK);
      case RETRIES_LOCK_TIMEOUT -> retries.failed(ConflictReason.LOCK_TIMEOUT);
      case RETRIES_TABLE_IN_USE -> retries.failed(ConflictReason.TABLE_IN_USE);
      case RETRIES_TABLE_CHANGED -> retries.failed(ConflictReason.TABLE_CHANGED);
      case RETRIES_CEILING_NANOS -> engine.backoff().ceiling();
      case ARCHIVE_SHIPPED_LSN -> archiver == null ? 0 : archiver.shippedLsn();
      case ARCHIVE_LAG_BYTES -> archiver == null ? 0 : archiver.lagBytes();
      case ARCHIVE_LAG_NANOS -> archiver == null ? 0 : archiver.lagNanos();
      case ARCHIVE_BYTES -> archiver == null ? 0 : archiver.bytes();
      case ARCHIVE_FAILURES -> archiver == null ? 0 : archiver.failures();
      case ARCHIVE_BASES -> archiver == null ? 0 : archiver.bases();
      case ARCHIVE_GAPS -> archiver == null ? 0 : archiver.gaps();
    };
  }

  /**
   * Read before the end of the durable log, which is read before the tail: so none is above the
   * next.
   */
  private long redoPoint() {
    return checkpointer == null ? log.durableLsn() : checkpointer.redoPoint();
  }

  private Oldest oldest() {
    ActiveSnapshots.Open oldest = engine.snapshots().oldest(System.currentTimeMillis());
    if (oldest == null) {
      return Oldest.NONE;
    }
    OpenTransactions.Holder holder = engine.open().holderIn(oldest.slot());
    if (!engine.snapshots().isOpen(oldest)) {
      holder = OpenTransactions.Holder.NOBODY; // another transaction may use its slot by now
    }
    long versions = engine.storage().versions().keptFor(oldest.snapshot());
    return new Oldest(oldest.snapshot(), oldest.since(), versions, holder);
  }
}
