package org.revenantdb.recovery.segment;

import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import org.revenantdb.latch.PatientLock;
import org.revenantdb.recovery.file.Directories;
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
   * State of a segment file
   *   free      no restart will read it: it lies below the redo point, or in no life's log
   *   ready     prepared as number n, header forced, name forced; nothing in it
   *   in use    everything else
   *
   * free -> ready   rename, force the directory, write the header, force      (a few at once: one force for all names)
   * none -> ready   write zeros under another name, force, rename, force dir  (create)
   * A crash between any two steps leaves a file that is no segment (its header names another number, or its
   * name ends in .tmp); nothing in it counts, because a record names its own position. Such a file is free from
   * the start in the next life, and becomes the segment that its name says if that one is wanted.
   *
   * Size        a file is made only when none is free; so the directory has as many files as were in use at once,
   *             the one that is being made included, which LogSpace bounds. A file that cannot be deleted, or whose
   *             preparation failed, still counts.
   * Ahead       where free segments are, a few are prepared at once, beyond what is wanted: that makes no file more,
   *             and a log that grows by gigabytes a second would wait for each force of the directory.
   * Deletion    only while the directory is larger than the bound that the user set. The first file that cannot be
   *             deleted is held: somebody may have it open, so it is not recycled either. Where a second one cannot be
   *             deleted, it is the directory that forbids it: that one stays free, and nothing more is tried until a
   *             checkpoint has given up segments. Were each of them held, each would be replaced by a new one.
   */

  /** A segment to be made, of a free one or from nothing. */
  private record Making(long number, @Nullable Long spare) {}

  private final SegmentDirectory directory;
  private final String threadName;
  private final int life;
  private final int buffer;
  private final long maxBytes;

  private final PatientLock lock = new PatientLock();
  private final TreeSet<Long> inUse;
  private final TreeSet<Long> free = new TreeSet<>();
  private final TreeMap<Long, Segment> ready = new TreeMap<>();
  private long wanted;

  /** Written under the lock, before the callers are woken. */
  private volatile boolean preparing;

  /**
   * Callers, by the number that they wait for. They do not wait at a condition ({@link
   * org.revenantdb.latch.Parking}).
   */
  private final LsnWaiters callers = new LsnWaiters();

  private final LongPredicate settled = this::isSettled;

  /** Files that are being made. */
  private int others;

  /** One that could not be deleted, if there is any, and whether that was tried lately. */
  private @Nullable Long held;

  private boolean heldTried;

  /** Whether another one can be deleted, as far as is known. */
  private boolean deletable = true;

  private boolean closed;
  private @Nullable Throwable failure;
  private volatile long durable;
  private volatile long preparedThrough;

  /**
   * A supply for one life of the log.
   *
   * @param directory the log directory
   * @param present numbers of all segment files in it
   * @param life the life whose log is written
   * @param buffer size of its log buffer
   * @param maxBytes above that much, segments that are no longer needed are deleted
   * @param threadName name of the threads that prepare segments
   */
  public SegmentSupply(
      SegmentDirectory directory,
      SortedSet<Long> present,
      int life,
      int buffer,
      long maxBytes,
      String threadName) {
    this.directory = directory;
    this.inUse = new TreeSet<>(present);
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
   * @param number its number
   * @param formerEnd where the former life's log ends, 0 = there was none
   * @return the segment
   */
  public Segment first(long number, long formerEnd) {
    long first = SegmentLayout.firstLsn(number, directory.segmentSize());
    durable = first;
    Making making = beginMaking(number);
    Segment segment;
    try {
      rename(List.of(making));
      segment = make(making, header(number, first, formerEnd));
    } catch (Throwable failed) {
      notMade(making, failed);
      throw failed;
    }
    lock.lock();
    try {
      made(number);
      wanted = number;
      preparedThrough = number;
    } finally {
      lock.unlock();
    }
    return segment;
  }

  /**
   * Begins to prepare the segments up to a number in the background, unless that was wanted before.
   *
   * @param number the last one
   * @param newDurable the durable LSN, for their headers
   */
  public void prepareAhead(long number, long newDurable) {
    durable = newDurable;
    lock.lock();
    try {
      if (number > wanted) {
        beginEarly(number);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Under the lock. Without a thread it is left to whoever needs the segment. */
  private void beginEarly(long number) {
    long before = wanted;
    try {
      begin(number);
    } catch (OutOfMemoryError noThread) {
      wanted = before;
    }
  }

  /**
   * Waits until the segments up to a number are ready.
   *
   * @param number the last one
   * @throws StorageException if one of them cannot be made
   */
  public void ensure(long number) {
    if (preparedThrough >= number) {
      return;
    }
    lock.lock();
    try {
      begin(number);
    } finally {
      lock.unlock();
    }
    do {
      callers.await(number, settled);
    } while (!isPrepared(number));
  }

  private boolean isSettled(long number) {
    return preparedThrough >= number || !preparing;
  }

  /** False if somebody else has begun to prepare meanwhile. */
  private boolean isPrepared(long number) {
    lock.lock();
    try {
      if (preparedThrough < number && !preparing) {
        throw cannotPrepare(number);
      }
      return preparedThrough >= number;
    } finally {
      lock.unlock();
    }
  }

  private RuntimeException cannotPrepare(long number) {
    @Nullable Throwable cause = failure;
    if (cause instanceof StorageException told) {
      return told;
    }
    return new IllegalStateException("log segment " + number + " cannot be prepared", cause);
  }

  /** Under the lock. */
  private void begin(long number) {
    wanted = Math.max(wanted, number);
    if (!preparing && !closed && preparedThrough < wanted) {
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
      long number = preparedThrough + 1;
      if (number > wanted || closed) {
        preparing = false;
        callers.wake(settled);
        return next;
      }
      do {
        next.add(new Making(number, spareFor(number)));
        others++;
        number++;
      } while (next.size() < SegmentLayout.BATCH && !free.isEmpty());
      return next;
    } finally {
      lock.unlock();
    }
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
        directory.rename(making.spare(), making.number());
        any = true;
      }
    }
    if (any) {
      directory.forceNames();
    }
  }

  private void ready(Making making) {
    Segment segment = make(making, header(making.number(), /* firstLsn= */ 0, /* formerEnd= */ 0));
    lock.lock();
    try {
      made(making.number());
      ready.put(making.number(), segment);
      preparedThrough = making.number();
    } finally {
      lock.unlock();
    }
    callers.wake(settled);
  }

  /**
   * The next segment; waits for its preparation.
   *
   * @param number its number
   * @return the segment
   * @throws StorageException if it cannot be made
   */
  public Segment take(long number) {
    ensure(number);
    lock.lock();
    try {
      @Nullable Segment segment = ready.remove(number);
      if (segment == null) {
        throw new IllegalStateException("log segment " + number + " was taken before");
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

  private SegmentHeader header(long number, long firstLsn, long formerEnd) {
    return new SegmentHeader(
        number,
        directory.segmentSize(),
        life,
        firstLsn,
        formerEnd,
        /* sealedEnd= */ 0,
        durable,
        buffer);
  }

  /** Of a free one only if its new name is durable. */
  private Segment make(Making making, SegmentHeader header) {
    if (making.spare() != null) {
      directory.reuse(header);
    } else {
      directory.create(header);
    }
    Segment segment =
        new Segment(header.number(), directory.open(header.number(), OpenMode.READ_WRITE));
    try {
      // Only now: the directory may have been replaced between the check and the creation.
      directory.relyOn(header.number());
      return segment;
    } catch (RuntimeException | Error notOurs) {
      segment.file().close();
      throw notOurs;
    }
  }

  private Making beginMaking(long number) {
    lock.lock();
    try {
      others++;
      return new Making(number, spareFor(number));
    } finally {
      lock.unlock();
    }
  }

  /**
   * Under the lock. A free file may have the name already: whoever renamed it was killed before it
   * had a header.
   */
  private @Nullable Long spareFor(long number) {
    return free.remove(number) ? (Long) number : free.pollFirst();
  }

  /** Under the lock. */
  private void made(long number) {
    others--;
    inUse.add(number);
  }

  /**
   * What was to be recycled is there under its old name, or already under the new one. If the
   * system does not tell which, the file is left to the next open, and the failure says why.
   */
  private void notMade(Making making, Throwable failed) {
    @Nullable Long spare = making.spare();
    long number = making.number();
    lock.lock();
    try {
      others--;
      if (spare != null && Directories.exists(directory.file(spare))) {
        free.add(spare);
      } else if (Directories.exists(directory.file(number))) {
        inUse.add(number);
      }
    } catch (StorageException unknown) {
      failed.addSuppressed(unknown);
    } finally {
      lock.unlock();
    }
  }

  /**
   * The highest segment whose file is durable.
   *
   * @return its number
   */
  public long preparedThrough() {
    return preparedThrough;
  }

  /**
   * Gives up every segment that lies wholly below a position.
   *
   * @param lsn the redo point of a checkpoint that is durable
   * @return whether {@link #trim} would delete any
   */
  public boolean recycleBelow(long lsn) {
    long number = SegmentLayout.number(lsn, directory.segmentSize());
    lock.lock();
    try {
      free.addAll(inUse.headSet(number));
      inUse.headSet(number).forEach(directory::relyOnNoMore);
      inUse.headSet(number).clear();
      heldTried = false;
      deletable = true;
      return (held != null || !free.isEmpty()) && bytes() > maxBytes;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Gives up single segments.
   *
   * @param numbers segments that no restart will read
   */
  public void addFree(Iterable<Long> numbers) {
    lock.lock();
    try {
      for (long number : numbers) {
        if (inUse.remove(number)) {
          free.add(number);
          directory.relyOnNoMore(number);
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Deletes free segments as long as the directory is larger than it may be.
   *
   * <p>A file that cannot be deleted counts. It is tried again when segments were given up.
   */
  public void trim() {
    while (bytes() > maxBytes) {
      @Nullable Long spare = pollDeletable();
      if (spare == null) {
        return;
      }
      try {
        directory.delete(spare);
      } catch (StorageException stays) {
        keep(spare);
      }
    }
  }

  private @Nullable Long pollDeletable() {
    lock.lock();
    try {
      @Nullable Long first = held;
      if (first != null && !heldTried) {
        held = null;
        return first;
      }
      return deletable ? free.pollFirst() : null;
    } finally {
      lock.unlock();
    }
  }

  private void keep(long number) {
    lock.lock();
    try {
      if (held == null) {
        held = number;
        heldTried = true;
      } else {
        free.add(number);
        deletable = false;
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Size of all segments.
   *
   * @return bytes; spare and prepared ones, and one that is being made, included
   */
  public long bytes() {
    lock.lock();
    try {
      return (long) (inUse.size() + free.size() + others + (held == null ? 0 : 1))
          * directory.segmentSize();
    } finally {
      lock.unlock();
    }
  }
}
