package org.revenantdb.recovery.segment;

import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.StorageException;
import org.revenantdb.recovery.format.SegmentLayout;

/**
 * Where the log writer gets its next segment from.
 *
 * <p>Threads: one writer takes segments; {@link #recycleBelow}, {@link #addFree} and {@link #bytes}
 * may be called by anybody. Each preparation runs in a thread of its own, which ends with it, so
 * that the writer need not stop for it and an idle log has no such thread.
 */
public final class SegmentSupply {
  /*
   * State of a segment file
   *   free      no restart will read it: it lies below the redo point, or in no life's log
   *   ready     prepared as number n, header forced, name forced; nothing in it
   *   in use    everything else
   *
   * free -> ready   rename, force the directory, write the header, force      (recycle)
   * none -> ready   write zeros under another name, force, rename, force dir  (create)
   * A crash between any two steps leaves a file that is no segment (its header names another number, or its
   * name ends in .tmp); nothing in it counts, because a record names its own position.
   *
   * A file is deleted only while the directory is larger than the bound that the user set.
   */

  private final SegmentDirectory directory;
  private final String threadName;
  private final int life;
  private final int buffer;
  private final long maxBytes;

  private final ReentrantLock lock = new ReentrantLock();
  private final TreeSet<Long> inUse;
  private final TreeSet<Long> free = new TreeSet<>();
  private @Nullable FutureTask<Segment> preparation;
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
    return prepare(header(number, first, formerEnd, /* durable= */ first));
  }

  /**
   * Begins to prepare a segment in the background, unless that is under way or done.
   *
   * @param number its number
   * @param durable the durable LSN
   */
  public void prepareAhead(long number, long durable) {
    if (preparation == null) {
      FutureTask<Segment> task =
          new FutureTask<>(
              () -> prepare(header(number, /* firstLsn= */ 0, /* formerEnd= */ 0, durable)));
      preparation = task;
      Thread.ofPlatform().daemon().name(threadName).start(task);
    }
  }

  /**
   * The next segment; waits for its preparation.
   *
   * @param number its number
   * @param durable the durable LSN
   * @return the segment
   */
  public Segment take(long number, long durable) {
    @Nullable FutureTask<Segment> task = preparation;
    preparation = null;
    if (task != null) {
      try {
        return get(task);
      } catch (ExecutionException failed) {
        // There may be room or a free segment by now; if not, the second failure tells why.
      }
    }
    return prepare(header(number, /* firstLsn= */ 0, /* formerEnd= */ 0, durable));
  }

  private static Segment get(FutureTask<Segment> task) throws ExecutionException {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return task.get();
        } catch (InterruptedException nobodyShould) {
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Waits for a preparation that is under way and closes its file; the segment stays. */
  public void close() {
    @Nullable FutureTask<Segment> task = preparation;
    preparation = null;
    if (task != null) {
      try {
        get(task).file().close();
      } catch (ExecutionException failed) {
        // Nobody needs that segment any more.
        return;
      }
    }
  }

  private SegmentHeader header(long number, long firstLsn, long formerEnd, long durable) {
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

  private Segment prepare(SegmentHeader header) {
    @Nullable Long spare = pollFree();
    if (spare != null) {
      directory.recycle(spare, header);
    } else {
      directory.create(header);
    }
    lock.lock();
    try {
      inUse.add(header.number());
      preparedThrough = header.number();
    } finally {
      lock.unlock();
    }
    return new Segment(header.number(), directory.open(header.number(), OpenMode.READ_WRITE));
  }

  private @Nullable Long pollFree() {
    lock.lock();
    try {
      return free.pollFirst();
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
   */
  public void recycleBelow(long lsn) {
    long number = SegmentLayout.number(lsn, directory.segmentSize());
    lock.lock();
    try {
      free.addAll(inUse.headSet(number));
      inUse.headSet(number).clear();
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
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Deletes free segments as long as the directory is larger than it may be.
   *
   * <p>A file that cannot be deleted is forgotten; the next restart finds it again.
   */
  public void trim() {
    while (bytes() > maxBytes) {
      @Nullable Long spare = pollFree();
      if (spare == null) {
        return;
      }
      try {
        directory.delete(spare);
      } catch (StorageException stays) {
        return;
      }
    }
  }

  /**
   * Size of all segments.
   *
   * @return bytes, spare and prepared ones included
   */
  public long bytes() {
    lock.lock();
    try {
      return (long) (inUse.size() + free.size()) * directory.segmentSize();
    } finally {
      lock.unlock();
    }
  }
}
