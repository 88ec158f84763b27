package org.revenantdb.recovery.log;

import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.file.FileThread;
import org.revenantdb.recovery.segment.Segment;
import org.revenantdb.recovery.segment.SegmentPlace;
import org.revenantdb.recovery.segment.SegmentSupply;

/**
 * The single thread that writes the log to its segments and forces it.
 *
 * <p>If a thread waits for a flush, it flushes as soon as the previous flush has ended. For callers
 * that do not wait, it flushes at their deadline. It writes without a force when the ring is half
 * full.
 *
 * <p>Failure: whatever goes wrong stops the log for good (W4).
 */
final class LogWriter implements Runnable {
  /*
   * One round  0 find out if a force is wanted: by waiting threads, or by lazy requests whose deadline has passed; a
   *            force for either includes the other
   *            1 write all that is published, chunk by chunk: file, `written`
   *            2 if a force is wanted beyond `durable`: force, raise `durable`, wake
   *            3 nothing to do: park; a reservation not yet published stands in the way: back off, then force
   *              what is there, so that no thread waits for another thread's hole
   *
   * Invariants W2 `written` and `durable` stand only between whole records: chunks end where records end.
   *            W3 a force covers all segments written since the last one, in their order, before `durable` moves.
   *
   * Beside     a large force is made by another thread, and the writer goes on (the table is in docs/protocols.md
   *            §1). While `beside` is set, that thread raises `durable`, and no file is closed. beside := false ->
   *            sleeping (volatile read) there; sleeping := true -> beside (volatile read) here: one of them sees the
   *            other.
   *
   * Ring       moved into a file when the first lazy commit asks for it; the table is in docs/protocols.md §46.
   *
   * Crash      between write and force: the log ends anywhere from `durable` on, torn or with holes; between force
   *            and `durable`: more is durable than was reported.
   */

  /** A chunk is this part of the ring, so that threads that wait for room get it soon. */
  private static final int CHUNKS = 8;

  private static final int SPINS = 200;
  private static final int FORCES_REMEMBERED = 8;

  /** If more than this part of the ring has to be forced, another thread makes the force. */
  private static final int MUCH = 4;

  private static final long SHORTEST_NAP = TimeUnit.MICROSECONDS.toNanos(20);
  private static final long LONGEST_NAP = TimeUnit.MILLISECONDS.toNanos(1);
  private static final long SLICE = TimeUnit.SECONDS.toNanos(1);

  private final Log log;
  private final LogBuffer buffer;
  private final SegmentSupply supply;
  private final String besideName;
  private final ArrayDeque<Segment> leftBehind = new ArrayDeque<>();
  private Segment segment;
  private long written;
  private long forced;
  private int attempts;
  private boolean justForced;
  private final Spinning spinning = new Spinning();
  private volatile boolean sleeping;

  /** Whether another thread is making a force. */
  private volatile boolean beside;

  private @Nullable FileThread besideThread;

  /** About how long a force takes; read by threads that wait for one. */
  private volatile long forceNanos;

  LogWriter(Log log, LogBuffer buffer, SegmentSupply supply, Segment first, LogOptions options) {
    this.log = log;
    this.buffer = buffer;
    this.supply = supply;
    besideName = options.threadName() + "-log-force";
    segment = first;
    written = buffer.writtenAcquire();
    forced = written;
  }

  /** About how long a force takes, in nanoseconds; 0 before the first one. */
  long forceNanos() {
    return forceNanos;
  }

  /** Makes the writer check once more for work. */
  void wake(FileThread thread) {
    if (sleeping) {
      thread.unpark();
    }
  }

  @Override
  public void run() {
    while (log.failure() == null && round()) {
      // Each round does as much as it can.
    }
  }

  /**
   * Called at the end of the thread. Closes each file even if another close fails: the process
   * cannot get back a handle that stays open.
   */
  void closeFiles() {
    try {
      try {
        awaitBeside();
      } finally {
        try {
          closeLeftBehind(Long.MAX_VALUE);
        } finally {
          try {
            segment.file().close();
          } finally {
            supply.close();
          }
        }
      }
    } catch (Throwable failure) {
      log.fail(failure);
    }
  }

  /**
   * Puts the ring into a file (§46). Reservations wait while what was reserved before is published
   * and written: some copies, and a write without a force.
   */
  private void moveRing() {
    @Nullable RingFile file = log.makeRingFile(segment.file());
    if (file == null) {
      return;
    }
    boolean moved = false;
    try {
      long end = buffer.pause();
      if (end < LogBuffer.STOPPED) {
        log.steps.at(LogSteps.Step.PAUSED);
        while (written < end && log.failure() == null) {
          if (!writePublished(end)) {
            waitForHole(end);
          }
        }
        attempts = 0;
        if (written == end) {
          RingPool.giveBack(buffer.replace(file.ring()));
          log.ringMoved(file);
          moved = true;
        }
        buffer.resume();
      }
    } finally {
      if (!moved) {
        file.unmap();
        file.delete();
      }
    }
  }

  /** Does one round. Returns false when a closed log has nothing left to write. */
  private boolean round() {
    long tail = buffer.tailVolatile();
    boolean closing = tail >= LogBuffer.STOPPED;
    if (!closing && log.isRingFileWanted()) {
      moveRing();
    }
    if (closing) {
      awaitBeside();
    }
    boolean forcing = beside;
    if (!forcing) {
      takeOver();
    }
    long wish = closing ? log.finalTail() : wish();
    boolean nothingToForce = wish <= forced || forcing;
    if (nothingToForce && !closing && tail - written <= buffer.capacity() / 2) {
      sleep();
      return true;
    }
    if (writePublished(closing ? wish : tail)) {
      attempts = 0;
    }
    if (nothingToForce) {
      return !closing && waitForHole(tail);
    }
    if (written >= wish || attempts > SPINS) {
      if (written > forced) {
        force(closing);
      }
      if (written >= wish) {
        return !closing;
      }
    }
    return waitForHole(wish);
  }

  /** Takes over the result of a force that another thread has made. */
  private void takeOver() {
    if (besideThread != null) {
      besideThread = null;
      forced = buffer.durableVolatile();
      closeLeftBehind(forced);
    }
  }

  private void awaitBeside() {
    @Nullable FileThread thread = besideThread;
    if (thread != null) {
      thread.join();
    }
  }

  /** Closes the segments that lie wholly below a position. */
  private void closeLeftBehind(long lsn) {
    while (!leftBehind.isEmpty() && leftBehind.getFirst().place().end() <= lsn) {
      leftBehind.removeFirst().file().close();
    }
  }

  /**
   * The position up to which the next force has to go; not beyond `forced` if no force is wanted.
   */
  private long wish() {
    long wish = log.flushWish();
    return wish > forced || log.untilLazyDeadline(SLICE) <= 0 ? log.takeLazy() : wish;
  }

  /** Backs off while a reservation before that position is not published. */
  private boolean waitForHole(long position) {
    if (written < position) {
      attempts++;
      if (attempts <= SPINS) {
        Thread.onSpinWait();
      } else {
        long nap = SHORTEST_NAP << Math.min(attempts - SPINS, 10);
        LockSupport.parkNanos(this, Math.min(nap, LONGEST_NAP));
      }
    }
    return true;
  }

  private void sleep() {
    if (!beside && justForced && spinning.isWorthIt()) {
      boolean came = isWishSoon();
      spinning.learn(came);
      if (came) {
        return;
      }
    }
    justForced = false;
    sleeping = true;
    long tail = buffer.tailVolatile();
    if ((beside || (log.flushWish() <= forced && besideThread == null))
        && tail - written <= buffer.capacity() / 2
        && !log.isRingFileWanted()
        && log.failure() == null) {
      LockSupport.parkNanos(this, log.untilLazyDeadline(SLICE)); // returns at once if it is over
    }
    sleeping = false;
    supply.trim();
  }

  /**
   * A thread whose commit has just become durable may have more to commit: stays awake for it for a
   * short time.
   */
  private boolean isWishSoon() {
    long start = System.nanoTime();
    do {
      for (int i = 0; i < Spinning.LOOKS; i++) {
        if (log.flushWish() > forced
            || buffer.tailVolatile() - written > buffer.capacity() / 2
            || log.failure() != null) {
          return true; // the end of the log looks like a full ring
        }
        Thread.onSpinWait();
      }
    } while (System.nanoTime() - start < Spinning.LONGEST_NANOS);
    return false;
  }

  private boolean writePublished(long upTo) {
    int chunk = buffer.capacity() / CHUNKS;
    boolean any = false;
    while (true) {
      long end = buffer.publishedEnd(written, written + chunk);
      if (end == written) {
        return any;
      }
      write(end);
      any = true;
      if (written >= upTo) {
        return true;
      }
    }
  }

  private void write(long end) {
    long at = written;
    while (at < end) {
      moveTo(at);
      SegmentPlace place = segment.place();
      int offset = buffer.offset(at);
      long length = Math.min(Math.min(end, place.end()) - at, buffer.capacity() - offset);
      segment.file().write(place.offset(at), buffer.ring().asSlice(offset, length));
      at += length;
    }
    written = end;
    buffer.setWrittenRelease(end);
    log.spaceFreed();
    supply.prepareAhead(end, segment.place(), forced);
  }

  /** Each segment begins where the one before it ends. */
  private void moveTo(long lsn) {
    if (lsn == segment.place().end()) {
      leftBehind.addLast(segment);
      segment = supply.take(lsn);
    }
  }

  private void force(boolean closing) {
    if (!closing && written - forced > buffer.capacity() / MUCH && startBeside()) {
      return;
    }
    long start = System.nanoTime();
    forceAll(List.copyOf(leftBehind), segment, written);
    long before = forceNanos;
    forceNanos = before + (System.nanoTime() - start - before) / FORCES_REMEMBERED;
    forced = written;
    closeLeftBehind(forced);
    justForced = true;
  }

  private void forceAll(List<Segment> behind, Segment last, long reached) {
    for (Segment full : behind) {
      full.file().force();
    }
    last.file().force();
    if (log.failure() == null) {
      buffer.setDurableRelease(reached);
      log.durableRaised();
    }
  }

  /** Lets another thread make the force; false if no thread can be started. */
  private boolean startBeside() {
    List<Segment> behind = List.copyOf(leftBehind);
    Segment last = segment;
    long reached = written;
    FileThread thread =
        FileThread.of(
            besideName, () -> forceAll(behind, last, reached), log::fail, this::besideEnded);
    beside = true;
    try {
      thread.start();
    } catch (OutOfMemoryError noThread) {
      beside = false;
      return false;
    }
    besideThread = thread;
    return true;
  }

  private void besideEnded() {
    beside = false;
    log.wakeWriter();
  }
}
