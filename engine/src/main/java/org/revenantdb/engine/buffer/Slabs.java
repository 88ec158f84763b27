package org.revenantdb.engine.buffer;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import org.revenantdb.latch.PatientLock;

/**
 * Off-heap memory for the buffer pools of this process, in slabs of one size: frames in slabs of 4
 * MiB, the copies of page writers in smaller ones.
 *
 * <p>A pool takes slabs as it needs frames and returns them when it is closed. Some are kept for
 * the next pool; the rest returns to the system. So opening and closing databases repeatedly needs
 * no more memory than the databases that are open at one time.
 *
 * <p>Each slab has its own arena: memory of {@code Arena.global()} is never released, and a smaller
 * pool could not take over a part of an arena for a whole pool. Memory of {@code java.lang.foreign}
 * needs no flag and does not count as heap or towards {@code -XX:MaxDirectMemorySize}.
 *
 * <p>It can be extended by tests.
 *
 * <p>Threads: any. The thread that returns a slab guarantees that no thread uses it any more.
 */
class Slabs {
  /** The size of a slab of frames. */
  static final long BYTES = 4L << 20;

  /** How many unused slabs are kept for the next pool: 64 MiB. */
  private static final int KEPT = 16;

  private static final int ALIGNMENT = 4096;

  /** The slabs of frames of this process. */
  static final Slabs OF_PROCESS = new Slabs(KEPT);

  /** Memory with its own lifetime, with its former contents. */
  static final class Slab {
    private final Arena arena = Arena.ofShared();
    final MemorySegment memory;

    Slab(long bytes) {
      memory = arena.allocate(bytes, ALIGNMENT);
    }
  }

  private final PatientLock lock = new PatientLock();
  private final ArrayDeque<Slab> idle = new ArrayDeque<>();
  private final long bytes;
  private final int kept;

  Slabs(int kept) {
    this(BYTES, kept);
  }

  /** Slabs of a size, of which a number is kept when unused. */
  Slabs(long bytes, int kept) {
    this.bytes = bytes;
    this.kept = kept;
  }

  /**
   * Returns a slab with arbitrary contents.
   *
   * @throws OutOfMemoryError if the system has no more memory
   */
  Slab take() {
    lock.lock();
    try {
      Slab slab = idle.pollLast();
      if (slab != null) {
        return slab;
      }
    } finally {
      lock.unlock();
    }
    return new Slab(bytes);
  }

  /** Takes back a slab that is no longer used. */
  void giveBack(Slab slab) {
    lock.lock();
    try {
      if (idle.size() < kept) {
        idle.addLast(slab);
        return;
      }
    } finally {
      lock.unlock();
    }
    slab.arena.close();
  }

  /** For tests: the number of unused slabs. */
  int idle() {
    lock.lock();
    try {
      return idle.size();
    } finally {
      lock.unlock();
    }
  }
}
