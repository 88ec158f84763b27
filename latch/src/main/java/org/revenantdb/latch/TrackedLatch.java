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
 * The debug mode's data about one latch, without keeping the latch alive: its holders, and the
 * latches that threads waited for while they held it.
 *
 * <p>Two objects are equal if they stand for the same latch, so a temporary one finds the one in a
 * map. An object whose latch was collected equals only itself.
 *
 * <p>Everything is guarded by the lock of the {@link HoldRegistry}.
 */
final class TrackedLatch extends WeakReference<Object> {
  final String name;

  /** Oldest first. */
  final List<Held> holds = new ArrayList<>();

  /** Edges from here: latches that a thread waited for while it held this one. */
  final Map<TrackedLatch, ObservedOrder.Edge> after = new LinkedHashMap<>();

  /** The latches at which edges to this one begin. */
  final Set<TrackedLatch> before = new HashSet<>();

  private final int hash;

  TrackedLatch(Object latch, String name, @Nullable ReferenceQueue<Object> collected) {
    super(latch, collected);
    this.hash = System.identityHashCode(latch);
    this.name = name;
  }

  /** Makes a temporary object, only to look up the equal one. */
  static TrackedLatch probe(Object latch) {
    return new TrackedLatch(latch, "", null);
  }

  /** The name of a latch in messages. */
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
     * Whether the hold certainly still belongs to the thread. It does not if the thread gave it
     * away. It may not if a thread without a hold released one of several shared holds: that may
     * have been this one.
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
