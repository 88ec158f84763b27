package org.revenantdb.recovery.checkpoint;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import org.revenantdb.latch.PatientLock;
import org.revenantdb.recovery.file.ControlFile;
import org.revenantdb.recovery.file.ControlState;
import org.revenantdb.recovery.file.FileThread;
import org.revenantdb.recovery.file.LsnWaiters;
import org.revenantdb.recovery.log.Log;
import org.revenantdb.recovery.log.LogStoppedException;
import org.revenantdb.recovery.log.RecoverySpace;

/**
 * Moves the redo point, round by round, so that recovery never has to read more log or more pages
 * than configured.
 *
 * <p>It is created when redo has ended and the control slot of the new life is written. From then
 * on only it writes control slots. A round begins when half of {@code maxRecoveryLog}, or half of
 * the pages, is in use, or on request.
 *
 * <p>Threads: its own thread does the rounds, apart from {@link #closeCleanly}; any thread may call
 * the methods. Only threads that request a round wait for it.
 *
 * <p>Failure: any failure in a round stops log and log space for good, and with them the engine.
 * One exception: a round that ends early for lack of memory is repeated.
 */
public final class Checkpointer implements AutoCloseable {
  /*
   * Round       1 B := tail                       2 dirty pages older than the goal written, forced
   *             3 redo point := min(B, frames)    4 image of the transactions
   *             5 CHECKPOINT records, log forced  6 control slot, forced
   *             7 release segments below the redo point, inform log space
   *
   * Crash       before 6 has ended: the former slot counts, and nothing it needs was released,
   *             because 7 comes after.
   *             after 6: the new slot counts, and everything it claims was forced: pages in 2,
   *             image in 5.
   *
   * Memory      A round that meets an OutOfMemoryError before step 6 is repeated, if the log has
   *             not stopped:
   *               1, 3     only read
   *               2        belongs to the page writer, which finds what is still dirty
   *               4, 5     records without a slot that refers to them do not count: analysis takes
   *                        the image that begins where the slot says, which is that of the later
   *                        round. A record that failed in the log was replaced by a PAD, or the log
   *                        has stopped (Log.publish). The force belongs to the log writer.
   *             6 and 7 are not repeated. The error may have replaced an exception of the force,
   *             and a second force would then succeed although bytes are lost. So they stop the
   *             engine.
   *
   * Clean       A round that finds nothing left to do at the close writes its slot twice, into both places. Then the
   *             log deletes segments that records of this life name (docs/protocols.md §45). A crash between the two
   *             writes: nothing is deleted yet. After them, damage to one slot leaves the same state.
   *
   * Invariants  I1 B is read before the frames: a frame whose mark was missed belongs to a record at or after B.
   *             I2 the redo point never moves back. I3 only a forced slot allows 7.
   */

  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  /** The pause between a round that lacked memory and the next one, without a request. */
  private static final long WITHOUT_MEMORY = TimeUnit.MILLISECONDS.toNanos(100);

  private final Log log;
  private final RecoverySpace space;
  private final ControlFile control;
  private final CheckpointSource source;
  private final long maxRecoveryLog;
  private final FileThread thread;

  private final PatientLock lock = new PatientLock();
  private final Condition asked = lock.newCondition();
  private boolean hurried;
  private boolean everythingAsked;
  private long roundsAsked;

  /** Written under the lock, before {@link #callers} are woken. */
  private volatile boolean stopping;

  private volatile long roundsDone;
  private volatile @Nullable Throwable failure;

  /**
   * Callers that wait for the end of a round, by its number. They do not wait at a condition: the
   * thread can be a virtual one with a deep stack ({@link org.revenantdb.latch.Parking}).
   */
  private final LsnWaiters callers = new LsnWaiters();

  private final LongPredicate over = this::isOver;
  private volatile long redoPoint;

  /** Whether the round has not reached step 6; used only by the thread of the round. */
  private boolean mayRepeat;

  /** When the source is called next; used only by the thread. */
  private long nextSecond = System.nanoTime() + SECOND;

  /**
   * Starts the checkpoints of an open database.
   *
   * @param log the log
   * @param space the log space, whose redo point moves with it
   * @param control the control slots; the first one of this life is written
   * @param source the pages and transactions
   * @param maxRecoveryLog how much log a recovery may have to read
   * @param threadName prefix of its thread's name
   */
  public Checkpointer(
      Log log,
      RecoverySpace space,
      ControlFile control,
      CheckpointSource source,
      long maxRecoveryLog,
      String threadName) {
    this.log = log;
    this.space = space;
    this.control = control;
    this.source = source;
    this.maxRecoveryLog = maxRecoveryLog;
    redoPoint = control.state().redoPoint();
    space.redoPointMoved(redoPoint);
    thread = FileThread.of(threadName + "-checkpoint", this::runRounds, this::stop);
    thread.start();
  }

  /**
   * Returns where recovery would begin to redo now.
   *
   * @return the redo point of the last durable checkpoint
   */
  public long redoPoint() {
    return redoPoint;
  }

  /** Requests a round soon. Does not wait for it, and does not fail. */
  public void hurry() {
    lock.lock();
    try {
      hurried = true;
      asked.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Does a round and waits for its end.
   *
   * @param everything whether all dirty pages are written, or only the oldest
   * @throws LogStoppedException if this round or an earlier one failed
   */
  public void checkpointNow(boolean everything) {
    long mine;
    lock.lock();
    try {
      mine = ++roundsAsked;
      everythingAsked |= everything;
      asked.signalAll();
    } finally {
      lock.unlock();
    }
    callers.await(mine, over);
    if (roundsDone < mine) {
      throw new LogStoppedException(failure);
    }
  }

  private boolean isOver(long round) {
    return roundsDone >= round || failure != null || stopping;
  }

  private void runRounds() {
    while (awaitWish()) {
      // Each request is one round.
    }
  }

  /** Waits for the next request and does its round; returns false when there will be no more. */
  private boolean awaitWish() {
    long upTo;
    boolean everything;
    everySecond(); // also if one round follows the other
    lock.lock();
    try {
      while (!stopping && !isWanted()) {
        if (awaitAsked(nextSecond - System.nanoTime()) <= 0) {
          lock.unlock();
          try {
            everySecond();
          } finally {
            lock.lock();
          }
        }
      }
      if (stopping) {
        return false;
      }
      upTo = roundsAsked;
      everything = everythingAsked;
      hurried = false;
      everythingAsked = false;
    } finally {
      lock.unlock();
    }
    // Everything that is dirty now: with active writers there is always a dirty page.
    long tail = log.tail();
    try {
      boolean _ = round(everything ? tail : tail - untouched(tail), /* closing= */ false);
    } catch (OutOfMemoryError notNow) {
      repeatLater(everything, notNow);
      return true;
    }
    roundEnded(upTo);
    return true;
  }

  /** The request is as it was before the round; threads that wait for it continue to wait. */
  private void repeatLater(boolean everything, OutOfMemoryError notNow) {
    if (!mayRepeat || log.failure() != null) {
      throw notNow;
    }
    lock.lock();
    try {
      hurried = true;
      everythingAsked |= everything;
      if (!stopping) {
        long _ = awaitAsked(WITHOUT_MEMORY);
      }
    } finally {
      lock.unlock();
    }
  }

  /** An interrupt ends the thread; no code should send one. */
  @SuppressWarnings("WaitNotInLoop") // the caller checks again, or may continue early
  private long awaitAsked(long nanos) {
    try {
      return asked.awaitNanos(nanos);
    } catch (InterruptedException byNobody) {
      throw new IllegalStateException(byNobody);
    }
  }

  private void everySecond() {
    long now = System.nanoTime();
    if (now - nextSecond >= 0) {
      nextSecond = now + SECOND;
      try {
        source.everySecond();
      } catch (OutOfMemoryError notNow) {
        // It only shows counters to people, and the next second repeats it.
      }
    }
  }

  private boolean isWanted() {
    return hurried
        || roundsAsked > roundsDone
        || (!source.isRedoPending()
            && (log.tail() - redoPoint > maxRecoveryLog / 2 || space.pages().isScarce()));
  }

  /**
   * How much log before the tail may stay needed: pages that became dirty there stay dirty, because
   * they may soon change again. If pages are scarce, this says little about bytes, so it is a share
   * of the present log: some rounds reach the tail.
   */
  private long untouched(long tail) {
    long usual = maxRecoveryLog / 4;
    return space.pages().isScarce() ? Math.min(usual, (tail - redoPoint) / 4) : usual;
  }

  private void roundEnded(long upTo) {
    lock.lock();
    try {
      roundsDone = upTo;
    } finally {
      lock.unlock();
    }
    callers.wake(over);
  }

  /**
   * The log first: once the others are informed, it accepts nothing more. All are informed in any
   * case.
   */
  private void stop(Throwable thrown) {
    try {
      log.fail(thrown);
    } finally {
      try {
        space.stop(thrown);
      } finally {
        lock.lock();
        try {
          failure = thrown;
        } finally {
          lock.unlock();
          callers.wake(over);
        }
      }
    }
  }

  /** Returns whether the slot has the clean mark. */
  private boolean round(long goal, boolean closing) {
    mayRepeat = true;
    source.roundBegins();
    long former = redoPoint;
    long begin = log.tail();
    source.flushDirtyBefore(goal);
    // A frame may be marked late, with a position read before this or the last B. Its record still
    // starts at or after that B, so the redo point need not move back for it.
    long redo = Math.max(redoPoint, Math.min(begin, source.oldestDirtyLsn()));
    // Before the image: the records that made the file grow so far are then durable with it, and
    // the slot counts no page whose first record a crash may lose.
    long pages = source.highWaterPages();
    CheckpointImage.Published image =
        CheckpointImage.publish(log, source.transactions(), refusedBelow(pages), redo);
    log.awaitDurable(image.lsn());
    boolean clean = closing && redo == begin && log.tail() == image.lsn();
    ControlState state =
        new ControlState(
            /* sequence= */ 0,
            begin,
            redo,
            image.start(),
            log.durableLsn(),
            log.life(),
            clean,
            clean ? image.lsn() : 0,
            pages);
    mayRepeat = false;
    if (clean) {
      // Both: the log that follows deletes segments, and without them only this state is of use.
      control.writeBoth(state);
      log.endsCleanly();
    } else {
      control.write(state);
    }
    redoPoint = redo;
    log.recycleBelow(redo);
    space.redoPointMoved(redo);
    source.roundEnded(former, redo);
    return clean;
  }

  /** A page behind the size in the slot was cut off, or is unknown there. */
  private List<RefusedPage> refusedBelow(long pages) {
    return source.refusedPages().stream()
        .filter(refused -> Integer.toUnsignedLong(refused.page()) < pages)
        .toList();
  }

  /**
   * Ends the rounds and does a last one in the calling thread, which leaves nothing to redo.
   *
   * <p>Call it from a thread that is never interrupted, when nothing is published any more.
   * Otherwise the database is not marked as cleanly closed, and the next open recovers it.
   *
   * @return whether it is marked, in both control slots
   * @throws LogStoppedException if the engine stopped before
   */
  public boolean closeCleanly() {
    close();
    @Nullable Throwable cause = failure;
    if (cause != null) {
      throw new LogStoppedException(cause);
    }
    try {
      return round(Long.MAX_VALUE, /* closing= */ true);
    } catch (Throwable thrown) {
      stop(thrown);
      throw thrown;
    }
  }

  /** Ends the rounds; a round under way is finished. */
  @Override
  public void close() {
    lock.lock();
    try {
      stopping = true;
      asked.signalAll();
    } finally {
      lock.unlock();
    }
    callers.wake(over);
    thread.join();
  }
}
