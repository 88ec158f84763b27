package org.revenantdb.recovery.log;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.revenantdb.latch.Parking;

/**
 * The ring through which records reach the writer, and the three positions that order it.
 *
 * <p>Threads: any thread may reserve and publish. Only the writer scans, empties the ring, and
 * raises {@code written} and {@code durable}.
 */
final class LogBuffer {
  /*
   * Source      Aeron's log buffers for the one getAndAdd and the length stored last; docs/protocols.md §1.
   *             We differ: the end of a record is stored beside the ring, not in it, so the ring need not be cleared
   *             between two laps.
   *
   * State       tail      end of what is reserved; STOPPED or more after the log has stopped; PAUSED or more while the
   *                       ring is replaced
   *             pausedAt  the tail at the pause; valid while the tail is paused, also if the log stops meanwhile
   *             ring      the memory; replaced at most once (§46)
   *             written   end of what is in the files
   *             durable   end of what is forced; durable <= written <= tail
   *             unbroken  all records before it are published; may be behind the truth. Used only if the ring is in a
   *                       file (§46)
   *             ends      for each piece of the ring, of PIECE bytes: the end of the record that was published last
   *                       of those that began in it. A record is longer than a piece, so no two of one lap share one.
   *
   * Transitions reserve   tail += length           getAndAdd, any thread; the only thing that hands out places (W1)
   *             publish   ends[start] := end       store release, the thread that reserved, after the record
   *             written   raised                   store release, the writer, after the file write
   *             durable   raised                   store release, the writer, after the force
   *             pause     tail += PAUSED           compare-and-set, the writer; reservations wait
   *             replaced  ring := another          plain store, the writer, when written = pausedAt
   *             resume    tail := pausedAt         compare-and-set, the writer; not after a stop
   *
   * Invariants  the record at `l` is published if and only if ends[l] > l. An end of an earlier lap would be below l,
   *             since a record is at most an eighth of the ring. A later lap begins only after `written` has passed
   *             l.
   *
   * Ordering    publishRelease -> endAcquire: the writer sees all bytes of a record that it sees published.
   *             setWrittenRelease -> writtenAcquire: a thread that finds room for its record comes after the writer
   *             has read the bytes that were there. A weaker ordering would let it change bytes that are being
   *             written to the file. A place is written only when start + length <= written + capacity, so no two
   *             records of different laps share a byte.
   *
   *             resume -> reserve: a thread that has reserved a place after the pause finds the new ring. No thread has
   *             a place that it has not published while the ring is replaced, because all up to pausedAt is written.
   *
   * Crash       see the table in docs/protocols.md §1.
   */

  /** Added to the tail of a stopped log; no position gets this far by itself. */
  static final long STOPPED = 1L << 62;

  /** Added to the tail while the ring is replaced. */
  static final long PAUSED = 1L << 61;

  private static final VarHandle POSITION = MethodHandles.arrayElementVarHandle(long[].class);

  /** Sixteen longs, so that each position has its own cache lines. */
  private static final int STRIDE = 16;

  private static final int TAIL = STRIDE;
  private static final int WRITTEN = 2 * STRIDE;
  private static final int DURABLE = 3 * STRIDE;
  private static final int UNBROKEN = 4 * STRIDE;

  /** The exponent of the size of a piece, which is not more than the shortest record. */
  private static final int PIECE_SHIFT = 5;

  private MemorySegment ring;
  private volatile long pausedAt;
  private final long[] ends;
  private final int capacity;
  private final long mask;
  private final long[] positions = new long[6 * STRIDE];

  /**
   * Makes a buffer over a ring with any content, whose size is a power of two, for a log that
   * begins at a position.
   */
  LogBuffer(MemorySegment ring, long first) {
    this.ring = ring;
    ends = new long[(int) (ring.byteSize() >>> PIECE_SHIFT)];
    capacity = (int) ring.byteSize();
    mask = capacity - 1L;
    positions[TAIL] = first;
    positions[WRITTEN] = first;
    positions[DURABLE] = first;
    positions[UNBROKEN] = first;
    VarHandle.releaseFence();
  }

  int capacity() {
    return capacity;
  }

  MemorySegment ring() {
    return ring;
  }

  /** Reserves a place. A result at or above {@link #STOPPED} means that nothing was reserved. */
  long reserve(int length) {
    while (true) {
      long start = (long) POSITION.getAndAdd(positions, TAIL, (long) length);
      if (!isPaused(start)) {
        return start;
      }
      awaitResume();
    }
  }

  private void awaitResume() {
    while (isPaused((long) POSITION.getVolatile(positions, TAIL))) {
      Parking.giveWay(); // the writer waits for copies that have begun, and for nothing else
    }
  }

  private static boolean isPaused(long tail) {
    return tail >= PAUSED && tail < STOPPED;
  }

  /** Stops the reservations, and returns the final tail. */
  long stop() {
    long tail = (long) POSITION.getAndAdd(positions, TAIL, STOPPED);
    return isPaused(tail) ? pausedAt : tail;
  }

  long tailVolatile() {
    long tail = (long) POSITION.getVolatile(positions, TAIL);
    return isPaused(tail) ? pausedAt : tail;
  }

  /** As it stands there, for tests. */
  long rawTail() {
    return (long) POSITION.getVolatile(positions, TAIL);
  }

  /**
   * Makes reservations wait, so that the ring can be replaced when all up to the tail is written.
   *
   * @return the tail, which stays that of the pause even if the log stops meanwhile; {@link
   *     #STOPPED} if it has stopped before
   */
  long pause() {
    while (true) {
      long tail = (long) POSITION.getVolatile(positions, TAIL);
      if (tail >= STOPPED) {
        return STOPPED;
      }
      pausedAt = tail;
      if (POSITION.compareAndSet(positions, TAIL, tail, tail + PAUSED)) {
        return tail;
      }
    }
  }

  /**
   * Replaces the ring while reservations are paused and all before them is written.
   *
   * @return the former ring, which no thread uses any more
   */
  MemorySegment replace(MemorySegment newRing) {
    MemorySegment former = ring;
    ring = newRing;
    return former;
  }

  /** Ends a pause, unless the log has stopped. */
  void resume() {
    long tail = (long) POSITION.getVolatile(positions, TAIL);
    while (tail < STOPPED && !POSITION.compareAndSet(positions, TAIL, tail, pausedAt)) {
      tail = (long) POSITION.getVolatile(positions, TAIL);
    }
  }

  long writtenAcquire() {
    return (long) POSITION.getAcquire(positions, WRITTEN);
  }

  /** Volatile, because a thread reads it after it has pushed itself on a list of waiters. */
  long durableVolatile() {
    return (long) POSITION.getVolatile(positions, DURABLE);
  }

  void setWrittenRelease(long lsn) {
    POSITION.setRelease(positions, WRITTEN, lsn);
  }

  void setDurableRelease(long lsn) {
    POSITION.setRelease(positions, DURABLE, lsn);
  }

  /** Whether a record that ends there may be copied into the ring. */
  boolean hasRoomUpTo(long end) {
    return end <= writtenAcquire() + capacity;
  }

  /** Copies a record to its place. */
  void copy(long start, byte[] record, int length) {
    int at = offset(start);
    int first = Math.min(length, capacity - at);
    MemorySegment.copy(record, 0, ring, ValueLayout.JAVA_BYTE, at, first);
    int rest = length - first;
    if (rest > 0) {
      MemorySegment.copy(record, first, ring, ValueLayout.JAVA_BYTE, 0, rest);
    }
  }

  /** Makes the record at that place visible to the writer. */
  void publishRelease(long start, long end) {
    POSITION.setRelease(ends, piece(start), end);
  }

  private long endAcquire(long start) {
    return (long) POSITION.getAcquire(ends, piece(start));
  }

  private int piece(long lsn) {
    return offset(lsn) >>> PIECE_SHIFT;
  }

  /** The end of the published records from a position on, looking no further than a limit. */
  long publishedEnd(long from, long limit) {
    long at = from;
    while (at < limit) {
      long end = endAcquire(at);
      if (end <= at) {
        break;
      }
      at = end;
    }
    return at;
  }

  /**
   * Whether all records before a position are published.
   *
   * <p>The end of a record may be of a later lap if the writer has passed the record meanwhile. Who
   * published that end had read a {@code written} above the record, and so does this thread, as it
   * reads {@code written} after the end.
   */
  boolean isUnbrokenUpTo(long lsn) {
    long known = (long) POSITION.getOpaque(positions, UNBROKEN);
    long at = Math.max(known, writtenAcquire());
    while (at < lsn) {
      long end = endAcquire(at);
      long written = writtenAcquire();
      if (written > at) {
        at = written;
      } else if (end > at) {
        at = end;
      } else {
        break;
      }
    }
    if (at > known) {
      POSITION.setOpaque(positions, UNBROKEN, at);
    }
    return at >= lsn;
  }

  /** Where in the ring a position is. */
  int offset(long lsn) {
    return (int) (lsn & mask);
  }
}
