package org.revenantdb.chaos.report;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.function.Function;
import java.util.stream.Stream;
import org.revenantdb.chaos.run.CoverageRow;
import org.revenantdb.chaos.run.FaultRow;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.run.Seen;
import org.revenantdb.chaos.subject.Verdict;

/**
 * The figures of a {@link RunReport} as fields of a {@link JsonReport}.
 *
 * <p>{@code verdict, kills, states, verdicts, seed} are always present. {@code teeth, teeth_total,
 * recovery_ms, states_per_second, force_sites, force_sites_undetected} are present only if there is
 * something to count. {@code states_per_second} is that of {@link RunReport}; {@code
 * force_sites_undetected} also counts places that were tried only briefly. All details are in
 * {@code detail}.
 */
public final class RunJson {

  private RunJson() {}

  /**
   * Sets the fields.
   *
   * @param report the source
   * @param json receives the fields
   * @return {@code json}
   */
  public static JsonReport fill(RunReport report, JsonReport json) {
    RunFigures figures = RunFigures.of(report);
    json.detail("verdict", report.verdict().name())
        .number("kills", figures.kills())
        .number("states", figures.states())
        .detail("verdicts", named(figures.verdicts()))
        .number("seed", report.seed());
    if (!report.teeth().isEmpty()) {
      json.number("teeth", figures.teethFound()).number("teeth_total", report.teeth().size());
    }
    OptionalDouble median = figures.recovery(0.5);
    OptionalDouble longest = figures.recovery(1);
    if (median.isPresent() && longest.isPresent()) {
      Map<String, Object> recovery = new LinkedHashMap<>();
      recovery.put("p50", median.getAsDouble());
      recovery.put("max", longest.getAsDouble());
      json.detail("recovery_ms", recovery);
    }
    figures.statesPerSecond().ifPresent(rate -> json.number("states_per_second", rate));
    if (!report.coverage().isEmpty()) {
      json.number("force_sites", report.coverage().size())
          .number("force_sites_undetected", figures.undetected());
    }
    return json.detail("detail", detail(report));
  }

  private static Map<String, Object> detail(RunReport report) {
    Map<String, Object> detail = new LinkedHashMap<>();
    detail.put("title", report.title());
    if (!report.command().isEmpty()) {
      detail.put("command", report.command());
    }
    detail.put("started", report.started().toString());
    detail.put("seconds", report.duration().toNanos() / 1e9);
    detail.put("machine", report.surroundings().machine());
    detail.put("jdk", report.surroundings().jdk());
    detail.put("commit", report.surroundings().commit());
    put(detail, "parts", report.parts(), RunJson::part);
    put(detail, "deaths", report.deaths(), RunJson::death);
    put(detail, "teeth", report.teeth(), RunJson::tooth);
    put(detail, "force_coverage", report.coverage(), RunJson::coverage);
    put(detail, "faults", report.faults(), RunJson::fault);
    put(detail, "recovery_cost_by_transaction", report.costBySize(), RunJson::cost);
    put(detail, "recovery_cost_by_log", report.costByLog(), RunJson::cost);
    RecoveryBound bound = report.bound();
    if (bound != null) {
      Map<String, Object> line = new LinkedHashMap<>();
      line.put("label", bound.label());
      line.put("fixed_bytes", bound.fixedBytes());
      line.put("per_log_byte", finite(bound.perLogByte()));
      detail.put("recovery_bound", line);
    }
    return detail;
  }

  private static <T> void put(
      Map<String, Object> detail, String name, List<T> all, Function<T, Object> one) {
    if (!all.isEmpty()) {
      detail.put(name, all.stream().map(one).toList());
    }
  }

  private static Object part(Outcome part) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("name", part.name());
    map.put("verdict", part.verdict().name());
    map.put("reason", part.reason());
    map.put("verdicts", named(part.verdicts()));
    map.put("checks", part.checks());
    map.put("states", part.states());
    map.put("kills", part.kills());
    if (!part.seen().equals(Seen.NOTHING)) {
      map.put("seen", seen(part.seen()));
    }
    put(
        map,
        "failures",
        part.failures(),
        failure ->
            Stream.of(
                    Map.entry("verdict", failure.verdict().name()),
                    Map.entry("title", failure.title()),
                    Map.entry("also", failure.also()),
                    Map.entry("seed", failure.seed()),
                    Map.entry("file", failure.file() == null ? "" : failure.file().toString()))
                .collect(
                    LinkedHashMap::new, (m, e) -> m.put(e.getKey(), e.getValue()), Map::putAll));
    return map;
  }

  private static Map<String, Object> seen(Seen seen) {
    Map<String, Object> map = new LinkedHashMap<>(seen.counts());
    map.put("text", seen.text());
    return map;
  }

  private static Object death(DeathLine line) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("seeds", line.seeds());
    map.put("place", line.place());
    map.put("recovery_ms", finite(line.recoveryMillis()));
    return map;
  }

  private static Object tooth(ToothLine line) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("name", line.name());
    map.put("found", line.found());
    map.put("seconds", finite(line.seconds()));
    map.put("states", line.states());
    return map;
  }

  private static Object coverage(CoverageRow line) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("class", line.site().className());
    map.put("method", line.site().method());
    map.put("line", line.site().line());
    map.put("file_kind", line.site().fileKind());
    map.put("forces", line.forces());
    map.put("states", line.states());
    map.put("detected_by", line.detectedBy());
    map.put("thorough", line.thorough());
    return map;
  }

  private static Object fault(FaultRow line) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("name", line.name());
    map.put("lives", line.lives());
    map.put("struck", line.struck());
    map.put("worked", line.worked());
    map.put("refused", line.refused());
    map.put("states", line.states());
    map.put("failed", line.failed());
    return map;
  }

  private static Object cost(RecoveryCostPoint point) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("label", point.label());
    map.put("transaction_bytes", point.transactionBytes());
    map.put("log_since_checkpoint", point.logSinceCheckpoint());
    map.put("bytes_read", point.bytesRead());
    map.put("bytes_written", point.bytesWritten());
    map.put("operations", point.operations());
    map.put("millis", finite(point.millis()));
    return map;
  }

  /** JSON has no number for infinity or NaN. */
  private static Object finite(double value) {
    return Double.isFinite(value) ? (Object) value : "not a number";
  }

  private static Map<String, Object> named(Map<Verdict, Long> verdicts) {
    Map<String, Object> named = new LinkedHashMap<>();
    for (Verdict verdict : Verdict.values()) {
      Long count = verdicts.get(verdict);
      if (count != null) {
        named.put(verdict.name(), count);
      }
    }
    return named;
  }
}
