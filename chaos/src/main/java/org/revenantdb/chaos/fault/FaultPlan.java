package org.revenantdb.chaos.fault;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.stream.Collectors;

/**
 * Rules that decide which operations fail, and how. If several rules match an operation, the first
 * one decides; all of them count it.
 *
 * <p>Threads: any. Operations are counted in the order of the calls. A plan counts once: make a new
 * one for the next run.
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
   * @param rules the first one that matches decides
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
   * Returns how often a fault was injected. A plan that never injected one has tested nothing.
   *
   * @return the number of faults returned, including those that make no sense for their operation
   */
  public long struck() {
    return struck.get();
  }

  /**
   * Returns how many operations matched a rule, whether it injected a fault there or not. A rule
   * with {@link Fault#NONE} counts the operations where a fault is possible.
   *
   * @param rule its index, from 0
   * @return the number so far
   */
  public long matched(int rule) {
    return matched.get(rule);
  }

  /**
   * Returns the rules in words.
   *
   * @return one rule after the other
   */
  public String description() {
    return rules.stream().map(FaultRule::toString).collect(Collectors.joining("; "));
  }

  @Override
  public String toString() {
    return description();
  }
}
