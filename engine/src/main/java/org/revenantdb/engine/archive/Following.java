package org.revenantdb.engine.archive;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.FollowerOptions;
import org.revenantdb.engine.RestoreRequest;
import org.revenantdb.engine.StorageException;
import org.revenantdb.engine.access.Misuse;
import org.revenantdb.engine.backup.BackupSource;
import org.revenantdb.engine.backup.BackupTarget;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.session.OperationGate;
import org.revenantdb.latch.Parking;
import org.revenantdb.latch.ParkingLot;
import org.revenantdb.latch.PatientLock;
import org.revenantdb.recovery.file.ControlFile;
import org.revenantdb.recovery.file.ControlState;
import org.revenantdb.recovery.file.DamagedFileException;
import org.revenantdb.recovery.file.DataFileHeader;
import org.revenantdb.recovery.file.Directories;
import org.revenantdb.recovery.file.DirectoryLock;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.FileThread;
import org.revenantdb.recovery.file.IoFailures;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.file.LsnWaiters;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.StorageFile;
import org.revenantdb.recovery.log.FollowedLog;
import org.revenantdb.recovery.log.LogPiece;
import org.revenantdb.recovery.log.PieceReader;
import org.revenantdb.recovery.restart.KnownStates;

/**
 * A copy of a database whose log goes on, and the views of it.
 *
 * <p>Threads: one of its own does all work; any thread may ask. Failure: if the archive cannot be
 * read, the next interval tries again. If the follower's own files cannot be written, the thread
 * ends; the last view stays.
 *
 * @param <V> what its views are
 */
public final class Following<V extends FollowedView> implements AutoCloseable {
  /*
   * Protocol    docs/protocols.md §50 and §51, with schedules and the crash tables.
   *
   * State       position, life    what was appended to the log; `noted` is P, what the control slots say
   *             current           the newest view; `shown` are all that are open
   *
   * Round       take | note | fold, if due | view | delete log that no view needs
   */
  private static final long LARGEST_FOLD = 256L << 20;

  /** A moment so far ahead can still be compared with the present one. */
  private static final long LONGEST_WAIT = Long.MAX_VALUE / 2;

  /** The data file grows by so many pages at least. */
  private static final int GROWTH = 128;

  /**
   * A view that is open, with those who use it.
   *
   * @param <V> what it is
   */
  public static final class Shown<V extends FollowedView> {
    private final V view;
    private final long redoPoint;
    private final int life;

    /** Under the lock. */
    private int users;

    private boolean isOld;

    private Shown(V view, long redoPoint, int life) {
      this.view = view;
      this.redoPoint = redoPoint;
      this.life = life;
    }

    /** The engine. */
    public V view() {
      return view;
    }
  }

  private final Path directory;
  private final BackupSource.Names names;
  private final FollowerOptions options;
  private final Supplier<V> opener;
  private final IoStatistics io = new IoStatistics();
  private final ArchiveFiles files;
  private final ArchiveLog.Reading reading = new ArchiveLog.Reading();
  private final FileThread thread = FileThread.of("revenant-follower", this::work, this::died);

  private @Nullable DirectoryLock lock;
  private @Nullable StorageFile data;
  private @Nullable ControlFile control;
  private @Nullable DataFileHeader header;
  private @Nullable FollowedLog log;
  private byte[] archiveId = new byte[0];
  private long position;
  private int life;
  private long pages;
  private long highest;
  private boolean isLonger;
  private long foldNotBefore;

  /** Whether a close has ended the taking early. A promotion takes all: its fence stands for it. */
  private boolean isCutOff;

  /** Whether the follower's own files are being written: a failure is final then. */
  private boolean isWriting;

  private final PatientLock views = new PatientLock();

  /** Held during a promotion: there is one at a time. */
  private final PatientLock promotions = new PatientLock();

  private final List<Shown<V>> shown = new ArrayList<>();
  private @Nullable Shown<V> current;

  /** Written under the lock. */
  private volatile boolean isEnded;

  private final AtomicLong requests = new AtomicLong();
  private final LsnWaiters callers = new LsnWaiters();
  private volatile long served;
  private volatile boolean threadEnded;
  private volatile boolean closing;
  private volatile boolean promoting;
  private volatile boolean fences;
  private volatile boolean promoted;

  /** Why the last promotion was refused. */
  private volatile @Nullable Throwable refusal;

  private volatile @Nullable Throwable failure;

  /** Why the last fold failed: nothing is lost, but refreshes become slower. */
  private volatile @Nullable Throwable foldFailure;

  private volatile long shownLsn;
  private volatile long seenNanos;
  private volatile long upToMillis;
  private long takenMillis;
  private final AtomicLong rounds = new AtomicLong();
  private final AtomicLong viewsOpened = new AtomicLong();
  private final AtomicLong folds = new AtomicLong();
  private final AtomicLong failures = new AtomicLong();

  /**
   * Does nothing yet.
   *
   * @param opener opens a view at the end of the log; the follower has the directory locked
   */
  public Following(
      Path archive,
      Path directory,
      BackupSource.Names names,
      FollowerOptions options,
      Supplier<V> opener) {
    this.directory = directory;
    this.names = names;
    this.options = options;
    this.opener = opener;
    files = new ArchiveFiles(archive, io);
  }

  /** Makes the copy if there is none, and opens the first view. On a thread for files. */
  public void begin() {
    try {
      if (!Directories.exists(directory.resolve(names.data()))) {
        BackupTarget.refuseUnfinished(directory);
        Restore first =
            new Restore(
                files.directory(), directory, names, RestoreRequest.latest(), /* follows= */ true);
        takenMillis = first.run().upToMillis();
      }
      lock = DirectoryLock.acquire(directory, /* shared= */ false);
      archiveId = FollowerNote.read(directory, io);
      refuseOtherArchive();
      openFiles();
      Directories.force(directory, io); // a fold may have been killed behind its rename
      Directories.delete(directory.resolve(Fold.UNFINISHED));
      deleteStates();
      seenNanos = System.nanoTime();
      show();
    } catch (Throwable failed) {
      DirectoryLock taken = lock;
      if (taken != null) {
        taken.putBack();
      }
      end(failed);
      throw failed;
    }
    thread.start();
  }

  private void refuseOtherArchive() {
    ArchiveFiles.Header found;
    try {
      found = files.header();
    } catch (RuntimeException unreadable) {
      return; // it is not needed yet; each round tells
    }
    if (found != null) {
      refuseOther(found);
    }
  }

  private void refuseOther(ArchiveFiles.Header found) {
    if (!Arrays.equals(found.databaseId(), archiveId)) {
      throw Foreign.of(files.directory(), "it is not the archive that this follower has followed");
    }
  }

  private void openFiles() {
    StorageFile opened =
        StorageFile.open(
            directory.resolve(names.data()), OpenMode.READ_WRITE, /* ownerOnly= */ true, io);
    data = opened;
    DataFileHeader read = DataFileHeader.read(opened);
    header = read;
    ControlFile slots = ControlFile.read(opened);
    control = slots;
    slots.rewrite(); // what the cache shows may not be on the medium (R6)
    position = slots.state().durableLsn();
    life = slots.state().life();
    pages = slots.state().highWaterPages();
    FollowedLog followed =
        new FollowedLog(directory.resolve(names.log()), read.databaseId(), read.segmentSize(), io);
    log = followed;
    followed.cutAt(position);
  }

  private StorageFile data() {
    return Objects.requireNonNull(data);
  }

  private ControlFile control() {
    return Objects.requireNonNull(control);
  }

  private FollowedLog log() {
    return Objects.requireNonNull(log);
  }

  private DataFileHeader header() {
    return Objects.requireNonNull(header);
  }

  private Shown<V> current() {
    return Objects.requireNonNull(current);
  }

  private void work() {
    boolean goesOn = true;
    while (goesOn) {
      long asked = requests.get();
      boolean isLast = closing;
      boolean promotes = promoting;
      goesOn = !isLast && round(promotes);
      served = asked;
      callers.wake(this::isServed);
      if (goesOn && !closing && requests.get() == asked) {
        Parking.parkNanos(this, options.interval().toNanos());
      }
    }
    ended();
  }

  private void died(Throwable why) {
    failure = why;
    ended();
  }

  /** The views stay, unless the follower was closed or promoted. */
  private void ended() {
    threadEnded = true;
    callers.wake(this::isServed);
    wakeAwaiting();
  }

  /** Those who wait for a position to be shown. */
  private void wakeAwaiting() {
    ParkingLot.global().unparkAll(this, 0);
  }

  private boolean isServed(long request) {
    return served >= request || threadEnded;
  }

  /** Whether another one follows. */
  private boolean round(boolean promotes) {
    try {
      long look = System.nanoTime();
      RuntimeException ofArchive = promotes && !fences ? null : takeAll(promotes);
      isWriting = true;
      note();
      isWriting = false;
      if (promotes && ofArchive == null) {
        promote();
        return false;
      }
      foldIfDue();
      if (current().view.found().endOfLog() != position) {
        show();
      }
      deleteLog();
      if (ofArchive != null) {
        throw ofArchive;
      }
      seenNanos = look;
      rounds.incrementAndGet();
      failure = null;
      return true;
    } catch (RuntimeException | Error failed) {
      failures.incrementAndGet();
      failure = failed;
      if (promotes) {
        refusal = failed;
        promoting = false;
      }
      return !isWriting;
    }
  }

  /**
   * Takes what the archive has; for a promotion behind the fence, too.
   *
   * @return why it could not read all of it; what was taken before is shown
   */
  private @Nullable RuntimeException takeAll(boolean promotes) {
    try {
      ArchiveFiles.Header archived = demandHeader();
      take(new ArchiveLog(files, archived, reading));
      if (promotes) {
        Fence.make(files, archived.databaseId(), header().databaseId(), position, life);
        take(new ArchiveLog(files, archived, reading));
      }
      return isCutOff ? OperationGate.closed() : null;
    } catch (RuntimeException failed) {
      if (isWriting) {
        throw failed;
      }
      return failed;
    }
  }

  private ArchiveFiles.Header demandHeader() {
    ArchiveFiles.Header found = files.demandHeader();
    refuseOther(found);
    return found;
  }

  private void take(ArchiveLog archived) {
    long before = position;
    archived.walk(position, this::take);
    if (archived.chainBegin() > position) {
      throw gap("its log goes on at position " + archived.chainBegin());
    }
    if (position == before && position == shownLsn) {
      upToMillis = Math.max(upToMillis, takenMillis);
    }
  }

  private boolean take(ArchiveBlock block) {
    LogPiece piece = block.piece();
    long from;
    if (piece.life() == life && piece.from() <= position) {
      from = position;
    } else if (piece.life() > life && block.beginsLifeAfter(position)) {
      from = piece.from();
    } else {
      throw gap("its log goes on at position " + piece.from() + " of life " + piece.life());
    }
    judge(piece, from);
    isWriting = true;
    extend();
    log().append(piece, from);
    position = piece.to();
    life = piece.life();
    isWriting = false;
    for (ArchiveBlock.Mark mark : block.marks()) {
      takenMillis = mark.millis();
    }
    isCutOff = closing && !promoting;
    return !isCutOff;
  }

  /** Refuses a piece that is damaged, or that has no record there. */
  private void judge(LogPiece piece, long from) {
    PieceReader records = new PieceReader(piece);
    boolean begins = false;
    while (!records.isEnd()) {
      if (!records.next() || !records.forEachPart(this::takePart)) {
        throw new DamagedFileException(
            files.directory(),
            FileException.NO_OFFSET,
            "the archive is damaged: the record at position " + records.lsn() + " is not good",
            ArchiveLayout.CURE,
            /* cause= */ null);
      }
      begins |= records.start() == from;
    }
    if (!begins) {
      throw gap("no record begins at position " + from);
    }
  }

  private void takePart(long page, byte[] record, int from, int length) {
    highest = Math.max(highest, Math.max(page, NamedPages.highest(page, record, from, length)));
  }

  private StorageException gap(String what) {
    return new StorageException(
        StorageException.Reason.ARCHIVE_LACKS_MOMENT,
        files.directory(),
        StorageException.NO_OFFSET,
        "this archive does not go on where the follower "
            + directory
            + " is, at position "
            + position
            + " of life "
            + life
            + ": "
            + what,
        "close this follower, delete its directory, and follow again: it begins with the newest base",
        /* cause= */ null);
  }

  /** The file has each page before P passes a record that names it. */
  private void extend() {
    if (highest < pages) {
      return;
    }
    long more = (highest / GROWTH + 1) * GROWTH;
    if (more > Integer.MAX_VALUE) {
      throw new DamagedFileException(
          files.directory(),
          FileException.NO_OFFSET,
          "the archive is damaged: a record names page " + highest,
          ArchiveLayout.CURE,
          /* cause= */ null);
    }
    data().preallocate(pages * Page.SIZE, more * Page.SIZE);
    pages = more;
    isLonger = true;
  }

  /** From here on P is what was taken. */
  private void note() {
    ControlState state = control().state();
    if (position == state.durableLsn()) {
      return;
    }
    log().force();
    if (isLonger) {
      data().force();
      isLonger = false;
    }
    control().write(state(state.analysisPoint(), state.redoPoint(), state.checkpointLsn()));
  }

  private ControlState state(long analysisPoint, long redoPoint, long checkpoint) {
    return ControlState.notClosed(analysisPoint, redoPoint, checkpoint, position, life, pages);
  }

  private void foldIfDue() {
    Shown<V> view = current();
    long at = view.view.found().endOfLog();
    long redoPoint = control().state().redoPoint();
    if (position - redoPoint < foldLimit()
        || position < foldNotBefore
        || at >= position
        || at <= redoPoint
        || view.life != life) {
      return;
    }
    foldNotBefore = position + foldLimit(); // if it fails
    try {
      fold(view.view, at);
    } catch (RuntimeException failed) {
      if (isWriting) {
        throw failed;
      }
      failures.incrementAndGet();
      foldFailure = failed; // the former data file is as good as before
      return;
    }
    foldNotBefore = 0;
    foldFailure = null;
    folds.incrementAndGet();
  }

  private long foldLimit() {
    long eighth = pages * Page.SIZE / 8;
    return Math.max(options.foldBytes(), Math.min(eighth, LARGEST_FOLD));
  }

  private void fold(V view, long at) {
    new ArchiveFiles(directory, io)
        .put(
            KnownStates.file(directory, at),
            KnownStates.of(view.found()).bytes(header().databaseId()));
    Path made = directory.resolve(Fold.UNFINISHED);
    Fold.make(made, data(), header(), view, state(at, at, /* checkpoint= */ 0), io);
    isWriting = true;
    StorageFile former = data();
    try {
      Files.move(made, directory.resolve(names.data()), StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException failed) {
      throw IoFailures.of(made, FileException.NO_OFFSET, "renaming", failed);
    }
    Directories.force(directory, io);
    StorageFile opened =
        StorageFile.open(
            directory.resolve(names.data()), OpenMode.READ_WRITE, /* ownerOnly= */ true, io);
    data = opened;
    control = ControlFile.read(opened);
    former.close();
    deleteStates();
    isWriting = false;
  }

  /** Those of the redo point stay. */
  private void deleteStates() {
    Path kept = KnownStates.file(directory, control().state().analysisPoint());
    List<Path> old = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
      for (Path entry : entries) {
        if (String.valueOf(entry.getFileName()).startsWith(KnownStates.PREFIX)
            && !entry.getFileName().equals(kept.getFileName())) {
          old.add(entry);
        }
      }
    } catch (DirectoryIteratorException failed) {
      throw unlisted(Objects.requireNonNull(failed.getCause()));
    } catch (IOException failed) {
      throw unlisted(failed);
    }
    old.forEach(Directories::delete);
  }

  private FileException unlisted(IOException failed) {
    return IoFailures.of(directory, FileException.NO_OFFSET, "listing the directory", failed);
  }

  private void show() {
    V opened = opener.get();
    long end = opened.found().endOfLog();
    if (end != position) {
      opened.close();
      isWriting = true; // final
      throw new DamagedFileException(
          directory.resolve(names.log()),
          FileException.NO_OFFSET,
          "the log was appended up to position " + position + ", but a view of it ends at " + end,
          "delete the directory of the follower, and follow again",
          /* cause= */ null);
    }
    Shown<V> fresh = new Shown<>(opened, control().state().redoPoint(), life);
    Shown<V> closed = null;
    views.lock();
    try {
      Shown<V> old = current;
      current = fresh;
      shown.add(fresh);
      if (old != null) {
        old.isOld = true;
        if (old.users == 0) {
          shown.remove(old);
          closed = old;
        }
      }
      shownLsn = end;
      upToMillis = Math.max(upToMillis, takenMillis);
    } finally {
      views.unlock();
    }
    wakeAwaiting();
    viewsOpened.incrementAndGet();
    if (closed != null) {
      closed.view.close();
    }
  }

  private void deleteLog() {
    long needed = control().state().redoPoint();
    views.lock();
    try {
      for (Shown<V> one : shown) {
        needed = Math.min(needed, one.redoPoint);
      }
    } finally {
      views.unlock();
    }
    log().deleteBelow(needed);
  }

  /**
   * Takes a share of the newest view.
   *
   * @return the view, to be given to {@link #release}
   */
  public Shown<V> acquire() {
    views.lock();
    try {
      if (isEnded) {
        throw OperationGate.closed();
      }
      Shown<V> newest = current();
      newest.users++;
      return newest;
    } finally {
      views.unlock();
    }
  }

  /** Gives a share back. */
  public void release(Shown<V> share) {
    boolean isLast;
    views.lock();
    try {
      share.users--;
      isLast = share.isOld && share.users == 0 && shown.remove(share);
    } finally {
      views.unlock();
    }
    if (isLast) {
      FileThread.call(
          "revenant-view",
          () -> {
            share.view.close();
            return true;
          });
    }
  }

  /**
   * Waits until all is shown that the archive has now.
   *
   * @throws RuntimeException why it is not
   */
  public void refresh() {
    long mine = requests.incrementAndGet();
    thread.unpark();
    callers.await(mine, this::isServed);
    throwIt(failure);
    if (served < mine) {
      throw OperationGate.closed();
    }
  }

  private void throwIt(@Nullable Throwable why) {
    if (why instanceof RuntimeException exception) {
      throw exception;
    }
    if (why != null) {
      throw new StorageException(
          StorageException.Reason.IO,
          directory,
          StorageException.NO_OFFSET,
          "following failed (" + why + ")",
          "see the cause; it is tried again",
          why);
    }
  }

  /**
   * Waits until a position is shown.
   *
   * @return whether it is; false if the time is over, or nothing more will be shown
   */
  public boolean await(long lsn, Duration most) {
    long nanos = Math.clamp(TimeUnit.NANOSECONDS.convert(most), 0, LONGEST_WAIT);
    long end = System.nanoTime() + nanos;
    ParkingLot.Outcome outcome = ParkingLot.Outcome.RETRY;
    while (isAwaited(lsn)
        && outcome != ParkingLot.Outcome.INTERRUPTED
        && end - System.nanoTime() > 0) {
      outcome = ParkingLot.global().parkInterruptibly(this, 0, () -> isAwaited(lsn), end);
    }
    return shownLsn >= lsn;
  }

  private boolean isAwaited(long lsn) {
    return shownLsn < lsn && !isEnded && !threadEnded;
  }

  /**
   * Makes the directory that of a database. The follower has ended on return.
   *
   * @param withFence whether the former writer is kept out, which needs the archive
   * @throws RuntimeException why it goes on following
   */
  public void promote(boolean withFence) {
    if (!promotions.tryLock()) {
      throw refusedPromotion("is being promoted by another thread");
    }
    try {
      if (isEnded) {
        throw refusedPromotion("is closed, or was promoted");
      }
      fences = withFence;
      refusal = null;
      promoting = true; // the round that refuses, resets it
      long mine = requests.incrementAndGet();
      thread.unpark();
      callers.await(mine, this::isServed);
      if (!promoted) {
        throwIt(refusal);
        throwIt(failure);
        throw OperationGate.closed();
      }
      thread.join();
    } finally {
      promotions.unlock();
    }
  }

  private Misuse.OfState refusedPromotion(String why) {
    return new Misuse.OfState("the follower " + directory + " " + why);
  }

  /** All that was taken is noted. */
  private void promote() {
    closeViews();
    isWriting = true;
    Throwable failed = closeFiles(null);
    if (failed instanceof RuntimeException exception) {
      throw exception;
    }
    if (failed instanceof Error error) {
      throw error;
    }
    FollowerNote.delete(directory, io);
    unlock();
    promoted = true;
  }

  private void closeViews() {
    List<Shown<V>> all;
    views.lock();
    try {
      isEnded = true;
      all = List.copyOf(shown);
      shown.clear();
    } finally {
      views.unlock();
    }
    wakeAwaiting();
    Throwable failed = null;
    for (Shown<V> one : all) {
      try {
        one.view.close();
      } catch (RuntimeException | Error another) {
        failed = another;
      }
    }
    if (failed != null) {
      failure = failed; // nothing is lost with a view
    }
  }

  private @Nullable Throwable closeFiles(@Nullable Throwable before) {
    Throwable failed = before;
    for (AutoCloseable one : new AutoCloseable[] {log, data}) {
      if (one != null) {
        try {
          one.close();
        } catch (Exception | Error another) {
          if (failed == null) {
            failed = another;
          } else {
            failed.addSuppressed(another);
          }
        }
      }
    }
    log = null;
    data = null;
    return failed;
  }

  private void unlock() {
    DirectoryLock held = lock;
    if (held != null) {
      lock = null;
      held.close();
    }
  }

  private void end(@Nullable Throwable before) {
    closeViews();
    Throwable _ = closeFiles(before);
    unlock();
  }

  /** Ends the thread, the views, and calls in them. On a thread for files. */
  @Override
  public void close() {
    beginClose();
    thread.join();
    end(null);
  }

  /** The thread ends soon. */
  void beginClose() {
    closing = true;
    thread.unpark();
  }

  /** Whether nothing more will be shown. */
  public boolean hasEnded() {
    return threadEnded;
  }

  public long shownLsn() {
    return shownLsn;
  }

  /** Nanoseconds since everything that the archive had was shown. */
  public long lagNanos() {
    return Math.max(0, System.nanoTime() - seenNanos);
  }

  public long upToMillis() {
    return upToMillis;
  }

  public long rounds() {
    return rounds.get();
  }

  public long viewsOpened() {
    return viewsOpened.get();
  }

  public long folds() {
    return folds.get();
  }

  public long failures() {
    return failures.get();
  }

  /** How many views are open, the newest one included. */
  public int viewsOpen() {
    views.lock();
    try {
      return shown.size();
    } finally {
      views.unlock();
    }
  }

  /** Why the last round failed, or else the last fold; null if neither did. */
  public @Nullable Throwable failure() {
    Throwable ofRound = failure;
    return ofRound != null ? ofRound : foldFailure;
  }
}
