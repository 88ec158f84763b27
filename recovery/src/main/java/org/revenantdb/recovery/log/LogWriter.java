package org.revenantdb.recovery.log;

import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.file.FileThread;
import org.revenantdb.recovery.format.SegmentLayout;
import org.revenantdb.recovery.segment.Segment;
import org.revenantdb.recovery.segment.SegmentSupply;

/**
 * The one thread that writes the log to its segments and forces it.
 *
 * <p>It flushes as soon as the flush before has ended, if anybody waits for it; when the time of
 * those is over who do not wait; and it writes without a force when the ring is half full.
 *
 * <p>Failure: whatever goes wrong stops the log for good (W4).
 */
final class LogWriter implements Runnable {
  /*
   * One round  0 who wants a force: those who wait, or the lazy ones whose deadline is over; a force for either
   *              takes the other along
   *            1 write all that is published, chunk by chunk: file, `written`
   *            2 if the wish to flush goes beyond `durable`: force, raise `durable`, wake
   *            3 nothing to do: park; a reservation not yet published stands in the way: back off, then force
   *              what is there, so that nobody waits for somebody else's hole
   *
   * Invariants W2 `written` and `durable` stand only between whole records: chunks end where records end.
   *            W3 a force covers all segments written since the last one, in their order, before `durable` moves.
   *
   * Beside     a force of much is made by a thread of its own, and the writer goes on (the table is in
   *            docs/protocols.md §1). While `beside` is set, that thread raises `durable`, and no file is closed.
   *            beside := false -> sleeping (volatile read) there; sleeping := true -> beside (volatile read) here:
   *            one of them sees the other.
   *
   * Crash      between write and force: the log ends anywhere from `durable` on, torn or holed; between force and
   *            `durable`: more is durable than anybody was told.
   */

  /** A chunk is this part of the ring: those who wait for room get it soon. */
  private static final int CHUNKS = 8;

  private static final int SPINS = 200;
  private static final int FORCES_REMEMBERED = 8;

  /** What is more than this part of the ring is forced beside. */
  private static final int MUCH = 4;

  private static final long SHORTEST_NAP = TimeUnit.MICROSECONDS.toNanos(20);
  private static final long LONGEST_NAP = TimeUnit.MILLISECONDS.toNanos(1);
  private static final long SLICE = TimeUnit.SECONDS.toNanos(1);

  private final Log log;
  private final LogBuffer buffer;
  private final SegmentSupply supply;
  private final int segmentSize;
  private final String besideName;
  private final ArrayDeque<Segment> leftBehind = new ArrayDeque<>();
  private Segment segment;
  private long written;
  private long forced;
  private int attempts;
  private boolean justForced;
  private final Spinning spinning = new Spinning();
  private volatile boolean sleeping;

  /** Whether a force is made beside. */
  private volatile boolean beside;

  private @Nullable FileThread besideThread;

  /** How long a force takes, about; read by those who wait for one. */
  private volatile long forceNanos;

  LogWriter(Log log, LogBuffer buffer, SegmentSupply supply, Segment first, LogOptions options) {
    this.log = log;
    this.buffer = buffer;
    this.supply = supply;
    segmentSize = options.segmentSize();
    besideName = options.threadName() + "-log-force";
    segment = first;
    written = buffer.writtenAcquire();
    forced = written;
  }

  /** How long a force takes, about, in nanoseconds; 0 before the first one. */
  long forceNanos() {
    return forceNanos;
  }

  /** Makes sure that the writer looks at what there is to do once more. */
  void wake(FileThread thread) {
    if (sleeping) {
      thread.unpark();
    }
  }

  @Override
  public void run() {
    while (log.failure() == null && round()) {
      // Each round does what it can.
    }
  }

  /**
   * The end of the thread. Each in any case: a handle that stays open is one that the process does
   * not get back.
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

  /** Returns false when a closed log has nothing left to write. */
  private boolean round() {
    long tail = buffer.tailVolatile();
    boolean closing = tail >= LogBuffer.STOPPED;
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

  /** Notes what a force that was made beside has reached. */
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
    while (!leftBehind.isEmpty()
        && SegmentLayout.firstLsn(leftBehind.getFirst().number() + 1, segmentSize) <= lsn) {
      leftBehind.removeFirst().file().close();
    }
  }

  /** How far the next force has to go; not beyond `forced` if none is wanted. */
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
        && log.failure() == null) {
      LockSupport.parkNanos(this, log.untilLazyDeadline(SLICE)); // returns at once if it is over
    }
    sleeping = false;
    supply.trim();
  }

  /** Who was told that it is durable may have more to commit: stays awake for it a little. */
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
      moveTo(SegmentLayout.number(at, segmentSize));
      long segmentEnd = SegmentLayout.firstLsn(segment.number() + 1, segmentSize);
      int offset = buffer.offset(at);
      long length = Math.min(Math.min(end, segmentEnd) - at, buffer.capacity() - offset);
      segment
          .file()
          .write(SegmentLayout.offset(at, segmentSize), buffer.ring().asSlice(offset, length));
      at += length;
    }
    written = end;
    buffer.setWrittenRelease(end);
    log.spaceFreed();
    if (end % SegmentLayout.payload(segmentSize) > SegmentLayout.payload(segmentSize) / 2) {
      supply.prepareAhead(SegmentLayout.number(end, segmentSize) + 1, forced);
    }
  }

  private void moveTo(long number) {
    if (segment.number() != number) {
      leftBehind.addLast(segment);
      segment = supply.take(number);
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

  /** Has the rest done by a thread of its own; false if there is none to be had. */
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
