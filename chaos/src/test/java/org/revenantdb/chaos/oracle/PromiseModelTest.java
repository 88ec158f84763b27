package org.revenantdb.chaos.oracle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.revenantdb.chaos.oracle.Finding.Kind;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.subject.Promises.Group;
import org.revenantdb.chaos.trace.TraceClock;

/**
 * Cases in which the first model of promises was found to be wrong on paper: a false alarm, or a
 * loss that it did not detect. Each test is one such case.
 */
class PromiseModelTest {

  private static final long END = Long.MAX_VALUE;

  private final TraceClock clock = new TraceClock();
  private final PromiseLog log = new PromiseLog();
  private final Promises promises = log.promises(clock, 1);

  private static Set<Kind> kinds(PromiseLog log, long crash, String... content) {
    Map<String, String> map = new HashMap<>();
    for (int i = 0; i < content.length; i += 2) {
      map.put(content[i], content[i + 1]);
    }
    RecoveredState state = log.at(crash);
    state.verifyAll(map);
    Set<Kind> kinds = new TreeSet<>();
    state.findings().forEach(finding -> kinds.add(finding.kind()));
    return kinds;
  }

  private static void inOtherThread(Runnable what) throws InterruptedException {
    Thread thread = new Thread(what, "other");
    thread.start();
    thread.join();
  }

  @Test
  void work_in_doubt_at_a_crash_does_not_come_back_over_durable_work_of_the_next_life() {
    promises.attempt("k", "1");
    PromiseLog next = log.before(END);
    next.promises(new TraceClock(), 1).durable("k", "2");
    assertEquals(Set.of(), kinds(next, END, "k", "2"));
    assertEquals(Set.of(Kind.LOST), kinds(next, END, "k", "1"));
  }

  private static RecoveredState look(
      PromiseLog log, long crash, String key, @Nullable String value) {
    RecoveredState state = log.at(crash);
    state.verifyAll(value == null ? Map.of() : Map.of(key, value));
    assertEquals(List.of(), state.findings());
    return state;
  }

  @Test
  void work_in_doubt_that_a_check_found_stays() {
    promises.attempt("k", "1");
    PromiseLog next = log.before(END).settle(look(log, END, "k", "1"));
    TraceClock clock = new TraceClock();
    next.promises(clock, 1);
    assertEquals(Set.of(), kinds(next, clock.now() + 1, "k", "1"));
    assertEquals(Set.of(Kind.LOST), kinds(next, clock.now() + 1));
    assertEquals(Set.of(), kinds(next, 1), "recovery was cut before anybody looked");
    PromiseLog third = next.before(END);
    assertEquals(Set.of(Kind.LOST), kinds(third, 0), "in the copy, too");
  }

  @Test
  void work_in_doubt_that_a_check_did_not_find_stays_away() {
    promises.durable("k", "1");
    promises.begin().put("k", "2").put("j", "2").committing();
    PromiseLog next = log.before(END).settle(look(log, END, "k", "1"));
    Promises more = next.promises(new TraceClock(), 1);
    assertEquals(Set.of(), kinds(next, END, "k", "1"));
    assertEquals(Set.of(Kind.LOST, Kind.RESURRECTED), kinds(next, END, "k", "2", "j", "2"));
    assertEquals(Set.of(), kinds(next, 1, "k", "2", "j", "2"), "nobody had looked");
    more.durable("k", "3");
    assertEquals(Set.of(), kinds(next, END, "k", "3"));
    assertEquals(Set.of(Kind.LOST), kinds(next, END, "k", "1"));
  }

  @Test
  void a_check_shows_which_of_two_concurrent_writes_came_last() throws InterruptedException {
    promises.attempt("k", "1");
    inOtherThread(() -> {
      promises.attempt("k", "2");
      promises.durable("k", "2");
    });
    promises.durable("k", "1");
    PromiseLog next = log.before(END);
    assertEquals(Set.of(), kinds(next, END, "k", "2"));
    next.settle(look(log, END, "k", "1")).promises(new TraceClock(), 1);
    assertEquals(Set.of(), kinds(next, END, "k", "1"));
    assertEquals(Set.of(Kind.LOST), kinds(next, END, "k", "2"));
  }

  @Test
  void a_check_changes_neither_certain_writes_nor_the_tolerance_of_death() {
    promises.durable("k", "1");
    log.cutOffByDeath();
    PromiseLog next = log.before(END);
    next.settle(look(log, END, "k", "1")).promises(new TraceClock(), 1);
    assertTrue(next.events().getLast() instanceof PromiseEvent.Crash, "nothing was in doubt");
    PromiseLog other = log.before(END);
    other.settle(look(log, END, "k", "x")).promises(new TraceClock(), 1).durable("j", "2");
    assertEquals(Set.of(), kinds(other, END, "k", "x", "j", "2"));
    assertEquals(Set.of(), kinds(other, END, "k", "x", "j", "y"), "as before");
  }

  @Test
  void a_check_with_findings_settles_nothing() {
    promises.durable("k", "1");
    RecoveredState wrong = log.at(END);
    wrong.verifyAll(Map.of());
    PromiseLog next = log.before(END);
    assertThrows(IllegalArgumentException.class, () -> next.settle(wrong));
  }

  @Test
  void a_value_that_was_promised_twice_is_counted() {
    promises.durable("k", "1");
    promises.lazy("j", "1");
    promises.durable("j", "1");
    promises.begin().put("r", "1").committing().rolledBack();
    promises.begin().put("r", "1").committing().durable();
    promises.durable("k", null);
    promises.durable("k", null);
    assertEquals(0, log.repeated());
    promises.begin().put("k", "1").committing().durable();
    assertEquals(1, log.repeated());
    assertEquals(1, log.before(END).repeated());
  }

  @Test
  void a_torn_group_that_removes_is_found_after_a_known_earlier_write() {
    promises.begin().put("a", "1").put("c", "1").committing();
    promises.attempt("x", "0");
    promises.durable("x", "0");
    PromiseLog next = log.before(END);
    Promises more = next.promises(new TraceClock(), 1);
    more.begin().put("a", null).put("b", "2").committing();
    assertEquals(Set.of(), kinds(next, END, "x", "0"));
    assertEquals(Set.of(), kinds(next, END, "x", "0", "c", "1", "b", "2"));
    assertEquals(Set.of(), kinds(next, END, "x", "0", "a", "1", "c", "1"));
    assertEquals(Set.of(Kind.TORN), kinds(next, END, "x", "0", "c", "1"), "a is destroyed");
  }

  @Test
  void a_torn_group_that_removes_a_durable_write_is_found() {
    promises.attempt("a", "1");
    promises.durable("a", "1");
    promises.begin().put("a", null).put("b", "2").committing();
    assertEquals(Set.of(Kind.TORN), kinds(log, END));
  }

  @Test
  void a_durable_reader_of_nothing_makes_the_removal_of_a_lazy_write_durable() {
    promises.attempt("k", "1");
    promises.lazy("k", "1");
    promises.attempt("k", null);
    promises.durableRead("k", null);
    assertEquals(Set.of(), kinds(log, END));
    assertEquals(Set.of(Kind.RESURRECTED), kinds(log, END, "k", "1"));
  }

  @Test
  void a_durable_reader_of_nothing_makes_one_of_two_removals_durable() {
    promises.attempt("k", "1");
    promises.durable("k", "1");
    promises.attempt("k", null);
    promises.begin().put("k", null).put("j", "1").committing();
    assertEquals(Set.of(), kinds(log, END, "k", "1"), "nobody read yet");
    promises.durableRead("k", null);
    assertEquals(Set.of(), kinds(log, END, "j", "1"));
    assertEquals(Set.of(), kinds(log, END));
    assertEquals(Set.of(Kind.RESURRECTED), kinds(log, END, "k", "1"));
  }

  @Test
  void durable_readers_of_one_snapshot_began_before_the_first_report() throws InterruptedException {
    promises.attempt("z", "0");
    promises.durableRead("j", null);
    inOtherThread(() -> {
      promises.attempt("k", "1");
      promises.durable("k", "1");
      promises.attempt("k", null);
    });
    promises.durableRead("j", null);
    promises.durableRead("k", null);
    assertEquals(Set.of(), kinds(log, END, "k", "1"), "both may have seen the start");
  }

  @Test
  void two_writes_before_the_first_report_are_no_phantoms() {
    promises.durable("a", "1");
    long first = clock.now();
    promises.durable("b", "1");
    assertEquals(Set.of(), kinds(log, first, "a", "1", "b", "1"));
    assertEquals(Set.of(), kinds(log, first, "b", "1"));
    assertEquals(Set.of(), kinds(log, first + 1, "a", "1", "b", "1"));
    assertEquals(Set.of(Kind.LOST), kinds(log, first + 1, "b", "1"));
    assertEquals(Set.of(Kind.LOST), kinds(log, END, "a", "1"));
  }

  @Test
  void a_group_before_the_report_of_another_is_no_phantom() {
    promises.durable("z", "0");
    promises.begin().put("a", "1").put("b", "1").durable();
    assertEquals(Set.of(), kinds(log, 1, "a", "1", "b", "1"));
    assertEquals(Set.of(Kind.TORN), kinds(log, 1, "a", "1"));
    assertEquals(Set.of(Kind.LOST), kinds(log, END, "z", "0"));
  }

  @Test
  void an_unannounced_write_follows_only_promises_to_its_thread_for_that_key()
      throws InterruptedException {
    inOtherThread(() -> promises.durable("k", "1"));
    promises.durable("k", "2");
    promises.durable("k", "3");
    assertEquals(Set.of(), kinds(log, END, "k", "1"), "it may have been made last");
    assertEquals(Set.of(Kind.LOST), kinds(log, END, "k", "2"));
    assertEquals(Set.of(), kinds(log, END, "k", "3"));
  }

  @Test
  void a_flushed_write_that_was_overwritten_since_is_not_a_new_write() {
    promises.lazy("k", "1");
    promises.lazy("k", "2");
    promises.durable("k", "1");
    assertEquals(Set.of(), kinds(log, END, "k", "2"));
    assertEquals(Set.of(Kind.LOST), kinds(log, END));
  }

  @Test
  void groups_that_overlap_are_not_mixed() throws InterruptedException {
    Group t = promises.begin().put("k1", "a").put("k2", "a").committing();
    inOtherThread(() -> promises.begin().put("k1", "b").put("k2", "b").committing().durable());
    t.durable();
    assertEquals(Set.of(), kinds(log, END, "k1", "a", "k2", "a"));
    assertEquals(Set.of(), kinds(log, END, "k1", "b", "k2", "b"));
    assertEquals(Set.of(Kind.TORN), kinds(log, END, "k1", "a", "k2", "b"));
    assertEquals(Set.of(Kind.TORN), kinds(log, END, "k1", "b", "k2", "a"));
  }

  @Test
  void groups_that_overlap_are_not_mixed_through_a_later_one() throws InterruptedException {
    Group middle = promises.begin().put("k", "b").put("l", "b").committing();
    inOtherThread(() -> {
      promises.attempt("l", "c");
      promises.durable("l", "c");
      promises.attempt("k", "a");
      promises.durable("k", "a");
    });
    middle.durable();
    assertEquals(Set.of(), kinds(log, END, "k", "a", "l", "c"));
    assertEquals(Set.of(), kinds(log, END, "k", "b", "l", "b"));
    assertEquals(Set.of(), kinds(log, END, "k", "a", "l", "b"));
    assertEquals(Set.of(Kind.TORN), kinds(log, END, "k", "b", "l", "c"));
  }

  @Test
  void a_flush_covers_writes_accepted_before_the_previous_report_of_its_thread()
      throws InterruptedException {
    promises.attempt("a", "1");
    promises.lazy("a", "1");
    inOtherThread(() -> {
      promises.attempt("b", "1");
      promises.lazy("b", "1");
    });
    promises.allDurable();
    assertEquals(Set.of(), kinds(log, END, "a", "1"), "b came while the flush was under way");
    assertEquals(Set.of(Kind.LOST), kinds(log, END));
    promises.allDurable();
    assertEquals(Set.of(Kind.LOST), kinds(log, END, "a", "1"));
  }

  @Test
  void more_promises_require_another_check_of_an_image() {
    promises.attempt("k", "1");
    promises.lazy("k", "1");
    int before = log.answerCount(clock.now() + 1);
    promises.durableRead("k", "1");
    int read = log.answerCount(clock.now() + 1);
    promises.allDurable();
    int flushed = log.answerCount(clock.now() + 1);
    promises.begin().put("g", "1").committing().rolledBack();
    int back = log.answerCount(clock.now() + 1);
    assertTrue(before < read && read < flushed && flushed < back);
  }

  @Test
  void dropped_answers_leave_the_windows_of_their_transactions() {
    promises.durable("a", "1");
    long fault = clock.now();
    promises.durable("b", "1");
    promises.begin().put("c", "1").put("d", "1").durable();
    PromiseLog less = log.withoutAnswersFrom(fault);
    assertEquals(Set.of(), kinds(less, fault, "a", "1", "b", "1", "c", "1", "d", "1"));
    assertEquals(Set.of(), kinds(less, fault));
    assertEquals(Set.of(Kind.TORN), kinds(less, END, "c", "1"));
  }

  @Test
  void dropped_answers_are_those_of_the_last_life() {
    promises.attempt("k", "1");
    promises.durable("k", "1");
    promises.begin().put("g", "1").committing().durable();
    PromiseLog next = log.before(END);
    PromiseLog more = PromiseLog.of(next.events());
    more.promises(new TraceClock(), 1).durable("k", "2");
    PromiseLog less = more.withoutAnswersFrom(0);
    assertEquals(Set.of(), kinds(less, END, "k", "1", "g", "1"));
    assertEquals(Set.of(), kinds(less, END, "k", "2", "g", "1"));
    assertEquals(Set.of(Kind.LOST), kinds(less, END, "k", "1"));
    assertEquals(Set.of(Kind.LOST), kinds(less, END, "g", "1"));
  }

  @Test
  void dropped_answers_leave_the_death_that_ended_the_life() {
    promises.durable("a", "1");
    log.cutOffByDeath();
    assertTrue(log.withoutAnswersFrom(clock.now() + 1).isCutOffByDeath());
  }

  /** Groups are numbered anew in a life whose log was rebuilt from events. */
  @Test
  void dropped_answers_of_a_group_do_not_match_a_former_group_with_its_number() {
    PromiseEvent.By by = new PromiseEvent.By(1, 1, "main");
    PromiseEvent.By second = new PromiseEvent.By(2, 1, "main");
    PromiseEvent.By third = new PromiseEvent.By(3, 1, "main");
    PromiseLog two =
        PromiseLog.of(
            List.of(
                new PromiseEvent.OfGroup(by, 1, PromiseEvent.Step.BEGIN),
                new PromiseEvent.Put(by, 1, Bytes.of("a"), Bytes.of("1")),
                new PromiseEvent.OfGroup(second, 1, PromiseEvent.Step.COMMITTING),
                new PromiseEvent.Crash(false),
                new PromiseEvent.OfGroup(by, 1, PromiseEvent.Step.BEGIN),
                new PromiseEvent.Put(second, 1, Bytes.of("b"), Bytes.of("1")),
                new PromiseEvent.OfGroup(third, 1, PromiseEvent.Step.DURABLE)));
    PromiseLog less = two.withoutAnswersFrom(3);
    assertEquals(Set.of(), kinds(less, END, "b", "1"));
    assertEquals(Set.of(), kinds(less, END));
  }
}
