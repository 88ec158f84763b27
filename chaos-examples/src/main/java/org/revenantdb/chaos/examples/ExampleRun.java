package org.revenantdb.chaos.examples;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.hooks.AnyRun;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.run.PowerCutOptions;
import org.revenantdb.chaos.run.Recording;
import org.revenantdb.chaos.subject.FaultKind;
import org.revenantdb.chaos.subject.Verdict;

/**
 * Records a store once, and crashes it in all parts.
 *
 * <p>Threads: one. Failure: what cannot be measured is an outcome with a reason.
 */
final class ExampleRun {
  private static final int LIVES = 2;
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final int LEAST_OF_A_FAULT = 20;
  private static final int SHARE_OF_A_FAULT = 25;
  private static final int WORKERS = Runtime.getRuntime().availableProcessors();

  private final Example store;
  private final long seed;
  private final int states;
  private final @Nullable Duration budget;
  private final @Nullable Path keep;
  private final boolean isTimed;
  private final int faultLives;
  private final List<FaultLine> faults = new ArrayList<>();
  private final List<ForceLine> forces = new ArrayList<>();
  private int controls;
  private boolean recorded;
  private String seen = "";
  private AnyRun.@Nullable Durations durations;
  private String untimed = "";

  /**
   * Prepares a run.
   *
   * @param states of each part, at most
   * @param budget of each part; null: until all states are there
   * @param keep directory for the files of failures; null: none
   * @param isTimed whether the slow-down of the work by recording is measured
   * @param faultLives the number of lives with each kind of fault; 0: nothing fails, and no force
   *     is removed
   */
  ExampleRun(
      Example store,
      long seed,
      int states,
      @Nullable Duration budget,
      @Nullable Path keep,
      boolean isTimed,
      int faultLives) {
    this.store = store;
    this.seed = seed;
    this.states = states;
    this.budget = budget;
    this.keep = keep;
    this.isTimed = isTimed;
    this.faultLives = faultLives;
  }

  /**
   * Runs all parts.
   *
   * @param scratch an existing directory
   * @param told receives each row as soon as it is there
   * @param struck receives the result of each kind of fault as soon as it is there
   */
  List<Row> run(Path scratch, Consumer<Row> told, Consumer<FaultLine> struck) {
    List<Row> rows = new ArrayList<>();
    try {
      run(scratch, rows, told, struck);
    } catch (IOException failure) {
      Part part = rows.isEmpty() ? Part.DEATH : rows.getLast().part();
      Outcome broken =
          Outcome.of(store.title(), Verdict.HARNESS_BROKEN, String.valueOf(failure.getMessage()));
      Row row = new Row(store, part, broken, 0);
      rows.add(row);
      told.accept(row);
    }
    return rows;
  }

  private void run(Path scratch, List<Row> rows, Consumer<Row> told, Consumer<FaultLine> struck)
      throws IOException {
    try (AnyRun run = new AnyRun(store.subject(), seed, LIVES, LIMIT, Example.FLAGS, scratch)) {
      Recording recording = run.recording();
      recorded = recording.usable();
      controls = run.controls();
      seen = run.seen();
      for (Part part : Part.values()) {
        long begun = System.nanoTime();
        Outcome outcome = run.run(part.crash(), options(part));
        Row row = new Row(store, part, outcome, (System.nanoTime() - begun) / 1e9);
        rows.add(row);
        told.accept(row);
        if (!recorded) {
          break; // the others would say the same
        }
      }
      if (recorded && faultLives > 0) {
        fail(run, struck);
        forces.add(ForceLine.of(store, run.forces(WORKERS)));
      }
      if (recorded && isTimed) {
        durations = durations(run);
      }
    }
  }

  /** What the store does if its operations fail. A part of the states of a power cut each. */
  private void fail(AnyRun run, Consumer<FaultLine> struck) throws IOException {
    PowerCutOptions options =
        options(Part.ORDERED).withStates(Math.max(LEAST_OF_A_FAULT, states / SHARE_OF_A_FAULT));
    for (FaultKind kind : FaultKind.values()) {
      StringBuilder how = new StringBuilder();
      Outcome outcome = run.faults(kind, faultLives, options, how::append);
      FaultLine line = new FaultLine(store, kind.title(), outcome, how.toString());
      faults.add(line);
      struck.accept(line);
    }
  }

  /** What became of the store for each kind of fault. */
  List<FaultLine> faults() {
    return List.copyOf(faults);
  }

  /** Which forces are needed; empty if none were removed. */
  List<ForceLine> forces() {
    return List.copyOf(forces);
  }

  /** The parts are measured already, so a failure here takes only this figure away. */
  private AnyRun.@Nullable Durations durations(AnyRun run) {
    try {
      return run.durations();
    } catch (IOException failure) {
      untimed = String.valueOf(failure.getMessage());
      return null;
    }
  }

  private PowerCutOptions options(Part part) {
    PowerCutOptions options =
        PowerCutOptions.of(part.profile(), seed).withStates(states).withKeep(keep);
    return budget == null ? options : options.withBudget(budget);
  }

  /** The moments at which the trace was compared with the directory, and was equal. */
  int controls() {
    return controls;
  }

  /** How long the work takes; null if that was not measured. */
  AnyRun.@Nullable Durations durations() {
    return durations;
  }

  /** Why {@link #durations} could not be measured; empty if they were, or if nobody asked. */
  String untimed() {
    return untimed;
  }

  /** What was recorded, in a sentence. */
  String seen() {
    return seen;
  }
}
