package org.revenantdb.history;

import java.util.Arrays;

/**
 * Finds a short cycle in a strongly connected component.
 *
 * <p>A breadth-first search from a state finds the shortest cycle through it. The bound on the
 * length falls with each cycle found. In a large component only some states are searched, so the
 * cycle is short, but perhaps not the shortest.
 */
final class CycleSearch {

  /** The number of states in a component from which a search starts. */
  private static final int STARTS = 256;

  /** The number of edges followed in one component once a cycle is known. */
  private static final long MOST_STEPS = 4_000_000;

  private final SearchSpace space;
  private final DependencyGraph graph;
  private final StrongComponents components;
  private final int[] distance;
  private final int[] edgeTo;
  private final int[] stateBefore;
  private final IntList touched = new IntList();
  private long steps;

  CycleSearch(SearchSpace space, StrongComponents components) {
    this.space = space;
    this.graph = space.graph();
    this.components = components;
    this.distance = new int[space.states()];
    this.edgeTo = new int[space.states()];
    this.stateBefore = new int[space.states()];
    Arrays.fill(distance, Integer.MAX_VALUE);
  }

  /** The edges of a cycle, each beginning where the one before it ends; the last one closes it. */
  int[] shortest(int component) {
    int[] members = components.members(component);
    int[] transactions =
        Arrays.stream(members).filter(state -> graph.isTransaction(space.nodeOf(state))).toArray();
    int stride = Math.max(1, transactions.length / STARTS);
    int[] best = new int[0];
    int bound = Integer.MAX_VALUE;
    long until = steps + MOST_STEPS;
    for (int i = 0; i < transactions.length && (best.length == 0 || steps < until); i += stride) {
      int[] found = from(transactions[i], component, bound);
      if (found.length > 0) {
        best = found;
        bound = length(found);
        if (bound <= 2) {
          break;
        }
      }
    }
    return best;
  }

  /** The number of transactions in a cycle. */
  private int length(int[] circle) {
    int length = 0;
    for (int edge : circle) {
      length += graph.isTransaction(graph.target(edge)) ? 1 : 0;
    }
    return length;
  }

  /** The shortest cycle through a state that is shorter than a bound; empty if there is none. */
  private int[] from(int start, int component, int bound) {
    IntList now = new IntList();
    IntList next = new IntList();
    reach(start, 0, -1, -1);
    now.add(start);
    int closing = -1;
    int last = -1;
    // Edges through relays have length zero: what they reach joins the same round.
    for (int depth = 0; !now.isEmpty() && closing < 0 && depth + 1 < bound; depth++) {
      next = new IntList();
      while (!now.isEmpty() && closing < 0) {
        int state = now.pop();
        int node = space.nodeOf(state);
        for (int e = graph.firstEdge(node); e < graph.firstEdge(node + 1); e++) {
          steps++;
          int to = space.follow(state, e);
          if (to == start) {
            closing = e;
            last = state;
            break;
          }
          if (to < 0 || !components.contains(component, to)) {
            continue;
          }
          boolean step = graph.isTransaction(space.nodeOf(to));
          int length = distance[state] + (step ? 1 : 0);
          if (length < distance[to]) {
            reach(to, length, e, state);
            (step ? next : now).add(to);
          }
        }
      }
      now = next;
    }
    int[] circle = closing < 0 ? new int[0] : path(start, last, closing);
    for (int i = 0; i < touched.size(); i++) {
      distance[touched.get(i)] = Integer.MAX_VALUE;
    }
    touched.clear();
    return circle;
  }

  private void reach(int state, int length, int edge, int before) {
    distance[state] = length;
    edgeTo[state] = edge;
    stateBefore[state] = before;
    touched.add(state);
  }

  private int[] path(int start, int last, int closing) {
    IntList backwards = new IntList();
    backwards.add(closing);
    for (int state = last; state != start; state = stateBefore[state]) {
      backwards.add(edgeTo[state]);
    }
    int[] circle = backwards.toArray();
    for (int i = 0; i < circle.length / 2; i++) {
      int other = circle.length - 1 - i;
      int edge = circle[i];
      circle[i] = circle[other];
      circle[other] = edge;
    }
    return circle;
  }

  long steps() {
    return steps;
  }
}
