package org.revenantdb.history;

import org.revenantdb.history.DependencyGraph.Edge;

/**
 * The part of a graph in which a level looks for cycles.
 *
 * <p>A state is a node. Where two anti-dependencies in a row must not be followed, the state also
 * contains whether one led to the node: node and node + n. So a cycle of states is a cycle of
 * transactions without two anti-dependencies in a row.
 */
final class SearchSpace {

  /** The edges that may be followed. */
  enum Rule {
    /** A cycle of overwrites. */
    WRITES(/* reads= */ false, /* antiDependencies= */ false),
    /** A cycle of overwrites and reads. */
    WRITES_AND_READS(/* reads= */ true, /* antiDependencies= */ false),
    /** No two anti-dependencies in a row: Cerone and Gotsman's criterion of snapshot isolation. */
    NONADJACENT(/* reads= */ true, /* antiDependencies= */ true),
    /** Any cycle. */
    ALL(/* reads= */ true, /* antiDependencies= */ true);

    private final boolean reads;
    private final boolean antiDependencies;

    Rule(boolean reads, boolean antiDependencies) {
      this.reads = reads;
      this.antiDependencies = antiDependencies;
    }

    boolean follows(Edge kind) {
      return switch (kind) {
        case WR -> reads;
        case RW, PREDICATE_RW -> antiDependencies;
        case WW, SESSION, REAL_TIME, RELAY -> true;
      };
    }
  }

  private static final int NONE = -1;

  private final DependencyGraph graph;
  private final Rule rule;

  SearchSpace(DependencyGraph graph, Rule rule) {
    this.graph = graph;
    this.rule = rule;
  }

  DependencyGraph graph() {
    return graph;
  }

  int states() {
    return rule == Rule.NONADJACENT ? 2 * graph.nodes() : graph.nodes();
  }

  int nodeOf(int state) {
    return state < graph.nodes() ? state : state - graph.nodes();
  }

  /** The state to which an edge leads from a state; negative if it may not be followed. */
  int follow(int state, int edge) {
    Edge kind = graph.kind(edge);
    int target = graph.target(edge);
    if (!rule.follows(kind)) {
      return NONE;
    }
    if (rule != Rule.NONADJACENT) {
      return target;
    }
    boolean behindAnti = state >= graph.nodes();
    return switch (kind) {
      case RW, PREDICATE_RW -> behindAnti ? NONE : target + graph.nodes();
      case RELAY -> behindAnti ? target + graph.nodes() : target;
      case WW, WR, SESSION, REAL_TIME -> target;
    };
  }
}
