package org.revenantdb.chaos.hooks;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;

/**
 * The record of a hooked JVM: a file of fixed size that is mapped by the JVM and by its parent.
 * What was written to it survives the death of the JVM.
 *
 * <p>Threads: records are appended under the lock of {@link Hooks}; any thread may read.
 */
final class Tape {
  /*
   * Header   0  end of the records     8  what was lost (bits)   16  controls asked for
   *         24  controls answered     32  operations begun      40  place of the first fault
   *         48  faults so far         56  last place at a control
   *         64  how many operations could have had each fault, 8 bytes for each
   *        248  stack of the first fault
   *
   * Record   0  length (int)           4  kind (int)              8  place
   *         16  nanoseconds           24  thread (int)           28  stack (int)
   *         32  state (int)           36  errno (int)            40  result
   *         48  a    56  b    64  c   72  d
   *         80  bytes of data (int)   84  bytes of text (int)    88  data, then text
   *
   * A record is complete before `end` moves behind it. Its state, errno, result and a to d may
   * change afterwards: the operation is BEGUN before the real call and DONE behind it.
   * Nothing here allocates memory. A record that does not fit sets a bit and is dropped.
   */

  // Kinds of records: operations, and what is needed to understand them.
  static final int OPEN = 1;
  static final int WRITE = 2;
  static final int FSYNC = 3;
  static final int MSYNC = 4;
  static final int FTRUNCATE = 5;
  static final int FALLOCATE = 6;
  static final int RENAME = 7;
  static final int LINK = 8;
  static final int UNLINK = 9;
  static final int MKDIR = 10;
  static final int MMAP = 11;

  /** A look at mapped memory: the places of the first and the last page that it found. */
  static final int LOOK = 12;

  static final int STACK = 20;
  static final int THREAD = 21;
  static final int PROMISE = 22;
  static final int GAP = 23;
  static final int ROOT = 24;
  static final int LIFE = 25;

  // The flags of an opening, which are those of Linux.
  static final int CREAT = 0100;
  static final int TRUNC = 01000;

  static final int RECORDS = 256;

  private static final long STRUCK_IN = RECORDS - Long.BYTES;
  static final int HEADER = 88;

  static final long A = 48;
  static final long B = 56;
  static final long C = 64;
  static final long D = 72;

  static final int BEGUN = 1;
  static final int DONE = 2;

  /** The result of a force that failed and left its pages clean. */
  static final long CLEANED = -2;

  /** The tape was too short. */
  static final long FULL = 1;

  /** A hook failed, for instance because memory or stack was exhausted. */
  static final long FAILED = 2;

  private static final VarHandle LONG = JAVA_LONG.varHandle();

  private final MemorySegment memory;

  private final Arena arena;

  private Tape(MemorySegment memory, Arena arena) {
    this.memory = memory;
    this.arena = arena;
  }

  /**
   * Creates a tape. The file system provides all of its space now, so that no later store into the
   * mapping fails.
   */
  static Tape create(Path file, long size) throws IOException {
    try (RandomAccessFile made = new RandomAccessFile(file.toFile(), "rw")) {
      byte[] zeros = new byte[1 << 20];
      for (long left = size; left > 0; left -= zeros.length) {
        made.write(zeros, 0, (int) Math.min(left, zeros.length));
      }
    }
    Tape tape = open(file);
    tape.reset();
    return tape;
  }

  /** Maps a tape. */
  static Tape open(Path file) throws IOException {
    Arena arena = Arena.ofShared();
    try (RandomAccessFile opened = new RandomAccessFile(file.toFile(), "rw")) {
      return new Tape(
          opened.getChannel().map(MapMode.READ_WRITE, 0, opened.length(), arena), arena);
    } catch (IOException | RuntimeException e) {
      arena.close();
      throw e;
    }
  }

  /**
   * Ends the mapping. Windows deletes no file that is mapped. Nothing may use the tape any more, or
   * it gets an {@link IllegalStateException}.
   */
  void close() {
    arena.close();
  }

  /** Drops all records. */
  void reset() {
    for (long at = 0; at < RECORDS; at += Long.BYTES) {
      setLong(at, 0);
    }
    LONG.setRelease(memory, 0L, (long) RECORDS);
  }

  /** Drops all records of operations that have ended, and keeps the counts. */
  void rewind() {
    LONG.setRelease(memory, 0L, (long) RECORDS);
  }

  /** Takes back the newest record, which is published: it and its operation do not count. */
  void retract(long at) {
    LONG.setRelease(memory, 0L, at);
    LONG.setRelease(memory, 32L, operations() - 1);
  }

  long end() {
    return (long) LONG.getAcquire(memory, 0L);
  }

  long lost() {
    return (long) LONG.getAcquire(memory, 8L);
  }

  void lose(long bit) {
    var _ = (long) LONG.getAndBitwiseOr(memory, 8L, bit);
  }

  long asked() {
    return (long) LONG.getAcquire(memory, 16L);
  }

  void ask(long number) {
    LONG.setRelease(memory, 16L, number);
  }

  long answered() {
    return (long) LONG.getAcquire(memory, 24L);
  }

  void answer(long number) {
    LONG.setRelease(memory, 24L, number);
  }

  long operations() {
    return (long) LONG.getAcquire(memory, 32L);
  }

  /** Notes that a fault occurred. */
  void struck(long place, int stack) {
    if (getLong(48) == 0) {
      setLong(40, place);
      setLong(STRUCK_IN, stack);
    }
    LONG.setRelease(memory, 48L, getLong(48) + 1);
  }

  /** How many faults occurred. */
  long strikes() {
    return (long) LONG.getAcquire(memory, 48L);
  }

  /** The place of the first fault. */
  long struckAt() {
    return getLong(40);
  }

  /** The number of the stack of the first fault. */
  int struckIn() {
    return (int) getLong(STRUCK_IN);
  }

  /** Notes the last place, when nothing else is happening. */
  void lastPlace(long place) {
    setLong(56, place);
  }

  long lastPlace() {
    return getLong(56);
  }

  /** Counts an operation that could have had a fault. */
  void possible(int fault) {
    long at = 64 + 8L * fault;
    setLong(at, getLong(at) + 1);
  }

  long possibles(int fault) {
    return getLong(64 + 8L * fault);
  }

  /**
   * Begins a record, which is not visible before {@link #publish}.
   *
   * @return its place in the memory, or 0 if it does not fit
   */
  long begin(int kind, int dataLength, int textLength, int thread, int stack) {
    long at = end();
    long length = (HEADER + (long) dataLength + textLength + 7) & ~7L;
    if (length > memory.byteSize() - at) {
      lose(FULL);
      return 0;
    }
    setInt(at, (int) length);
    setInt(at + 4, kind);
    setLong(at + 8, 0);
    setLong(at + 16, System.nanoTime());
    setInt(at + 24, thread);
    setInt(at + 28, stack);
    setInt(at + 32, BEGUN);
    setInt(at + 36, 0);
    setLong(at + 40, 0);
    setLong(at + A, 0);
    setLong(at + B, 0);
    setLong(at + C, 0);
    setLong(at + D, 0);
    setInt(at + 80, dataLength);
    setInt(at + 84, textLength);
    return at;
  }

  void publish(long at, long place) {
    setLong(at + 8, place);
    LONG.setRelease(memory, 32L, operations() + 1);
    LONG.setRelease(memory, 0L, at + getInt(at));
  }

  void done(long at, long result, int errno) {
    setLong(at + 40, result);
    setInt(at + 36, errno);
    setInt(at + 32, DONE);
  }

  /** Whether an operation was carried out, and without an error. */
  boolean hasSucceeded(long at) {
    return getInt(at + 32) == DONE && getLong(at + 40) >= 0;
  }

  void set(long at, long field, long value) {
    setLong(at + field, value);
  }

  MemorySegment memory() {
    return memory;
  }

  /** Copies bytes behind the header of a record that has begun. */
  void put(long at, int from, byte[] bytes, int length) {
    MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, at + HEADER + from, length);
  }

  int getInt(long at) {
    return memory.get(JAVA_INT, at);
  }

  long getLong(long at) {
    return memory.get(JAVA_LONG, at);
  }

  private void setInt(long at, int value) {
    memory.set(JAVA_INT, at, value);
  }

  private void setLong(long at, long value) {
    memory.set(JAVA_LONG, at, value);
  }
}
