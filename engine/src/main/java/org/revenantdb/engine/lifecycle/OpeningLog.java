package org.revenantdb.engine.lifecycle;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.buffer.WriteAhead;
import org.revenantdb.latch.PatientLock;
import org.revenantdb.recovery.log.Log;
import org.revenantdb.recovery.log.LogStoppedException;

/**
 * The log as redo and the buffer pool see it while a database is being opened: the former life's,
 * which has ended, until the new life begins.
 *
 * <p>Threads: any. Failure: what kept the life from beginning, each time somebody needs it.
 */
final class OpeningLog implements WriteAhead, AutoCloseable {
  /*
   * The life begins with the first change to any file (protocols.md §10, steps 5 to 7). That is when redo has ended,
   * or when the first page has to be written, since the pool has no room for all that redo visits: whichever is first.
   * So damage that redo meets is told while the files are as they were.
   *
   * State       ENDED -> RUNNING   begin(), under the lock, by the opener or by the page writer
   *             ENDED -> FAILED    fail(), when a page is half redone (R18); or what begin() has thrown
   *
   * I4 of the pool  no page is written before the log is durable up to its LSN. The page writer asks for that by
   *             awaitDurable before each batch, and here that begins the life: what redo has read was not known to be
   *             durable (R6) before the tail was copied and forced, which begin() does.
   * Ordering    the page writer checks failure() before each batch; fail() comes before the latch of a page that is
   *             half redone is given up. So no life begins, and no page is written, after that.
   */

  private final PatientLock beginning = new PatientLock();
  private final long endOfFormerLife;
  private final Supplier<Log> firstChanges;
  private volatile @Nullable Throwable failure;
  private volatile @Nullable Log running;
  private volatile long firstTail = Long.MAX_VALUE;

  /**
   * The log of a life that has ended.
   *
   * @param endOfFormerLife where it ended
   * @param firstChanges changes files for the first time, and begins the new life; called once
   */
  OpeningLog(long endOfFormerLife, Supplier<Log> firstChanges) {
    this.endOfFormerLife = endOfFormerLife;
    this.firstChanges = firstChanges;
  }

  /** Begins the life, unless that was done before. */
  Log begin() {
    beginning.lock();
    try {
      Log log = running;
      if (log != null) {
        return log;
      }
      Throwable earlier = failure;
      if (earlier != null) {
        throw new LogStoppedException(earlier);
      }
      log = firstChanges.get();
      firstTail = log.tail();
      running = log;
      return log;
    } catch (Throwable failed) {
      if (failure == null) {
        failure = failed;
      }
      throw failed;
    } finally {
      beginning.unlock();
    }
  }

  /** The log of the new life, null if it has not begun. */
  @Nullable Log running() {
    return running;
  }

  /** The lowest LSN of the new life that a page can have; none has begun: no page can. */
  long firstTail() {
    return firstTail;
  }

  @Override
  public long tail() {
    Log log = running;
    return log == null ? endOfFormerLife : log.tail();
  }

  @Override
  public long durableLsn() {
    Log log = running;
    return log == null ? endOfFormerLife : log.durableLsn();
  }

  @Override
  public void awaitDurable(long lsn) {
    begin().awaitDurable(lsn);
  }

  @Override
  public void fail(Throwable cause) {
    beginning.lock();
    try {
      if (failure == null) {
        failure = cause;
      }
      Log log = running;
      if (log != null) {
        log.fail(cause);
      }
    } finally {
      beginning.unlock();
    }
  }

  @Override
  public @Nullable Throwable failure() {
    Log log = running;
    return log == null ? failure : log.failure();
  }

  /** Closes the log, if it has begun. */
  @Override
  public void close() {
    Log log = running;
    if (log != null) {
      log.close();
    }
  }
}
