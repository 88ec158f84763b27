package org.revenantdb.chaos.history;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/** What was found so far at a level: all are counted, the first few of each kind are told. */
final class Anomalies {

  /** A broken store has the same fault everywhere; nobody reads more of it. */
  private static final int TOLD = 8;

  private final IsolationLevel level;
  private final Map<AnomalyKind, Integer> counts = new EnumMap<>(AnomalyKind.class);
  private final List<Anomaly> told = new ArrayList<>();
  private final Set<List<Object>> known = new HashSet<>();

  Anomalies(IsolationLevel level) {
    this.level = level;
  }

  /** Adds one, unless the level allows it or it is known of these transactions. */
  void add(AnomalyKind kind, Supplier<String> story, int... transactions) {
    if (!kind.forbiddenAt(level)) {
      return;
    }
    List<Integer> who = Arrays.stream(transactions).distinct().sorted().boxed().toList();
    if (!known.add(List.of(kind, who))) {
      return;
    }
    if (counts.merge(kind, 1, Integer::sum) <= TOLD) {
      told.add(new Anomaly(kind, story.get(), who));
    }
  }

  Map<AnomalyKind, Integer> counts() {
    return counts;
  }

  List<Anomaly> told() {
    return told;
  }
}
