package org.revenantdb.engine.archive;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.revenantdb.engine.ArchivePolicy;
import org.revenantdb.engine.RestoreReport;
import org.revenantdb.engine.RestoreRequest;
import org.revenantdb.engine.StorageException;
import org.revenantdb.engine.backup.BackupSource;
import org.revenantdb.engine.backup.BackupTarget;
import org.revenantdb.engine.backup.ToldProgress;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.SpaceMapPage;
import org.revenantdb.recovery.file.ControlFile;
import org.revenantdb.recovery.file.ControlState;
import org.revenantdb.recovery.file.DamagedFileException;
import org.revenantdb.recovery.file.DataFileHeader;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.StorageFile;
import org.revenantdb.recovery.format.PageChecksum;
import org.revenantdb.recovery.log.LogPiece;
import org.revenantdb.recovery.log.LogSource;
import org.revenantdb.recovery.log.PieceReader;
import org.revenantdb.recovery.log.RebuiltLog;

/**
 * Makes a database of an archive, as it was at a moment.
 *
 * <p>Threads: one that may access files. Failure: what was made of the target is deleted.
 */
public final class Restore {
  /*
   * Protocol    docs/protocols.md §49, with the crash table.
   *
   * Steps       header, notes | base and T chosen, all blocks up to T read | target marked | pages | log | header, slots
   *             | all forced | renamed
   */
  private static final int PAGES_AT_ONCE = 128;
  private static final int PIECE = 1 << 20;

  /** The data file grows by whole extents. */
  private static final int EXTENT = 8;

  private final ArchiveFiles files;
  private final Path target;
  private final BackupSource.Names names;
  private final RestoreRequest options;
  private final boolean follows;
  private final long begun = System.nanoTime();
  private final ToldProgress progress;

  /** What is restored. */
  private record Moment(
      ArchiveFiles.Base base, long lsn, int life, long millis, long pages, long logBytes) {}

  /** Nothing is done yet. */
  public Restore(Path archive, Path target, BackupSource.Names names, RestoreRequest options) {
    this(archive, target, names, options, /* follows= */ false);
  }

  /**
   * Nothing is done yet.
   *
   * @param follows whether the target becomes a follower
   */
  Restore(
      Path archive,
      Path target,
      BackupSource.Names names,
      RestoreRequest options,
      boolean follows) {
    this.follows = follows;
    progress = new ToldProgress("the restore to " + target, options.listener());
    files = new ArchiveFiles(archive, new IoStatistics());
    this.target = target;
    this.names = names;
    this.options = options;
  }

  /**
   * Deletes what a policy does not keep.
   *
   * @return how many bases were deleted
   */
  public static int prune(Path archive, ArchivePolicy policy) {
    ArchiveFiles files = new ArchiveFiles(archive, new IoStatistics());
    return Pruning.prune(files, files.demandHeader(), policy, System.currentTimeMillis());
  }

  /** Makes the database. */
  public RestoreReport run() {
    ArchiveFiles.Header header = files.demandHeader();
    ArchiveLog log = new ArchiveLog(files, header);
    Moment moment = choose(header, log);
    BackupTarget made = BackupTarget.make(target, files.directory(), names);
    try {
      return fill(made, header, log, moment);
    } catch (Throwable failed) {
      made.remove(failed);
      throw failed;
    }
  }

  private Moment choose(ArchiveFiles.Header header, ArchiveLog log) {
    List<ArchiveFiles.Base> bases = files.bases(header.databaseId());
    if (bases.isEmpty()) {
      throw lacks("it has no base yet", "wait until the database that is archived has made one");
    }
    bases.sort(Comparator.comparingLong(ArchiveFiles.Base::end));
    return switch (options.kind()) {
      case LATEST -> upTo(log, bases.getLast(), Long.MAX_VALUE);
      case LSN -> atLsn(log, bases);
      case TIME -> atTime(log, bases);
      case BEFORE_TRANSACTION -> beforeTransaction(log, bases);
    };
  }

  /** The last base that ends at or below a position. */
  private ArchiveFiles.Base baseAt(List<ArchiveFiles.Base> bases, long lsn) {
    ArchiveFiles.Base found = null;
    for (ArchiveFiles.Base base : bases) {
      if (base.end() <= lsn) {
        found = base;
      }
    }
    if (found == null) {
      throw lacks("position " + lsn + " lies before its first moment", first(bases));
    }
    return found;
  }

  private static String first(List<ArchiveFiles.Base> bases) {
    ArchiveFiles.Base base = bases.getFirst();
    return "name position " + base.end() + " (" + time(base.millis()) + ") or a later moment";
  }

  private static String time(long millis) {
    return Instant.ofEpochMilli(millis).toString();
  }

  private Moment atLsn(ArchiveLog log, List<ArchiveFiles.Base> bases) {
    long wanted = options.value();
    Scan scan = new Scan(baseAt(bases, wanted), wanted);
    long end = log.walk(scan.base.end(), scan::take);
    if (!scan.isComplete && end < wanted) {
      throw lacks(
          "position " + wanted + " lies behind its log, which ends at " + end,
          "name position " + end + " or an earlier moment; or one behind the next base");
    }
    return scan.moment();
  }

  private Moment atTime(ArchiveLog log, List<ArchiveFiles.Base> bases) {
    ArchiveFiles.Base found = null;
    for (ArchiveFiles.Base base : bases) {
      if (base.millis() <= options.value()) {
        found = base;
      }
    }
    if (found == null) {
      throw lacks(time(options.value()) + " lies before its first moment", first(bases));
    }
    if (log.isPrunedBehind(found.end())) {
      throw lacks(
          "the log behind base " + found.number() + " was pruned",
          "name position " + found.end() + ", which is of " + time(found.millis()));
    }
    ArchiveFiles.Base base = found;
    long[] last = {base.end(), base.millis()};
    log.walk(
        base.end(),
        block -> {
          for (ArchiveBlock.Mark mark : block.marks()) {
            if (mark.lsn() > base.end()) {
              if (mark.millis() > options.value()) {
                return false;
              }
              last[0] = mark.lsn();
              last[1] = mark.millis();
            }
          }
          return true;
        });
    Moment moment = upTo(log, base, last[0]);
    return new Moment(
        base, moment.lsn(), moment.life(), last[1], moment.pages(), moment.logBytes());
  }

  private Moment beforeTransaction(ArchiveLog log, List<ArchiveFiles.Base> bases) {
    long walked = 0;
    for (ArchiveFiles.Base base : bases) {
      if (base.end() < walked) {
        continue; // the log behind it was searched
      }
      long[] found = {0};
      walked =
          log.walk(
              base.end(),
              block -> {
                PieceReader records = new PieceReader(block.piece());
                while (found[0] == 0 && records.next()) {
                  if (records.isCommitOf(options.value()) && records.start() >= base.end()) {
                    found[0] = records.start();
                  }
                }
                return found[0] == 0;
              });
      if (found[0] != 0) {
        return upTo(log, baseAt(bases, found[0]), found[0]);
      }
    }
    throw lacks(
        "it has no commit of transaction " + options.value(),
        "name a transaction that has committed and written, or a time or position; "
            + first(bases));
  }

  private Moment upTo(ArchiveLog log, ArchiveFiles.Base base, long most) {
    Scan scan = new Scan(base, most);
    log.walk(base.end(), scan::take);
    return scan.moment();
  }

  private StorageException lacks(String problem, String cure) {
    return new StorageException(
        StorageException.Reason.ARCHIVE_LACKS_MOMENT,
        files.directory(),
        StorageException.NO_OFFSET,
        "this archive does not have that moment: " + problem,
        cure,
        /* cause= */ null);
  }

  /** Finds the last record up to a position, and judges all before it. */
  private final class Scan {
    private final ArchiveFiles.Base base;
    private final long most;
    private long lsn;
    private int life;
    private long millis;
    private long highest;
    private long bytes;

    /** Whether a record behind it was seen, or it is the end of one. */
    private boolean isComplete;

    Scan(ArchiveFiles.Base base, long most) {
      this.base = base;
      this.most = most;
      lsn = base.end();
      life = base.life();
      millis = base.millis();
      bytes = lsn - base.redoPoint();
      isComplete = lsn == most;
    }

    boolean take(ArchiveBlock block) {
      if (isComplete) {
        return false;
      }
      PieceReader records = new PieceReader(block.piece());
      while (!records.isEnd()) {
        if (!records.next() || !records.forEachPart(this::takePart)) {
          throw new DamagedFileException(
              files.directory(),
              StorageException.NO_OFFSET,
              "the archive is damaged: the record at position " + records.lsn() + " is not good",
              ArchiveLayout.CURE,
              /* cause= */ null);
        }
        if (records.lsn() > most) {
          isComplete = true;
          return false;
        }
        if (records.lsn() > lsn) {
          bytes += records.lsn() - records.start();
          lsn = records.lsn();
          life = block.piece().life();
        }
      }
      for (ArchiveBlock.Mark mark : block.marks()) {
        if (mark.lsn() <= lsn) {
          millis = mark.millis();
        }
      }
      isComplete = lsn == most;
      return !isComplete;
    }

    /** The file has its page, and those that a map names: it was grown before the record. */
    private void takePart(long page, byte[] record, int from, int length) {
      highest = Math.max(highest, Math.max(page, NamedPages.highest(page, record, from, length)));
    }

    Moment moment() {
      long pages = Math.max(base.pages(), (highest / EXTENT + 1) * EXTENT);
      if (pages > Integer.MAX_VALUE) {
        throw new DamagedFileException(
            files.directory(),
            StorageException.NO_OFFSET,
            "the archive is damaged: a record names page " + highest,
            ArchiveLayout.CURE,
            /* cause= */ null);
      }
      return new Moment(base, lsn, life, millis, pages, bytes);
    }
  }

  private RestoreReport fill(
      BackupTarget made, ArchiveFiles.Header header, ArchiveLog log, Moment moment) {
    ArchiveFiles.Base base = moment.base();
    long logBytes = moment.logBytes();
    progress.expect((long) (base.pages() - SpaceMapPage.POSITION) * Page.SIZE + logBytes);
    byte[] id = new byte[16];
    new SecureRandom().nextBytes(id);
    made.makeRest(id);
    Path from = files.base(base.number());
    try (StorageFile data =
        StorageFile.open(
            from.resolve(names.data()), OpenMode.READ, /* ownerOnly= */ true, files.statistics())) {
      DataFileHeader ofBase = DataFileHeader.read(data);
      ControlState state = ControlFile.read(data).state();
      refuseChanged(data.path(), base, ofBase, state);
      copyPages(data, made.data(), base.pages());
      try (RebuiltLog rebuilt = made.rebuildLog(id, header.segmentSize())) {
        copyLog(rebuilt, from.resolve(names.log()), base, header.segmentSize());
        copyArchived(rebuilt, log, moment);
        rebuilt.finish();
      }
      made.writeHeader(
          id,
          ofBase.segmentSize(),
          ofBase.createdMillis(),
          ControlState.notClosed(
              state.analysisPoint(),
              state.redoPoint(),
              state.checkpointLsn(),
              moment.lsn(),
              moment.life(),
              moment.pages()));
    }
    made.force();
    progress.tell();
    complete(made, header);
    return new RestoreReport(
        target,
        base.number(),
        moment.lsn(),
        moment.millis(),
        moment.pages(),
        logBytes,
        System.nanoTime() - begun);
  }

  /** A follower has its note before it has a name. */
  private void complete(BackupTarget made, ArchiveFiles.Header header) {
    if (!follows) {
      made.complete();
      return;
    }
    try {
      FollowerNote.put(target, header.databaseId(), made.statistics());
      made.complete();
    } catch (Throwable failed) {
      try {
        FollowerNote.delete(target, made.statistics());
      } catch (RuntimeException stays) {
        failed.addSuppressed(stays);
      }
      throw failed;
    }
  }

  /** Somebody may have opened the base for writing. */
  private static void refuseChanged(
      Path file, ArchiveFiles.Base base, DataFileHeader header, ControlState state) {
    boolean isSame =
        Arrays.equals(header.databaseId(), base.baseId())
            && state.life() == base.life()
            && state.redoPoint() == base.redoPoint()
            && state.durableLsn() == base.end()
            && state.highWaterPages() == base.pages();
    if (!isSame) {
      throw new DamagedFileException(
          file,
          StorageException.NO_OFFSET,
          "base "
              + base.number()
              + " of the archive is not as it was made: it was opened for writing, or replaced",
          ArchiveLayout.CURE,
          /* cause= */ null);
    }
  }

  private void copyPages(StorageFile from, StorageFile to, int end) {
    MemorySegment pages = MemorySegment.ofArray(new byte[PAGES_AT_ONCE * Page.SIZE]);
    for (int next = SpaceMapPage.POSITION; next < end; next += PAGES_AT_ONCE) {
      int count = Math.min(PAGES_AT_ONCE, end - next);
      MemorySegment piece = pages.asSlice(0, (long) count * Page.SIZE);
      from.read((long) next * Page.SIZE, piece);
      for (int i = 0; i < count; i++) {
        judge(from.path(), next + i, piece.asSlice((long) i * Page.SIZE, Page.SIZE));
      }
      to.write((long) next * Page.SIZE, piece);
      progress.wrote(piece.byteSize());
    }
  }

  private static void judge(Path file, int pageId, MemorySegment page) {
    if (!PageChecksum.isGood(page, pageId) && !isZero(page)) {
      throw new DamagedFileException(
          file,
          (long) pageId * Page.SIZE,
          "page " + pageId + " of a base of the archive is damaged",
          ArchiveLayout.CURE,
          /* cause= */ null);
    }
  }

  private static final MemorySegment ZEROS = MemorySegment.ofArray(new byte[Page.SIZE]);

  private static boolean isZero(MemorySegment page) {
    return page.mismatch(ZEROS) < 0;
  }

  private void copyLog(
      RebuiltLog rebuilt, Path directory, ArchiveFiles.Base base, int segmentSize) {
    try (LogSource source =
        LogSource.ofClosed(directory, base.baseId(), segmentSize, files.statistics())) {
      for (long at = base.redoPoint(); at < base.end(); ) {
        LogPiece piece = source.piece(at, base.end(), base.life(), PIECE);
        if (piece == null) {
          throw new IllegalStateException("a log without a hold was released");
        }
        rebuilt.append(piece, at, piece.to());
        at = piece.to();
        progress.wrote(piece.records().length);
      }
    }
  }

  private void copyArchived(RebuiltLog rebuilt, ArchiveLog log, Moment moment) {
    long begin = moment.base().end();
    if (moment.lsn() == begin) {
      return;
    }
    log.walk(
        begin,
        block -> {
          LogPiece piece = block.piece();
          long from = Math.max(piece.from(), begin);
          long upTo = Math.min(piece.to(), moment.lsn());
          if (from < upTo) {
            rebuilt.append(piece, from, upTo);
            progress.wrote(upTo - from);
          }
          return piece.to() < moment.lsn();
        });
  }
}
