package org.revenantdb.chaos.examples;

import java.util.List;
import org.revenantdb.chaos.report.JsonReport;

/** The figures of a run over several stores. */
record Figures(
    List<Row> rows,
    List<Finding> known,
    List<Finding> found,
    long falseAlarms,
    long controls,
    long unmeasured) {

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
        rows.stream().filter(row -> !row.isMeasured()).count());
  }

  boolean isGood() {
    return falseAlarms == 0 && unmeasured == 0 && found.size() == known.size();
  }

  private long states() {
    return rows.stream().mapToLong(row -> row.outcome().states()).sum();
  }

  private double seconds() {
    return rows.stream().mapToDouble(Row::seconds).sum();
  }

  String text() {
    StringBuilder text = new StringBuilder();
    for (Finding finding : known) {
      text.append(found.contains(finding) ? "found:     " : "NOT FOUND: ")
          .append(finding.text())
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
                unmeasured == 0 ? "" : ", " + unmeasured + " stores not measured"));
    return text.toString();
  }

  JsonReport json() {
    return new JsonReport()
        .number("known_found", found.size())
        .number("known_findings", known.size())
        .number("false_alarms", falseAlarms)
        .number("states", states())
        .number("any_states_per_second", seconds() == 0 ? 0 : states() / seconds())
        .number("controls_equal", controls)
        .number("not_measured", unmeasured)
        .detail("parts", rows.stream().map(Row::json).toList())
        .detail(
            "missed",
            known.stream().filter(one -> !found.contains(one)).map(Finding::text).toList());
  }
}
