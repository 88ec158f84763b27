package org.revenantdb.chaos.power;

import java.util.List;
import java.util.function.Predicate;
import org.revenantdb.chaos.trace.Operation;

/**
 * Which of the states that a trace allows are to be built.
 *
 * @param seed of all that is drawn; equal plans build equal states
 * @param states how many at most
 * @param exhaustive with this many pending operations or fewer every subset of them is lost in turn
 *     (so 2 to this power states at one crash point), as far as {@code states} suffices
 * @param preferred places of promises: the crash points right after them are preferred, and a state
 *     equal to an earlier one is built again if one of them lies between
 * @param dropped forces that never happened, for force coverage
 * @param from the first crash point; earlier ones are not of interest
 */
public record CrashPlan(
    long seed,
    int states,
    int exhaustive,
    List<Long> preferred,
    Predicate<Operation.Force> dropped,
    long from) {

  /** All forces happened. */
  public static final Predicate<Operation.Force> NOTHING_DROPPED = force -> false;

  private static final int EXHAUSTIVE = 4;
  private static final int MOST_EXHAUSTIVE = 16;

  /** Copies and sorts the places. */
  public CrashPlan {
    if (states < 0 || exhaustive < 0 || exhaustive > MOST_EXHAUSTIVE) {
      throw new IllegalArgumentException(
          "a plan of " + states + " states, exhaustive to " + exhaustive);
    }
    preferred = preferred.stream().sorted().distinct().toList();
  }

  /**
   * A plan with every force, no promises, and every subset of up to four pending operations.
   *
   * @param seed of all that is drawn
   * @param states how many at most
   * @return the plan
   */
  public static CrashPlan of(long seed, int states) {
    return new CrashPlan(seed, states, EXHAUSTIVE, List.of(), NOTHING_DROPPED, 0);
  }

  /**
   * The same plan for a run with promises.
   *
   * @param places where they were made
   * @return the plan
   */
  public CrashPlan preferring(List<Long> places) {
    return new CrashPlan(seed, states, exhaustive, places, dropped, from);
  }

  /**
   * The same plan without some forces.
   *
   * @param forces those that never happened
   * @return the plan
   */
  public CrashPlan dropping(Predicate<Operation.Force> forces) {
    return new CrashPlan(seed, states, exhaustive, preferred, forces, from);
  }

  /**
   * The same plan with more or fewer subsets.
   *
   * @param operations up to how many pending operations every subset is built
   * @return the plan
   */
  public CrashPlan exhaustiveTo(int operations) {
    return new CrashPlan(seed, states, operations, preferred, dropped, from);
  }

  /**
   * The same plan for the end of a trace.
   *
   * @param place the first crash point
   * @return the plan
   */
  public CrashPlan from(long place) {
    return new CrashPlan(seed, states, exhaustive, preferred, dropped, place);
  }
}
