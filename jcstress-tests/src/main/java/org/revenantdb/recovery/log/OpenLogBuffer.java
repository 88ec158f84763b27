package org.revenantdb.recovery.log;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.NullMarked;

/**
 * Gives the jcstress tests access to the package-private log buffer. The tests are on the class
 * path, so a class of theirs can be in the buffer's package and run the production code.
 */
@NullMarked
public final class OpenLogBuffer {
  /** Size of a record here, the shortest possible; the second and third long are its body. */
  public static final int LENGTH = 40;

  /** The ring's size. */
  public static final int CAPACITY = 128;

  /** Where the log begins: a lap's first position. */
  public static final long FIRST = 4L * CAPACITY;

  private final MemorySegment ring = MemorySegment.ofArray(new long[CAPACITY / 8]);
  private final LogBuffer buffer = new LogBuffer(ring, FIRST);

  /** An empty buffer. */
  public OpenLogBuffer() {}

  /** A record whose body contains this value twice. */
  public static byte[] record(int content) {
    byte[] record = new byte[LENGTH];
    record[8] = (byte) content;
    record[16] = (byte) content;
    return record;
  }

  /** Reserves a place for a record. */
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

  /** Publishes the record. */
  public void publish(long start) {
    buffer.publishRelease(start, start + LENGTH);
  }

  /** Where the writer would stop reading. */
  public long publishedEnd() {
    return publishedEnd(FIRST);
  }

  /** Where the writer would stop if it began at a position. */
  public long publishedEnd(long from) {
    return buffer.publishedEnd(from, from + CAPACITY);
  }

  /** The body of the record at a position: both longs, as 10 * first + second. */
  public int bodyAt(long start) {
    long first = ring.get(ValueLayout.JAVA_LONG, buffer.offset(start + 8));
    long second = ring.get(ValueLayout.JAVA_LONG, buffer.offset(start + 16));
    return (int) (10 * first + second);
  }

  /** Makes reservations wait, and returns the tail. */
  public long pause() {
    return buffer.pause();
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

  /** Releases the ring up to a position, for the next lap. */
  public void raiseWritten(long lsn) {
    buffer.setWrittenRelease(lsn);
  }

  /** Whether a record that ends there may be copied. */
  public boolean hasRoomUpTo(long end) {
    return buffer.hasRoomUpTo(end);
  }

  /** Marks everything up to a position as forced. */
  public void raiseDurable(long lsn) {
    buffer.setDurableRelease(lsn);
  }

  /** The end of what is forced. */
  public long durable() {
    return buffer.durableVolatile();
  }
}
