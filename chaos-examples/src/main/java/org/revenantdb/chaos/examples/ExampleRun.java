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
 * Records a store once, and crashes it in all parts, or in some.
 *
 * <p>Threads: one. Failure: what cannot be measured is an outcome with a reason.
 */
final class ExampleRun {
  private static final int LIVES = 2;
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final int LEAST_OF_A_FAULT = 20;
  private static final int SHARE_OF_A_FAULT = 25;

  /** How the reason of an unusable recording begins if the trace and the directory differ. */
  private static final String DIFFERENT = "the trace is not what happened";

  private static final int WORKERS = Runtime.getRuntime().availableProcessors();

  private final Example store;
  private final long seed;
  private final int states;
  private final @Nullable Duration budget;
  private final @Nullable Path keep;
  private final boolean isTimed;
  private final int faultLives;
  private List<Part> parts = List.of(Part.values());
  private final List<FaultLine> faults = new ArrayList<>();
  private @Nullable ForceLine forces;
  private int controlsEqual;
  private int controlsTried;
  private String seen = "";
  private AnyRun.@Nullable Durations durations;
  private String untimed = "its work was not timed";

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

  /** Crashes it in some ways only. */
  ExampleRun only(List<Part> some) {
    parts = List.copyOf(some);
    return this;
  }

  /**
   * Runs the parts.
   *
   * @param scratch an existing directory
   * @param told receives each row as soon as it is there
   * @param struck receives the result of each kind of fault as soon as it is there
   */
  StoreResult run(Path scratch, Consumer<Row> told, Consumer<FaultLine> struck) {
    List<Row> rows = new ArrayList<>();
    try {
      run(scratch, rows, told, struck);
    } catch (IOException failure) {
      Part part = rows.isEmpty() ? parts.getFirst() : rows.getLast().part();
      Outcome broken =
          Outcome.of(store.title(), Verdict.HARNESS_BROKEN, String.valueOf(failure.getMessage()));
      Row row = new Row(store, part, broken, 0);
      rows.add(row);
      told.accept(row);
    }
    return new StoreResult(
        store, rows, seen, controlsEqual, controlsTried, durations, untimed, faults, forces);
  }

  private void run(Path scratch, List<Row> rows, Consumer<Row> told, Consumer<FaultLine> struck)
      throws IOException {
    try (AnyRun run = new AnyRun(store.subject(), seed, LIVES, LIMIT, Example.FLAGS, scratch)) {
      Recording recording = run.recording();
      controlsEqual = run.controls();
      // It ends at the first comparison that fails.
      controlsTried = controlsEqual + (recording.reason().contains(DIFFERENT) ? 1 : 0);
      seen = run.seen();
      for (Part part : parts) {
        long begun = System.nanoTime();
        Outcome outcome = run.run(part.crash(), options(part));
        Row row = new Row(store, part, outcome, (System.nanoTime() - begun) / 1e9);
        rows.add(row);
        told.accept(row);
        if (!recording.usable()) {
          break; // the others would say the same
        }
      }
      if (recording.usable() && faultLives > 0) {
        fail(
            (kind, options, how) -> run.faults(kind, faultLives, options, how),
            FaultKind.values(),
            struck);
        forces = ForceLine.of(store, run.forces(WORKERS));
      }
      if (recording.usable() && isTimed) {
        time(run);
      }
    }
  }

  /** Lets operations of a store fail. */
  interface Striker {
    Outcome strike(FaultKind kind, PowerCutOptions options, Consumer<String> how)
        throws IOException;
  }

  /** What the store does if its operations fail. A part of the states of a power cut each. */
  List<FaultLine> fail(Striker striker, FaultKind[] kinds, Consumer<FaultLine> struck)
      throws IOException {
    PowerCutOptions options =
        options(Part.ORDERED).withStates(Math.max(LEAST_OF_A_FAULT, states / SHARE_OF_A_FAULT));
    for (FaultKind kind : kinds) {
      StringBuilder how = new StringBuilder();
      Outcome outcome = striker.strike(kind, options, how::append);
      FaultLine line = new FaultLine(store, kind.title(), outcome, how.toString());
      faults.add(line);
      struck.accept(line);
    }
    return List.copyOf(faults);
  }

  /** The parts are measured already, so a failure here takes only this figure away. */
  private void time(AnyRun run) {
    try {
      durations = run.durations();
      untimed = "";
    } catch (IOException failure) {
      untimed = String.valueOf(failure.getMessage());
    }
  }

  private PowerCutOptions options(Part part) {
    PowerCutOptions options =
        PowerCutOptions.of(part.profile(), seed).withStates(states).withKeep(keep);
    return budget == null ? options : options.withBudget(budget);
  }
}
