package org.revenantdb.recovery.log;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;

/**
 * Memory of closed logs, for the next ones: opening a database costs no fresh memory, and nothing
 * is written to it. A ring comes back as it was taken, all zeros, because the writer of a log that
 * was closed in order has emptied it.
 *
 * <p>What is neither in use nor kept here is given back by the garbage collector.
 */
final class RingPool {
  private static final int KEPT = 4;
  private static final int PAGE = 4096;

  private static final Deque<MemorySegment> RINGS = new ArrayDeque<>();

  private RingPool() {}

  /** A ring of zeros. */
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

  /** Takes back a ring of zeros that no thread can touch any more. */
  static void giveBack(MemorySegment ring) {
    assert isZero(ring) : "a closed log has left something in its ring";
    synchronized (RINGS) {
      if (RINGS.size() == KEPT) {
        RINGS.removeFirst();
      }
      RINGS.addLast(ring);
    }
  }

  private static boolean isZero(MemorySegment ring) {
    return ring.get(ValueLayout.JAVA_BYTE, 0) == 0
        && MemorySegment.mismatch(ring, 1, ring.byteSize(), ring, 0, ring.byteSize() - 1) < 0;
  }
}
