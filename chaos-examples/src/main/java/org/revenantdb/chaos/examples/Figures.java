package org.revenantdb.chaos.examples;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.revenantdb.chaos.hooks.AnyRun;
import org.revenantdb.chaos.report.JsonReport;
import org.revenantdb.chaos.run.Failure;

/**
 * The figures of a run over several stores.
 *
 * @param seed of the run
 * @param states of each part, at most
 */
record Figures(List<StoreResult> results, long seed, int states) {
  /** With fewer states, a store that must be clean proves little. */
  private static final int ENOUGH_STATES = 2_000;

  /** Its states tell how fast the framework is: it has one file, and is opened in no time. */
  private static final Example SMALL = Example.MVSTORE;

  Figures {
    results = List.copyOf(results);
  }

  List<Row> rows() {
    return results.stream().flatMap(result -> result.rows().stream()).toList();
  }

  private boolean isOf(Finding finding) {
    return results.stream().anyMatch(result -> result.store() == finding.store());
  }

  /** Those that a run over these stores must find. */
  List<Finding> known() {
    return Finding.KNOWN.stream().filter(Finding::isRequired).filter(this::isOf).toList();
  }

  /** Those of them that it found. */
  List<Finding> found() {
    return known().stream().filter(this::isFound).toList();
  }

  private boolean isFound(Finding finding) {
    return finding.in(rows()).findAny().isPresent();
  }

  private List<Finding> missed() {
    return known().stream().filter(finding -> !isFound(finding)).toList();
  }

  private static long count(List<Finding> findings, Finding.Rank rank) {
    return findings.stream().filter(finding -> finding.rank() == rank).count();
  }

  /** The failures of stores that must be clean, after any crash, that no finding explains. */
  List<String> falseAlarms() {
    return told(row -> row.store().mustBeClean());
  }

  /** Failures of other stores that any machine can cause, and that no finding explains. */
  private List<String> unexplained() {
    return told(row -> !row.store().mustBeClean() && row.part().isUsual());
  }

  private List<String> told(Predicate<Row> which) {
    return rows().stream()
        .filter(which)
        .flatMap(row -> row.unexplained().stream().map(first -> row.name() + ": " + first))
        .toList();
  }

  /** The parts that could not be measured. */
  long unmeasured() {
    return rows().stream().filter(row -> !row.isMeasured()).count();
  }

  /** The moments at which trace and directory were equal. */
  long controlsEqual() {
    return results.stream().mapToLong(StoreResult::controlsEqual).sum();
  }

  private long controlsTried() {
    return results.stream().mapToLong(StoreResult::controlsTried).sum();
  }

  /**
   * How many times as long the works of all stores together take when they are recorded. Empty if a
   * store was not timed: the sum of the others would hide it.
   */
  OptionalDouble overhead() {
    long plain = 0;
    long recorded = 0;
    for (StoreResult result : results) {
      AnyRun.Durations one = result.durations();
      if (one == null) {
        return OptionalDouble.empty();
      }
      plain += one.plain();
      recorded += one.recorded();
    }
    return plain == 0 ? OptionalDouble.empty() : OptionalDouble.of((double) recorded / plain);
  }

  private Map<String, Object> overheads() {
    Map<String, Object> all = new TreeMap<>();
    for (StoreResult result : results) {
      AnyRun.Durations one = result.durations();
      if (one != null) {
        all.put(result.store().title(), (double) one.recorded() / one.plain());
      }
    }
    return all;
  }

  private Map<String, String> untimed() {
    Map<String, String> all = new TreeMap<>();
    results.stream()
        .filter(result -> result.durations() == null)
        .forEach(result -> all.put(result.store().title(), result.untimed()));
    return all;
  }

  /**
   * Whether nothing is wrong with the framework.
   *
   * @param isComplete whether there was time to find what is known
   */
  boolean isGood(boolean isComplete) {
    return falseAlarms().isEmpty() && unmeasured() == 0 && (!isComplete || missed().isEmpty());
  }

  /** The stores that must be clean, of which too few states were seen to say so. */
  private List<StoreResult> few() {
    return clean().filter(result -> result.states() < ENOUGH_STATES).toList();
  }

  private Stream<StoreResult> clean() {
    return results.stream().filter(result -> result.store().mustBeClean());
  }

  private long allStates() {
    return results.stream().mapToLong(StoreResult::states).sum();
  }

  private double seconds() {
    return results.stream().mapToDouble(StoreResult::seconds).sum();
  }

  private List<FaultLine> faults() {
    return results.stream().flatMap(result -> result.faults().stream()).toList();
  }

  private List<ForceLine> forces() {
    return results.stream().flatMap(result -> Stream.ofNullable(result.forces())).toList();
  }

  private long faultStates() {
    return faults().stream().mapToLong(line -> line.outcome().states()).sum();
  }

  private long faultFindings() {
    return faults().stream().filter(FaultLine::isFinding).count();
  }

  private long forcesNeeded() {
    return forces().stream().mapToLong(ForceLine::needed).sum();
  }

  private long forcePlaces() {
    return forces().stream().mapToLong(ForceLine::places).sum();
  }

  private long processDeaths() {
    return rows().stream().mapToLong(Row::deaths).sum();
  }

  /** The command that finds something of a store again. */
  private String again(Example store) {
    return "./revenant chaos --examples --store %s --states %d --seed %d"
        .formatted(store, states, seed);
  }

  String text() {
    StringBuilder text = new StringBuilder();
    for (Finding finding : Finding.KNOWN) {
      if (isOf(finding) && isFound(finding)) {
        line(text, finding.isRequired() ? "found:     " : "expected:  ", finding.text());
        line(text, "           ", again(finding.store()));
      } else if (isOf(finding) && finding.isRequired()) {
        line(text, "NOT FOUND: ", finding.text());
      }
    }
    unexplained().forEach(one -> line(text, "new:       ", one));
    falseAlarms().forEach(one -> line(text, "FALSE:     ", one));
    for (StoreResult result : few()) {
      line(
          text,
          "warning:   ",
          "%s: %d states are too few to call it clean, %d are enough"
              .formatted(result.store().title(), result.states(), ENOUGH_STATES));
    }
    text.append(
        "%d of %d known findings, %d false alarms, %d states, %d of %d controls equal%s"
            .formatted(
                found().size(),
                known().size(),
                falseAlarms().size(),
                allStates(),
                controlsEqual(),
                controlsTried(),
                unmeasured() == 0 ? "" : ", " + unmeasured() + " parts not measured"));
    if (!forces().isEmpty()) {
      text.append(System.lineSeparator())
          .append(
              "faults: %d kinds in %d stores, %d states, %d with findings; forces: %d of %d places needed"
                  .formatted(
                      faults().stream().map(FaultLine::fault).distinct().count(),
                      forces().size(),
                      faultStates(),
                      faultFindings(),
                      forcesNeeded(),
                      forcePlaces()));
    }
    return text.toString();
  }

  private static void line(StringBuilder text, String head, String line) {
    text.append(head).append(line).append(System.lineSeparator());
  }

  JsonReport json() {
    JsonReport report = new JsonReport();
    report
        .number("known_found", count(found(), Finding.Rank.FIRST))
        .number("known_findings", count(known(), Finding.Rank.FIRST))
        .number("known_found_beyond", count(found(), Finding.Rank.BEYOND))
        .number("known_findings_beyond", count(known(), Finding.Rank.BEYOND))
        .number("false_alarms", falseAlarms().size())
        .number("new_findings", unexplained().size())
        .number("not_measured", unmeasured())
        .number("controls_equal", controlsEqual())
        .number("controls_tried", controlsTried());
    if (controlsTried() > 0) {
      report.number("control_equal_share", (double) controlsEqual() / controlsTried());
    }
    for (StoreResult result : results) {
      if (result.store() == Example.REVENANT) {
        report.number("states", result.states()).number("states_failed", result.failedChecks());
      }
      if (result.store() == SMALL) {
        report
            .number("any_states_per_second", result.statesPerSecond())
            .detail("any_small_store", result.store().title());
      }
    }
    report
        .number("states_of_all", allStates())
        .number("states_per_second_of_all", seconds() == 0 ? 0 : allStates() / seconds())
        .number("process_deaths", processDeaths());
    clean()
        .mapToLong(StoreResult::states)
        .min()
        .ifPresent(least -> report.number("clean_states_least", least));
    overhead().ifPresent(times -> report.number("any_overhead", times));
    if (!forces().isEmpty()) {
      report
          .number("fault_states", faultStates())
          .number("fault_findings", faultFindings())
          .number("force_places", forcePlaces())
          .number("force_places_needed", forcesNeeded())
          .detail("faults", faults().stream().map(FaultLine::json).toList())
          .detail("forces", forces().stream().map(ForceLine::json).toList());
    }
    if (!untimed().isEmpty()) {
      report.detail("overheads_not_measured", untimed());
    }
    return report
        .detail("overheads", overheads())
        .detail(
            "findings",
            Finding.KNOWN.stream()
                .filter(this::isOf)
                .filter(this::isFound)
                .map(this::json)
                .toList())
        .detail("missed", missed().stream().map(Finding::text).toList())
        .detail("new", unexplained())
        .detail("alarms", falseAlarms())
        .detail("too_few_states", few().stream().map(result -> result.store().title()).toList())
        .detail("stores", results.stream().map(StoreResult::json).toList())
        .detail("parts", rows().stream().map(Row::json).toList());
  }

  private Map<String, Object> json(Finding finding) {
    Map<String, Object> fields = new LinkedHashMap<>(finding.store().json());
    fields.put("what", finding.what());
    fields.put("judgement", finding.judgement().text());
    fields.put("required", finding.isRequired());
    fields.put("again", again(finding.store()));
    fields.put(
        "files",
        finding
            .in(rows())
            .map(Failure::file)
            .filter(file -> file != null)
            .distinct()
            .map(String::valueOf)
            .toList());
    return fields;
  }
}
