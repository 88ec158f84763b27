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
        .number("new_findings", unexplained().size())
        .detail("parts", rows.stream().map(Row::json).toList())
        .detail(
            "missed",
            known.stream().filter(one -> !found.contains(one)).map(Finding::text).toList());
  }
}
