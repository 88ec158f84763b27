package org.revenantdb.history;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/** The anomalies found at a level: all are counted, the first few of each kind are kept. */
final class Anomalies {

  /** The number kept: a broken store has the same fault everywhere. */
  private static final int TOLD = 8;

  private final IsolationLevel level;
  private final Map<AnomalyKind, Integer> counts = new EnumMap<>(AnomalyKind.class);
  private final List<Anomaly> told = new ArrayList<>();
  private final Set<List<Object>> known = new HashSet<>();

  Anomalies(IsolationLevel level) {
    this.level = level;
  }

  /** Adds an anomaly, unless the level allows it or one with these transactions is known. */
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
