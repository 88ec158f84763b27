package org.revenantdb.recovery.segment;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import org.revenantdb.latch.PatientLock;
import org.revenantdb.recovery.file.Directories;
import org.revenantdb.recovery.file.FileKinds;
import org.revenantdb.recovery.file.FileThread;
import org.revenantdb.recovery.file.LsnWaiters;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.StorageException;
import org.revenantdb.recovery.format.SegmentLayout;

/**
 * Where the log writer gets its next segment from.
 *
 * <p>Threads: one writer takes segments; everything else may be called by anybody. Segments are
 * prepared by a thread of their own, which ends when enough are ready, so that the writer need not
 * stop for it and an idle log has no such thread.
 *
 * <p>Failure: a preparation that failed fails those who wait for it. Who asks next tries again:
 * there may be room, or a free segment, by then.
 */
public final class SegmentSupply {
  /*
   * Source      docs/protocols.md §45: sizes, and the crash table.
   *
   * State of a segment file
   *   free      no restart will read it: it lies below the redo point, or in no life's log
   *   ready     prepared for its positions, header forced, name forced; nothing in it
   *   in use    everything else
   *
   * free -> ready   rename, force the directory, write the header, force      (a few at once: one force for all names)
   * none -> ready   write zeros under another name, force, rename, force dir  (create)
   * A crash between any two steps leaves a file that is no segment (its header names another position, or its
   * name ends in .tmp); nothing in it counts, because a record names its own position. Such a file is free from
   * the start in the next life, and becomes the segment that its name says if that one is wanted.
   *
   * Growth      the next segment has the size of the first one, each later one twice that of the one before, up to the
   *             full size. One that does not reach as far as is wanted is larger at once. Sizes never fall in a life.
   * Size        a file is made only when none of its size is free. Free files that are smaller than the next segment
   *             fit nothing any more and are deleted. So the directory has no more bytes than were in use at once,
   *             the file that is being made included, which LogSpace bounds. A file that cannot be deleted, or whose
   *             preparation failed, still counts.
   * Ahead       where free segments are, a few are prepared at once, beyond what is wanted: that makes no file more,
   *             and a log that grows by gigabytes a second would wait for each force of the directory.
   * Deletion    of others only while the directory is larger than the bound that the user set. The first file that
   *             cannot be deleted is held: somebody may have it open, so it is not recycled either. Where a second one
   *             cannot be deleted, it is the directory that forbids it: that one stays free, and nothing more is tried
   *             until a checkpoint has given up segments. Were each of them held, each would be replaced by a new one.
   */

  /** A segment to be made, of a free one of the same size or from nothing. */
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

  /** A position that the prepared segments shall reach beyond. */
  private long wanted;

  /** Size of the next segment, unless it must be larger. */
  private int nextSize;

  /** Whether a free segment may be smaller than that. */
  private boolean smallOnes;

  /** Written under the lock, before the callers are woken. */
  private volatile boolean preparing;

  /**
   * Callers, by the position that they wait for. They do not wait at a condition ({@link
   * org.revenantdb.latch.Parking}).
   */
  private final LsnWaiters callers = new LsnWaiters();

  private final LongPredicate settled = this::isSettled;

  /** Bytes of the files that are being made, or deleted. */
  private long others;

  /** One that could not be deleted, if there is any, and whether that was tried lately. */
  private @Nullable SegmentPlace held;

  private boolean heldTried;

  /** Whether another one can be deleted, as far as is known. */
  private boolean deletable = true;

  private boolean closed;
  private @Nullable Throwable failure;
  private volatile long durable;
  private volatile long preparedEnd;

  /**
   * A supply for one life of the log.
   *
   * @param directory the log directory
   * @param present all segment files in it
   * @param life the life whose log is written
   * @param buffer size of its log buffer
   * @param maxBytes above that much, segments that are no longer needed are deleted
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
   * Begins to prepare the segments up to a position in the background, unless that was wanted
   * before.
   *
   * @param lsn the position
   * @param newDurable the durable LSN, for their headers
   */
  public void prepareAhead(long lsn, long newDurable) {
    durable = newDurable;
    lock.lock();
    try {
      if (lsn > wanted) {
        beginEarly(lsn);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Under the lock. Without a thread it is left to whoever needs the segment. */
  private void beginEarly(long lsn) {
    long before = wanted;
    try {
      begin(lsn);
    } catch (OutOfMemoryError noThread) {
      wanted = before;
    }
  }

  /**
   * Waits until there is a segment for a position, and for all before it.
   *
   * @param lsn the position
   * @throws StorageException if one of them cannot be made
   */
  public void ensure(long lsn) {
    if (preparedEnd > lsn) {
      return;
    }
    lock.lock();
    try {
      begin(lsn);
    } finally {
      lock.unlock();
    }
    do {
      callers.await(lsn, settled);
    } while (!isPrepared(lsn));
  }

  private boolean isSettled(long lsn) {
    return preparedEnd > lsn || !preparing;
  }

  /** False if somebody else has begun to prepare meanwhile. */
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
    if (cause instanceof StorageException told) {
      return told;
    }
    return new IllegalStateException(
        "the log segment for position " + lsn + " cannot be prepared", cause);
  }

  /** Under the lock. */
  private void begin(long lsn) {
    wanted = Math.max(wanted, lsn);
    if (!preparing && !closed && preparedEnd <= wanted) {
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
    } finally {
      lock.unlock();
    }
    callers.wake(settled);
  }

  /** The next segments to prepare; if there are none the thread ends. */
  private List<Making> next() {
    lock.lock();
    try {
      List<Making> next = new ArrayList<>();
      long begin = preparedEnd;
      if (begin > wanted || closed) {
        preparing = false;
        callers.wake(settled);
        return next;
      }
      int least = nextSize;
      do {
        SegmentPlace place = new SegmentPlace(begin, reaching(begin, least));
        next.add(making(place));
        begin = place.end();
        least = doubled(place.size());
      } while (next.size() < SegmentLayout.BATCH && fitting(reaching(begin, least)) != null);
      return next;
    } finally {
      lock.unlock();
    }
  }

  /** Under the lock: at least the size given, and as large as is wanted, if it can be. */
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
   * The next segment; waits for its preparation.
   *
   * @param begin its first position
   * @return the segment
   * @throws StorageException if it cannot be made
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

  /** Waits for a preparation that is under way and closes the files; the segments stay. */
  public void close() {
    lock.lock();
    try {
      closed = true;
    } finally {
      lock.unlock();
    }
    callers.await(Long.MAX_VALUE, settled); // closed, nobody begins again
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

  /** Of a free one only if its new name is durable. */
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
   * Under the lock. A free file may have the name already: whoever renamed it was killed before it
   * had a header. If it has another size the new file takes its place.
   */
  private Making making(SegmentPlace place) {
    others += place.size();
    @Nullable SegmentPlace named = free.remove(place.begin());
    if (named != null && named.size() == place.size()) {
      return new Making(place, named);
    }
    @Nullable SegmentPlace spare = fitting(place.size());
    if (spare != null) {
      free.remove(spare.begin());
    }
    return new Making(place, spare);
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
   * What was to be recycled is there under its old name, or already under the new one. If the
   * system does not tell which, the file is left to the next open, and the failure says why.
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
    } catch (StorageException unknown) {
      failed.addSuppressed(unknown);
    } finally {
      lock.unlock();
    }
  }

  /**
   * How far there are durable segments.
   *
   * @return the position behind the last one
   */
  public long preparedEnd() {
    return preparedEnd;
  }

  /**
   * Gives up every segment that lies wholly below a position.
   *
   * @param lsn the redo point of a checkpoint that is durable
   * @return whether {@link #trim} would delete any
   */
  public boolean recycleBelow(long lsn) {
    lock.lock();
    try {
      List<SegmentPlace> below = new ArrayList<>();
      for (SegmentPlace place : inUse.beginningIn(0, lsn)) {
        if (place.end() <= lsn) {
          below.add(place);
        }
      }
      below.forEach(this::giveUp);
      heldTried = false;
      deletable = true;
      return isTooMuch();
    } finally {
      lock.unlock();
    }
  }

  /** Under the lock. */
  private void giveUp(SegmentPlace place) {
    inUse.remove(place.begin());
    free.add(place);
    smallOnes |= isTooSmall(place);
    directory.relyOnNoMore(place);
  }

  /**
   * Gives up single segments.
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
   * Deletes free segments that are too small for any further one, and others as long as the
   * directory is larger than it may be.
   *
   * <p>A file that cannot be deleted counts. It is tried again when segments were given up.
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

  private boolean delete(SegmentPlace spare) {
    try {
      directory.delete(spare.begin());
      return true;
    } catch (StorageException stays) {
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

  /** Under the lock: a free segment that fits nothing any more. */
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
