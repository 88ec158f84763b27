package org.revenantdb.chaos.power;

import java.util.List;
import java.util.function.Predicate;
import org.revenantdb.chaos.trace.Operation;

/**
 * Which of a trace's possible states are to be built.
 *
 * @param seed of all random choices; equal plans build equal states
 * @param states the maximum number
 * @param exhaustive with this many pending operations or fewer, every subset of them is lost in
 *     turn (2 to this power states at one crash point), as far as {@code states} suffices
 * @param preferred places of promises: the crash points right after them are preferred, and a state
 *     equal to an earlier one is built again if one of them lies between
 * @param dropped forces that are removed, for force coverage
 * @param from the first crash point
 */
public record CrashPlan(
    long seed,
    int states,
    int exhaustive,
    List<Long> preferred,
    Predicate<Operation.Force> dropped,
    long from) {

  /** No force is removed. */
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
   * Returns a plan with every force, no promises, and every subset of up to four pending
   * operations.
   *
   * @param seed of all random choices
   * @param states the maximum number
   * @return the plan
   */
  public static CrashPlan of(long seed, int states) {
    return new CrashPlan(seed, states, EXHAUSTIVE, List.of(), NOTHING_DROPPED, 0);
  }

  /**
   * Returns the plan for a run with promises.
   *
   * @param places the places of the promises
   * @return the plan
   */
  public CrashPlan preferring(List<Long> places) {
    return new CrashPlan(seed, states, exhaustive, places, dropped, from);
  }

  /**
   * Returns the plan without some forces.
   *
   * @param forces those that are removed
   * @return the plan
   */
  public CrashPlan dropping(Predicate<Operation.Force> forces) {
    return new CrashPlan(seed, states, exhaustive, preferred, forces, from);
  }

  /**
   * Returns the plan with more or fewer subsets.
   *
   * @param operations the number of pending operations up to which every subset is built
   * @return the plan
   */
  public CrashPlan exhaustiveTo(int operations) {
    return new CrashPlan(seed, states, operations, preferred, dropped, from);
  }

  /**
   * Returns the plan for the end of a trace.
   *
   * @param place the first crash point
   * @return the plan
   */
  public CrashPlan from(long place) {
    return new CrashPlan(seed, states, exhaustive, preferred, dropped, place);
  }
}
