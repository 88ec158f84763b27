package org.revenantdb.history;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;

/**
 * What a crash may take: no transaction that was acknowledged as durable, no transaction in part,
 * and only a suffix of those acknowledged lazily.
 *
 * <p>Nothing that came behind a lost transaction may be left: no transaction that overwrote or read
 * its writes, through any number of steps, and none that began after its acknowledgement. A durable
 * transaction without writes cannot be lost, so what it has read must be there.
 */
final class SurvivalCheck {

  private final HistoryIndex index;
  private final History history;
  private final Sightings sightings;
  private final DependencyGraph graph;
  private final Anomalies anomalies;
  private final Words words;
  private final boolean[] lost;

  SurvivalCheck(
      HistoryIndex index, Sightings sightings, DependencyGraph graph, Anomalies anomalies) {
    this.index = index;
    this.history = index.history;
    this.sightings = sightings;
    this.graph = graph;
    this.anomalies = anomalies;
    this.words = new Words(index);
    this.lost = new boolean[history.size()];
  }

  void run() {
    if (history.lives() == 1) {
      return;
    }
    for (int t = 0; t < history.size(); t++) {
      if (index.isCommitted(t)) {
        judge(t);
      }
    }
    followDependencies();
    followTime();
  }

  private void judge(int t) {
    int missing = HistoryIndex.NOTHING;
    int kept = HistoryIndex.NOTHING;
    for (int a = history.firstAccess(t); a < history.firstAccess(t + 1); a++) {
      if (index.accesses.isWrite(a)) {
        missing = sightings.isMissing(a) ? a : missing;
        kept = sightings.isKept(a) ? a : kept;
      }
    }
    if (missing == HistoryIndex.NOTHING) {
      return;
    }
    lost[t] = true;
    tell(t, missing, kept);
  }

  private void tell(int t, int missing, int kept) {
    if (kept != HistoryIndex.NOTHING) {
      anomalies.add(
          AnomalyKind.TORN,
          () ->
              "a later life has "
                  + words.version(kept)
                  + " of key "
                  + words.key(kept)
                  + " and not "
                  + words.version(missing)
                  + " of key "
                  + words.key(missing)
                  + "\n  "
                  + words.transaction(t),
          t);
    }
    if (mustSurvive(t)) {
      anomalies.add(
          AnomalyKind.LOST_WRITE,
          () ->
              "a later life does not have "
                  + words.version(missing)
                  + " of key "
                  + words.key(missing)
                  + "\n  "
                  + words.transaction(t),
          t);
    }
  }

  private boolean mustSurvive(int t) {
    return history.outcome(t) == TransactionOutcome.DURABLE;
  }

  /** A transaction that must not be lost is reported elsewhere. */
  private boolean mayBeLost(int t) {
    return lost[t] && !mustSurvive(t);
  }

  /** Whether certainly no crash took it, or no crash may have taken it. */
  private boolean isKept(int t) {
    if (mustSurvive(t)) {
      return true;
    }
    for (int a = history.firstAccess(t); a < history.firstAccess(t + 1); a++) {
      if (index.accesses.isWrite(a) && sightings.isKept(a)) {
        return true;
      }
    }
    return false;
  }

  /** From each lost transaction, along overwrites and reads, to one that survived. */
  private void followDependencies() {
    int[] from = new int[history.size()];
    Arrays.fill(from, -1);
    Deque<Integer> toFollow = new ArrayDeque<>();
    for (int t = 0; t < lost.length; t++) {
      if (mayBeLost(t)) {
        from[t] = t;
        toFollow.add(t);
      }
    }
    while (!toFollow.isEmpty()) {
      int t = toFollow.remove();
      for (int e = graph.firstEdge(t); e < graph.firstEdge(t + 1); e++) {
        int next = graph.target(e);
        boolean inOrder =
            graph.kind(e) == DependencyGraph.Edge.WW || graph.kind(e) == DependencyGraph.Edge.WR;
        if (inOrder && from[next] < 0 && history.life(next) == history.life(t)) {
          from[next] = from[t];
          toFollow.add(next);
          if (isKept(next)) {
            tellNotAPrefix(from[t], next, "depends on it");
          }
        }
      }
    }
  }

  /** For each life, from the lost transaction that was acknowledged first. */
  private void followTime() {
    int[] first = new int[history.lives()];
    Arrays.fill(first, -1);
    for (int t = 0; t < lost.length; t++) {
      int life = history.life(t);
      if (mayBeLost(t)
          && history.outcome(t) != TransactionOutcome.UNKNOWN // was never acknowledged
          && (first[life] < 0 || history.completed(t) < history.completed(first[life]))) {
        first[life] = t;
      }
    }
    for (int t = 0; t < lost.length; t++) {
      int earlier = first[history.life(t)];
      if (earlier >= 0
          && history.completed(earlier) < history.invoked(t)
          && index.isCommitted(t)
          && writes(t)
          && isKept(t)) {
        tellNotAPrefix(earlier, t, "began when that had been acknowledged");
      }
    }
  }

  private boolean writes(int t) {
    for (int a = history.firstAccess(t); a < history.firstAccess(t + 1); a++) {
      if (index.accesses.isWrite(a)) {
        return true;
      }
    }
    return false;
  }

  private void tellNotAPrefix(int gone, int left, String why) {
    anomalies.add(
        AnomalyKind.NOT_A_PREFIX,
        () ->
            "T"
                + gone
                + " is lost in a crash; T"
                + left
                + " is not and "
                + why
                + "\n  lost: "
                + words.transaction(gone)
                + "\n  kept: "
                + words.transaction(left),
        gone,
        left);
  }
}
