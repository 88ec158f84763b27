package org.revenantdb.latch;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import org.jetbrains.kotlinx.lincheck.Actor;
import org.jetbrains.kotlinx.lincheck.execution.ExecutionScenario;
import org.jetbrains.lincheck.LincheckAssertionError;
import org.jetbrains.lincheck.datastructures.ManagedStrategyGuaranteeKt;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Options;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.function.Executable;

/**
 * Lincheck with bounds that fit into the build, and with the inverse result for broken twins.
 *
 * <p>A model is a class with operations. Lincheck generates scenarios of a few threads with a few
 * operations each, and runs each scenario many times. It accepts results that some sequential order
 * of the operations would also give. A scenario in which no thread can continue is a failure, and
 * so is a validation that throws.
 *
 * <p>The model checker itself decides at each access to a field which thread runs next. It replaces
 * {@code System.nanoTime()} by a constant where our code calls it, but not where a lot reads the
 * clock through a reference to that method. So a timeout of the latch has always expired when its
 * waiter has been queued, and the waiter gives up then. A timed park ends only by an unpark. Stress
 * mode leaves the order to the machine, and time to the clock.
 *
 * <p>It looks only into classes of objects that it reaches from the model's fields. A lot that was
 * reached only through a static field of the latch ran unobserved, and its bucket lock was taken
 * for a thread that hangs. So models have the lot in a field.
 *
 * <p>With {@code -Plong} there are six times as many scenarios, and each is run at least twenty
 * times as often.
 */
final class Lincheck {
  private static final boolean LONG = Boolean.getBoolean("revenant.long");
  private static final int TIMES = LONG ? 20 : 1;

  /** A model that holds is run less often than a twin is hunted: it is never ended by a finding. */
  private static final int CHECKS = LONG ? 6_000 : 100;

  private static final int SCENARIOS_OF_A_HUNT = 6;

  private Lincheck() {}

  /** Random scenarios, schedules chosen by Lincheck. */
  static void modelChecks(Class<?> model, int threads, int operations) {
    checking(threads, operations).invocationsPerIteration(CHECKS).check(model);
  }

  /** As {@link #modelChecks}, for a twin: the first scenario in which it breaks is the last one. */
  static void modelHunts(Class<?> twin, int threads, int operations) {
    checking(threads, operations).iterations(SCENARIOS_OF_A_HUNT).check(twin);
  }

  /** Random scenarios, schedules of the machine. */
  static void survivesStress(Class<?> model, int threads, int operations) {
    bounded(new StressOptions(), threads, operations)
        .invocationsPerIteration(250 * TIMES)
        .check(model);
  }

  /**
   * A scenario of one operation a thread, schedules chosen by Lincheck.
   *
   * @param inOrder what the operations do one after the other: usually the model itself
   */
  static void modelChecksTogether(Class<?> model, Class<?> inOrder, String... operations) {
    checking(operations.length, 1)
        .iterations(0)
        .sequentialSpecification(inOrder)
        .addCustomScenario(together(model, operations))
        .invocationsPerIteration(400 * TIMES)
        .check(model);
  }

  /**
   * Expects that Lincheck rejects a twin, and for the right reason.
   *
   * <p>Lincheck runs the schedule once more, to report it. If the real clock has made a difference,
   * it reports that, with both reports in its message.
   *
   * @param reason a word of its report
   */
  static void rejects(String reason, Executable check) {
    Throwable report =
        assertThrows(Throwable.class, check, "the broken twin was not seen to break");
    assertTrue(
        report instanceof LincheckAssertionError || report instanceof IllegalStateException,
        report::toString);
    assertTrue(String.valueOf(report.getMessage()).contains(reason), report::getMessage);
  }

  private static ModelCheckingOptions checking(int threads, int operations) {
    return bounded(new ModelCheckingOptions(), threads, operations)
        .invocationsPerIteration(300 * TIMES)
        .addGuarantee(
            // It calls itself 64 times and touches nothing; Lincheck would look into each.
            ManagedStrategyGuaranteeKt.forClasses(ParkingLot.class.getName())
                .methods("reserveStack")
                .ignore());
  }

  private static <T extends Options<T, ?>> T bounded(T options, int threads, int operations) {
    return options
        .threads(threads)
        .actorsPerThread(operations)
        .actorsBefore(0)
        .actorsAfter(0)
        .iterations(LONG ? 6 : 1)
        .minimizeFailedScenario(false);
  }

  private static ExecutionScenario together(Class<?> model, String... operations) {
    List<List<Actor>> threads = new ArrayList<>();
    for (String operation : operations) {
      threads.add(List.of(new Actor(method(model, operation), List.of())));
    }
    return new ExecutionScenario(List.of(), threads, List.of(), null);
  }

  private static Method method(Class<?> model, String name) {
    try {
      return model.getMethod(name);
    } catch (NoSuchMethodException e) {
      throw new AssertionError(e);
    }
  }
}
