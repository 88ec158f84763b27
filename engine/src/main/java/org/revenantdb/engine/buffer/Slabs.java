package org.revenantdb.engine.buffer;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import org.revenantdb.latch.PatientLock;

/**
 * Off-heap memory for the buffer pools of this process, in slabs of one size: frames in slabs of 4
 * MiB, what page writers copy into in smaller ones.
 *
 * <p>A pool takes slabs as it needs frames and gives them back when it is closed. Some are kept for
 * the next pool, the rest returns to the system, so opening and closing databases for ever needs no
 * more memory than the databases that are open at one time.
 *
 * <p>Why slabs with an arena each: memory of {@code Arena.global()} is never given back, and one
 * arena for a whole pool could not be taken over in part by a smaller one. Memory of {@code
 * java.lang.foreign} needs no flag and is not counted against the heap or {@code
 * -XX:MaxDirectMemorySize}.
 *
 * <p>Threads: any. Whoever gives a slab back guarantees that no thread touches it any more.
 */
final class Slabs {
  /** The size of a slab of frames. */
  static final long BYTES = 4L << 20;

  /** How many slabs without an owner are kept for the next pool: 64 MiB. */
  private static final int KEPT = 16;

  private static final int ALIGNMENT = 4096;

  /** The slabs of frames of this process. */
  static final Slabs OF_PROCESS = new Slabs(KEPT);

  /** Memory with its own lifetime; its former contents are still in it. */
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

  /** Slabs of that size, of which so many are kept when nobody owns them. */
  Slabs(long bytes, int kept) {
    this.bytes = bytes;
    this.kept = kept;
  }

  /**
   * A slab with whatever contents.
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

  /** Takes a slab back that nobody uses any more. */
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

  /** For tests: how many slabs wait for an owner. */
  int idle() {
    lock.lock();
    try {
      return idle.size();
    } finally {
      lock.unlock();
    }
  }
}
