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
 * Moves the redo point, round by round, so that recovery never has to read more log, nor more
 * pages, than was agreed.
 *
 * <p>It is made when redo has ended and the control slot of the new life is written; from then on
 * it alone writes control slots. A round begins when half of {@code maxRecoveryLog}, or half of the
 * pages, is in use, or when somebody asks.
 *
 * <p>Threads: its own does the rounds, apart from {@link #closeCleanly}; all methods may be called
 * by any thread. Nobody waits for a round but those who ask to.
 *
 * <p>Failure: whatever goes wrong in a round stops log and log space for good, and the engine with
 * them. One exception: a round that ends early without memory is made again.
 */
public final class Checkpointer implements AutoCloseable {
  /*
   * Round       1 B := tail                       2 dirty pages older than the goal written, forced
   *             3 redo point := min(B, frames)    4 image of the transactions
   *             5 CHECKPOINT records, log forced  6 control slot, forced
   *             7 segments below the redo point given up, log space told
   *
   * Crash       before 6 has ended: the former slot counts, and nothing it needs was given up (7 comes after).
   *             after 6: the new slot counts, and all it claims was forced: pages in 2, image in 5.
   *
   * Memory      A round that meets an OutOfMemoryError before step 6 is made again, if the log has not stopped:
   *               1, 3     only read
   *               2        the page writer does it, and finds what is still dirty
   *               4, 5     records that no slot names count for nothing: analysis takes the image that begins where the
   *                        slot says, which is that of the later round. A record that came to nothing in the log has
   *                        become a PAD, or the log has stopped (Log.publish). The force is the log writer's.
   *             6 and 7 are not repeated. The error may have taken the place of one that the force had thrown, and a
   *             second force would then succeed although bytes are lost. So they stop the engine.
   *
   * Invariants  I1 B is read before the frames: a frame whose mark was missed belongs to a record at or after B.
   *             I2 the redo point never moves back. I3 only a slot that was forced lets 7 happen.
   */

  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  /** Between a round that had no memory and the next one, unless somebody asks. */
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

  /** Whether the round has not come to step 6; of the thread that does it. */
  private boolean mayRepeat;

  /** When the source is called next; of the thread alone. */
  private long nextSecond = System.nanoTime() + SECOND;

  /**
   * Starts the checkpoints of an open database.
   *
   * @param log the running log
   * @param space whose redo point moves with it
   * @param control the control slots, the life's first one written
   * @param source the pages and transactions
   * @param maxRecoveryLog how much log a recovery may have to read
   * @param threadName the name of its thread begins with this
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
   * From where recovery would redo now.
   *
   * @return the redo point of the last checkpoint that is durable
   */
  public long redoPoint() {
    return redoPoint;
  }

  /** Asks for a round soon. Does not wait for it, nor fail. */
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
   * @param everything whether all dirty pages are written, and not only the oldest
   * @throws LogStoppedException if the round failed or an earlier one had
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
      // Each wish is one round.
    }
  }

  /** Waits for the next round to be wanted and does it; returns false when there is none. */
  private boolean awaitWish() {
    long upTo;
    boolean everything;
    everySecond(); // also where one round follows the other
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
    // Everything that is dirty by now: with writers at work there is no moment without dirty pages.
    long tail = log.tail();
    try {
      round(everything ? tail : tail - untouched(tail), /* closing= */ false);
    } catch (OutOfMemoryError notNow) {
      repeatLater(everything, notNow);
      return true;
    }
    roundEnded(upTo);
    return true;
  }

  /** The wish is as it was before the round; those who wait for it wait on. */
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

  /** An interrupt ends the thread: nobody should send one. */
  @SuppressWarnings("WaitNotInLoop") // the caller looks again, or may go on early
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
        // It shows counters to people; the next second does it again.
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
   * How much log before the tail may go on being needed: what became dirty there stays dirty, since
   * it may be changed again soon. When pages are scarce that says little about bytes, so it is a
   * share of what there is: some rounds reach the tail.
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
   * The log first: when the others are told, it takes nothing any more. All are told in any case.
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

  private void round(long goal, boolean closing) {
    mayRepeat = true;
    long begin = log.tail();
    source.flushDirtyBefore(goal);
    // A frame may be marked with a position read before this or the last B, and late: its record
    // starts at or
    // after that B all the same, so the redo point need not move back for it.
    long redo = Math.max(redoPoint, Math.min(begin, source.oldestDirtyLsn()));
    // Before the image: the records that made the file grow so far are then durable with it,
    // and the slot counts no page whose first record a crash may take away.
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
    control.write(state);
    redoPoint = redo;
    log.recycleBelow(redo);
    space.redoPointMoved(redo);
  }

  /** A page behind the size that the slot will have was cut off, or is not known there. */
  private List<RefusedPage> refusedBelow(long pages) {
    return source.refusedPages().stream()
        .filter(refused -> Integer.toUnsignedLong(refused.page()) < pages)
        .toList();
  }

  /**
   * Ends the rounds and does a last one, in the calling thread, that leaves nothing to redo.
   *
   * <p>To be called, by a thread that nobody interrupts, when nothing is published any more. If
   * something is, the database is not marked as cleanly closed, and the next open recovers it.
   *
   * @throws LogStoppedException if the engine has stopped before
   */
  public void closeCleanly() {
    close();
    @Nullable Throwable cause = failure;
    if (cause != null) {
      throw new LogStoppedException(cause);
    }
    try {
      round(Long.MAX_VALUE, /* closing= */ true);
    } catch (Throwable thrown) {
      stop(thrown);
      throw thrown;
    }
  }

  /** Ends the rounds; one that is under way is finished. */
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
