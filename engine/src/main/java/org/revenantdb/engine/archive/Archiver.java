package org.revenantdb.engine.archive;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.ArchiveEvent;
import org.revenantdb.engine.ArchiveOptions;
import org.revenantdb.engine.BackupOptions;
import org.revenantdb.engine.BackupReport;
import org.revenantdb.engine.DatabaseClosedException;
import org.revenantdb.engine.RevenantException;
import org.revenantdb.engine.StorageException;
import org.revenantdb.engine.backup.Backups;
import org.revenantdb.engine.session.Boundary;
import org.revenantdb.engine.session.OperationGate;
import org.revenantdb.latch.Parking;
import org.revenantdb.recovery.file.DataFileHeader;
import org.revenantdb.recovery.file.Directories;
import org.revenantdb.recovery.file.FileThread;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.file.LsnWaiters;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.StorageFile;
import org.revenantdb.recovery.log.Log;
import org.revenantdb.recovery.log.LogPiece;
import org.revenantdb.recovery.log.LogSource;

/**
 * Ships the log of an open database to its archive.
 *
 * <p>Threads: one of its own does all work; any thread may ask. Failure: it tries again in the next
 * interval, and reports the failure to the listener; a failure ends neither the thread nor, unless
 * the options say so, the engine.
 */
public final class Archiver implements AutoCloseable {
  /*
   * Protocol    docs/protocols.md §49, with schedules and the crash table.
   *
   * State       detached    `writer` is null: the next round attaches
   *             attached    the archive has the log up to `position` of life `tailLife`; `parts` are former lives that
   *                         it lacks; `writer` is a file that this object has made
   *
   * Round       mark | attach, if detached | ship up to the mark | base | prune
   */
  private static final int PIECE = 1 << 20;
  private static final int MOST_MARKS = 100_000;
  private static final long LONGEST_PAUSE = TimeUnit.MINUTES.toNanos(1);

  private final ArchiveOptions options;
  private final Path database;
  private final byte[] databaseId;
  private final int segmentSize;
  private final Log log;
  private final LongSupplier clock;
  private final ArchiveFiles files;
  private final FileThread thread = FileThread.of("revenant-archiver", this::work, this::died);
  private final Set<Long> own = new HashSet<>();
  private final long openedMillis;

  /** Times at which the log was durable up to a position, as far as no block has them. */
  private final NavigableMap<Long, Long> marks = new TreeMap<>();

  private final Deque<LogSource.LifePart> parts = new ArrayDeque<>();
  private LogSource source;
  private @Nullable ArchiveWriter writer;
  private boolean wasAttached;
  private long marked;
  private int tailLife;
  private long chainBegin;
  private List<ArchiveFiles.Base> bases = List.of();

  private @Nullable Backups backups;
  private Backups.@Nullable Started started;
  private long startedNumber;
  private long baseNotBefore;
  private long basePause;
  private @Nullable Throwable baseFailure;

  private long failingSince;
  private boolean isFailing;

  /** Callers wait for a round that began after their call. */
  private final AtomicLong requests = new AtomicLong();

  private final LsnWaiters callers = new LsnWaiters();
  private volatile long served;
  private volatile boolean ended;
  private volatile boolean closing;
  private volatile @Nullable Throwable failure;
  private volatile boolean isStarted;

  private volatile long position;
  private volatile long behindSince;
  private final AtomicLong bytes = new AtomicLong();
  private final AtomicLong failures = new AtomicLong();
  private final AtomicLong basesMade = new AtomicLong();
  private final AtomicLong gaps = new AtomicLong();

  /**
   * Holds the log from now on.
   *
   * @param clock milliseconds since 1970
   */
  public Archiver(
      Path database, ArchiveOptions options, DataFileHeader header, Log log, LongSupplier clock) {
    this.database = database;
    this.options = options;
    this.log = log;
    this.clock = clock;
    databaseId = header.databaseId();
    segmentSize = header.segmentSize();
    files = new ArchiveFiles(options.directory(), new IoStatistics());
    openedMillis = clock.getAsLong();
    source = LogSource.of(log, mayBreak());
  }

  private boolean mayBreak() {
    return options.stopAfter().equals(ArchiveOptions.NEVER);
  }

  /**
   * Compares an archive with a database whose new life has not begun, and changes nothing.
   *
   * @param logDirectory its log
   * @param formerLife the life that the new one will follow
   * @param endOfLog where that ends
   * @param nextLife the number of the new life
   * @return the log from here on is not in the archive; 0 if that is not known
   * @throws StorageException if the archive is not of this history
   */
  public static long look(
      ArchiveOptions options,
      DataFileHeader header,
      Path logDirectory,
      int formerLife,
      long endOfLog,
      int nextLife) {
    ArchiveFiles files = new ArchiveFiles(options.directory(), new IoStatistics());
    try {
      ArchiveFiles.Header found = files.header();
      if (found == null) {
        return options.create() ? Long.MAX_VALUE : 0;
      }
      refuseOther(files, found, header.databaseId());
      if (Fence.isIn(files)) {
        throw Fence.refusal(files);
      }
      ArchiveLog archived = new ArchiveLog(files, found);
      refuseLives(files, archived, nextLife - 1);
      ArchiveBlock last = archived.tail().last();
      if (last == null) {
        return Long.MAX_VALUE;
      }
      LogPiece piece = last.piece();
      if (piece.life() > formerLife || piece.to() > endOfLog) { // positions only rise
        throw Foreign.of(
            options.directory(),
            "it has the log up to position "
                + piece.to()
                + " of life "
                + piece.life()
                + ", but the database ends at "
                + endOfLog
                + " of life "
                + formerLife);
      }
      try (LogSource there =
          LogSource.ofClosed(
              logDirectory, header.databaseId(), header.segmentSize(), files.statistics())) {
        compare(files, there, piece);
      }
      return piece.from(); // the last block may be in the cache alone: its force may have failed
    } catch (org.revenantdb.recovery.file.FileException unreadable) {
      return 0; // the rounds will try, and tell
    }
  }

  private static void refuseOther(
      ArchiveFiles files, ArchiveFiles.Header found, byte[] databaseId) {
    if (!Arrays.equals(found.databaseId(), databaseId)) {
      throw Foreign.of(files.directory(), "it has the log of another database");
    }
  }

  private static void refuseLives(ArchiveFiles files, ArchiveLog archived, int highest) {
    for (ArchiveLog.LogFile file : archived.files()) {
      if (file.life() > highest) {
        throw Foreign.of(
            files.directory(),
            file.path().getFileName()
                + " was written by life "
                + file.life()
                + ", but the database has had "
                + highest);
      }
    }
  }

  /** The last block, as far as the database still has that log. */
  private static void compare(ArchiveFiles files, LogSource there, LogPiece archived) {
    if (!there.has(archived.from(), archived.to(), archived.life())) {
      return;
    }
    LogPiece same =
        there.piece(
            archived.from(),
            archived.to(),
            archived.life(),
            (int) (archived.to() - archived.from()));
    if (same != null && !Arrays.equals(same.records(), archived.records())) {
      throw Foreign.of(
          files.directory(),
          "from position " + archived.from() + " on it has another log than the database");
    }
  }

  /** Begins to ship. */
  public void start(Backups source) {
    backups = source;
    thread.start();
    isStarted = true;
  }

  private void work() {
    boolean last = false;
    while (!last) {
      last = closing;
      long asked = requests.get();
      round(last);
      if (failure != null || hasBase()) {
        served = asked;
        callers.wake(this::isServed);
      }
      // The permit of an unpark may have been used up within the round.
      boolean isEndOfBaseDue = started != null && started.isDone();
      if (!last && !closing && !isEndOfBaseDue && requests.get() == asked) {
        Parking.parkNanos(this, nanos(options.interval())); // the end of a base unparks it, too
      }
    }
    end();
  }

  private static long nanos(Duration time) {
    return time.equals(ArchiveOptions.NEVER) ? Long.MAX_VALUE : time.toNanos();
  }

  private void died(Throwable why) {
    failure = why;
    try {
      if (!mayBreak()) {
        log.fail(why); // the archive must not fall behind without a word
      }
      tell(why);
    } finally {
      end();
    }
  }

  private void end() {
    ended = true;
    callers.wake(this::isServed);
    if (writer != null) {
      writer.close();
      writer = null;
    }
    source.close();
  }

  private boolean isServed(long request) {
    return served >= request || ended;
  }

  /**
   * Waits until the archive has all log that is durable now, and a base to restore it from.
   *
   * @throws RuntimeException why it does not have that
   */
  public void await() {
    long mine = requests.incrementAndGet();
    thread.unpark();
    callers.await(mine, this::isServed);
    Throwable why = failure;
    if (served < mine && why == null) {
      throw OperationGate.closed();
    }
    if (why != null) {
      throw told(why);
    }
  }

  private RuntimeException told(Throwable why) {
    if (why instanceof RuntimeException exception) {
      return exception;
    }
    return failed(why);
  }

  private StorageException failed(Throwable why) {
    return new StorageException(
        StorageException.Reason.IO,
        options.directory(),
        StorageException.NO_OFFSET,
        "archiving failed (" + why + ")",
        "see the cause; it is tried again",
        why);
  }

  private void round(boolean last) {
    Throwable failed = null;
    try {
      mark();
      refuseFenced();
      if (writer == null) {
        attach();
      }
      ship();
      refuseFenced();
      failingSince = 0;
    } catch (RuntimeException | Error thrown) {
      failed = thrown;
      detach(thrown);
      stopIfDue(thrown);
    }
    if (failed == null) {
      try {
        base(last);
      } catch (RuntimeException | Error thrown) {
        baseFailure = thrown;
        failures.incrementAndGet();
        basePause = Math.min(LONGEST_PAUSE, Math.max(nanos(options.interval()), 2 * basePause));
        baseNotBefore = System.nanoTime() + basePause;
      }
      failed = baseFailure;
    } else {
      failures.incrementAndGet();
    }
    tell(failed);
  }

  /** A follower was promoted: this engine stops, whatever the options say (§51). */
  private void refuseFenced() {
    if (Fence.isIn(files)) {
      StorageException fenced = Fence.refusal(files);
      log.fail(fenced);
      throw fenced;
    }
  }

  /** D first: what lies below it was durable at that time. */
  private void mark() {
    long durable = log.durableLsn();
    long now = clock.getAsLong();
    if (durable > marked) {
      marked = durable;
      marks.put(durable, now);
      if (marks.size() > MOST_MARKS) {
        thinOut();
      }
    }
    if (behindSince == 0 && hasMore()) {
      behindSince = Math.max(1, System.nanoTime());
    }
  }

  /** Every second one goes: then times are less exact. */
  private void thinOut() {
    boolean goes = false;
    for (var each = marks.entrySet().iterator(); each.hasNext(); goes = !goes) {
      each.next();
      if (goes && each.hasNext()) {
        each.remove();
      }
    }
  }

  private boolean hasMore() {
    return !parts.isEmpty() || (marked > position && marked > source.endOfLifeRecord());
  }

  private void isOwn(long number) {
    own.add(number);
  }

  private void detach(Throwable failed) {
    ArchiveWriter old = writer;
    writer = null;
    if (old != null) {
      try {
        old.close();
      } catch (RuntimeException second) {
        failed.addSuppressed(second);
      }
    }
  }

  private void stopIfDue(Throwable failed) {
    long now = System.nanoTime();
    if (failingSince == 0) {
      failingSince = now == 0 ? 1 : now;
    }
    if (!mayBreak() && now - failingSince >= nanos(options.stopAfter())) {
      log.fail(failed);
    }
  }

  private void tell(@Nullable Throwable failed) {
    failure = failed;
    if (isFailing == (failed != null)) {
      return;
    }
    isFailing = failed != null;
    RevenantException why = null;
    if (failed != null) {
      RuntimeException exception = Boundary.told(database, told(failed));
      why = exception instanceof RevenantException known ? known : failed(exception);
    }
    try {
      options.listener().accept(new ArchiveEvent(options.directory(), why));
    } catch (RuntimeException | Error ofListener) {
      // It has no other effect.
    }
  }

  private void attach() {
    ArchiveFiles.Header header = files.header();
    if (header == null) {
      if (wasAttached || !options.create()) {
        throw files.gone();
      }
      header = files.create(databaseId, segmentSize);
    }
    refuseOther(files, header, databaseId);
    ArchiveLog archived = new ArchiveLog(files, header);
    refuseLives(files, archived, log.life());
    for (ArchiveLog.LogFile file : archived.files()) {
      if (file.life() == log.life() && !own.contains(file.number())) {
        throw Foreign.of(
            options.directory(),
            file.path().getFileName() + " was written by another process in the same life");
      }
    }
    if (source.isBroken()) {
      source.close();
      source = LogSource.of(log, mayBreak());
    }
    ArchiveLog.Tail tail = archived.tail();
    boolean goesOn = takeUp(tail);
    files.deleteLeftOvers(started == null ? 0 : startedNumber);
    clear(archived, tail);
    long number = 1;
    if (tail.file() != null) {
      rewrite(tail.file(), Objects.requireNonNull(tail.last()));
      number = tail.file().number() + 1;
    }
    if (!goesOn) {
      beginChain();
    }
    writer =
        ArchiveWriter.create(files, databaseId, number, position, log.life(), !goesOn, this::isOwn);
    chainBegin = new ArchiveLog(files, header).chainBegin();
    bases = files.bases(databaseId);
    wasAttached = true;
    source.moveTo(position);
  }

  /** Whether the log goes on where the archive ends. */
  private boolean takeUp(ArchiveLog.Tail tail) {
    parts.clear();
    ArchiveBlock last = tail.last();
    if (last == null) {
      return false;
    }
    LogPiece piece = last.piece();
    compare(files, source, piece);
    boolean goesOn;
    if (piece.life() == log.life()) {
      if (piece.to() > log.durableLsn()) {
        throw Foreign.of(options.directory(), "it has log that the database does not have");
      }
      goesOn = source.has(piece.to(), log.durableLsn(), log.life());
    } else {
      LogSource.FormerLives former = source.formerLives(piece.to(), piece.life());
      if (former.isForeign()) {
        throw Foreign.of(
            options.directory(),
            "it has the log of life " + piece.life() + " up to position " + piece.to());
      }
      parts.addAll(former.parts());
      goesOn = !former.isMissing() && source.has(source.firstLsn(), log.durableLsn(), log.life());
    }
    if (goesOn) {
      position = piece.to();
      tailLife = piece.life();
      former();
    } else {
      gaps.incrementAndGet();
    }
    return goesOn;
  }

  /** What former lives have left has the time of the open. */
  private void former() {
    for (LogSource.LifePart part : parts) {
      marks.putIfAbsent(part.to(), openedMillis);
    }
  }

  private void beginChain() {
    parts.clear();
    boolean hasLife = source.has(source.firstLsn(), log.durableLsn(), log.life());
    position = hasLife ? source.firstLsn() : log.durableLsn();
    tailLife = log.life();
    marks.headMap(position, /* inclusive= */ true).clear();
  }

  /** The highest number first, so that none is missing in between. */
  private void clear(ArchiveLog archived, ArchiveLog.Tail tail) {
    List<Path> empty = new ArrayList<>();
    if (archived.unfinished() != null) {
      empty.add(archived.unfinished());
    }
    tail.empty().forEach(file -> empty.add(file.path()));
    for (Path file : empty) {
      Directories.delete(file);
      files.force();
    }
  }

  /** What the cache shows may not be on the medium (R6). */
  private void rewrite(ArchiveLog.LogFile file, ArchiveBlock last) {
    byte[] whole = files.load(file.path());
    files.put(file.path(), Arrays.copyOf(whole, last.end()));
  }

  private void ship() {
    while (!parts.isEmpty()) {
      LogSource.LifePart part = parts.getFirst();
      ship(part.life(), part.from(), part.to());
      parts.removeFirst();
    }
    if (hasMore()) {
      boolean begins = tailLife != log.life();
      ship(log.life(), begins ? source.firstLsn() : position, marked);
    }
    if (!hasMore()) {
      behindSince = 0;
    }
  }

  private void ship(int life, long from, long to) {
    long at = life == tailLife ? Math.max(from, position) : from;
    while (at < to) {
      LogPiece piece = source.piece(at, to, life, PIECE);
      if (piece == null) {
        throw new StorageException(
            StorageException.Reason.BACKUP_TOO_SLOW,
            options.directory(),
            StorageException.NO_OFFSET,
            "the log of " + database + " grew faster than it was archived: log is missing here",
            "a new base is made; use a faster archive, raise maxLogSize, or set stopAfter",
            /* cause= */ null);
      }
      append(piece);
      at = piece.to();
    }
  }

  private void append(LogPiece piece) {
    refuseFenced(); // who is far behind ships for a long time
    ArchiveWriter now = Objects.requireNonNull(writer);
    if (now.isFull()) {
      ArchiveWriter next =
          ArchiveWriter.create(
              files,
              databaseId,
              now.number() + 1,
              position,
              log.life(),
              /* begins= */ false,
              this::isOwn);
      writer = next;
      now.close();
      now = next;
    }
    NavigableMap<Long, Long> inside = marks.headMap(piece.to(), /* inclusive= */ true);
    List<ArchiveBlock.Mark> moments = new ArrayList<>();
    for (Map.Entry<Long, Long> mark : inside.entrySet()) {
      moments.add(new ArchiveBlock.Mark(mark.getKey(), mark.getValue()));
    }
    byte[] block = ArchiveBlock.bytes(piece, moments);
    now.append(block);
    inside.clear();
    bytes.addAndGet(block.length);
    tailLife = piece.life();
    position = piece.to();
    source.moveTo(position);
  }

  private void base(boolean last) {
    if (started != null) {
      if (!started.isDone() && !last) {
        return;
      }
      Backups.Started ready = started;
      started = null;
      finish(ready);
      return; // the next one begins in another round
    }
    boolean isAsked = requests.get() > served;
    if (last || (baseFailure != null && !isAsked && System.nanoTime() - baseNotBefore < 0)) {
      return;
    }
    baseFailure = null;
    if (!isBaseDue()) {
      return;
    }
    startedNumber = files.nextBase();
    try {
      started =
          Objects.requireNonNull(backups)
              .start(files.base(startedNumber), BackupOptions.defaults());
    } catch (DatabaseClosedException closes) {
      return;
    } catch (IllegalStateException another) {
      return; // backup of the user: the next round asks again
    }
  }

  private boolean isBaseDue() {
    ArchiveFiles.Base newest = newestBase();
    if (newest == null) {
      return true;
    }
    return !options.baseEvery().equals(ArchiveOptions.NEVER)
        && clock.getAsLong() - newest.millis() >= options.baseEvery().toMillis();
  }

  private boolean hasBase() {
    return writer != null && newestBase() != null;
  }

  /** Of the chain. */
  private ArchiveFiles.@Nullable Base newestBase() {
    ArchiveFiles.Base newest = null;
    for (ArchiveFiles.Base one : bases) {
      if (one.end() >= chainBegin && (newest == null || one.end() > newest.end())) {
        newest = one;
      }
    }
    return newest;
  }

  private void finish(Backups.Started ready) {
    BackupReport report;
    try {
      report = ready.await();
    } catch (DatabaseClosedException closes) {
      return; // the next open makes one
    }
    byte[] baseId;
    try (StorageFile data =
        StorageFile.open(
            Objects.requireNonNull(report.target()).resolve("revenant.data"),
            OpenMode.READ,
            /* ownerOnly= */ true,
            files.statistics())) {
      baseId = DataFileHeader.read(data).databaseId();
    }
    ArchiveFiles.Base made =
        new ArchiveFiles.Base(
            startedNumber,
            baseId,
            report.endOfLog(),
            report.redoPoint(),
            log.life(),
            (int) report.pages(),
            clock.getAsLong());
    files.putNote(made, databaseId);
    basesMade.incrementAndGet();
    basePause = 0;
    bases = files.bases(databaseId); // it counts, whatever becomes of the pruning
    ArchiveFiles.Header header = files.demandHeader();
    refuseFenced(); // the promoted follower, or another one, may still need what is pruned
    Pruning.prune(files, header, options.policy(), clock.getAsLong());
    bases = files.bases(databaseId);
  }

  /** Where the archive ends; 0 if that is not known. */
  public long shippedLsn() {
    return position;
  }

  public long lagBytes() {
    return behindSince == 0 ? 0 : Math.max(0, log.durableLsn() - shippedOrBegin());
  }

  private long shippedOrBegin() {
    return position == 0 ? log.lifeBegin() : position;
  }

  public long lagNanos() {
    long since = behindSince;
    return since == 0 ? 0 : Math.max(0, System.nanoTime() - since);
  }

  public long bytes() {
    return bytes.get();
  }

  public long failures() {
    return failures.get();
  }

  public long bases() {
    return basesMade.get();
  }

  public long gaps() {
    return gaps.get();
  }

  /** Ships what is durable, once; ends the thread. */
  @Override
  public void close() {
    if (!isStarted) {
      source.close();
      return;
    }
    closing = true;
    thread.unpark();
    thread.join();
  }
}
