package org.revenantdb.chaos.history;

import org.revenantdb.chaos.history.DependencyGraph.Edge;

/**
 * The part of a graph in which a level looks for circles.
 *
 * <p>A state is a node, and, where two anti-dependencies in a row are not to be followed, whether
 * one has led there: node and node + n. A circle of states then is a circle of transactions in
 * which no two anti-dependencies meet.
 */
final class SearchSpace {

  /** What may be met, and what not. */
  enum Rule {
    /** Overwritten in a circle. */
    WRITES(/* reads= */ false, /* antiDependencies= */ false),
    /** Overwritten or read in a circle. */
    WRITES_AND_READS(/* reads= */ true, /* antiDependencies= */ false),
    /** No two anti-dependencies in a row: Cerone and Gotsman's criterion of snapshot isolation. */
    NONADJACENT(/* reads= */ true, /* antiDependencies= */ true),
    /** Any circle. */
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
