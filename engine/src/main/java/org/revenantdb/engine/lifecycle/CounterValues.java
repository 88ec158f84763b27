package org.revenantdb.engine.lifecycle;

import java.util.stream.LongStream;
import org.revenantdb.engine.DatabaseStatistics;
import org.revenantdb.engine.OldestSnapshot;
import org.revenantdb.engine.WaitClass;
import org.revenantdb.engine.Waits;

/** Statistics as the numbers of the counters file, in its order. */
public final class CounterValues {
  private CounterValues() {}

  /** In the order of {@link org.revenantdb.engine.counters.Counter}. */
  public static long[] of(DatabaseStatistics counts) {
    OldestSnapshot oldest = counts.oldestSnapshot();
    return new long[] {
      counts.splits(),
      counts.merges(),
      counts.overflowValues(),
      counts.overflowPagesFreed(),
      counts.rowsReverted(),
      counts.versionsDropped(),
      counts.cleanerPasses(),
      counts.pagesCleaned(),
      counts.abortedTransactions(),
      counts.forgotten(),
      counts.durableCommits(),
      counts.lazyCommits(),
      counts.durableReadWaits(),
      counts.durableReadWaitNanos(),
      counts.checkpoints(),
      counts.hits(),
      counts.misses(),
      counts.evictions(),
      counts.pagesRead(),
      counts.pagesWritten(),
      counts.bytesRead(),
      counts.bytesWritten(),
      counts.forces(),
      counts.logTail(),
      counts.durableLsn(),
      counts.redoPoint(),
      counts.restartPages(),
      counts.logDirectoryBytes(),
      counts.dataFilePages(),
      counts.pagesReadAhead(),
      counts.frameWaits(),
      counts.leafPages().hits(),
      counts.leafPages().misses(),
      counts.leafPages().evictions(),
      counts.innerPages().hits(),
      counts.innerPages().misses(),
      counts.innerPages().evictions(),
      counts.overflowPages().hits(),
      counts.overflowPages().misses(),
      counts.overflowPages().evictions(),
      counts.mapPages().hits(),
      counts.mapPages().misses(),
      counts.mapPages().evictions(),
      counts.versionMemoryBytes(),
      counts.versionRunBytes(),
      counts.versionRuns(),
      counts.versionsSpilled(),
      counts.pagesToVisit(),
      counts.pagesMarked(),
      counts.pagesForLater(),
      counts.pagesPostponed(),
      counts.pagesPostponedLong(),
      counts.tablesToGiveBack(),
      counts.mapsToRead(),
      counts.snapshots(),
      oldest == null ? 0 : oldest.lsn(),
      oldest == null ? 0 : oldest.since(),
      oldest == null ? 0 : oldest.transactionId(),
      counts.versionsAdded(),
      counts.versionsPruned(),
      counts.versionsSwept(),
      counts.longestVersionChain(),
      counts.versionChainExcess(),
      counts.snapshotRefreshes(),
      counts.retries().retries(),
      counts.retries().gaveUp(),
      counts.retries().rowInUse(),
      counts.retries().rowChanged(),
      counts.retries().notSerializable(),
      counts.retries().deadlock(),
      counts.retries().lockTimeout(),
      counts.retries().tableInUse(),
      counts.retries().tableChanged(),
      counts.retries().ceilingNanos(),
      oldest == null ? 0 : oldest.versions()
    };
  }

  /** Of each class number, total and maximum, in the order of {@link WaitClass}. */
  public static long[] of(Waits waits) {
    return waits.all().stream()
        .flatMapToLong(one -> LongStream.of(one.count(), one.totalNanos(), one.maxNanos()))
        .toArray();
  }
}
