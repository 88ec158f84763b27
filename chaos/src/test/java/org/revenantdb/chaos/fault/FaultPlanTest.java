package org.revenantdb.chaos.fault;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import org.revenantdb.chaos.fault.FileOperation.Kind;
import org.revenantdb.chaos.trace.CallStack;

/** A plan injects faults where its rules say so, and counts. */
class FaultPlanTest {

  private static final Fault FAIL = new Fault.Fail("Input/output error");

  private static FileOperation operation(Kind kind, String path) {
    return new FileOperation(kind, path, 0, 10, 0, 0, CallStack.UNKNOWN);
  }

  /** The operations, of ten, at which a rule injects its fault. */
  private static List<Integer> strikes(FaultRule rule) {
    FaultPlan plan = FaultPlan.of(rule);
    List<Integer> result = new ArrayList<>();
    for (int i = 1; i <= 10; i++) {
      if (plan.before(operation(Kind.WRITE, "f")).equals(FAIL)) {
        result.add(i);
      }
    }
    assertEquals(result.size(), plan.struck());
    assertEquals(10, plan.matched(0));
    return result;
  }

  @Test
  void nth_strikesOnce() {
    assertEquals(List.of(3), strikes(FaultRule.of(FAIL).nth(3)));
  }

  @Test
  void from_strikesEverAfter() {
    assertEquals(List.of(8, 9, 10), strikes(FaultRule.of(FAIL).from(8)));
  }

  @Test
  void between_strikesFromTheFirstToTheLast() {
    assertEquals(List.of(2, 3, 4), strikes(FaultRule.of(FAIL).between(2, 4)));
    assertThrows(IllegalArgumentException.class, () -> FaultRule.of(FAIL).between(4, 3));
    assertThrows(IllegalArgumentException.class, () -> FaultRule.of(FAIL).nth(0));
  }

  @Test
  void rule_countsOnlyMatchingOperations() {
    FaultPlan plan = FaultPlan.of(FaultRule.of(FAIL).kinds(Kind.FORCE).path("log/*").nth(2));
    assertEquals(Fault.NONE, plan.before(operation(Kind.FORCE, "log/1")));
    assertEquals(Fault.NONE, plan.before(operation(Kind.WRITE, "log/1")));
    assertEquals(Fault.NONE, plan.before(operation(Kind.FORCE, "data")));
    assertEquals(Fault.NONE, plan.before(operation(Kind.FORCE, "log/old/1")));
    assertEquals(FAIL, plan.before(operation(Kind.FORCE, "log/2")));
    assertEquals(2, plan.matched(0));
    assertEquals(1, plan.struck());
  }

  @Test
  void glob_supportsStarsAndQuestionMarks() {
    assertEquals(true, matches("log/*.log", "log/0001.log"));
    assertEquals(false, matches("log/*.log", "log/old/0001.log"));
    assertEquals(false, matches("log/*.log", "log/0001xlog"));
    assertEquals(true, matches("**.log", "log/old/0001.log"));
    assertEquals(true, matches("page?", "page1"));
    assertEquals(false, matches("page?", "page"));
    assertEquals(true, matches("", ""));
    assertEquals(false, matches("", "a"));
    assertEquals(true, matches("a+(b)", "a+(b)"));
  }

  private static boolean matches(String glob, String path) {
    return FaultRule.of(FAIL).path(glob).matches(operation(Kind.READ, path));
  }

  @Test
  void rules_thatMatchTheSameOperation_letTheFirstDecideAndAllCount() {
    FaultPlan plan =
        FaultPlan.of(
            FaultRule.of(new Fault.DiskFull()).nth(2),
            FaultRule.of(FAIL).between(1, 2),
            FaultRule.of(Fault.NONE));
    assertEquals(FAIL, plan.before(operation(Kind.WRITE, "f")));
    assertEquals(new Fault.DiskFull(), plan.before(operation(Kind.WRITE, "f")));
    assertEquals(Fault.NONE, plan.before(operation(Kind.WRITE, "f")));
    assertEquals(2, plan.struck());
    assertEquals(3, plan.matched(2));
  }

  @Test
  void description_containsFaultOperationAndPath() {
    assertEquals(
        "FailForce[clean=true] at FORCE 3 of log/*; DiskFull[] at WRITE/CREATE 2 and later",
        FaultPlan.of(
                FaultRule.of(new Fault.FailForce(true)).kinds(Kind.FORCE).path("log/*").nth(3),
                FaultRule.of(new Fault.DiskFull()).kinds(Kind.WRITE, Kind.CREATE).from(2))
            .description());
  }

  @Test
  void threads_atOnce_seeTheNthFaultOnce() {
    FaultPlan plan = FaultPlan.of(FaultRule.of(FAIL).nth(500));
    try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
      for (int i = 0; i < 1000; i++) {
        threads.execute(() -> plan.before(operation(Kind.WRITE, "f")));
      }
    }
    assertEquals(1, plan.struck());
    assertEquals(1000, plan.matched(0));
  }

  @Test
  void or_asksTheSecondIfTheFirstHasNoFault() {
    FaultInjector both =
        FaultPlan.of(FaultRule.of(FAIL).nth(1)).or(operation -> new Fault.DiskFull());
    assertEquals(FAIL, both.before(operation(Kind.WRITE, "f")));
    assertEquals(new Fault.DiskFull(), both.before(operation(Kind.WRITE, "f")));
  }
}
