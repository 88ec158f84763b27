package org.revenantdb.recovery.log;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.NullMarked;

/**
 * The log buffer, which is package-private, for the jcstress tests: they are on the class path, so
 * a class of theirs can stand in its package and test the very code.
 */
@NullMarked
public final class OpenLogBuffer {
  /** Bytes of a record here: its first word and two longs of body. */
  public static final int LENGTH = 24;

  /** The ring's size. */
  public static final int CAPACITY = 64;

  /** Where the log begins: a lap's first position. */
  public static final long FIRST = 4L * CAPACITY;

  private final MemorySegment ring = MemorySegment.ofArray(new long[CAPACITY / 8]);
  private final LogBuffer buffer = new LogBuffer(ring, FIRST);

  /** An empty buffer. */
  public OpenLogBuffer() {}

  /** A record whose body says this, twice. */
  public static byte[] record(int content) {
    byte[] record = new byte[LENGTH];
    record[8] = (byte) content;
    record[16] = (byte) content;
    return record;
  }

  /** Takes a place for a record. */
  public long reserve() {
    return buffer.reserve(LENGTH);
  }

  /** The end of what is reserved. */
  public long tail() {
    return buffer.tailVolatile();
  }

  /** Copies a record but its first word. */
  public void copyBody(long start, byte[] record) {
    buffer.copyBody(start, record, LENGTH);
  }

  /** Stores the first word as the log does. */
  public void publish(long start) {
    buffer.publishRelease(start, LENGTH);
  }

  /** Stores the first word as no log must. */
  public void publishPlain(long start) {
    ring.set(ValueLayout.JAVA_LONG, buffer.offset(start), LENGTH);
  }

  /** Where the writer would stop reading. */
  public long publishedEnd() {
    return buffer.publishedEnd(FIRST, FIRST + CAPACITY);
  }

  /** What the body of the record at a place says: both longs, as 10 * first + second. */
  public int bodyAt(long start) {
    long first = ring.get(ValueLayout.JAVA_LONG, buffer.offset(start + 8));
    long second = ring.get(ValueLayout.JAVA_LONG, buffer.offset(start + 16));
    return (int) (10 * first + second);
  }

  /** Zeros over what is in the files. */
  public void empty(long from, long to) {
    buffer.empty(from, to);
  }

  /** Gives room up to there and a lap further. */
  public void raiseWritten(long lsn) {
    buffer.setWrittenRelease(lsn);
  }

  /** Whether a record that ends there may be copied. */
  public boolean hasRoomUpTo(long end) {
    return buffer.hasRoomUpTo(end);
  }

  /** Says that all up to there is forced. */
  public void raiseDurable(long lsn) {
    buffer.setDurableRelease(lsn);
  }

  /** What is forced. */
  public long durable() {
    return buffer.durableVolatile();
  }
}
