package org.revenantdb.chaos.hooks;

import java.lang.foreign.MemorySegment;

/**
 * The records of operations that both recorders write in the same way. A method that returns the
 * place of a record returns 0 if it did not fit; the caller ends the operation with {@link
 * Tape#done}.
 *
 * <p>Threads: under the lock of the {@link Journal}. Nothing is allocated.
 */
final class Entries {

  private static final int PAGE = Mappings.PAGE;

  private final Journal journal;

  Entries(Journal journal) {
    this.journal = journal;
  }

  private Tape tape() {
    return journal.tape();
  }

  private void publish(long at) {
    tape().publish(at, journal.clock().incrementAndGet());
  }

  /**
   * Writes the opening of a file.
   *
   * @param path its bytes in UTF-8, of which the first {@code length} count
   * @param flags those of Linux
   * @param size that of a file that existed
   */
  long opening(
      int thread, int stack, byte[] path, int length, long flags, boolean existed, long size) {
    long at = tape().begin(Tape.OPEN, 0, length, thread, stack);
    if (at != 0) {
      tape().put(at, 0, path, length);
      tape().set(at, Tape.B, flags);
      tape().set(at, Tape.C, existed ? 1 : 0);
      tape().set(at, Tape.D, size);
      publish(at);
    }
    return at;
  }

  /**
   * Completes the record of a write, whose bytes it has.
   *
   * @param at the record, which is not published
   * @param sync 0, or what the write forces: 1 data, 2 also metadata
   */
  void write(long at, long file, long offset, long length, int sync) {
    tape().set(at, Tape.A, file);
    tape().set(at, Tape.B, offset);
    tape().set(at, Tape.C, length);
    tape().set(at, Tape.D, sync);
    publish(at);
    if (sync != 0) {
      journal.clock().incrementAndGet(); // the place of its force
    }
  }

  /** Writes a page of mapped memory that has changed. Returns whether it fitted. */
  boolean page(
      int thread, int stack, long file, long offset, MemorySegment memory, long from, int size) {
    long at = tape().begin(Tape.WRITE, size, 0, thread, stack);
    if (at == 0) {
      return false;
    }
    MemorySegment.copy(memory, from, tape().memory(), at + Tape.HEADER, size);
    write(at, file, offset, size, /* sync= */ 0);
    tape().done(at, size, 0);
    return true;
  }

  /** Writes a change of a size. What the fields have depends on the kind. */
  long size(int thread, int stack, int kind, long file, long b, long c, long d) {
    long at = tape().begin(kind, 0, 0, thread, stack);
    if (at != 0) {
      tape().set(at, Tape.A, file);
      tape().set(at, Tape.B, b);
      tape().set(at, Tape.C, c);
      tape().set(at, Tape.D, d);
      publish(at);
    }
    return at;
  }

  /**
   * Writes a force.
   *
   * @param since the place from which on it does not force
   * @param metadata 1: metadata is forced, too
   */
  long force(int thread, int stack, long file, long since, long metadata) {
    return size(thread, stack, Tape.FSYNC, file, since, metadata, 0);
  }

  /**
   * Writes a force of a part of a file that is mapped, which has ended. Every page may become a
   * write and a force of its own, so it takes two places for each.
   */
  void memoryForce(
      int thread, int stack, long file, long since, long from, long to, long result, int errno) {
    long at = size(thread, stack, Tape.MSYNC, file, since, from, to);
    if (at != 0) {
      var _ = journal.clock().addAndGet(2 * ((to - from) / PAGE + 2));
      tape().done(at, result, errno);
    }
  }

  /** Notes that a file was mapped for writing. */
  void mapping(int thread, int stack, long file) {
    long at = tape().begin(Tape.MMAP, 0, 0, thread, stack);
    if (at != 0) {
      tape().set(at, Tape.A, file);
      tape().publish(at, 0);
      tape().done(at, 0, 0);
    }
  }

  /** Notes something that a trace cannot have. */
  void gap(int thread, int stack, byte[] what, byte[] path, int pathLength) {
    long at = tape().begin(Tape.GAP, what.length, pathLength, thread, stack);
    if (at != 0) {
      tape().put(at, 0, what, what.length);
      tape().put(at, what.length, path, pathLength);
      publish(at);
      tape().done(at, 0, 0);
    }
  }
}
