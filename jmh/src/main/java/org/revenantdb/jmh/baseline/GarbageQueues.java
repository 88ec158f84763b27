package org.revenantdb.jmh.baseline;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What each thread has to see to: versions that it has brought, in the order in which it did, or
 * that were assigned to it. A thread that has ended leaves its queue to others.
 *
 * <p>Threads: any may add and take. If two want to take from one queue, the second leaves it to the
 * first, because a thread that holds a row's latch must not wait.
 */
final class GarbageQueues {
  /**
   * A version.
   *
   * @param stamp when it was garbage at last: an LSN or an epoch
   * @param supersededAt the row may lose versions superseded up to this, when the stamp is free
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Entry(int table, byte[] key, long supersededAt, long stamp) {}

  /** Of one thread. */
  static final class Own {
    private final Queue<Entry> entries = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean isTakenFrom = new AtomicBoolean();

    void add(Entry entry) {
      entries.add(entry);
    }

    boolean isEmpty() {
      return entries.isEmpty();
    }

    /** Whether the first is free. */
    boolean hasFree(long free) {
      Entry first = entries.peek();
      return first != null && first.stamp() <= free;
    }

    /** Takes free entries from the front, up to the first that is not free. */
    void take(long free, Consumer<Entry> taker) {
      if (entries.isEmpty() || !isTakenFrom.compareAndSet(false, true)) {
        return;
      }
      try {
        Entry entry = entries.peek();
        while (entry != null && entry.stamp() <= free) {
          entries.remove(); // no other thread takes
          taker.accept(entry);
          entry = entries.peek();
        }
      } finally {
        isTakenFrom.set(false);
      }
    }
  }

  private final List<Own> all = new CopyOnWriteArrayList<>();

  @SuppressWarnings("ThreadLocalUsage") // there is one object of this class in a database
  private final ThreadLocal<@Nullable Own> own = new ThreadLocal<>();

  /** The calling thread's. */
  Own own() {
    Own mine = own.get();
    if (mine == null) {
      mine = new Own();
      own.set(mine);
      all.add(mine);
    }
    return mine;
  }

  /** Whether there is any work. */
  boolean haveFree(long free) {
    for (Own each : all) {
      if (each.hasFree(free)) {
        return true;
      }
    }
    return false;
  }

  /** Those of all threads there have been. */
  List<Own> all() {
    return all;
  }
}
