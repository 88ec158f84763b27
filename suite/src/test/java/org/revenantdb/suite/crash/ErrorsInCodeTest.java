package org.revenantdb.suite.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.revenantdb.chaos.inject.Target;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.run.ErrorFaults;
import org.revenantdb.chaos.run.FaultCase;
import org.revenantdb.chaos.run.FaultRow;
import org.revenantdb.chaos.run.FaultRun;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.run.PowerCutOptions;
import org.revenantdb.chaos.subject.FaultKind;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.engine.Database;

/**
 * RevenantDB with an {@link OutOfMemoryError} or several of them somewhere in its code. Nothing
 * acknowledged is lost, no latch stays held, no thread dies in silence, and {@code close} returns.
 *
 * <p>{@code revenant.errors.seed} repeats a seed, {@code revenant.errors.lives} sets the lives of
 * each kind of error, {@code revenant.errors.subject} names another subject, and {@code
 * revenant.chaos.error} repeats one life.
 */
class ErrorsInCodeTest {

  private static final boolean LONG = Boolean.getBoolean("revenant.long");
  private static final String SUBJECT =
      System.getProperty("revenant.errors.subject", ShortSubject.class.getName());
  private static final int LIVES = Integer.getInteger("revenant.errors.lives", LONG ? 1_000 : 4);

  /** The usual build repeats the same lives; the long form looks for new ones. */
  private static final long SEED =
      Long.getLong("revenant.errors.seed", LONG ? System.nanoTime() : 20_261_128);

  /**
   * No calls: the engine reserves stack before it takes a latch, so they do not overflow where an
   * injector would throw. {@code StarvedTest} has stacks that end.
   */
  private static final List<FaultKind> KINDS =
      List.of(FaultKind.ALLOCATION_FAILS, FaultKind.HEAP_FULL);

  /** The debug mode of the latches does not survive errors: it is no part of the engine. */
  private static final List<String> CODE =
      List.of(
          "org.revenantdb.engine.",
          "org.revenantdb.latch.",
          "org.revenantdb.gc.",
          "org.revenantdb.recovery.",
          "!org.revenantdb.latch.LatchDebug",
          "!org.revenantdb.latch.HoldRegistry",
          "!org.revenantdb.latch.ObservedOrder",
          "!org.revenantdb.latch.TrackedLatch",
          "!org.revenantdb.latch.Place");

  private static PowerCutOptions options() {
    return PowerCutOptions.of(PlatformProfile.EXT4_ORDERED, SEED)
        .withStates(2)
        .withWorkers(1)
        .withLimit(Duration.ofMinutes(2))
        .withKeep(Path.of("target", "chaos"));
  }

  private static void run(Class<? extends RevenantSubject> subject) throws IOException {
    ErrorFaults<Database> errors = new ErrorFaults<>(subject, CODE, options());
    String one = System.getProperty(ErrorFaults.ERROR);
    List<FaultCase> cases = new ArrayList<>();
    if (one == null) {
      for (FaultKind kind : KINDS) {
        cases.addAll(errors.cases(kind, LIVES));
      }
      assertEquals(KINDS.size() * LIVES, cases.size(), errors::seen);
    } else {
      cases.add(ErrorFaults.of(Target.parse(one)));
    }
    FaultRun<Database> run = errors.run(cases);
    Outcome outcome = run.run();
    int struck = run.rows().stream().mapToInt(FaultRow::struck).sum();
    System.out.println(
        "errors in the code of %s, seed %d: %s, struck %d of %d, %s"
            .formatted(
                subject.getSimpleName(), SEED, run.rows(), struck, cases.size(), errors.seen()));
    assertEquals(
        Verdict.SURVIVED,
        outcome.verdict(),
        () -> "-Drevenant.errors.seed=" + SEED + "\n" + outcome.failures());
    assertTrue(struck > cases.size() / 2, () -> struck + " of " + cases.size());
  }

  @Test
  void an_error_anywhere_in_the_code_loses_nothing_and_blocks_nobody() throws Exception {
    run(Class.forName(SUBJECT).asSubclass(RevenantSubject.class));
  }

  /** The boxed LSN of a table's creation: callers waited for ever for a change that never ended. */
  @Test
  void an_allocation_that_fails_at_the_end_of_a_change_of_tables_leaves_nobody_waiting()
      throws IOException {
    Target end =
        Target.allocation(1)
            .in("org.revenantdb.engine.catalog.Catalog$Announcement.end")
            .errors(Target.MOST_ERRORS);
    FaultRun<Database> run =
        new ErrorFaults<Database>(ShortSubject.class, CODE, options())
            .run(List.of(ErrorFaults.of(end), ErrorFaults.of(Target.allocation(1_000))));
    Outcome outcome = run.run();
    assertEquals(Verdict.SURVIVED, outcome.verdict(), () -> String.valueOf(outcome.failures()));
    assertEquals(0, run.rows().getFirst().struck(), "the end allocates nothing");
  }
}
