package org.revenantdb.suite.model;

import java.util.LinkedHashMap;
import java.util.Map;
import org.revenantdb.suite.model.Store.Counters;

/**
 * The events of a run of the model.
 *
 * <p>Threads: one.
 */
final class Tally {

  long episodes;
  long kills;
  long killsWhileOpening;
  long killsWhileClosing;
  long killsOfRecovery;
  long secondLivesUnseen;
  long cleanCloses;
  long verifications;
  long rowsVerified;
  long acknowledged;
  long rolledBack;
  long inDoubtSurvived;
  long inDoubtLost;
  long steps;
  long conflicts;
  long reopenings;
  long longestRecoveryNanos;
  Counters counters = Counters.NONE;

  void count(Counters more) {
    counters = counters.plus(more);
  }

  void recovered(long nanos) {
    longestRecoveryNanos = Math.max(longestRecoveryNanos, nanos);
  }

  /** The events that must occur in a meaningful run, and their counts. */
  Map<String, Long> mustHappen(ModelOptions.Kind kind) {
    Map<String, Long> events = new LinkedHashMap<>();
    events.put("splits", counters.splits());
    events.put("merges", counters.merges());
    events.put("evictions", counters.evictions());
    events.put("overflow values", counters.overflowValues());
    events.put("checkpoints", counters.checkpoints());
    events.put("clean closes", cleanCloses);
    if (kind != ModelOptions.Kind.STEPS) {
      events.put("kills", kills);
      events.put("kills of a recovery", killsOfRecovery);
      events.put("acknowledged transactions", acknowledged);
    }
    if (kind != ModelOptions.Kind.KILLS) {
      events.put("conflicts", conflicts);
    }
    return events;
  }
}
