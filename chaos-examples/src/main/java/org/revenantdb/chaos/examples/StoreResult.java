package org.revenantdb.chaos.examples;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.hooks.AnyRun;

/**
 * What a run found out about one store.
 *
 * @param rows the parts that were tried
 * @param seen what was recorded, in a sentence
 * @param controlsEqual the moments at which the trace was compared with the directory, and was
 *     equal
 * @param controlsTried the moments at which it was compared
 * @param durations how long the work takes; null if that was not measured
 * @param untimed why it was not; empty if it was, or if nobody asked
 * @param faults what became of the store for each kind of fault
 * @param forces which forces are needed; null if none were removed
 */
record StoreResult(
    Example store,
    List<Row> rows,
    String seen,
    int controlsEqual,
    int controlsTried,
    AnyRun.@Nullable Durations durations,
    String untimed,
    List<FaultLine> faults,
    @Nullable ForceLine forces) {

  StoreResult {
    rows = List.copyOf(rows);
    faults = List.copyOf(faults);
  }

  /** The distinct images that were opened and checked, over all parts. */
  long states() {
    return rows.stream().mapToLong(row -> row.outcome().states()).sum();
  }

  /** How long that took. */
  double seconds() {
    return rows.stream().mapToDouble(Row::seconds).sum();
  }

  double statesPerSecond() {
    return seconds() == 0 ? 0 : states() / seconds();
  }

  /** Whether there are files for a replay. */
  boolean hasFiles() {
    return rows.stream().anyMatch(row -> !row.files().isEmpty())
        || faults.stream().anyMatch(line -> !line.files().isEmpty());
  }

  /** The checks that ended with a loss or a damage. */
  long failedChecks() {
    return rows.stream().mapToLong(Row::failedChecks).sum();
  }

  Map<String, Object> json() {
    Map<String, Object> fields = new LinkedHashMap<>(store.json());
    fields.put("states", states());
    fields.put("seconds", seconds());
    fields.put("states_per_second", statesPerSecond());
    fields.put("failed_checks", failedChecks());
    fields.put("controls_equal", controlsEqual);
    fields.put("controls_tried", controlsTried);
    fields.put("seen", seen);
    return fields;
  }
}
