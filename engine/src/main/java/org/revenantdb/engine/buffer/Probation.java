package org.revenantdb.engine.buffer;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;
import org.revenantdb.latch.PatientLock;

/**
 * The stays that have not been used again since they began, oldest first. A stay that has ended
 * because its page was freed remains until its turn.
 *
 * <p>Threads: any. The lock is held for a few instructions, compared with the read of a page; no
 * latch is waited for under it.
 */
final class Probation {
  private final PatientLock lock = new PatientLock();
  private final ArrayDeque<Stay> queue = new ArrayDeque<>();
  private final int capacity;

  Probation(int capacity) {
    this.capacity = capacity;
  }

  /** Adds a stay; returns the stay that has to leave for lack of room, or null. */
  @Nullable Stay add(Stay stay) {
    lock.lock();
    try {
      queue.addLast(stay);
      return queue.size() > capacity ? queue.pollFirst() : null;
    } finally {
      lock.unlock();
    }
  }

  /** Removes the oldest if there are more than a number; otherwise null. */
  @Nullable Stay poll(int moreThan) {
    lock.lock();
    try {
      return queue.size() > moreThan ? queue.pollFirst() : null;
    } finally {
      lock.unlock();
    }
  }
}
