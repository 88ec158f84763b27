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
  /** Bytes of a record here, the shortest there is; the second and third long are its body. */
  public static final int LENGTH = 40;

  /** The ring's size. */
  public static final int CAPACITY = 128;

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

  /** Copies a record. */
  public void copy(long start, byte[] record) {
    buffer.copy(start, record, LENGTH);
  }

  /** Says that the record is there. */
  public void publish(long start) {
    buffer.publishRelease(start, start + LENGTH);
  }

  /** Where the writer would stop reading. */
  public long publishedEnd() {
    return publishedEnd(FIRST);
  }

  /** Where the writer would stop reading that begins there. */
  public long publishedEnd(long from) {
    return buffer.publishedEnd(from, from + CAPACITY);
  }

  /** What the body of the record at a place says: both longs, as 10 * first + second. */
  public int bodyAt(long start) {
    long first = ring.get(ValueLayout.JAVA_LONG, buffer.offset(start + 8));
    long second = ring.get(ValueLayout.JAVA_LONG, buffer.offset(start + 16));
    return (int) (10 * first + second);
  }

  /** Makes reservations wait, and returns the tail. */
  public long pause() {
    buffer.pause();
    return buffer.tailVolatile();
  }

  /** Another ring takes the place of the ring, in which all is zeros. */
  public void replace() {
    buffer.replace(MemorySegment.ofArray(new long[CAPACITY / 8]));
  }

  /** Reservations go on. */
  public void resume() {
    buffer.resume();
  }

  /** As {@link #bodyAt}, in the ring that the writer reads. */
  public int writtenAt(long start) {
    long first = buffer.ring().get(ValueLayout.JAVA_LONG, buffer.offset(start + 8));
    long second = buffer.ring().get(ValueLayout.JAVA_LONG, buffer.offset(start + 16));
    return (int) (10 * first + second);
  }

  /** Whether no record before there is missing. */
  public boolean isUnbrokenUpTo(long lsn) {
    return buffer.isUnbrokenUpTo(lsn);
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
