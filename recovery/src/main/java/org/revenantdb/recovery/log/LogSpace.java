package org.revenantdb.recovery.log;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import java.util.function.LongPredicate;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Room in the log, given as credit before anything is latched (R17).
 *
 * <p>Ordinary work takes credit for its worst case, publishes, and returns it. COMMIT, ABORT,
 * FORGET and CHECKPOINT take none: they live on the reserve. So whoever has a latch finds room, and
 * the redo point can always move. Who takes credit when room is scarce is slowed down before it is
 * used up ({@link LogPace}).
 *
 * <p>Threads: any. {@link #acquire} waits, uninterruptibly, and must be called with nothing held.
 *
 * <p>Failure: {@link LogStoppedException} after {@link #stop}.
 *
 * {@snippet :
 * space.acquire(worstCase);
 * try {
 *   log.publish(builder);
 * } finally {
 *   space.release(worstCase);
 * }
 * }
 */
public final class LogSpace {
  /*
   * Credit c is granted when tail - redoPoint + granted + c <= limit - reserve.
   *
   * Ordering    acquire adds to `granted` and then looks once more, at `granted` first and the tail after: what was
   *             released before that look is in the tail by then (publish comes before release), what was added is
   *             in `granted`. So of any two grants the later has counted the other, and the bound holds.
   *             (LogSpaceStress)
   * Races left in   two that ask at once may each count the other, find no room and take back; taking back wakes
   *             those who wait, so one of them is not left asleep with room for it.
   */

  /** This part of a segment is kept ready for those who take no credit. */
  private static final int MARGIN = 4;

  private final LongSupplier tail;
  private final LongConsumer segments;
  private final long margin;
  private final long bound;
  private final long hurryAbove;
  private final Runnable hurry;
  private final LogPace pace;
  private final AtomicLong granted = new AtomicLong();
  private final AtomicLong redoPoint;
  private final AtomicBoolean hurried = new AtomicBoolean();
  private final LsnWaiters waiters = new LsnWaiters();
  private final LongPredicate takenOrStopped = this::takesOrIsStopped;
  private volatile @Nullable Throwable stopped;

  /**
   * Room for a log whose redo point is its tail, until told otherwise.
   *
   * @param tail the end of what is reserved
   * @param limit how much log a recovery may have to read
   * @param reserve how much of it only those may use who take no credit
   * @param hurry called, often and by any thread, when a checkpoint is wanted; must not block
   */
  public LogSpace(LongSupplier tail, long limit, long reserve, Runnable hurry) {
    this(tail, limit, reserve, hurry, LogPace.Time.SYSTEM);
  }

  /** For tests, which have a time of their own. */
  LogSpace(LongSupplier tail, long limit, long reserve, Runnable hurry, LogPace.Time time) {
    this(tail, lsn -> {}, /* margin= */ 0, limit, reserve, hurry, time);
  }

  /**
   * Room for a log whose redo point is its tail, until told otherwise. Credit is granted against
   * files that exist: where the disk is full, {@link #acquire} fails and the log goes on.
   *
   * @param log the log
   * @param limit how much of it a recovery may have to read
   * @param reserve how much of that only those may use who take no credit
   * @param hurry called, often and by any thread, when a checkpoint is wanted; must not block
   */
  public LogSpace(Log log, long limit, long reserve, Runnable hurry) {
    this(
        log::tail,
        log::ensureSegments,
        log.segmentSize() / MARGIN,
        limit,
        reserve,
        hurry,
        LogPace.Time.SYSTEM);
  }

  private LogSpace(
      LongSupplier tail,
      LongConsumer segments,
      long margin,
      long limit,
      long reserve,
      Runnable hurry,
      LogPace.Time time) {
    if (reserve >= limit) {
      throw new IllegalArgumentException("a reserve of " + reserve + " in a limit of " + limit);
    }
    this.tail = tail;
    this.segments = segments;
    this.margin = margin;
    this.bound = limit - reserve;
    this.hurryAbove = limit / 2;
    this.hurry = hurry;
    this.redoPoint = new AtomicLong(tail.getAsLong());
    // Half way from where a checkpoint is asked for to where everything stands still.
    this.pace = new LogPace(Math.min(bound - 1, (hurryAbove + bound) / 2), bound, time);
  }

  /**
   * Takes credit; waits until there is enough.
   *
   * @param bytes the worst case of what will be published
   * @throws LogStoppedException if the engine has stopped
   * @throws org.revenantdb.recovery.file.DiskFullException if there is no room for the files of the
   *     log; no credit was taken, and nothing has stopped
   * @throws IllegalArgumentException if there can never be enough
   */
  public void acquire(int bytes) {
    if (bytes > bound) {
      throw new IllegalArgumentException("credit of " + bytes + " bytes; " + bound + " is all");
    }
    checkRunning();
    pace.slowDown(used(granted.get() + bytes), tail.getAsLong(), bytes); // nothing is granted yet
    if (!waiters.isEmpty() || !take(bytes)) {
      waiters.await(bytes, takenOrStopped);
      checkRunning();
    }
    try {
      segments.accept(tail.getAsLong() + granted.get() + margin);
    } catch (Throwable noRoom) {
      giveBack(bytes);
      throw noRoom;
    }
  }

  /** Takes the credit, or says that there is nothing to wait for any more. */
  private boolean takesOrIsStopped(long bytes) {
    return stopped != null || take(bytes);
  }

  /** Takes the credit if there is room for it. */
  boolean take(long bytes) {
    while (true) {
      long before = granted.get();
      if (used(before + bytes) > bound) {
        return false;
      }
      if (granted.compareAndSet(before, before + bytes)) {
        break;
      }
    }
    if (used(granted.get()) <= bound) {
      return true;
    }
    giveBack(bytes);
    return false;
  }

  private long used(long credit) {
    long used = credit + tail.getAsLong() - redoPoint.get();
    if (used > hurryAbove && hurried.compareAndSet(false, true)) {
      pace.asked();
      hurry.run();
    }
    return used;
  }

  private void checkRunning() {
    @Nullable Throwable cause = stopped;
    if (cause != null) {
      throw new LogStoppedException(cause);
    }
  }

  /**
   * Returns credit, used or not.
   *
   * @param bytes what was acquired
   */
  public void release(int bytes) {
    giveBack(bytes);
  }

  private void giveBack(long bytes) {
    granted.getAndAdd(-bytes);
    waiters.wakeAll();
  }

  /**
   * Says that a checkpoint is durable.
   *
   * @param newRedoPoint from where recovery would read now
   */
  public void redoPointMoved(long newRedoPoint) {
    pace.freed(newRedoPoint - redoPoint.getAndSet(newRedoPoint));
    hurried.set(false);
    waiters.wakeAll();
  }

  /**
   * Fails everyone who waits or comes later.
   *
   * @param cause why the engine has stopped
   */
  public void stop(Throwable cause) {
    stopped = cause;
    waiters.wakeAll();
  }

  /**
   * How much log a recovery would have to read, with everything that may still come.
   *
   * @return bytes
   */
  public long used() {
    return granted.get() + tail.getAsLong() - redoPoint.get();
  }
}
