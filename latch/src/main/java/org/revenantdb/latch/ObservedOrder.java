package org.revenantdb.latch;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Records the order in which latches without rank were acquired, and finds contradictions to it.
 *
 * <p>Everything is guarded by the lock of the {@link HoldRegistry}.
 */
final class ObservedOrder {
  /*
   * Edge        A -> B: some thread waited for B, or was about to, while it held A. A try makes no edge to the latch
   *             that it tries, because it does not wait. But a latch that a try has acquired counts as held.
   *
   * Cycle       A deadlock is a cycle of edges, each by another thread. So a cycle is refused only if its edges can
   *             belong to different threads. One thread that uses both orders, at different times, does no harm until
   *             a second one does so too.
   *
   * Not seen    Of several cycles only the shortest one without the present thread is examined. If that one needs the
   *             same thread twice, a longer one that does not is missed.
   */

  /** A debug mode must not use up the memory; further edges are not observed. */
  private static final int MAX_EDGES = 100_000;

  private static final long SEVERAL = -1;

  private int edges;

  /** A thread waited for one latch while it held another. */
  static final class Edge {
    final TrackedLatch from;
    final TrackedLatch to;
    final String names;
    final Place place;

    /** The only thread that was seen to do this, or SEVERAL. */
    private long thread;

    Edge(TrackedLatch from, TrackedLatch to, long thread, Place place) {
      this.from = from;
      this.to = to;
      this.names = to.name + " was waited for while " + from.name + " was held";
      this.thread = thread;
      this.place = place;
    }
  }

  /**
   * Looks for edges that one more edge would close to a cycle.
   *
   * @return the edges from {@code wanted} to {@code held}; null if there is no contradiction
   */
  @Nullable List<Edge> contradiction(TrackedLatch held, TrackedLatch wanted, Thread thread) {
    Edge known = held.after.get(wanted);
    long me = thread.threadId();
    if (known != null && (known.thread == SEVERAL || known.thread == me)) {
      return null; // it was checked when it became so
    }
    long closing = known == null ? me : SEVERAL;
    List<Edge> way = shortestWay(wanted, held, closing);
    return way != null && byDifferentThreads(way, closing) ? way : null;
  }

  /** Adds an edge, or one more thread to an existing edge. */
  void observe(TrackedLatch held, TrackedLatch wanted, Thread thread, Place place) {
    long me = thread.threadId();
    Edge known = held.after.get(wanted);
    if (known != null) {
      if (known.thread != me) {
        known.thread = SEVERAL;
      }
    } else if (edges < MAX_EDGES) {
      held.after.put(wanted, new Edge(held, wanted, me, place));
      wanted.before.add(held);
      edges++;
    }
  }

  /**
   * Removes the edges of a latch that was collected: no thread can wait for it any more.
   *
   * @return the latches at the other ends
   */
  Set<TrackedLatch> remove(TrackedLatch gone) {
    Set<TrackedLatch> neighbours = new HashSet<>(gone.before);
    neighbours.addAll(gone.after.keySet());
    for (TrackedLatch neighbour : neighbours) {
      edges -= neighbour.after.remove(gone) == null ? 0 : 1;
      neighbour.before.remove(gone);
    }
    edges -= gone.after.size();
    gone.after.clear();
    gone.before.clear();
    return neighbours;
  }

  /** For tests: the number of edges. */
  int edges() {
    return edges;
  }

  private static @Nullable List<Edge> shortestWay(
      TrackedLatch start, TrackedLatch end, long without) {
    Map<TrackedLatch, Edge> reachedBy = new HashMap<>();
    Deque<TrackedLatch> toVisit = new ArrayDeque<>(List.of(start));
    while (!toVisit.isEmpty() && !reachedBy.containsKey(end)) {
      for (Edge edge : toVisit.remove().after.values()) {
        boolean usable = edge.thread == SEVERAL || edge.thread != without;
        if (usable && reachedBy.putIfAbsent(edge.to, edge) == null) {
          toVisit.add(edge.to);
        }
      }
    }
    Edge last = reachedBy.get(end);
    if (last == null) {
      return null;
    }
    List<Edge> way = new ArrayList<>();
    for (Edge edge = last;
        edge != null;
        edge = edge.from.equals(start) ? null : reachedBy.get(edge.from)) {
      way.add(edge);
    }
    Collections.reverse(way);
    return way;
  }

  private static boolean byDifferentThreads(List<Edge> way, long closing) {
    Set<Long> threads = new HashSet<>();
    if (closing != SEVERAL) {
      threads.add(closing);
    }
    for (Edge edge : way) {
      if (edge.thread != SEVERAL && !threads.add(edge.thread)) {
        return false;
      }
    }
    return true;
  }
}
