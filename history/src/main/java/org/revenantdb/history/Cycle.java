package org.revenantdb.history;

import java.util.ArrayList;
import java.util.List;
import org.revenantdb.history.DependencyGraph.Edge;

/** A cycle of transactions: its kind, and its description in words. */
final class Cycle {

  /** An edge from one transaction to the next. A path through relays is one step. */
  private record Step(int from, Edge kind, int before, int after, int to) {
    boolean isAntiDependency() {
      return kind.isAntiDependency();
    }
  }

  private final HistoryIndex index;
  private final Words words;
  private final List<Step> steps = new ArrayList<>();

  /**
   * Creates a cycle.
   *
   * @param edges consecutive edges; the last one leads to the transaction where the first one
   *     begins
   */
  Cycle(HistoryIndex index, DependencyGraph graph, int[] edges) {
    this.index = index;
    this.words = new Words(index);
    int from = graph.target(edges[edges.length - 1]);
    int begun = -1;
    for (int edge : edges) {
      begun = begun < 0 ? edge : begun;
      if (graph.isTransaction(graph.target(edge))) {
        int to = graph.target(edge);
        steps.add(
            new Step(
                from, graph.kind(begun), graph.versionBefore(begun), graph.versionAfter(edge), to));
        from = to;
        begun = -1;
      }
    }
  }

  int[] transactions() {
    return steps.stream().mapToInt(Step::from).toArray();
  }

  AnomalyKind kind() {
    long antiDependencies = steps.stream().filter(Step::isAntiDependency).count();
    boolean predicate = count(Edge.PREDICATE_RW) > 0;
    if (antiDependencies == 0) {
      return count(Edge.WR) == 0 ? AnomalyKind.DIRTY_WRITE : AnomalyKind.CIRCULAR_INFORMATION_FLOW;
    }
    if (antiDependencies == 1) {
      return isLostUpdate()
          ? AnomalyKind.LOST_UPDATE
          : predicate ? AnomalyKind.PREDICATE_READ_SKEW : AnomalyKind.READ_SKEW;
    }
    for (int i = 0; i < steps.size(); i++) {
      Step next = steps.get((i + 1) % steps.size());
      if (steps.get(i).isAntiDependency() && next.isAntiDependency()) {
        return predicate ? AnomalyKind.PREDICATE_WRITE_SKEW : AnomalyKind.WRITE_SKEW;
      }
    }
    return predicate ? AnomalyKind.PREDICATE_NONADJACENT : AnomalyKind.NONADJACENT;
  }

  private long count(Edge kind) {
    return steps.stream().filter(step -> step.kind == kind).count();
  }

  /**
   * Whether a transaction overwrote what the other had read, and the other overwrote that, for one
   * key.
   */
  private boolean isLostUpdate() {
    return steps.size() == 2
        && count(Edge.WW) == 1
        && index.keyOf(steps.getFirst().after) == index.keyOf(steps.getLast().after);
  }

  /** The transactions, and why each comes before the next. */
  String story() {
    StringBuilder text = new StringBuilder("a cycle of ").append(steps.size());
    for (Step step : steps) {
      text.append("\n  ").append(words.transaction(step.from));
    }
    for (Step step : steps) {
      text.append("\n  T").append(step.from).append(" before T").append(step.to).append(": ");
      text.append(why(step));
    }
    return text.toString();
  }

  private String why(Step step) {
    return switch (step.kind) {
      case WW ->
          "T%d wrote %s to key %s, T%d wrote %s behind it"
              .formatted(
                  step.from,
                  words.version(step.before),
                  words.key(step.after),
                  step.to,
                  words.version(step.after));
      case WR ->
          "T%d wrote %s to key %s, T%d read it"
              .formatted(step.from, words.version(step.after), words.key(step.after), step.to);
      case RW ->
          "T%d read %s in key %s, T%d wrote %s behind it"
              .formatted(
                  step.from,
                  words.version(step.before),
                  words.key(step.after),
                  step.to,
                  words.version(step.after));
      case PREDICATE_RW ->
          "T%d read the %s, T%d wrote %s to it"
              .formatted(step.from, words.access(step.before), step.to, words.version(step.after));
      case SESSION ->
          "process %d had ended T%d when it began T%d"
              .formatted(index.history.process(step.from), step.from, step.to);
      case REAL_TIME -> "T%d had ended when T%d began".formatted(step.from, step.to);
      case RELAY -> throw new IllegalStateException("a step begins at a transaction");
    };
  }
}
