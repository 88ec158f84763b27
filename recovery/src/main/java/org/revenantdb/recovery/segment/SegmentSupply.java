package org.revenantdb.recovery.segment;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import org.revenantdb.latch.PatientLock;
import org.revenantdb.recovery.file.Directories;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.FileKinds;
import org.revenantdb.recovery.file.FileThread;
import org.revenantdb.recovery.file.LsnWaiters;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.format.SegmentLayout;

/**
 * Provides the log writer with segments: prepares new ones ahead of need, recycles old ones, and
 * deletes those that are no longer useful.
 *
 * <p>Threads: only the log writer takes segments. Any thread may call the other methods. A thread
 * of its own prepares segments, so that the writer does not wait for that. The thread ends when
 * enough segments are ready, so an idle log has no such thread.
 *
 * <p>Failure: if a preparation fails, all callers that wait for it receive the exception. The next
 * caller tries again, because there may be room, or a free segment, by then.
 */
public final class SegmentSupply {
  /*
   * Source      docs/protocols.md §45: sizes, and the crash table.
   *
   * State of a segment file
   *   free      no restart reads it: it lies below the redo point, or belongs to the log of no life
   *   ready     empty; prepared for its positions; its header and its name are forced
   *   in use    every other segment
   *
   * free -> ready   rename, force the directory, write the header, force      (a few at once: one force for all names)
   * none -> ready   write zeros under another name, force, rename, force dir  (create)
   * A crash between two of these steps leaves a file that is no segment: its header names another position, or its
   * name ends in .tmp. Its content is ignored, because each record contains its own position. The file is free from
   * the start of the next life. If a segment of that name is needed, the file becomes that segment.
   *
   * Growth      The second segment has the size of the first. Each later one is twice as large as the one before, up to
   *             the full size. A segment that would not reach the requested position is larger at once. Sizes never
   *             fall within a life.
   * Size        A file is created only if no free file has its size. Free files smaller than the next segment cannot be
   *             recycled and are deleted. So the directory never has more bytes than were in use at one time, including
   *             the file being created; LogSpace bounds that. A file that cannot be deleted, or whose preparation
   *             failed, still counts.
   * Ahead       While there are free segments, a few are prepared in one step, beyond the request. This creates no
   *             additional file. Without it, a log that grows by gigabytes a second would wait for a force of the
   *             directory at each segment.
   *             A log that had to wait for a file of full size has more of them prepared from then on: first one beyond
   *             the one that is used, then two, then four. It is written faster than one file is made, and all sessions
   *             wait meanwhile. Such a file is made only within the user's bound, less one file for a
   *             restart. If it cannot be made, none is made ahead until a caller waits again.
   * Rest        A clean close deletes free files but one, and those that were made ahead. While the database is open
   *             free files stay: a log that is written slowly needs each of them again after the next checkpoint.
   * Deletion    Other free files are deleted only while the directory is larger than the user's bound. The first file
   *             that cannot be deleted is held back: another process may have it open, so it is not recycled either.
   *             If a second file cannot be deleted, the directory is the cause. The second file stays free, and no
   *             deletion is tried until a checkpoint has released segments. If every such file were held back, each
   *             would be replaced by a new one.
   * Holds       A copy of the log keeps what it has not read yet (docs/protocols.md §47, §49). A file is not created
   *             beyond the user's bound while segments are held: then the holds that may break are broken, and what
   *             they held is free.
   */

  /** A segment to be created: from a free file of the same size, or as a new file. */
  private record Making(SegmentPlace place, @Nullable SegmentPlace spare) {}

  private final SegmentDirectory directory;
  private final String threadName;
  private final int life;
  private final int buffer;
  private final long maxBytes;

  private final PatientLock lock = new PatientLock();
  private final SegmentMap inUse;
  private final SegmentMap free = new SegmentMap();
  private final TreeMap<Long, Segment> ready = new TreeMap<>();

  /** The prepared segments have to reach beyond this position. */
  private long wanted;

  /** The same, but only as far as files can be made within the bound; a caller does not wait. */
  private long welcome;

  /** How far beyond what is written segments are welcome. */
  private long ahead;

  /** The end of the prepared segments when a caller waited last. */
  private long waitedAt;

  /** The size of the next segment, unless the requested position needs a larger one. */
  private int nextSize;

  /** Whether some free segment may be smaller than {@link #nextSize}. */
  private boolean smallOnes;

  /** Written under the lock, before the callers are woken. */
  private volatile boolean preparing;

  /**
   * Waiting callers, by the position that they need. They do not use a {@code Condition}; {@link
   * org.revenantdb.latch.Parking} has the reason.
   */
  private final LsnWaiters callers = new LsnWaiters();

  private final LongPredicate settled = this::isSettled;

  /** Bytes of the files that are being created or deleted. */
  private long others;

  /** The file that is held back because it could not be deleted; null if there is none. */
  private @Nullable SegmentPlace held;

  /** Whether its deletion was tried since segments were last released. */
  private boolean heldTried;

  /** False after the directory has refused a deletion, until segments are released. */
  private boolean deletable = true;

  /** Copies of the log that keep segments. */
  private final List<LogHold> holds = new ArrayList<>();

  /** Every segment below this that is not held was released. */
  private long releasable;

  /** A reader of the log has ended here; the next life may read on. */
  private long leftAt = Long.MAX_VALUE;

  private boolean closed;
  private @Nullable Throwable failure;
  private volatile long durable;
  private volatile long preparedEnd;

  /**
   * Creates the supply of one life of the log.
   *
   * @param directory the log directory
   * @param present all segment files in it
   * @param life the life whose log is written
   * @param buffer size of its log buffer
   * @param maxBytes if the directory is larger than this, free segments are deleted
   * @param threadName name of the threads that prepare segments
   */
  public SegmentSupply(
      SegmentDirectory directory,
      SegmentMap present,
      int life,
      int buffer,
      long maxBytes,
      String threadName) {
    this.directory = directory;
    this.inUse = new SegmentMap(present);
    this.life = life;
    this.buffer = buffer;
    this.maxBytes = maxBytes;
    this.threadName = threadName;
    directory.ownership().watch(directory.path(), () -> 0);
    present.forEach(directory::relyOn);
  }

  /**
   * Makes the first segment of the life, in the calling thread.
   *
   * @param place where it begins, and its size
   * @param formerEnd where the former life's log ends, 0 = there was none
   * @return the segment
   */
  public Segment first(SegmentPlace place, long formerEnd) {
    durable = place.begin();
    Making making = beginMaking(place);
    Segment segment;
    try {
      rename(List.of(making));
      segment = make(making, header(place, place.begin(), formerEnd));
    } catch (Throwable failed) {
      notMade(making, failed);
      throw failed;
    }
    lock.lock();
    try {
      made(place);
      wanted = place.begin();
      preparedEnd = place.end();
    } finally {
      lock.unlock();
    }
    return segment;
  }

  /**
   * Starts to prepare the segments that will soon be needed in the background, unless an earlier
   * call has requested them.
   *
   * @param written the log is written up to here
   * @param last the segment with this position
   * @param newDurable the durable LSN, for their headers
   */
  public void prepareAhead(long written, SegmentPlace last, long newDurable) {
    durable = newDurable;
    boolean halfUsed = written - last.begin() > last.end() - written;
    lock.lock();
    try {
      long enough = written + ahead;
      if (ahead > 0 && enough - welcome > ahead / 4) { // not at each round
        welcome = enough;
        beginEarly(wanted);
      }
      if (halfUsed && last.end() > wanted) {
        beginEarly(last.end());
      }
    } finally {
      lock.unlock();
    }
  }

  /** Under the lock. If no thread can be started, the caller that needs the segment prepares it. */
  private void beginEarly(long lsn) {
    long before = wanted;
    try {
      begin(lsn);
    } catch (OutOfMemoryError noThread) {
      wanted = before;
    }
  }

  /**
   * Waits until the segments for a position and for all positions before it exist.
   *
   * @param lsn the position
   * @throws FileException if one of them cannot be created
   */
  public void ensure(long lsn) {
    if (preparedEnd > lsn) {
      return;
    }
    lock.lock();
    try {
      if (preparedEnd <= lsn) {
        waits();
      }
      begin(lsn);
    } finally {
      lock.unlock();
    }
    do {
      callers.await(lsn, settled);
    } while (!isPrepared(lsn));
  }

  /**
   * Under the lock: a caller waits for the segment behind one of full size. Callers that wait for
   * the same one count once.
   */
  private void waits() {
    int full = directory.segmentSize();
    @Nullable SegmentPlace last = inUse.at(preparedEnd - 1);
    if (last != null && last.size() == full && waitedAt < preparedEnd) {
      waitedAt = preparedEnd;
      ahead = Math.clamp(2 * ahead, full, (long) SegmentLayout.BATCH * full);
    }
  }

  private boolean isSettled(long lsn) {
    return preparedEnd > lsn || !preparing;
  }

  /** Returns false if another thread has started to prepare meanwhile. */
  private boolean isPrepared(long lsn) {
    lock.lock();
    try {
      if (preparedEnd <= lsn && !preparing) {
        throw cannotPrepare(lsn);
      }
      return preparedEnd > lsn;
    } finally {
      lock.unlock();
    }
  }

  private RuntimeException cannotPrepare(long lsn) {
    @Nullable Throwable cause = failure;
    if (cause instanceof FileException told) {
      return told;
    }
    return new IllegalStateException(
        "the log segment for position " + lsn + " cannot be prepared", cause);
  }

  /** Under the lock. */
  private void begin(long lsn) {
    wanted = Math.max(wanted, lsn);
    if (!preparing && !closed && isMoreToPrepare()) {
      FileThread.of(threadName, this::prepareWanted, this::notPrepared).start();
      preparing = true;
      failure = null;
    }
  }

  private void prepareWanted() {
    for (List<Making> next = next(); !next.isEmpty(); next = next()) {
      prepare(next);
    }
  }

  private void notPrepared(Throwable thrown) {
    lock.lock();
    try {
      failure = thrown;
      preparing = false;
      if (preparedEnd > wanted) {
        ahead = 0; // the disk may be full: what is left is for those who wait
      }
    } finally {
      lock.unlock();
    }
    callers.wake(settled);
  }

  /** Returns the next segments to prepare. If there are none, the thread ends. */
  private List<Making> next() {
    lock.lock();
    try {
      List<Making> next = new ArrayList<>();
      if (closed || !isMoreToPrepare()) {
        preparing = false;
        callers.wake(settled);
        return next;
      }
      long begin = preparedEnd;
      int least = nextSize;
      do {
        SegmentPlace place = new SegmentPlace(begin, reaching(begin, least));
        next.add(making(place));
        begin = place.end();
        least = doubled(place.size());
      } while (next.size() < SegmentLayout.BATCH
          && (preparedEnd <= wanted || begin <= welcome)
          && fitting(reaching(begin, least)) != null);
      return next;
    } finally {
      lock.unlock();
    }
  }

  /** Under the lock. A restart has to find room for one more file. */
  private boolean isMoreToPrepare() {
    return preparedEnd <= wanted
        || (preparedEnd <= welcome
            && !isTooLarge()
            && (fitting(nextSize) != null || sum() + 2L * nextSize <= maxBytes));
  }

  /**
   * Under the lock: at least the given size, larger if the request needs it and the limit allows.
   */
  private int reaching(long begin, int least) {
    int size = least;
    while (size < directory.segmentSize() && begin + SegmentLayout.payload(size) <= wanted) {
      size *= 2;
    }
    return size;
  }

  private int doubled(int size) {
    return Math.min(size, directory.segmentSize() / 2) * 2;
  }

  private void prepare(List<Making> batch) {
    int done = 0;
    try {
      rename(batch);
      for (Making making : batch) {
        ready(making);
        done++;
      }
    } catch (Throwable failed) {
      batch.subList(done, batch.size()).forEach(making -> notMade(making, failed));
      throw failed;
    }
  }

  /** Durable on return. */
  private void rename(List<Making> batch) {
    boolean any = false;
    for (Making making : batch) {
      if (making.spare() != null) {
        directory.rename(making.spare().begin(), making.place().begin());
        any = true;
      }
    }
    if (any) {
      directory.forceNames();
    }
  }

  private void ready(Making making) {
    SegmentPlace place = making.place();
    Segment segment = make(making, header(place, /* firstLsn= */ 0, /* formerEnd= */ 0));
    lock.lock();
    try {
      made(place);
      ready.put(place.begin(), segment);
      if (doubled(place.size()) > nextSize) {
        nextSize = doubled(place.size());
        smallOnes = true;
      }
      preparedEnd = place.end();
    } finally {
      lock.unlock();
    }
    callers.wake(settled);
  }

  /**
   * Returns the next segment, and waits until it is prepared.
   *
   * @param begin its first position
   * @return the segment
   * @throws FileException if it cannot be made
   */
  public Segment take(long begin) {
    ensure(begin);
    lock.lock();
    try {
      @Nullable Segment segment = ready.remove(begin);
      if (segment == null) {
        throw new IllegalStateException(
            "no log segment begins at position " + begin + ", or it was taken before");
      }
      return segment;
    } finally {
      lock.unlock();
    }
  }

  /** Waits for a preparation in progress, and closes the files. The segments stay. */
  public void close() {
    lock.lock();
    try {
      closed = true;
    } finally {
      lock.unlock();
    }
    callers.await(Long.MAX_VALUE, settled); // closed, no thread begins again
    lock.lock();
    try {
      ready.values().forEach(segment -> segment.file().close());
      ready.clear();
    } finally {
      lock.unlock();
    }
  }

  private SegmentHeader header(SegmentPlace place, long firstLsn, long formerEnd) {
    return new SegmentHeader(
        place.begin(),
        place.size(),
        life,
        firstLsn,
        formerEnd,
        /* sealedEnd= */ 0,
        durable,
        buffer);
  }

  /** A recycled file is written to only after its new name is durable. */
  private Segment make(Making making, SegmentHeader header) {
    SegmentPlace place = making.place();
    if (making.spare() != null) {
      directory.reuse(header);
    } else {
      trim(); // what fits nothing must not take up the room of the new one
      directory.create(header);
    }
    Segment segment = new Segment(place, directory.open(place.begin(), OpenMode.READ_WRITE));
    try {
      // Only now: the directory may have been replaced between the check and the creation.
      directory.relyOn(place);
      return segment;
    } catch (RuntimeException | Error notOurs) {
      segment.file().close();
      throw notOurs;
    }
  }

  private Making beginMaking(SegmentPlace place) {
    lock.lock();
    try {
      nextSize = place.size();
      smallOnes = true;
      return making(place);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Under the lock. A free file may already have the name, if a process was killed after the rename
   * and before the header was written. If its size is wrong, the new file replaces it.
   */
  private Making making(SegmentPlace place) {
    others += place.size();
    @Nullable SegmentPlace named = free.remove(place.begin());
    if (named != null && named.size() == place.size()) {
      return new Making(place, named);
    }
    @Nullable SegmentPlace spare = fitting(place.size());
    if (spare == null && isTooLarge() && breakHolds()) {
      spare = fitting(place.size());
    }
    if (spare != null) {
      free.remove(spare.begin());
    }
    return new Making(place, spare);
  }

  /**
   * Under the lock: a copy of the log must not make the directory larger than allowed.
   *
   * @return whether that has released segments
   */
  private boolean breakHolds() {
    if (held(releasable) == releasable) {
      return false; // nothing is there because of a hold
    }
    long before = held(releasable);
    holds.removeIf(LogHold::givesWay);
    releaseBelow(held(releasable));
    return held(releasable) > before;
  }

  /** Under the lock: how far segments may be released, at most a position. */
  private long held(long lsn) {
    long most = lsn;
    for (LogHold hold : holds) {
      most = Math.min(most, hold.from());
    }
    return most;
  }

  /**
   * Keeps all segments that are in use now, and those that come.
   *
   * @param mayBreak whether writers may break it when the directory would be too large
   * @return the hold, which keeps everything until it is moved
   */
  public LogHold hold(boolean mayBreak) {
    LogHold hold = new LogHold(this, mayBreak);
    lock.lock();
    try {
      holds.add(hold);
    } finally {
      lock.unlock();
    }
    return hold;
  }

  /** Ends a hold, and keeps what it has not read for the next life. */
  void holdLeaves(LogHold hold) {
    lock.lock();
    try {
      if (!hold.isBroken()) {
        leftAt = Math.min(leftAt, hold.from());
      }
    } finally {
      lock.unlock();
    }
    hold.close();
  }

  /** Moves a hold on, or ends it; returns whether {@link #trim} would delete any segment. */
  boolean holdMoves(LogHold hold, long from) {
    lock.lock();
    try {
      hold.move(from);
      if (from == Long.MAX_VALUE) {
        holds.remove(hold);
      }
      releaseBelow(held(releasable));
      return isTooMuch();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Returns the segment that holds a position, ready ones included.
   *
   * @param lsn the position
   * @return the segment; null if it was released, or does not exist yet
   */
  public @Nullable SegmentPlace holding(long lsn) {
    lock.lock();
    try {
      return inUse.at(lsn);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Returns the directory of the segments.
   *
   * @return the directory, with the owner of the log
   */
  public SegmentDirectory directory() {
    return directory;
  }

  /** Under the lock. */
  private @Nullable SegmentPlace fitting(int size) {
    for (SegmentPlace place : free) {
      if (place.size() == size) {
        return place;
      }
    }
    return null;
  }

  /** Under the lock. */
  private void made(SegmentPlace place) {
    others -= place.size();
    inUse.add(place);
  }

  /**
   * The file to be recycled has its old name, or already the new one. If the system cannot tell
   * which, the next open finds the file, and the exception contains the reason.
   */
  private void notMade(Making making, Throwable failed) {
    SegmentPlace place = making.place();
    @Nullable SegmentPlace spare = making.spare();
    lock.lock();
    try {
      others -= place.size();
      if (spare != null && Directories.exists(directory.file(spare.begin()))) {
        free.add(spare);
      } else {
        long length = FileKinds.size(directory.file(place.begin()));
        if (length >= 0) {
          inUse.add(new SegmentPlace(place.begin(), (int) length));
        }
      }
    } catch (FileException unknown) {
      failed.addSuppressed(unknown);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Returns how far durable segments reach.
   *
   * @return the position behind the last one
   */
  public long preparedEnd() {
    return preparedEnd;
  }

  /**
   * Releases every segment that lies entirely below a position, unless a copy of the log holds it.
   *
   * @param lsn the redo point of a checkpoint that is durable
   * @return whether {@link #trim} would delete any
   */
  public boolean recycleBelow(long lsn) {
    lock.lock();
    try {
      releasable = Math.max(releasable, lsn);
      releaseBelow(held(lsn));
      heldTried = false;
      deletable = true;
      return isTooMuch();
    } finally {
      lock.unlock();
    }
  }

  /** Under the lock. */
  private void releaseBelow(long lsn) {
    List<SegmentPlace> below = new ArrayList<>();
    for (SegmentPlace place : inUse.beginningIn(0, lsn)) {
      if (place.end() <= lsn) {
        below.add(place);
      }
    }
    below.forEach(this::giveUp);
  }

  /** Under the lock. */
  private void giveUp(SegmentPlace place) {
    inUse.remove(place.begin());
    free.add(place);
    smallOnes |= isTooSmall(place);
    directory.relyOnNoMore(place);
  }

  /**
   * Releases single segments.
   *
   * @param begins first positions of segments that no restart will read
   */
  public void addFree(Iterable<Long> begins) {
    lock.lock();
    try {
      for (long begin : begins) {
        @Nullable SegmentPlace place = inUse.get(begin);
        if (place != null) {
          giveUp(place);
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Deletes free segments that are too small to be recycled, and other free segments while the
   * directory is larger than its bound.
   *
   * <p>A file that cannot be deleted still counts. Its deletion is tried again after segments were
   * released.
   */
  public void trim() {
    while (true) {
      @Nullable SegmentPlace spare = pollDeletable();
      if (spare == null) {
        return;
      }
      wasPolled(spare, delete(spare));
    }
  }

  /**
   * Deletes the segments that the next life does not need, after the supply was closed. Free ones
   * go, except for the last one of the size with which that life begins: it may have the beginning
   * of the last block of an archive, by which the next life recognises the archive. So do those
   * that lie wholly behind the end of the log: they were made ahead.
   *
   * @param end the end of the log, which both control slots durably name: nothing else has to prove
   *     where the log ends
   */
  public void deleteUnneeded(long end) {
    @Nullable SegmentPlace last = inUse.at(end - 1);
    if (last == null) {
      return;
    }
    @Nullable SegmentPlace spare = null;
    for (SegmentPlace place : free) {
      spare = place.size() == last.size() ? place : spare;
    }
    List<SegmentPlace> surplus = new ArrayList<>();
    for (SegmentPlace place : free) {
      if (!place.equals(spare) && place.end() <= leftAt) {
        surplus.add(place);
      }
    }
    for (SegmentPlace place : inUse.beginningIn(last.end(), Long.MAX_VALUE)) {
      directory.relyOnNoMore(place);
      surplus.add(place);
    }
    for (SegmentPlace place : surplus) {
      if (!delete(place)) {
        return;
      }
    }
  }

  private boolean delete(SegmentPlace spare) {
    try {
      directory.delete(spare.begin());
      return true;
    } catch (FileException stays) {
      return false;
    }
  }

  private @Nullable SegmentPlace pollDeletable() {
    lock.lock();
    try {
      @Nullable SegmentPlace next = deletable();
      if (next != null) {
        others += next.size();
      }
      return next;
    } finally {
      lock.unlock();
    }
  }

  /** Under the lock. */
  private @Nullable SegmentPlace deletable() {
    @Nullable SegmentPlace first = held;
    if (first != null && !heldTried && (isTooSmall(first) || isTooLarge())) {
      held = null;
      return first;
    }
    if (!deletable) {
      return null;
    }
    @Nullable SegmentPlace next = tooSmall();
    if (next == null && isTooLarge() && !free.isEmpty()) {
      next = free.iterator().next();
    }
    return next == null ? null : free.remove(next.begin());
  }

  /** Under the lock: a free segment that is too small to be recycled. */
  private @Nullable SegmentPlace tooSmall() {
    if (smallOnes) {
      for (SegmentPlace place : free) {
        if (isTooSmall(place)) {
          return place;
        }
      }
      smallOnes = false;
    }
    return null;
  }

  private void wasPolled(SegmentPlace place, boolean deleted) {
    lock.lock();
    try {
      others -= place.size();
      if (deleted) {
        return;
      }
      if (held == null) {
        held = place;
        heldTried = true;
      } else {
        free.add(place);
        deletable = false;
      }
    } finally {
      lock.unlock();
    }
  }

  /** Under the lock. */
  private boolean isTooSmall(SegmentPlace place) {
    return place.size() < nextSize;
  }

  /** Under the lock. */
  private boolean isTooLarge() {
    return sum() > maxBytes;
  }

  /** Under the lock: whether {@link #trim} would delete any. */
  private boolean isTooMuch() {
    @Nullable SegmentPlace other = held;
    if (other != null && (isTooSmall(other) || isTooLarge())) {
      return true;
    }
    return tooSmall() != null || (isTooLarge() && !free.isEmpty());
  }

  /**
   * Size of all segments.
   *
   * @return bytes; spare and prepared ones, and one that is being made, included
   */
  public long bytes() {
    lock.lock();
    try {
      return sum();
    } finally {
      lock.unlock();
    }
  }

  private long sum() {
    return inUse.bytes() + free.bytes() + others + (held == null ? 0 : held.size());
  }
}
