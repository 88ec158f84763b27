package org.revenantdb.recovery.log;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import org.revenantdb.recovery.format.LogRecordLayout;

/**
 * The ring through which records reach the writer, and the three positions that order it.
 *
 * <p>Threads: any may reserve and publish; one, the writer, scans, empties and raises {@code
 * written} and {@code durable}.
 */
final class LogBuffer {
  /*
   * Source      Aeron's log buffers for the one getAndAdd and the length stored last; docs/protocols.md §1.
   *             We differ: the ring is emptied by the writer instead of laps being tagged, because a record has
   *             no room for a tag in its first word.
   *
   * State       tail      end of what is reserved; STOPPED and more once the log takes nothing any more
   *             written   end of what is in the files; the ring is zero outside [written, tail)
   *             durable   end of what is forced; durable <= written <= tail
   * Word        the first eight bytes of a record at l: 0 = not published, else length and CRC
   *
   * Transitions reserve   tail += length           getAndAdd, any thread; the only thing that hands out places (W1)
   *             publish   word 0 -> length, CRC    store release, the thread that reserved, after the body
   *             empty     word -> 0                plain stores, the writer, after the file write
   *             written   raised                   store release, the writer, after the zeros
   *             durable   raised                   store release, the writer, after the force
   *
   * Ordering    publishRelease -> wordAcquire: the writer sees the body of what it sees published.
   *             setWrittenRelease -> writtenAcquire: who finds room for its record also finds the zeros there,
   *             so its body cannot be wiped out by them. Weaker would let the writer's zeros overtake.
   *             A place is written only when start + length <= written + capacity, so no two records of different
   *             laps share a byte.
   *
   * Crash       see the table in docs/protocols.md §1.
   */

  /** Added to the tail of a log that takes nothing any more; no position gets as far by itself. */
  static final long STOPPED = 1L << 62;

  private static final VarHandle WORD =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();
  private static final VarHandle POSITION = MethodHandles.arrayElementVarHandle(long[].class);

  /** Sixteen longs: the positions stand on cache lines of their own. */
  private static final int STRIDE = 16;

  private static final int TAIL = STRIDE;
  private static final int WRITTEN = 2 * STRIDE;
  private static final int DURABLE = 3 * STRIDE;

  private final MemorySegment ring;
  private final int capacity;
  private final long mask;
  private final long[] positions = new long[5 * STRIDE];

  /** A ring of zeros (a power of two, at least 8 bytes) whose log begins at a position. */
  LogBuffer(MemorySegment ring, long first) {
    this.ring = ring;
    capacity = (int) ring.byteSize();
    mask = capacity - 1L;
    positions[TAIL] = first;
    positions[WRITTEN] = first;
    positions[DURABLE] = first;
    VarHandle.releaseFence();
  }

  int capacity() {
    return capacity;
  }

  MemorySegment ring() {
    return ring;
  }

  /** Takes a place; at or above {@link #STOPPED} there is none. */
  long reserve(int length) {
    return (long) POSITION.getAndAdd(positions, TAIL, (long) length);
  }

  /** Takes nothing any more; returns the final tail. */
  long stop() {
    return (long) POSITION.getAndAdd(positions, TAIL, STOPPED);
  }

  long tailVolatile() {
    return (long) POSITION.getVolatile(positions, TAIL);
  }

  long writtenAcquire() {
    return (long) POSITION.getAcquire(positions, WRITTEN);
  }

  /** Volatile: who has pushed itself on a list of waiters looks at it after that. */
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

  /** Copies all of a record but its first word. */
  void copyBody(long start, byte[] record, int length) {
    int from = LogRecordLayout.LSN;
    int at = offset(start + from);
    int first = Math.min(length - from, capacity - at);
    MemorySegment.copy(record, from, ring, ValueLayout.JAVA_BYTE, at, first);
    int rest = length - from - first;
    if (rest > 0) {
      MemorySegment.copy(record, from + first, ring, ValueLayout.JAVA_BYTE, 0, rest);
    }
  }

  /** Makes the record at that place visible to the writer. */
  void publishRelease(long start, long word) {
    WORD.setRelease(ring, (long) offset(start), word);
  }

  private long wordAcquire(long lsn) {
    return (long) WORD.getAcquire(ring, (long) offset(lsn));
  }

  /** The end of the published records from a position on, looking no further than a limit. */
  long publishedEnd(long from, long limit) {
    long at = from;
    while (at < limit) {
      long word = wordAcquire(at);
      if (word == 0) {
        break;
      }
      at += (int) word;
    }
    return at;
  }

  /** Where in the ring a position is. */
  int offset(long lsn) {
    return (int) (lsn & mask);
  }

  /** Writes zeros over what is in the files. */
  void empty(long from, long to) {
    long at = from;
    while (at < to) {
      int offset = offset(at);
      long length = Math.min(to - at, capacity - offset);
      ring.asSlice(offset, length).fill((byte) 0);
      at += length;
    }
  }
}
