package org.revenantdb.chaos.examples;

import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.TreeMap;
import org.revenantdb.chaos.hooks.AnyRun;
import org.revenantdb.chaos.report.JsonReport;

/** The figures of a run over several stores. */
record Figures(
    List<Row> rows,
    List<Finding> known,
    List<Finding> found,
    long falseAlarms,
    long controls,
    long unmeasured,
    Map<Example, AnyRun.Durations> durations,
    Map<Example, String> untimed,
    List<FaultLine> faults,
    List<ForceLine> forces) {

  static Figures of(List<Example> stores, List<ExampleRun> runs, List<Row> rows) {
    List<Finding> known =
        Finding.KNOWN.stream().filter(finding -> stores.contains(finding.store())).toList();
    return new Figures(
        List.copyOf(rows),
        known,
        known.stream().filter(finding -> finding.isIn(rows)).toList(),
        rows.stream()
            .filter(row -> row.store().mustBeClean() && row.part().isUsual() && row.isFinding())
            .count(),
        runs.stream().mapToLong(ExampleRun::controls).sum(),
        rows.stream().filter(row -> !row.isMeasured()).count(),
        durations(stores, runs),
        untimed(stores, runs),
        runs.stream().flatMap(run -> run.faults().stream()).toList(),
        runs.stream().flatMap(run -> run.forces().stream()).toList());
  }

  private static Map<Example, AnyRun.Durations> durations(
      List<Example> stores, List<ExampleRun> runs) {
    EnumMap<Example, AnyRun.Durations> all = new EnumMap<>(Example.class);
    for (int i = 0; i < runs.size(); i++) {
      AnyRun.Durations one = runs.get(i).durations();
      if (one != null) {
        all.put(stores.get(i), one);
      }
    }
    return Collections.unmodifiableMap(all);
  }

  private static Map<Example, String> untimed(List<Example> stores, List<ExampleRun> runs) {
    EnumMap<Example, String> all = new EnumMap<>(Example.class);
    for (int i = 0; i < stores.size(); i++) {
      if (i >= runs.size() || runs.get(i).durations() == null) {
        String why = i < runs.size() ? runs.get(i).untimed() : "";
        all.put(stores.get(i), why.isEmpty() ? "its work was not timed" : why);
      }
    }
    return Collections.unmodifiableMap(all);
  }

  /**
   * How many times as long the works of all stores together take when they are recorded. Empty if a
   * store was not timed: the sum of the others would hide it.
   */
  OptionalDouble overhead() {
    long plain = durations.values().stream().mapToLong(AnyRun.Durations::plain).sum();
    long recorded = durations.values().stream().mapToLong(AnyRun.Durations::recorded).sum();
    return plain == 0 || !untimed.isEmpty()
        ? OptionalDouble.empty()
        : OptionalDouble.of((double) recorded / plain);
  }

  private Map<String, Object> overheads() {
    Map<String, Object> all = new TreeMap<>();
    durations.forEach(
        (store, one) -> all.put(store.title(), (double) one.recorded() / one.plain()));
    return all;
  }

  /**
   * Whether nothing is wrong with the framework.
   *
   * @param isComplete whether there was time to find what is known
   */
  boolean isGood(boolean isComplete) {
    return falseAlarms == 0 && unmeasured == 0 && (!isComplete || found.size() == known.size());
  }

  /** Failures that any machine can cause, of stores of which nothing like it is known. */
  private List<Row> unexplained() {
    return rows.stream()
        .filter(row -> row.part().isUsual() && row.isFinding() && !row.store().mustBeClean())
        .filter(row ->
            Finding.KNOWN.stream()
                .noneMatch(one -> one.store() == row.store() && one.parts().contains(row.part())))
        .toList();
  }

  private long states() {
    return rows.stream().mapToLong(row -> row.outcome().states()).sum();
  }

  private double seconds() {
    return rows.stream().mapToDouble(Row::seconds).sum();
  }

  private long faultStates() {
    return faults.stream().mapToLong(line -> line.outcome().states()).sum();
  }

  private long faultFindings() {
    return faults.stream().filter(FaultLine::isFinding).count();
  }

  private long forcesNeeded() {
    return forces.stream().mapToLong(ForceLine::needed).sum();
  }

  private long forcePlaces() {
    return forces.stream().mapToLong(ForceLine::places).sum();
  }

  private long processDeaths() {
    return rows.stream().mapToLong(Row::deaths).sum();
  }

  String text() {
    StringBuilder text = new StringBuilder();
    for (Finding finding : known) {
      text.append(found.contains(finding) ? "found:     " : "NOT FOUND: ")
          .append(finding.text())
          .append(System.lineSeparator());
    }
    for (Row row : unexplained()) {
      text.append(
              "new:       %s, %s: %s"
                  .formatted(row.store().title(), row.part().title(), row.first()))
          .append(System.lineSeparator());
    }
    text.append(
        "%d of %d known findings, %d false alarms, %d states, %d equal controls%s"
            .formatted(
                found.size(),
                known.size(),
                falseAlarms,
                states(),
                controls,
                unmeasured == 0 ? "" : ", " + unmeasured + " parts not measured"));
    if (!forces.isEmpty()) {
      text.append(System.lineSeparator())
          .append(
              "faults: %d kinds in %d stores, %d states, %d with findings; forces: %d of %d places needed"
                  .formatted(
                      faults.stream().map(FaultLine::fault).distinct().count(),
                      forces.size(),
                      faultStates(),
                      faultFindings(),
                      forcesNeeded(),
                      forcePlaces()));
    }
    return text.toString();
  }

  JsonReport json() {
    JsonReport report = new JsonReport();
    overhead().ifPresent(times -> report.number("any_overhead", times));
    if (!untimed.isEmpty()) {
      Map<String, String> reasons = new TreeMap<>();
      untimed.forEach((store, why) -> reasons.put(store.title(), why));
      report.detail("overheads_not_measured", reasons);
    }
    if (!forces.isEmpty()) {
      report
          .number("fault_states", faultStates())
          .number("fault_findings", faultFindings())
          .number("force_places", forcePlaces())
          .number("force_places_needed", forcesNeeded())
          .detail("faults", faults.stream().map(FaultLine::json).toList())
          .detail("forces", forces.stream().map(ForceLine::json).toList());
    }
    return report
        .number("known_found", found.size())
        .number("known_findings", known.size())
        .number("false_alarms", falseAlarms)
        .number("states", states())
        .number("process_deaths", processDeaths())
        .number("any_states_per_second", seconds() == 0 ? 0 : states() / seconds())
        .number("controls_equal", controls)
        .number("not_measured", unmeasured)
        .number("new_findings", unexplained().size())
        .detail("overheads", overheads())
        .detail("parts", rows.stream().map(Row::json).toList())
        .detail(
            "missed",
            known.stream().filter(one -> !found.contains(one)).map(Finding::text).toList());
  }
}
