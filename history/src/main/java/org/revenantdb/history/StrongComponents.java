package org.revenantdb.history;

import java.util.Arrays;

/**
 * The strongly connected components of a search space with more than one state. Every cycle lies in
 * one of them.
 */
final class StrongComponents {
  /*
   * Source      Tarjan, "Depth-First Search and Linear Graph Algorithms", SIAM Journal on Computing
   *             1972. We differ: the recursion uses its own stack, because a history is longer than
   *             a thread's stack is deep.
   */
  private final SearchSpace space;
  private final int[] component;
  private final int[] low;
  private final int[] number;
  private final int[] nextEdge;
  private final IntList path = new IntList();
  private final IntList open = new IntList();
  private final IntList members = new IntList();
  private final IntList firsts = new IntList();
  private int numbered;
  private long steps;

  StrongComponents(SearchSpace space) {
    this.space = space;
    int states = space.states();
    component = filled(states);
    number = filled(states);
    low = new int[states];
    nextEdge = new int[states];
    firsts.add(0);
    for (int state = 0; state < states; state++) {
      if (number[state] < 0) {
        explore(state);
      }
    }
  }

  private static int[] filled(int count) {
    int[] array = new int[count];
    Arrays.fill(array, -1);
    return array;
  }

  private void explore(int root) {
    enter(root);
    while (!path.isEmpty()) {
      int state = path.get(path.size() - 1);
      int node = space.nodeOf(state);
      if (nextEdge[state] < space.graph().firstEdge(node + 1)) {
        steps++;
        int next = space.follow(state, nextEdge[state]++);
        if (next >= 0 && number[next] < 0) {
          enter(next);
        } else if (next >= 0 && component[next] == -1) {
          low[state] = Math.min(low[state], number[next]);
        }
      } else {
        leave(state);
      }
    }
  }

  private void enter(int state) {
    number[state] = numbered;
    low[state] = numbered++;
    nextEdge[state] = space.graph().firstEdge(space.nodeOf(state));
    path.add(state);
    open.add(state);
  }

  private void leave(int state) {
    path.pop();
    if (!path.isEmpty()) {
      int parent = path.get(path.size() - 1);
      low[parent] = Math.min(low[parent], low[state]);
    }
    if (low[state] == number[state]) {
      close(state);
    }
  }

  /** A component of a single state is dropped: no transaction comes before itself. */
  private void close(int root) {
    int count = 0;
    int state;
    do {
      state = open.pop();
      component[state] = count == 0 && state == root ? -2 : size();
      members.add(state);
      count++;
    } while (state != root);
    if (count == 1) {
      members.pop();
    } else {
      firsts.add(members.size());
    }
  }

  /** The number of components. */
  int size() {
    return firsts.size() - 1;
  }

  /** The states of a component. */
  int[] members(int one) {
    int[] states = new int[firsts.get(one + 1) - firsts.get(one)];
    Arrays.setAll(states, i -> members.get(firsts.get(one) + i));
    return states;
  }

  /** Whether a state is in a component. */
  boolean contains(int one, int state) {
    return component[state] == one;
  }

  /** The number of edges followed. */
  long steps() {
    return steps;
  }
}
