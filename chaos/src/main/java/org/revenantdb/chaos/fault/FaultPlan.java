package org.revenantdb.chaos.fault;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.stream.Collectors;

/**
 * Rules that say when what goes wrong. If several strike at once, the first one has its way; all of
 * them count the operation.
 *
 * <p>Threads: any. The operations that a rule is for are counted in the order in which the plan is
 * asked. A plan counts once: make a new one for the next run.
 */
public final class FaultPlan implements FaultInjector {

  private final List<FaultRule> rules;
  private final AtomicLongArray matched;
  private final AtomicLong struck = new AtomicLong();

  private FaultPlan(List<FaultRule> rules) {
    this.rules = rules;
    this.matched = new AtomicLongArray(rules.size());
  }

  /**
   * Makes a plan.
   *
   * @param rules the first that strikes has its way
   * @return the plan
   */
  public static FaultPlan of(FaultRule... rules) {
    return new FaultPlan(List.of(rules));
  }

  @Override
  public Fault before(FileOperation operation) {
    Fault fault = Fault.NONE;
    for (int i = 0; i < rules.size(); i++) {
      FaultRule rule = rules.get(i);
      if (rule.matches(operation)
          && rule.strikesAt(matched.incrementAndGet(i))
          && fault instanceof Fault.None) {
        fault = rule.fault();
      }
    }
    if (!(fault instanceof Fault.None)) {
      struck.incrementAndGet();
    }
    return fault;
  }

  /**
   * How often something went wrong; a plan that never struck has tested nothing.
   *
   * @return the number of faults given out, also of those that make no sense for their operation
   */
  public long struck() {
    return struck.get();
  }

  /**
   * How many operations a rule was for, whether it struck at them or not. With a rule of {@link
   * Fault#NONE} this counts how many there are to strike at.
   *
   * @param rule its index, from 0
   * @return the number so far
   */
  public long matched(int rule) {
    return matched.get(rule);
  }

  /**
   * The rules in words.
   *
   * @return one after the other
   */
  public String description() {
    return rules.stream().map(FaultRule::toString).collect(Collectors.joining("; "));
  }

  @Override
  public String toString() {
    return description();
  }
}
