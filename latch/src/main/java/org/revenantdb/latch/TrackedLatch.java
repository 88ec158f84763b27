package org.revenantdb.latch;

import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What debug mode knows of one latch, without keeping it alive: who holds it, and which latches
 * were waited for while it was held.
 *
 * <p>Two are equal if they stand for the same object, so one made on the spot finds the one in a
 * map. One whose latch was collected equals itself alone.
 *
 * <p>Everything is guarded by the lock of the {@link HoldRegistry}.
 */
final class TrackedLatch extends WeakReference<Object> {
  final String name;

  /** Oldest first. */
  final List<Held> holds = new ArrayList<>();

  /** Edges from here: what was waited for while this was held. */
  final Map<TrackedLatch, ObservedOrder.Edge> after = new LinkedHashMap<>();

  /** Where edges to here begin. */
  final Set<TrackedLatch> before = new HashSet<>();

  private final int hash;

  TrackedLatch(Object latch, String name, @Nullable ReferenceQueue<Object> collected) {
    super(latch, collected);
    this.hash = System.identityHashCode(latch);
    this.name = name;
  }

  /** One that only finds its equal. */
  static TrackedLatch probe(Object latch) {
    return new TrackedLatch(latch, "", null);
  }

  /** The name under which messages speak of a latch. */
  static String nameOf(Object latch, @Nullable WaitStatistics statistics) {
    String kind = statistics == null ? latch.getClass().getSimpleName() : statistics.latchClass();
    return kind + "@" + Integer.toHexString(System.identityHashCode(latch));
  }

  boolean isForgettable() {
    return holds.isEmpty() && after.isEmpty() && before.isEmpty();
  }

  @Override
  public int hashCode() {
    return hash;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    if (this == other) {
      return true;
    }
    Object latch = get();
    return latch != null && other instanceof TrackedLatch tracked && tracked.refersTo(latch);
  }

  /** One hold of a latch, until it is released. */
  static final class Held {
    final TrackedLatch latch;
    final String name;
    final Thread thread;
    final OptionalInt rank;
    final Place place;

    boolean shared;

    /**
     * Whether it is known to be the thread's still. It is not if the thread gave it away, nor if
     * one of several shared holds was released by a thread that had none: then it may have been
     * this one.
     */
    boolean certain = true;

    Held(
        TrackedLatch latch,
        String name,
        Thread thread,
        boolean shared,
        OptionalInt rank,
        Place place) {
      this.latch = latch;
      this.name = name;
      this.thread = thread;
      this.shared = shared;
      this.rank = rank;
      this.place = place;
    }
  }
}
