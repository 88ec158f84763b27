package org.revenantdb.suite.fuzz;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.revenantdb.chaos.report.JsonReport;

/**
 * Counts the outcomes of the variants, and keeps one example of each kind of fault.
 *
 * <p>Threads: any; each method is atomic.
 */
public final class FuzzTally {

  /** A fault, how often it was found, and its first variant. */
  private static final class Sort {
    private final Outcome outcome;
    private final String example;
    private final String detail;
    private long count;

    Sort(Outcome outcome, String example, String detail) {
      this.outcome = outcome;
      this.example = example;
      this.detail = detail;
    }
  }

  private final Map<String, Map<Outcome, Long>> kinds = new TreeMap<>();
  private final Map<Outcome, Long> outcomes = new EnumMap<>(Outcome.class);
  private final Map<String, Sort> sorts = new LinkedHashMap<>();
  private long variants;

  /** Creates an empty one. */
  public FuzzTally() {}

  synchronized void count(String kind, Outcome outcome) {
    variants++;
    outcomes.merge(outcome, 1L, Long::sum);
    kinds.computeIfAbsent(kind, any -> new EnumMap<>(Outcome.class)).merge(outcome, 1L, Long::sum);
  }

  synchronized void found(Finding finding, String variant) {
    Sort sort =
        sorts.computeIfAbsent(
            finding.signature(), any -> new Sort(finding.outcome(), variant, finding.detail()));
    sort.count++;
  }

  /**
   * Returns how many variants there were.
   *
   * @return a count
   */
  public synchronized long variants() {
    return variants;
  }

  /**
   * Returns whether there was no fault.
   *
   * @return true if there was none
   */
  public synchronized boolean isSound() {
    return sorts.isEmpty() && outcomes.keySet().stream().noneMatch(Outcome::isFault);
  }

  synchronized long of(Outcome outcome) {
    return outcomes.getOrDefault(outcome, 0L);
  }

  /**
   * Returns how many variants had a fault.
   *
   * @return a count
   */
  public synchronized long faults() {
    return outcomes.entrySet().stream()
        .filter(entry -> entry.getKey().isFault())
        .mapToLong(Map.Entry::getValue)
        .sum();
  }

  /**
   * Returns the results for each kind of damage.
   *
   * @return lines of a table
   */
  public synchronized String table() {
    StringBuilder text = new StringBuilder();
    text.append(
        String.format(
            Locale.ROOT,
            "%-18s %9s %9s %9s %9s %9s %6s%n",
            "damage",
            "right",
            "earlier",
            "refused",
            "told",
            "forged",
            "fault"));
    kinds.forEach((kind, counts) -> text.append(line(kind, counts)));
    text.append(line("all", outcomes));
    return text.toString();
  }

  private static String line(String kind, Map<Outcome, Long> counts) {
    long faults =
        counts.entrySet().stream()
            .filter(entry -> entry.getKey().isFault())
            .mapToLong(Map.Entry::getValue)
            .sum();
    return String.format(
        Locale.ROOT,
        "%-18s %,9d %,9d %,9d %,9d %,9d %,6d%n",
        kind,
        counts.getOrDefault(Outcome.RIGHT, 0L),
        counts.getOrDefault(Outcome.EARLIER, 0L),
        counts.getOrDefault(Outcome.REFUSED, 0L),
        counts.getOrDefault(Outcome.TOLD, 0L),
        counts.getOrDefault(Outcome.FORGED, 0L),
        faults);
  }

  /**
   * Returns the faults, the most frequent first.
   *
   * @param command a command to which a case is appended to repeat it
   * @param details the number of lines of each fault's detail
   * @return lines of text
   */
  public synchronized String findings(String command, int details) {
    StringBuilder text = new StringBuilder();
    sorts.entrySet().stream()
        .sorted(Comparator.<Map.Entry<String, Sort>>comparingLong(entry -> -entry.getValue().count))
        .forEach(entry -> {
          Sort sort = entry.getValue();
          text.append("%n%,d x %s%n".formatted(sort.count, entry.getKey()));
          text.append("  %s --case '%s'%n".formatted(command, sort.example));
          sort.detail
              .lines()
              .limit(details)
              .forEach(line -> text.append("    ").append(line).append('\n'));
        });
    return text.toString();
  }

  /**
   * Adds the figures to a report.
   *
   * @param report receives them
   * @return the report
   */
  public synchronized JsonReport fill(JsonReport report) {
    report.number("variants", variants);
    for (Outcome outcome : Outcome.values()) {
      if (outcome.isFault()) {
        report.number(outcome.text(), of(outcome));
      }
    }
    Map<String, Object> byKind = new LinkedHashMap<>();
    kinds.forEach((kind, counts) -> {
      Map<String, Object> line = new LinkedHashMap<>();
      counts.forEach((outcome, count) -> line.put(outcome.text(), count));
      byKind.put(kind, line);
    });
    report.detail("by_damage", byKind);
    List<Map<String, Object>> findings = new ArrayList<>();
    sorts.forEach((signature, sort) -> {
      Map<String, Object> finding = new LinkedHashMap<>();
      finding.put("signature", signature);
      finding.put("count", sort.count);
      finding.put("outcome", sort.outcome.text());
      finding.put("case", sort.example);
      findings.add(finding);
    });
    return report.detail("findings", findings);
  }
}
