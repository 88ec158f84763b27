package org.revenantdb.history;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.history.Access.NIL;
import static org.revenantdb.history.Access.append;
import static org.revenantdb.history.Access.read;
import static org.revenantdb.history.Access.readList;
import static org.revenantdb.history.Access.write;

import org.junit.jupiter.api.Test;

/** What crashes may take and may not, in lists and in registers. */
class CrashAnomaliesTest {

  private static final int X = 1;
  private static final int Y = 2;

  private final Planted history = new Planted();

  @Test
  void a_durable_append_is_missing() {
    history
        .committed(append(X, 1))
        .crash()
        .committed(readList(X))
        .showsOnly(AnomalyKind.LOST_WRITE);
  }

  @Test
  void a_durable_write_is_missing() {
    history.committed(write(X, 1)).crash().committed(read(X, NIL));
    history.showsOnly(AnomalyKind.LOST_WRITE);
  }

  @Test
  void a_durable_write_is_replaced_by_the_one_before_it() {
    history
        .committed(write(X, 1))
        .then()
        .committed(write(X, 2))
        .crash()
        .committed(read(X, 1))
        .showsOnly(AnomalyKind.LOST_WRITE);
  }

  @Test
  void a_durable_write_may_have_been_replaced_by_one_beside_it() {
    history
        .committed(write(X, 1))
        .committed(write(X, 2))
        .unknown(write(X, 3))
        .crash()
        .committed(read(X, 1))
        .holds();
  }

  @Test
  void a_write_is_compared_with_the_next_life_that_reads_it() {
    history
        .committed(write(X, 1))
        .crash()
        .committed(read(X, 1), write(X, 2))
        .crash()
        .committed(read(X, 1))
        .showsOnly(AnomalyKind.LOST_WRITE);
  }

  @Test
  void a_durable_write_is_replaced_by_the_version_it_was_built_on() {
    history
        .committed(write(X, 1))
        .committed(read(X, 1), write(X, 2))
        .crash()
        .committed(read(X, 1))
        .showsOnly(AnomalyKind.LOST_WRITE);
  }

  @Test
  void a_write_that_one_reader_of_a_later_life_has_seen_is_there() {
    history
        .committed(write(X, 1))
        .then()
        .committed(write(X, 2))
        .crash()
        .committed(read(X, 1))
        .committed(read(X, 2));
    assertTrue(history.at(IsolationLevel.SERIALIZABLE, Precedence.NONE).holds());
  }

  @Test
  void an_unanswered_transaction_ended_before_the_next_life() {
    History seenByOneOfTwo =
        new History.Builder()
            .add(0, 1, History.NEVER, TransactionOutcome.UNKNOWN, append(X, 1))
            .crashed(10)
            .add(0, 11, 20, TransactionOutcome.DURABLE, readList(X))
            .add(1, 12, 20, TransactionOutcome.DURABLE, readList(X, 1))
            .build();
    assertTrue(HistoryChecker.check(seenByOneOfTwo, IsolationLevel.SERIALIZABLE).holds());
    CheckResult strict =
        HistoryChecker.check(seenByOneOfTwo, IsolationLevel.SNAPSHOT, Precedence.REAL_TIME);
    assertTrue(strict.has(AnomalyKind.READ_SKEW), strict::toString);
  }

  @Test
  void a_suffix_of_lazy_commits_may_be_lost() {
    history
        .lazy(append(X, 1), write(Y, 1))
        .then()
        .lazy(readList(X, 1), append(X, 2))
        .then()
        .lazy(readList(X, 1, 2), append(X, 3), read(Y, 1), write(Y, 2))
        .crash()
        .committed(readList(X, 1), append(X, 4), read(Y, 1))
        .then()
        .committed(readList(X, 1, 4))
        .holds();
  }

  @Test
  void a_lazy_commit_that_was_flushed_is_missing() {
    history
        .lazy(append(X, 1))
        .flushed()
        .lazy(append(X, 2))
        .crash()
        .committed(readList(X))
        .showsOnly(AnomalyKind.LOST_WRITE);
  }

  @Test
  void a_lazy_commit_is_missing_behind_an_orderly_close() {
    history.lazy(append(X, 1)).close().committed(readList(X));
    history.showsOnly(AnomalyKind.LOST_WRITE);
  }

  @Test
  void a_lazy_commit_is_missing_and_a_later_one_is_not() {
    history
        .lazy(append(X, 1))
        .then()
        .lazy(append(Y, 1))
        .crash()
        .committed(readList(X), readList(Y, 1))
        .showsOnly(AnomalyKind.NOT_A_PREFIX);
  }

  @Test
  void a_lazy_commit_is_missing_that_a_surviving_one_has_read() {
    history
        .lazy(append(X, 1))
        .lazy(readList(X, 1), append(Y, 1))
        .crash()
        .committed(readList(X), readList(Y, 1))
        .showsOnly(AnomalyKind.NOT_A_PREFIX);
  }

  @Test
  void a_lazy_commit_is_missing_that_a_durable_reader_has_seen() {
    history
        .lazy(append(X, 1))
        .committed(readList(X, 1))
        .crash()
        .committed(readList(X))
        .showsOnly(AnomalyKind.NOT_A_PREFIX);
  }

  @Test
  void a_lazy_commit_is_missing_in_the_middle_of_a_list() {
    history
        .lazy(append(X, 1))
        .lazy(append(X, 2))
        .lazy(readList(X, 1))
        .crash()
        .committed(readList(X, 2))
        .showsOnly(AnomalyKind.NOT_A_PREFIX);
  }

  @Test
  void a_lazy_reader_may_have_seen_what_is_lost() {
    history.lazy(append(X, 1)).lazy(readList(X, 1)).crash().committed(readList(X)).holds();
  }

  @Test
  void half_a_transaction() {
    history
        .lazy(append(X, 1), append(Y, 1))
        .crash()
        .committed(readList(X, 1), readList(Y))
        .shows(AnomalyKind.TORN);
  }

  @Test
  void half_a_transaction_in_registers() {
    history
        .lazy(write(X, 1), write(Y, 1))
        .crash()
        .committed(read(X, NIL), read(Y, 1))
        .shows(AnomalyKind.TORN);
  }

  @Test
  void half_of_a_transaction_of_unknown_outcome() {
    history
        .unknown(append(X, 1), append(Y, 1))
        .crash()
        .committed(readList(X, 1), readList(Y))
        .shows(AnomalyKind.TORN);
  }

  @Test
  void an_unknown_transaction_is_there_or_not() {
    history
        .unknown(append(X, 1), write(Y, 1))
        .crash()
        .committed(readList(X, 1), read(Y, 1))
        .crash()
        .committed(readList(X, 1), read(Y, 1))
        .holds();
    new Planted()
        .unknown(append(X, 1), write(Y, 1))
        .crash()
        .committed(readList(X), read(Y, NIL))
        .holds();
  }

  @Test
  void a_lost_write_is_back_a_life_later() {
    history
        .unknown(append(X, 1))
        .crash()
        .committed(readList(X), append(Y, 1))
        .crash()
        .committed(readList(X, 1))
        .shows(AnomalyKind.INCOMPATIBLE_ORDER);
  }

  @Test
  void a_rolled_back_write_is_there_a_life_later() {
    history.aborted(append(X, 1)).crash().committed(readList(X, 1));
    history.showsOnly(AnomalyKind.ABORTED_READ);
  }

  @Test
  void anomalies_of_a_former_life_are_found() {
    history
        .committed(readList(X), append(Y, 1))
        .committed(readList(Y), append(X, 1))
        .crash()
        .committed(readList(X, 1), readList(Y, 1))
        .showsOnly(AnomalyKind.WRITE_SKEW);
  }

  @Test
  void a_history_cut_off_has_unknown_outcomes_after_a_requested_commit() {
    HistoryRecorder recorder = new HistoryRecorder(); // places 1, 2, ...
    HistorySession one = recorder.session(0);
    HistorySession other = recorder.session(1);
    one.begin();
    other.begin();
    one.appending(X, 1);
    one.committing();
    one.ended(TransactionOutcome.DURABLE);
    other.appending(X, 2);
    other.committing();
    other.ended(TransactionOutcome.DURABLE);
    History whole = recorder.history();
    assertAll(
        () -> assertOutcomes(whole.cutAt(3), "ABORTED", "ABORTED"),
        () -> assertOutcomes(whole.cutAt(4), "UNKNOWN", "ABORTED"),
        () -> assertOutcomes(whole.cutAt(5), "DURABLE", "ABORTED"),
        () -> assertOutcomes(whole.cutAt(6), "DURABLE", "UNKNOWN"),
        () -> assertOutcomes(whole.cutAt(7), "DURABLE", "DURABLE"));
  }

  @Test
  void a_commit_whose_request_has_no_place_may_have_been_requested_from_the_start() {
    History whole =
        EdnReader.read(
            """
            {:type :invoke, :process 0, :value [[:append 1 1]]}
            {:type :invoke, :process 1, :value [[:r 1 nil]]}
            {:type :ok, :process 1, :value [[:r 1 [1]]]}
            {:type :ok, :process 0, :value [[:append 1 1]]}
            """);
    CheckResult cut = HistoryChecker.check(whole.cutAt(7), IsolationLevel.READ_COMMITTED);
    assertTrue(cut.holds(), cut::toString);
  }

  @Test
  void a_lost_acknowledged_commit_is_not_hidden_by_an_unknown_one_that_is_lost_too() {
    history
        .unknown(append(X, 1))
        .lazy(readList(X, 1))
        .then()
        .lazy(append(Y, 1))
        .then()
        .lazy(append(3, 1))
        .crash()
        .committed(readList(X), readList(Y), readList(3, 1))
        .showsOnly(AnomalyKind.NOT_A_PREFIX);
  }

  private static void assertOutcomes(History history, String... outcomes) {
    for (int t = 0; t < history.size(); t++) {
      assertEquals(outcomes[t], history.transaction(t).outcome().name());
    }
    assertEquals(outcomes.length, history.size());
    assertEquals(2, history.lives());
  }

  /** A copy made from place 4 to place 7 of a history with commits at 3, 6 and 9. */
  private static CheckResult copied(int... shown) {
    History whole =
        new History.Builder()
            .add(0, 1, 3, TransactionOutcome.DURABLE, append(X, 1))
            .add(0, 4, 6, TransactionOutcome.DURABLE, append(X, 2))
            .add(0, 7, 9, TransactionOutcome.DURABLE, append(X, 3))
            .build();
    HistoryRecorder recorder = HistoryRecorder.after(whole.cutBetween(4, 7));
    HistorySession session = recorder.session(1);
    session.begin();
    session.readList(X, shown);
    session.committing();
    session.ended(TransactionOutcome.DURABLE);
    recorder.closed();
    return HistoryChecker.check(
        recorder.history(), IsolationLevel.SERIALIZABLE, Precedence.REAL_TIME);
  }

  @Test
  void a_copy_has_what_was_acknowledged_before_it_began_and_nothing_that_began_behind_its_end() {
    assertTrue(copied(1).holds());
    assertTrue(copied(1, 2).holds());
    assertTrue(copied().has(AnomalyKind.LOST_WRITE));
    assertTrue(!copied(1, 2, 3).holds());
  }
}
