package org.revenantdb.engine.lifecycle;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.buffer.PendingRedo;
import org.revenantdb.engine.buffer.PoolClosedException;
import org.revenantdb.engine.buffer.PoolSizeException;
import org.revenantdb.engine.buffer.WriteAhead;
import org.revenantdb.latch.PatientLock;
import org.revenantdb.recovery.file.DamagedFileException;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.FileThread;
import org.revenantdb.recovery.file.LsnWaiters;
import org.revenantdb.recovery.restart.PendingParts;

/**
 * Brings the pages that are pending since a crash into memory, one by one, while callers bring in
 * others, and has them written.
 *
 * <p>Threads: its own thread does the work; any thread may call the methods.
 *
 * <p>Failure: a page that cannot be redone is damage, which its readers get. Errors that may pass,
 * like an error of the device or a lack of memory, lead to another try in each round.
 */
final class BackgroundRedo implements AutoCloseable {
  /*
   * Source      docs/protocols.md §44, "Background thread".
   *
   * State       WORKING -> OVER      no page is pending: the log is not read any more, the redo point may move
   *             WORKING -> CLOSED    close(); pending pages stay pending for the next open
   *
   * A round     goes through the pending pages, segment by segment of the log, by the first part of each, and within a
   *             segment in their order in the file. Each page is fixed, which redoes it, and unfixed. Redone pages stay
   *             dirty in the pool, and checkpoints write them like all others. In three cases the page writer writes
   *             after each chunk: a thread waits, frames get scarce, or the last life has also ended with pending
   *             pages. It writes the pages that are dirty since before this life, and publishes FLUSHED for them,
   *             which is forced. So the next crash leaves less to do, and a checkpoint, which is requested then, finds
   *             a higher redo point.
   * Pace        The thread waits a moment before its first page, so that callers can warm up their first transactions.
   *             Then it rests after each turn for a part of the time that it has worked, while callers use the pool and
   *             no thread hurries it.
   * Latches     Only that of the page that it brings in; it waits for frames with nothing latched.
   */

  /** Pages that are redone before they are written, if the next crash must leave less to do. */
  private static final int CHUNK = 512;

  /** The most pages that are read ahead. A reader of one of them waits for those before it. */
  private static final int MOST_AHEAD = 16;

  /**
   * A page that comes from the system's cache takes less time than this; then none is read ahead.
   */
  private static final long SLOW_PAGE = TimeUnit.MICROSECONDS.toNanos(200);

  private static final long BEFORE_FIRST_ROUND = TimeUnit.MILLISECONDS.toNanos(100);

  /** It rests for this part of the time that it has worked. */
  private static final int REST = 4;

  private static final long TURN = TimeUnit.MILLISECONDS.toNanos(2);
  private static final long BEFORE_NEXT_ROUND = TimeUnit.MILLISECONDS.toNanos(100);

  /** The parts of the open database that it works with. */
  interface Around {
    /** Pages were redone, and a number of pages is left. */
    void progress(int left);

    /** Redone pages are in the data file: the redo point can follow. */
    void written();

    /** No page is pending any more. */
    void over();

    /** Whether writers wait for room in the log that only redo can give. */
    boolean isAwaited();

    /** Stops the engine: writers wait for pages that cannot be redone. */
    void fail(Throwable cause);
  }

  private final BufferPool pool;
  private final PendingParts parts;
  private final WriteAhead log;
  private final long firstLsnOfLife;
  private final boolean ofSeveralLives;
  private final int chunk;
  private final Around around;
  private final FileThread thread;
  private final PatientLock lock = new PatientLock();
  private final Condition woken = lock.newCondition();
  private final LsnWaiters callers = new LsnWaiters();
  private final LongPredicate ended = this::haveEnded;

  /** Rounds that have ended; {@link Long#MAX_VALUE} after the last one. */
  private volatile long rounds;

  /** Used only by the thread itself. */
  private @Nullable Throwable failureOfRound;

  private volatile boolean hurried;
  private volatile boolean closed;

  /** The error that kept a page of this round, or of the last one, pending. */
  private volatile @Nullable Throwable failure;

  /**
   * Starts it.
   *
   * @param firstLsnOfLife pages that are dirty since an earlier LSN are redone ones
   * @param ofSeveralLives whether the last life has also ended while pages were pending: then all
   *     redone pages are written, so that the next crash finds less to do
   */
  BackgroundRedo(
      BufferPool pool,
      PendingParts parts,
      WriteAhead log,
      long firstLsnOfLife,
      boolean ofSeveralLives,
      Around around,
      String name) {
    this.pool = pool;
    this.parts = parts;
    this.log = log;
    this.firstLsnOfLife = firstLsnOfLife;
    this.ofSeveralLives = ofSeveralLives;
    chunk = ofSeveralLives ? CHUNK : pool.statisticsOfWork().frames() / 2;
    this.around = around;
    thread = FileThread.of(name, this::run, this::died);
    thread.start();
  }

  /** Requests work without rests from now on. Does not wait. */
  void hurry() {
    if (hurried || parts.left() == 0) {
      return;
    }
    lock.lock();
    try {
      hurried = true;
      woken.signal();
    } finally {
      lock.unlock();
    }
  }

  /** Whether there are pages that were not tried yet. */
  boolean isInFirstRound() {
    return rounds == 0;
  }

  /**
   * Hurries it and waits until no page is pending.
   *
   * @return false if pages are pending though all were tried since the call, or since the engine
   *     has stopped or is being closed
   */
  boolean finish() {
    if (parts.left() > 0) {
      hurry();
      callers.await(Math.min(rounds, Long.MAX_VALUE - 2) + 2, ended); // the next one is a whole one
    }
    return parts.left() == 0;
  }

  /** The exception for callers that need the result of a {@link #finish} that returned false. */
  FileException unfinished() {
    Throwable why = failure;
    return new FileException(
        pool.dataFile(),
        FileException.NO_OFFSET,
        parts.left()
            + " pages that the last crash has left could not be brought up to date yet ("
            + (why == null ? "the database is being closed" : why.getMessage())
            + ")",
        "remove the cause and try again: nothing is lost, and the database keeps trying",
        why);
  }

  private boolean haveEnded(long wanted) {
    return parts.left() == 0 || rounds >= wanted;
  }

  private void run() {
    rest(BEFORE_FIRST_ROUND, /* hurry= */ true);
    while (!closed && parts.left() > 0) {
      round();
      if (parts.left() > 0) {
        roundsEnded(rounds + 1);
        rest(BEFORE_NEXT_ROUND, /* hurry= */ false);
        Throwable why = failure;
        if (why != null && around.isAwaited()) {
          around.fail(why);
          break;
        }
      }
    }
    end();
  }

  private void round() {
    failureOfRound = null;
    try {
      redo(parts.pages());
    } catch (OutOfMemoryError notNow) {
      failureOfRound = notNow;
    }
    failure = failureOfRound;
  }

  private void end() {
    try {
      if (parts.left() == 0) {
        pool.redoOnDemand(PendingRedo.NONE);
        parts.close();
        around.over();
      }
    } finally {
      roundsEnded(Long.MAX_VALUE);
    }
  }

  private void died(Throwable cause) {
    try {
      around.fail(cause);
    } finally {
      roundsEnded(Long.MAX_VALUE);
    }
  }

  private void roundsEnded(long now) {
    rounds = now;
    callers.wake(ended);
  }

  private void redo(int[] pages) {
    Turn turn = new Turn();
    int written = 0;
    int askedFor = 0;
    for (int i = 0; i < pages.length && !closed; i++) {
      for (askedFor = Math.max(askedFor, i + 1); askedFor < i + turn.ahead(); askedFor++) {
        readAhead(pages, askedFor);
      }
      redo(pages[i]);
      turn.afterPage();
      if (i - written >= (hurried ? CHUNK : chunk)) {
        write();
        written = i;
      }
      if (i % CHUNK == 0) {
        around.progress(parts.left());
      }
    }
    if (hurried || written > 0 || ofSeveralLives) {
      write();
    }
  }

  private void readAhead(int[] pages, int at) {
    if (at < pages.length && parts.isPending(pages[at])) {
      pool.prefetch(pages[at]);
    }
  }

  /** Work without a rest. It measures whether reading ahead is useful on the device. */
  private final class Turn {
    private long begun = System.nanoTime();
    private long usesBefore = pool.uses();
    private int pages;
    private int ahead = 1;

    /** The number of pages that are worked on at the same time. */
    int ahead() {
      return ahead;
    }

    /** Rests, if the turn was long enough, and others have used the pool meanwhile. */
    void afterPage() {
      pages++;
      long worked = System.nanoTime() - begun;
      if (worked > TURN) {
        ahead =
            worked / pages > SLOW_PAGE ? Math.min(2 * ahead, MOST_AHEAD) : Math.max(ahead / 2, 1);
        if (!hurried && pool.uses() - usesBefore > pages) {
          rest(worked / REST, /* hurry= */ true);
        }
        begun = System.nanoTime();
        usesBefore = pool.uses();
        pages = 0;
      }
    }
  }

  private void redo(int page) {
    try {
      if (parts.isPending(page)) {
        pool.unfixShared(pool.fixSharedForScan(page));
      }
    } catch (DamagedFileException bad) {
      if (!bad.file().equals(pool.dataFile())) {
        throw bad; // the log has changed since analysis: nothing may be built on it
      }
      failureOfRound = parts.isPending(page) ? bad : failureOfRound;
    } catch (FileException | PoolSizeException notNow) {
      failureOfRound = notNow;
    } catch (OutOfMemoryError notNow) {
      failureOfRound = notNow;
      rest(BEFORE_NEXT_ROUND, /* hurry= */ false);
    } catch (PoolClosedException closing) {
      closed = true;
    }
  }

  /** Writes redone pages and their FLUSHED, so that a crash leaves less to do. */
  private void write() {
    if (!closed) {
      pool.flushDirtyBefore(firstLsnOfLife);
      log.awaitDurable(log.tail());
      around.written();
    }
  }

  /** Waits for a while, but not if it may be hurried and is. */
  @SuppressWarnings("WaitNotInLoop") // the caller may go on early
  private void rest(long nanos, boolean hurry) {
    lock.lock();
    try {
      if (!closed && !(hurry && hurried)) {
        long _ = woken.awaitNanos(nanos);
      }
    } catch (InterruptedException byNobody) {
      throw new IllegalStateException(byNobody);
    } finally {
      lock.unlock();
    }
  }

  /** Ends the thread after its current page. */
  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      woken.signal();
    } finally {
      lock.unlock();
    }
    thread.join();
  }
}
