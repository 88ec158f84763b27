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
 * The results of a run: the content of {@link HtmlReport}, {@link ConsoleSummary} and {@link
 * RunJson}. An empty part was not measured and is left out there.
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
 * @param title the subject of the test
 * @param seed a seed that repeats it
 * @param command a command that repeats it; empty if there is none
 * @param started the start time
 * @param duration the duration
 * @param surroundings the machine
 * @param statesPerSecond distinct crash states opened and checked per second, in the parts that cut
 *     power and by all threads together, counting only the time spent on that; 0 if not measured
 * @param parts the results of the parts
 * @param deaths of processes, each with the seeds of its lives
 * @param teeth subjects broken on purpose
 * @param coverage the places that force
 * @param faults the injected faults
 * @param costBySize recoveries with transactions of growing size in flight
 * @param costByLog recoveries with growing log since the checkpoint
 * @param bound the bound for {@code costByLog}, or null if none is declared
 * @param sizes the size of the log
 * @param kills the events around kills
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
   * Returns the worst verdict of all parts. Without parts nothing was measured. If a broken subject
   * was not found, no other result counts.
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
   * @param title the subject of the test
   * @param seed a seed that repeats it
   * @return a builder, with everything else empty
   */
  public static Builder builder(String title, long seed) {
    return new Builder(title, seed);
  }

  /**
   * A report under construction.
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
     * Sets the time of the run.
     *
     * @param begin the start
     * @param length the duration
     * @return this
     */
    public Builder ran(Instant begin, Duration length) {
      started = begin;
      duration = length;
      return this;
    }

    /**
     * Sets the machine; by default {@link Surroundings#here()}.
     *
     * @param where the surroundings
     * @return this
     */
    public Builder surroundings(Surroundings where) {
      surroundings = where;
      return this;
    }

    /**
     * Sets the rate at which states were opened and checked.
     *
     * @param rate distinct states per second, counting only the time spent on them
     * @return this
     */
    public Builder statesPerSecond(double rate) {
      statesPerSecond = rate;
      return this;
    }

    /**
     * Adds a part.
     *
     * @param outcome its result
     * @return this
     */
    public Builder part(Outcome outcome) {
      parts.add(outcome);
      return this;
    }

    /**
     * Adds a death.
     *
     * @param line the death
     * @return this
     */
    public Builder death(DeathLine line) {
      deaths.add(line);
      return this;
    }

    /**
     * Adds a subject broken on purpose.
     *
     * @param line the subject
     * @return this
     */
    public Builder tooth(ToothLine line) {
      teeth.add(line);
      return this;
    }

    /**
     * Adds a place that forces.
     *
     * @param line the place
     * @return this
     */
    public Builder coverage(CoverageRow line) {
      coverage.add(line);
      return this;
    }

    /**
     * Adds a fault.
     *
     * @param line the fault
     * @return this
     */
    public Builder fault(FaultRow line) {
      faults.add(line);
      return this;
    }

    /**
     * Adds a recovery after a transaction of some size was in flight.
     *
     * @param point the recovery
     * @return this
     */
    public Builder costBySize(RecoveryCostPoint point) {
      costBySize.add(point);
      return this;
    }

    /**
     * Adds a recovery with some log since the checkpoint.
     *
     * @param point the recovery
     * @return this
     */
    public Builder costByLog(RecoveryCostPoint point) {
      costByLog.add(point);
      return this;
    }

    /**
     * Declares a bound for the recoveries of {@link #costByLog}.
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
     * @param series the curve
     * @return this
     */
    public Builder sizes(SizeSeries series) {
      sizes.add(series);
      return this;
    }

    /**
     * Adds the events around a kill.
     *
     * @param timeline the events
     * @return this
     */
    public Builder kill(KillTimeline timeline) {
      kills.add(timeline);
      return this;
    }

    /**
     * Builds the report.
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
