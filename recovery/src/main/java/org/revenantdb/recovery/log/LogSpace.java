package org.revenantdb.recovery.log;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.revenantdb.latch.WaitMeter;
import org.revenantdb.recovery.file.FileException;

/**
 * Room in the log. Threads take credit for it before they latch anything (R17).
 *
 * <p>Ordinary work takes credit for its worst case, publishes, and returns it. COMMIT, ABORT,
 * FORGET and CHECKPOINT take none: they use the reserve. So a thread with a latch always finds
 * room, and the redo point can always move. If room is scarce, threads that take credit are slowed
 * down before it is used up.
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
   * Credit c is granted when tail - redoPoint + granted + c <= limit - reserve; how: Credit.
   */

  /** This part of a segment is kept ready for records without credit. */
  private static final int MARGIN = 4;

  /** The files of the log. */
  interface Segments {
    /** For a log without files: there are always enough. */
    Segments ENOUGH =
        new Segments() {
          @Override
          public void ensure(long lsn) {}

          @Override
          public boolean exist(long lsn) {
            return true;
          }
        };

    void ensure(long lsn);

    boolean exist(long lsn);
  }

  private final LongSupplier tail;
  private final Segments segments;
  private final long margin;
  private final AtomicLong redoPoint;
  private final Credit credit;

  /** What lies before is not counted, be the redo point where it may. */
  private volatile long countedFrom;

  /**
   * Room for a log whose redo point is its tail, until it is moved.
   *
   * @param tail the end of the reserved part of the log
   * @param limit how much log a recovery may have to read
   * @param reserve the part of it that only records without credit may use
   * @param hurry called, often and by any thread, when a checkpoint is wanted; must not block
   */
  public LogSpace(LongSupplier tail, long limit, long reserve, Runnable hurry) {
    this(tail, limit, reserve, hurry, Pace.Time.SYSTEM);
  }

  /** For tests, which have a time of their own. */
  LogSpace(LongSupplier tail, long limit, long reserve, Runnable hurry, Pace.Time time) {
    this(tail, Segments.ENOUGH, /* margin= */ 0, limit, reserve, hurry, time, WaitMeter.NONE);
  }

  /**
   * Room for a log whose redo point is its tail, until it is moved. Credit is granted only for
   * files that exist: if the disk is full, {@link #acquire} fails and the log continues.
   *
   * @param log the log
   * @param limit how much of it a recovery may have to read
   * @param reserve the part of it that only records without credit may use
   * @param hurry called, often and by any thread, when a checkpoint is wanted; must not block
   */
  public LogSpace(Log log, long limit, long reserve, Runnable hurry) {
    this(log, limit, reserve, hurry, WaitMeter.NONE);
  }

  /**
   * As {@link #LogSpace(Log, long, long, Runnable)}, but waits for credit are reported.
   *
   * @param log the log
   * @param limit how much of it a recovery may have to read
   * @param reserve the part of it that only records without credit may use
   * @param hurry called, often and by any thread, when a checkpoint is wanted; must not block
   * @param waits receives the waits, both those that slow down and those until there is enough
   *     credit
   */
  public LogSpace(Log log, long limit, long reserve, Runnable hurry, WaitMeter waits) {
    this(
        log::tail,
        segmentsOf(log),
        log.segmentSize() / MARGIN,
        limit,
        reserve,
        hurry,
        Pace.Time.SYSTEM,
        waits);
  }

  /** For tests, which have a time of their own. */
  LogSpace(
      LongSupplier tail,
      long limit,
      long reserve,
      Runnable hurry,
      Pace.Time time,
      WaitMeter waits) {
    this(tail, Segments.ENOUGH, /* margin= */ 0, limit, reserve, hurry, time, waits);
  }

  /** For a log with files of its own. */
  LogSpace(
      LongSupplier tail,
      Segments segments,
      long margin,
      long limit,
      long reserve,
      Runnable hurry,
      Pace.Time time,
      WaitMeter waits) {
    this.tail = tail;
    this.segments = segments;
    this.margin = margin;
    AtomicLong redo = new AtomicLong(tail.getAsLong());
    this.redoPoint = redo;
    this.credit =
        new Credit(
            new Credit.Use() {
              @Override
              public long now() {
                return tail.getAsLong() - redo.get();
              }

              @Override
              public long total() {
                return tail.getAsLong();
              }

              @Override
              public boolean isCreditUse() {
                return true;
              }
            },
            limit,
            reserve,
            hurry,
            time,
            waits);
  }

  private static Segments segmentsOf(Log log) {
    return new Segments() {
      @Override
      public void ensure(long lsn) {
        log.ensureSegments(lsn);
      }

      @Override
      public boolean exist(long lsn) {
        return log.hasSegments(lsn);
      }
    };
  }

  /**
   * Takes credit; waits until there is enough.
   *
   * @param bytes the worst case of what will be published
   * @throws LogStoppedException if the engine has stopped
   * @throws org.revenantdb.recovery.file.DiskFullException if there is no room for the files of the
   *     log; no credit was taken, and the log has not stopped
   * @throws IllegalArgumentException if there can never be enough
   */
  public void acquire(int bytes) {
    credit.acquire(bytes);
    ensureFiles(bytes);
  }

  /**
   * As {@link #acquire}, for a thread that cleans up after the others. It waits for room, but is
   * not slowed down when room gets scarce.
   *
   * @param bytes the worst case of what will be published
   */
  public void acquireToClean(int bytes) {
    credit.acquireUnpaced(bytes);
    ensureFiles(bytes);
  }

  private void ensureFiles(int bytes) {
    try {
      ensureFiles();
    } catch (Throwable noRoom) {
      credit.release(bytes);
      throw noRoom;
    }
  }

  private void ensureFiles() {
    try {
      segments.ensure(covered());
    } catch (FileException noRoom) {
      if (!credit.takesBackKept()) {
        throw noRoom;
      }
      segments.ensure(covered()); // the kept credit needs no file any more
    }
  }

  /**
   * Takes credit if that needs no wait, neither for room nor for a file, and no other thread waits.
   *
   * @param bytes the worst case of what will be published
   * @return whether it was taken
   */
  public boolean tryAcquire(int bytes) {
    if (!credit.tryAcquire(bytes)) {
      return false;
    }
    if (hasFiles() || (credit.takesBackKept() && hasFiles())) {
      return true;
    }
    credit.release(bytes);
    return false;
  }

  /** Its credit, for {@link KeptCredit}. */
  Credit credit() {
    return credit;
  }

  /** Whether all files exist that are needed for the present credit. */
  boolean hasFiles() {
    return segments.exist(covered());
  }

  /** The position up to which files must exist for all granted credit. */
  private long covered() {
    return tail.getAsLong() + credit.granted() + margin;
  }

  /**
   * Returns credit, used or not.
   *
   * @param bytes what was acquired
   */
  public void release(int bytes) {
    credit.release(bytes);
  }

  /**
   * Has what a former life has left for redo not count, or not all of it: writers of this life have
   * room of their own until it is redone. Call it before the redo point is reported.
   *
   * @param lsn what lies before this is not counted
   */
  public void countFrom(long lsn) {
    countedFrom = lsn;
  }

  /**
   * Says that a checkpoint is durable.
   *
   * @param newRedoPoint the position from which recovery would read now
   */
  public void redoPointMoved(long newRedoPoint) {
    long counted = Math.max(newRedoPoint, countedFrom);
    credit.freed(counted - redoPoint.getAndSet(counted));
  }

  /**
   * Makes present waiters and later callers fail.
   *
   * @param cause why the engine has stopped
   */
  public void stop(Throwable cause) {
    credit.stop(cause);
  }

  /**
   * Whether a small record can be published without credit, however many wait for it: the files
   * exist for it.
   *
   * @return as of now
   */
  public boolean hasRoomWithoutCredit() {
    return hasFiles();
  }

  /**
   * How much log a recovery would have to read, with everything that may still come.
   *
   * @return bytes
   */
  public long used() {
    return credit.granted() + tail.getAsLong() - redoPoint.get();
  }
}
