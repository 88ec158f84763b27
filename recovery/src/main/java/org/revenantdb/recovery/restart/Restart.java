package org.revenantdb.recovery.restart;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.file.ControlFile;
import org.revenantdb.recovery.file.ControlState;
import org.revenantdb.recovery.file.Directories;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.format.SegmentLayout;
import org.revenantdb.recovery.log.DurabilityUnknownException;
import org.revenantdb.recovery.log.LifeStart;
import org.revenantdb.recovery.log.Log;
import org.revenantdb.recovery.log.LogOptions;
import org.revenantdb.recovery.segment.LogReader;
import org.revenantdb.recovery.segment.SegmentDirectory;
import org.revenantdb.recovery.segment.SegmentHeader;
import org.revenantdb.recovery.segment.SegmentMap;
import org.revenantdb.recovery.segment.SegmentPlace;
import org.revenantdb.recovery.segment.UnwrittenLog;

/**
 * One restart of a database, phase by phase; {@code docs/protocols.md} §10.
 *
 * <p>Threads: one, which is never interrupted.
 *
 * <p>Failure: a {@link org.revenantdb.recovery.file.FileException} with file, place, reason and
 * cure. A restart that failed or was killed at any point is begun again.
 *
 * {@snippet :
 * Restart restart = Restart.analyse(directory, id, segmentSize, control.state(), pages, stats, progress);
 * Log log = restart.startLife(options, control);
 * // all of restart.result().aborted() into the map of aborted transactions; open
 * restart.pending().replay(page, true, target); // for each page, before its first use
 * }
 */
public final class Restart {
  /*
   * Step        analyse      reads only                          crash: nothing has happened
   *             startLife    1 tail copied, sealed, forced       crash: the same end is found, sealed
   *                          2 first segment of the new life     crash: a life without records, replaced by the next
   *                          3 LIFE record, forced               crash: a life with nothing but LIFE, replaced too
   *                          4 segments of no life given up
   *                          5 control slot of the new life      crash: from now on the life must be found
   *             afterwards   pages change in memory and on disk  crash: redone from the same redo point
   *
   * A last life with nothing but LIFE is ignored: the next restart names the same former end, with a higher life and
   * higher LSNs. Of the lives that name the same end, the reader takes the highest. So restarts that are killed again
   * and again leave neither a longer chain nor more files.
   */

  /** Receives the versions of pages that the data file is known to have. */
  @FunctionalInterface
  public interface FlushedPage {
    /**
     * A page that was written and forced.
     *
     * @param pageId the page
     * @param lsn the highest LSN that it is known to have had then
     */
    void known(int pageId, long lsn);
  }

  private final SegmentDirectory directory;
  private final SegmentCatalog catalog;
  private final ControlState control;
  private final Analysis analysis;
  private final PendingParts pending;
  private final List<LifeRange> kept;
  private final int nextLife;
  private final AnalysisResult result;

  /** Segments with positions from here on are kept, though no restart reads them. */
  private long keptFrom = Long.MAX_VALUE;

  private Restart(
      SegmentDirectory directory,
      SegmentCatalog catalog,
      ControlState control,
      Analysis analysis,
      PendingParts pending) {
    this.directory = directory;
    this.catalog = catalog;
    this.control = control;
    this.analysis = analysis;
    this.pending = pending;
    kept = new ArrayList<>(analysis.ranges());
    nextLife = kept.getLast().life() + 1;
    if (kept.size() > 1 && kept.getLast().onlyLife()) {
      kept.removeLast();
    }
    result = analysis.result(nextLife);
  }

  /**
   * Reads the log and changes nothing.
   *
   * @param logDirectory the log directory
   * @param databaseId the database, 16 bytes
   * @param segmentSize full size of its log segments
   * @param control the control slot that counts
   * @param pages the pages that the log may change
   * @param statistics where reads, writes and forces are counted
   * @param progress receives the progress
   * @return the restart, to be continued
   * @throws org.revenantdb.recovery.file.DamagedFileException if the log is damaged
   * @throws org.revenantdb.recovery.file.MissingFileException if a segment is missing
   */
  public static Restart analyse(
      Path logDirectory,
      byte[] databaseId,
      int segmentSize,
      ControlState control,
      PageRange pages,
      IoStatistics statistics,
      RestartProgress progress) {
    return analyse(
        logDirectory,
        databaseId,
        segmentSize,
        control,
        pages,
        statistics,
        progress,
        /* known= */ null);
  }

  /**
   * Reads the log from a position at which the states of transactions are known, and changes
   * nothing.
   *
   * @param logDirectory the log directory
   * @param databaseId the database, 16 bytes
   * @param segmentSize full size of its log segments
   * @param control the control slot that counts
   * @param pages the pages that the log may change
   * @param statistics where reads, writes and forces are counted
   * @param progress told about what is being done
   * @param known the states at the slot's analysis point; null if the slot names a checkpoint
   * @return the restart, to be carried on
   */
  public static Restart analyse(
      Path logDirectory,
      byte[] databaseId,
      int segmentSize,
      ControlState control,
      PageRange pages,
      IoStatistics statistics,
      RestartProgress progress,
      @Nullable KnownStates known) {
    SegmentDirectory directory =
        new SegmentDirectory(logDirectory, databaseId.clone(), segmentSize, statistics);
    SegmentCatalog catalog = new SegmentCatalog(directory);
    PendingParts pending = new PendingParts(new RecordFetch(catalog));
    Analysis analysis = new Analysis(catalog, control, pages, pending, progress, known);
    analysis.run();
    Restart restart = new Restart(directory, catalog, control, analysis, pending);
    restart.refuseUnreadableTail();
    return restart;
  }

  /**
   * What analysis found.
   *
   * @return the result
   */
  public AnalysisResult result() {
    return result;
  }

  /**
   * Returns the life that the new one follows. Its log ends at the end that {@link #result} has.
   *
   * @return its number
   */
  public int formerLife() {
    return kept.getLast().life();
  }

  /**
   * Returns the number of the new life.
   *
   * @return above those of all lives before, including those without records
   */
  public int nextLife() {
    return nextLife;
  }

  /**
   * Keeps log that no restart needs, for an archive that does not have it yet ({@code
   * docs/protocols.md} §49). The checkpoints of the new life release it. Call it before the new
   * life begins.
   *
   * @param lsn the segments with positions from here on are kept
   */
  public void keepLogFrom(long lsn) {
    keptFrom = lsn;
  }

  /**
   * Makes the log that was read durable, begins a new life, and writes its first control slot. The
   * slot is not clean; everything else in it is unchanged.
   *
   * @param options how the log is kept; the segment size must be that of the database
   * @param controlFile the control slots
   * @return the running log
   */
  public Log startLife(LogOptions options, ControlFile controlFile) {
    Log log = startLife(options);
    try {
      controlFile.writeBoth(firstState(log));
    } catch (Throwable failure) {
      try {
        log.close(); // no other thread has a reference to it yet
      } catch (RuntimeException second) {
        failure.addSuppressed(second);
      }
      throw failure;
    }
    return log;
  }

  /**
   * Makes the log that was read durable and begins a new life. The caller writes the control slot.
   *
   * @param options how the log is kept; the segment size must be that of the database
   * @return the running log
   */
  public Log startLife(LogOptions options) {
    if (options.segmentSize() != directory.segmentSize()) {
      throw new IllegalArgumentException(
          "segments of " + options.segmentSize() + " bytes, the database has others");
    }
    LifeRange former = kept.getLast();
    options.ownership().check();
    SegmentMap present = new SegmentMap(catalog.present());
    directory.deleteUnfinished();
    if (kept.size() < analysis.ranges().size() || result.cleanShutdown()) {
      // After a clean close: else a power cut could bring back a segment that the close has
      // deleted, beside the first one of the new life, which may lie where that one was.
      directory.forceNames();
    } else if (hasTail()) {
      trimForCopy(present, former, options.maxLogSize());
      for (SegmentPlace made :
          TailSeal.seal(catalog, former.life(), analysis.durable(), former.end())) {
        present.add(made);
      }
      verifyTail(former);
    }
    SegmentPlace first = firstSegment(options);
    SortedSet<Long> freeLater = unread(present);
    SortedSet<Long> freeAtOnce = new TreeSet<>(freeLater.headSet(lastLife()));
    freeAtOnce.addAll(catalog.withoutHeader()); // those that are deleted by now do not matter
    freeLater.removeAll(freeAtOnce);
    LifeStart start =
        new LifeStart(
            directory.path(),
            directory.databaseId(),
            nextLife,
            first.begin(),
            first.size(),
            former.life(),
            former.end(),
            present.sizes(),
            freeAtOnce,
            freeLater);
    return started(Log.start(start, options));
  }

  /**
   * Whether the log from one position to another is there. The segments between two redo points go
   * only after the later one is durable, one by one and in any order.
   *
   * @param from a position
   * @param to a later one
   * @return false only if a segment is certainly missing
   */
  public boolean hasLog(long from, long to) {
    return catalog.isWhole(from, to);
  }

  /** Where the last life begins: unread log below that is not read any more. */
  private long lastLife() {
    return catalog.beginAt(analysis.ranges().getLast().start());
  }

  /**
   * Deletes surplus segments if more files will be made: a copy, and segments that the writer had
   * not begun. The catalog stays as it is: redo may be reading by it.
   */
  private void trimForCopy(SegmentMap present, LifeRange former, long maxLogSize) {
    long more = directory.segmentSize();
    for (SegmentHeader made :
        TailSeal.missing(catalog, former.life(), analysis.durable(), former.end())) {
      more += made.size();
    }
    for (long spare : unread(present).headSet(lastLife())) {
      if (present.bytes() + more <= maxLogSize) {
        return;
      }
      try {
        directory.delete(spare);
      } catch (FileException stays) {
        return;
      }
      present.remove(spare);
    }
  }

  /** Whether the end of the log is not that of a clean close, nor of a life that never began. */
  private boolean hasTail() {
    return kept.size() == analysis.ranges().size() && !result.cleanShutdown();
  }

  /**
   * The tail is read again from D once it was copied ({@link #verifyTail}). So D must be the end of
   * a record, whatever its source is. That must be known before anything is changed.
   */
  private void refuseUnreadableTail() {
    if (hasTail() && tailEnd(kept.getLast(), catalog.unwritten()) != kept.getLast().end()) {
      throw LogDamage.durableInsideRecord(catalog, analysis.durable());
    }
  }

  /**
   * Redo may have read the tail before it was copied. What it has read counts only if the copies
   * say the same: after a failed force the cache may have lost what the medium never had (R6).
   */
  private void verifyTail(LifeRange former) {
    long end = tailEnd(former, /* unwritten= */ null); // the segments have it
    if (end < former.end()) {
      throw LogDamage.endsTooEarly(catalog, end, "analysis read it up to position " + former.end());
    }
  }

  /** Where the log ends if it is read from D on; the end of the life if the log is sound. */
  private long tailEnd(LifeRange former, @Nullable UnwrittenLog unwritten) {
    try (LogReader reader =
        new LogReader(directory, lsn -> catalog.at(lsn, former.life())).with(unwritten)) {
      reader.seek(Math.max(former.start(), analysis.durable()));
      while (reader.lsn() < former.end() && reader.next() && reader.life() == former.life()) {
        // The next record.
      }
      return reader.lsn();
    }
  }

  private static Log started(Log log) {
    try {
      log.awaitDurable(log.tail());
      return log;
    } catch (DurabilityUnknownException failed) {
      if (log.failure() instanceof FileException cause) {
        cause.addSuppressed(failed);
        throw cause;
      }
      throw failed;
    }
  }

  /**
   * The first control slot of the new life.
   *
   * @param log the running log of the life
   * @return redo point and checkpoint as they were, not clean
   */
  public ControlState firstState(Log log) {
    return new ControlState(
        /* sequence= */ 0,
        control.analysisPoint(),
        control.redoPoint(),
        control.checkpointLsn(),
        log.durableLsn(),
        log.life(),
        /* clean= */ false,
        /* endOfLog= */ 0,
        control.highWaterPages());
  }

  /**
   * So far ahead that no LSN that was ever returned is used again, written or lost (R7). A segment
   * is written to only after its header was forced, and LSNs are returned at most one log buffer
   * beyond it. So files without a header of their own do not count.
   *
   * <p>Its size is that of the segment in which the former life ended.
   */
  private SegmentPlace firstSegment(LogOptions options) {
    int buffer = Math.max(options.bufferCapacity(), catalog.largestBuffer());
    LifeRange former = kept.getLast();
    @Nullable SegmentPlace last = catalog.at(Math.max(former.start(), former.end() - 1));
    int size = last == null ? firstSize(directory.segmentSize()) : last.size();
    return new SegmentPlace(catalog.highestEnd() + buffer, size);
  }

  private static int firstSize(int fullSize) {
    return Math.min(SegmentLayout.FIRST_SIZE, fullSize);
  }

  /**
   * Returns how much of the log directory is needed until all pages are redone.
   *
   * @return bytes, in whole segments
   */
  public long bytesKept() {
    long bytes = 0;
    for (LifeRange range : kept) {
      for (SegmentPlace place :
          catalog.holding(range.start(), Math.max(range.start() + 1, range.end()))) {
        bytes += place.size();
      }
    }
    return bytes;
  }

  /** Segments that no restart will read once the new life's first segment is there. */
  private SortedSet<Long> unread(SegmentMap present) {
    SortedSet<Long> unread = new TreeSet<>();
    for (SegmentPlace place : present) {
      if (place.end() <= keptFrom || catalog.headerAt(place.begin()) == null) {
        unread.add(place.begin());
      }
    }
    for (LifeRange range : kept) {
      for (SegmentPlace place : catalog.holding(range.start(), range.end())) {
        unread.remove(place.begin());
      }
    }
    return unread;
  }

  /**
   * Reports which pages the data file is known to have, and up to which LSN, from the FLUSHED
   * records after the redo point. If a page in the file is older, a write of it was lost.
   *
   * <p>Redo uses all of these records. For a page beyond the size in the control slot, a record
   * counts here only if it comes after the last FORMAT or FREE of the page. Otherwise the file may
   * have been cut and have grown again since.
   *
   * @param pages receives each of them
   */
  public void flushedPages(FlushedPage pages) {
    for (long page : analysis.flushed().keys()) {
      long lsn = analysis.flushed().getOrDefault(page, 0);
      long built = analysis.lastFormatOrFree().getOrDefault(page, 0);
      if (page < control.highWaterPages() || (built != 0 && lsn >= built)) {
        pages.known((int) page, lsn);
      }
    }
  }

  /**
   * Reports the pages that a former life refused, because the data file lacks their last write, and
   * that were not written since.
   *
   * @param pages receives each of them, with the lowest LSN that the page has if it is good
   */
  public void refusedPages(FlushedPage pages) {
    for (long page : analysis.refused().keys()) {
      pages.known((int) page, analysis.refused().getOrDefault(page, 0));
    }
  }

  /**
   * Whether an LSN lies in a gap: no record of the lives from the redo point on has it, though
   * there are records before and behind. Between the end of a life and the beginning of the next
   * nothing was logged. LSNs before the redo point, or behind the last life, are not known here.
   *
   * @param lsn of a page
   * @return true if durable log with that LSN is missing
   */
  public boolean isBetweenLives(long lsn) {
    List<LifeRange> ranges = analysis.ranges();
    for (int i = 1; i < ranges.size(); i++) {
      if (lsn > ranges.get(i - 1).end() && lsn <= ranges.get(i).start()) {
        return true;
      }
    }
    return false;
  }

  /**
   * Whether the last life ended too early: the changes that the life before had left were not yet
   * redone, written, and passed by the redo point.
   *
   * @return true if the log that was read is of several lives
   */
  public boolean isAfterRestart() {
    return kept.size() > 1;
  }

  /**
   * Returns the pages that may lack changes, and these changes. Close it when no thread redoes
   * pages any more.
   *
   * @return all of them
   */
  public PendingParts pending() {
    return pending;
  }

  /**
   * Begins the log of a new database: its directory, first segment and first life, durable on
   * return, except for the name of the directory. That is durable when the caller has forced the
   * directory above. The first control slot has the log's tail as redo point and analysis point,
   * and 0 as checkpoint.
   *
   * @param logDirectory the log directory; created if it is missing
   * @param databaseId the database, 16 bytes
   * @param options how the log is kept
   * @return the running log
   */
  public static Log createFirst(Path logDirectory, byte[] databaseId, LogOptions options) {
    Directories.makeOwnerOnly(logDirectory);
    TreeSet<Long> none = new TreeSet<>();
    int size = firstSize(options.segmentSize());
    return Log.start(
        new LifeStart(
            logDirectory,
            databaseId.clone(),
            /* life= */ 1,
            SegmentLayout.FIRST_BEGIN,
            size,
            /* formerLife= */ 0,
            /* formerEnd= */ 0,
            new TreeMap<>(),
            none,
            none),
        options);
  }
}
