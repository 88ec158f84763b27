package org.revenantdb.recovery.log;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;

/**
 * Keeps the memory of closed logs for the next ones. So opening a database costs no fresh memory,
 * and the memory need not be cleared.
 *
 * <p>The garbage collector frees memory that is neither in use nor kept here.
 */
final class RingPool {
  private static final int KEPT = 4;
  private static final int PAGE = 4096;

  private static final Deque<MemorySegment> RINGS = new ArrayDeque<>();

  private RingPool() {}

  /** Takes a ring, with any content. */
  static MemorySegment take(int capacity) {
    synchronized (RINGS) {
      for (Iterator<MemorySegment> rings = RINGS.iterator(); rings.hasNext(); ) {
        MemorySegment ring = rings.next();
        if (ring.byteSize() == capacity) {
          rings.remove();
          return ring;
        }
      }
    }
    return Arena.ofAuto().allocate(capacity, PAGE);
  }

  /** Takes back a ring that no thread can access any more. */
  static void giveBack(MemorySegment ring) {
    synchronized (RINGS) {
      if (RINGS.size() == KEPT) {
        RINGS.removeFirst();
      }
      RINGS.addLast(ring);
    }
  }
}
