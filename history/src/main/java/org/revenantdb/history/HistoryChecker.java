package org.revenantdb.history;

import java.util.List;
import org.revenantdb.history.SearchSpace.Rule;

/**
 * Checks whether an isolation level allows a history, and if not, why.
 *
 * <p>Each finding is an anomaly in every order in which the transactions could have happened, so
 * there are no false alarms. Not all anomalies are found: the order of registers is only partly
 * known, and the only predicates are ranges of keys.
 *
 * {@snippet :
 * CheckResult result = HistoryChecker.check(history, IsolationLevel.SNAPSHOT);
 * assertTrue(result.holds(), result::toString);
 * }
 *
 * <p>Threads: any; it has no state.
 */
public final class HistoryChecker {
  /*
   * Source      Adya, "Weak Consistency: A Generalized Theory and Optimistic Implementations for
   *             Distributed Transactions", MIT 1999: levels as forbidden cycles. Kingsbury and
   *             Alvaro, "Elle", VLDB 2020: the cycles from the observations of clients. Cerone and
   *             Gotsman, "Analysing Snapshot Isolation", PODC 2016: snapshot isolation forbids
   *             exactly the cycles without two anti-dependencies in a row. We differ: lives. A
   *             crash may take back transactions that were acknowledged lazily. They stay in the
   *             graph, where they follow what they had seen. Which transactions may follow a lost
   *             one is a separate check (SurvivalCheck).
   *
   * Steps       0 range reads become reads of keys (RangeReads); 1 committed transactions; 2 each
   *             transaction against itself; 3 order of versions, which gives the edges; 4
   *             transactions that crashes took; 5 cycles: for each rule of the level the strongly
   *             connected components, and in each one short cycle. Each step is linear, except the
   *             sorting by time, step 4 in the number of lives, and the search for a short cycle.
   */
  private HistoryChecker() {}

  /**
   * Checks a history without an order beyond reads and writes.
   *
   * @param history the history
   * @param level the level
   * @return the result
   */
  public static CheckResult check(History history, IsolationLevel level) {
    return check(history, level, Precedence.NONE);
  }

  /**
   * Checks a history.
   *
   * @param history the history
   * @param level the level
   * @param precedence what counts as an order in addition
   * @return the result
   * @throws IllegalArgumentException if two transactions write the same value to a key, or a key is
   *     used both as a list and as a register; such a history cannot be checked
   */
  public static CheckResult check(History history, IsolationLevel level, Precedence precedence) {
    HistoryIndex index = new HistoryIndex(RangeReads.asReads(history));
    Anomalies anomalies = new Anomalies(level);
    int[] external = new ReadCheck(index, anomalies).run();
    Sightings sightings = new Sightings(index);
    DependencyGraph graph = dependencies(index, external, sightings, anomalies, precedence);
    new SurvivalCheck(index, sightings, graph, anomalies).run();
    new LostUpdates(index, anomalies).run(external);
    long steps = 0;
    for (Rule rule : rules(level)) {
      steps += findCycles(index, new SearchSpace(graph, rule), anomalies);
    }
    return new CheckResult(
        level,
        precedence,
        index.committedCount(),
        graph.edges(),
        steps,
        anomalies.counts(),
        anomalies.told());
  }

  private static DependencyGraph dependencies(
      HistoryIndex index,
      int[] external,
      Sightings sightings,
      Anomalies anomalies,
      Precedence precedence) {
    DependencyGraph.Builder graph = new DependencyGraph.Builder(index);
    AccessesByKey byKey = new AccessesByKey(index);
    ListOrders lists = new ListOrders(index, byKey, external, graph, sightings, anomalies);
    RegisterOrders registers =
        new RegisterOrders(
            index,
            byKey,
            external,
            graph,
            sightings,
            anomalies,
            precedence == Precedence.REAL_TIME);
    for (int key = 0; key < index.keyCount(); key++) {
      if (index.accesses.isOfList(byKey.access(byKey.first(key)))) {
        lists.run(key);
      } else {
        registers.run(key);
      }
    }
    TimeOrder.add(index, precedence, graph);
    return graph.build();
  }

  private static List<Rule> rules(IsolationLevel level) {
    return switch (level) {
      case READ_COMMITTED -> List.of(Rule.WRITES, Rule.WRITES_AND_READS);
      case SNAPSHOT -> List.of(Rule.WRITES, Rule.WRITES_AND_READS, Rule.NONADJACENT);
      case SERIALIZABLE -> List.of(Rule.values());
    };
  }

  private static long findCycles(HistoryIndex index, SearchSpace space, Anomalies anomalies) {
    StrongComponents components = new StrongComponents(space);
    if (components.size() == 0) {
      return components.steps();
    }
    CycleSearch search = new CycleSearch(space, components);
    for (int component = 0; component < components.size(); component++) {
      int[] edges = search.shortest(component);
      if (edges.length > 0) {
        Cycle cycle = new Cycle(index, space.graph(), edges);
        anomalies.add(cycle.kind(), cycle::story, cycle.transactions());
      }
    }
    return components.steps() + search.steps();
  }
}
