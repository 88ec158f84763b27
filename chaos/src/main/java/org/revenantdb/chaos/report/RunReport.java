package org.revenantdb.chaos.report;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.run.CoverageRow;
import org.revenantdb.chaos.run.FaultRow;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.subject.Verdict;

/**
 * All that a run has to say: what {@link HtmlReport}, {@link ConsoleSummary} and {@link RunJson}
 * show. A part that is empty was not measured and is left out there.
 *
 * {@snippet :
 * RunReport report =
 *     RunReport.builder("crash test of MyStore", seed)
 *         .command("chaos --seed 7").ran(started, duration)
 *         .part(outcome)
 *         .build();
 * HtmlReport.of(report).writeTo(Path.of("report.html"));
 * }
 *
 * @param title what was tested
 * @param seed that repeats it
 * @param command that repeats it; empty if there is none
 * @param started when
 * @param duration how long it took
 * @param surroundings where
 * @param statesPerSecond how many distinct crash states were opened and checked in a second of the
 *     time that was spent on just that: in the parts that cut power, by all threads together; 0 if
 *     that was not measured
 * @param parts what each came to
 * @param deaths of processes, each with the seeds of its lives
 * @param teeth subjects broken on purpose
 * @param coverage places that force
 * @param faults what was injected
 * @param costBySize recoveries with transactions of growing size in flight
 * @param costByLog recoveries with growing log since the checkpoint
 * @param bound what {@code costByLog} is to stay below, or null if nothing is declared
 * @param sizes how large the log was
 * @param kills around kills
 */
public record RunReport(
    String title,
    long seed,
    String command,
    Instant started,
    Duration duration,
    Surroundings surroundings,
    double statesPerSecond,
    List<Outcome> parts,
    List<DeathLine> deaths,
    List<ToothLine> teeth,
    List<CoverageRow> coverage,
    List<FaultRow> faults,
    List<RecoveryCostPoint> costBySize,
    List<RecoveryCostPoint> costByLog,
    @Nullable RecoveryBound bound,
    List<SizeSeries> sizes,
    List<KillTimeline> kills) {

  /** Copies the lists. */
  public RunReport {
    parts = List.copyOf(parts);
    deaths = List.copyOf(deaths);
    teeth = List.copyOf(teeth);
    coverage = List.copyOf(coverage);
    faults = List.copyOf(faults);
    costBySize = List.copyOf(costBySize);
    costByLog = List.copyOf(costByLog);
    sizes = List.copyOf(sizes);
    kills = List.copyOf(kills);
  }

  /**
   * The worst of all parts. Without parts nothing was measured; with a tooth that did not bite the
   * rest is not to be believed.
   *
   * @return the verdict
   */
  public Verdict verdict() {
    Verdict worst =
        parts.stream().map(Outcome::verdict).reduce(Verdict::worse).orElse(Verdict.NOT_MEASURED);
    boolean bites = teeth.stream().allMatch(ToothLine::found);
    return bites ? worst : worst.worse(Verdict.HARNESS_BROKEN);
  }

  /**
   * Begins a report.
   *
   * @param title what was tested
   * @param seed that repeats it
   * @return a builder, with everything else empty
   */
  public static Builder builder(String title, long seed) {
    return new Builder(title, seed);
  }

  /**
   * A report in the making.
   *
   * <p>Threads: one.
   */
  public static final class Builder {

    private final String title;
    private final long seed;
    private String command = "";
    private Instant started = Instant.now();
    private Duration duration = Duration.ZERO;
    private @Nullable Surroundings surroundings;
    private double statesPerSecond;
    private final List<Outcome> parts = new ArrayList<>();
    private final List<DeathLine> deaths = new ArrayList<>();
    private final List<ToothLine> teeth = new ArrayList<>();
    private final List<CoverageRow> coverage = new ArrayList<>();
    private final List<FaultRow> faults = new ArrayList<>();
    private final List<RecoveryCostPoint> costBySize = new ArrayList<>();
    private final List<RecoveryCostPoint> costByLog = new ArrayList<>();
    private @Nullable RecoveryBound bound;
    private final List<SizeSeries> sizes = new ArrayList<>();
    private final List<KillTimeline> kills = new ArrayList<>();

    private Builder(String title, long seed) {
      this.title = title;
      this.seed = seed;
    }

    /**
     * Sets the command that repeats the run.
     *
     * @param line as typed
     * @return this
     */
    public Builder command(String line) {
      command = line;
      return this;
    }

    /**
     * Sets when it ran.
     *
     * @param begin its beginning
     * @param length how long it took
     * @return this
     */
    public Builder ran(Instant begin, Duration length) {
      started = begin;
      duration = length;
      return this;
    }

    /**
     * Sets where it ran; else {@link Surroundings#here()}.
     *
     * @param where the surroundings
     * @return this
     */
    public Builder surroundings(Surroundings where) {
      surroundings = where;
      return this;
    }

    /**
     * Sets how fast states were opened and checked.
     *
     * @param rate of distinct states, in the time that was spent on them alone
     * @return this
     */
    public Builder statesPerSecond(double rate) {
      statesPerSecond = rate;
      return this;
    }

    /**
     * Adds a part.
     *
     * @param outcome what it came to
     * @return this
     */
    public Builder part(Outcome outcome) {
      parts.add(outcome);
      return this;
    }

    /**
     * Adds a death.
     *
     * @param line one
     * @return this
     */
    public Builder death(DeathLine line) {
      deaths.add(line);
      return this;
    }

    /**
     * Adds a subject broken on purpose.
     *
     * @param line one
     * @return this
     */
    public Builder tooth(ToothLine line) {
      teeth.add(line);
      return this;
    }

    /**
     * Adds a place that forces.
     *
     * @param line one
     * @return this
     */
    public Builder coverage(CoverageRow line) {
      coverage.add(line);
      return this;
    }

    /**
     * Adds a fault.
     *
     * @param line one
     * @return this
     */
    public Builder fault(FaultRow line) {
      faults.add(line);
      return this;
    }

    /**
     * Adds a recovery after a transaction of some size was in flight.
     *
     * @param point one
     * @return this
     */
    public Builder costBySize(RecoveryCostPoint point) {
      costBySize.add(point);
      return this;
    }

    /**
     * Adds a recovery with some log since the checkpoint.
     *
     * @param point one
     * @return this
     */
    public Builder costByLog(RecoveryCostPoint point) {
      costByLog.add(point);
      return this;
    }

    /**
     * Declares what the recoveries of {@link #costByLog} stay below.
     *
     * @param line the bound
     * @return this
     */
    public Builder bound(RecoveryBound line) {
      bound = line;
      return this;
    }

    /**
     * Adds a curve of sizes.
     *
     * @param series one
     * @return this
     */
    public Builder sizes(SizeSeries series) {
      sizes.add(series);
      return this;
    }

    /**
     * Adds the story of a kill.
     *
     * @param timeline one
     * @return this
     */
    public Builder kill(KillTimeline timeline) {
      kills.add(timeline);
      return this;
    }

    /**
     * Ends it.
     *
     * @return the report
     */
    public RunReport build() {
      return new RunReport(
          title,
          seed,
          command,
          started,
          duration,
          surroundings == null ? Surroundings.here() : surroundings,
          statesPerSecond,
          parts,
          deaths,
          teeth,
          coverage,
          faults,
          costBySize,
          costByLog,
          bound,
          sizes,
          kills);
    }
  }
}
