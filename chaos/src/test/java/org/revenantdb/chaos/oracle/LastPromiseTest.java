package org.revenantdb.chaos.oracle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.trace.TraceClock;

/** What a report tells about the last promise before a crash. */
class LastPromiseTest {

  private static final String HERE = "LastPromiseTest.";

  @Test
  void a_log_that_is_not_recorded_takes_no_stacks() {
    PromiseLog recorded = new PromiseLog().withStacks();
    recorded.promises(new TraceClock(), 1).durable("a", "1");
    assertEquals(1, recorded.madeIn().size());
    PromiseLog checked = recorded.before(Long.MAX_VALUE);
    checked.promises(new TraceClock(), 2).durable("a", "2");
    assertEquals(Map.of(), checked.madeIn());
    String last = checked.lastBefore(Long.MAX_VALUE);
    assertTrue(last.contains("durable \"a\" by thread"), last);
  }

  @Test
  void only_promises_have_stacks() {
    PromiseLog log = new PromiseLog().withStacks();
    Promises promises = log.promises(new TraceClock(), 1);
    promises.attempt("a", "1");
    promises.durable("a", "1");
    Promises.Group group = promises.begin();
    group.put("b", "1").committing().durable();
    assertEquals(log.places().size(), log.madeIn().size());
    assertEquals(2, log.madeIn().size());
  }

  @Test
  void what_a_check_has_found_is_no_promise() {
    TraceClock clock = new TraceClock();
    PromiseLog log = new PromiseLog();
    log.promises(clock, 1).attempt("a", "1");
    RecoveredState state = log.at(Long.MAX_VALUE);
    state.verify(key -> "1");
    PromiseLog next = log.before(Long.MAX_VALUE).settle(state).withStacks();
    Promises promises = next.promises(clock, 2);
    assertEquals("", next.lastBefore(Long.MAX_VALUE));
    assertEquals(Map.of(), next.madeIn());
    promises.durable("b", "2");
    String last = next.lastBefore(Long.MAX_VALUE);
    assertTrue(last.contains("durable \"b\" by thread") && last.contains(HERE), last);
  }

  @Test
  void a_log_without_its_last_answers_still_has_the_stacks_of_the_others() {
    TraceClock clock = new TraceClock();
    PromiseLog log = new PromiseLog().withStacks();
    Promises promises = log.promises(clock, 1);
    promises.durable("a", "1");
    long damaged = clock.next();
    promises.durable("b", "1");
    String last = log.withoutAnswersFrom(damaged).lastBefore(Long.MAX_VALUE);
    assertTrue(last.contains("durable \"a\" by thread") && last.contains(HERE), last);
  }
}
