package org.revenantdb.history;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.history.Access.append;
import static org.revenantdb.history.Access.readList;

import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A commit whose answer nobody got may take effect until the end of its life. */
class UnknownOutcomesTest {

  private static void allowed(History history, Precedence precedence) {
    CheckResult result = HistoryChecker.check(history, IsolationLevel.SERIALIZABLE, precedence);
    assertTrue(result.holds(), result::toString);
  }

  @ParameterizedTest
  @EnumSource
  void a_commit_may_take_effect_behind_its_timeout(Precedence precedence) {
    allowed(
        EdnReader.read(
            """
            {:type :invoke, :process 0, :value [[:append 1 1] [:w 2 1]]}
            {:type :info, :process 0, :value [[:append 1 1] [:w 2 1]], :error :timeout}
            {:type :invoke, :process 0, :value [[:r 1 nil] [:r 2 nil]]}
            {:type :ok, :process 0, :value [[:r 1 []] [:r 2 nil]]}
            {:type :invoke, :process 2, :value [[:r 1 nil] [:r 2 nil]]}
            {:type :ok, :process 2, :value [[:r 1 [1]] [:r 2 1]]}
            """),
        precedence);
  }

  @ParameterizedTest
  @EnumSource
  void a_commit_may_take_effect_behind_one_that_began_after_its_timeout(Precedence precedence) {
    allowed(
        EdnReader.read(
            """
            {:type :invoke, :process 0, :value [[:append 1 1] [:w 2 1]]}
            {:type :info, :process 0, :value nil}
            {:type :invoke, :process 0, :value [[:append 1 2] [:w 2 2]]}
            {:type :ok, :process 0, :value [[:append 1 2] [:w 2 2]]}
            {:type :invoke, :process 2, :value [[:r 1 nil] [:r 2 nil]]}
            {:type :ok, :process 2, :value [[:r 1 [2 1]] [:r 2 1]]}
            """),
        precedence);
  }

  @ParameterizedTest
  @EnumSource
  void a_register_may_be_overwritten_behind_a_timeout_and_before_a_crash(Precedence precedence) {
    allowed(
        EdnReader.read(
            """
            {:type :invoke, :process 0, :value [[:w 1 1]]}
            {:type :info, :process 0, :value [[:w 1 1]]}
            {:type :invoke, :process 1, :value [[:w 1 2]]}
            {:type :ok, :process 1, :value [[:w 1 2]]}
            {:type :info, :process :nemesis, :f :crash}
            {:type :invoke, :process 2, :value [[:r 1 nil]]}
            {:type :ok, :process 2, :value [[:r 1 1]]}
            """),
        precedence);
  }

  @Test
  void the_transactions_around_a_timeout_keep_the_order_of_their_process() {
    History history =
        new History.Builder()
            .add(0, 1, 3, TransactionOutcome.DURABLE, append(1, 1))
            .add(0, 5, 7, TransactionOutcome.UNKNOWN, append(2, 1))
            .add(0, 9, 11, TransactionOutcome.DURABLE, readList(1))
            .build();
    CheckResult result = HistoryChecker.check(history, IsolationLevel.SNAPSHOT, Precedence.SESSION);
    assertTrue(result.has(AnomalyKind.READ_SKEW), result::toString);
  }

  @Test
  void a_timeout_comes_behind_what_its_process_did_before() {
    History history =
        new History.Builder()
            .add(0, 1, 3, TransactionOutcome.DURABLE, append(1, 1))
            .add(0, 5, 7, TransactionOutcome.UNKNOWN, readList(1), append(2, 1))
            .add(1, 9, 11, TransactionOutcome.DURABLE, readList(2, 1))
            .build();
    CheckResult result = HistoryChecker.check(history, IsolationLevel.SNAPSHOT, Precedence.SESSION);
    assertTrue(result.has(AnomalyKind.READ_SKEW), result::toString);
  }

  @Test
  void a_timeout_is_judged_the_same_in_memory_and_from_a_file() throws IOException {
    History history =
        new History.Builder()
            .add(0, 1, 3, TransactionOutcome.UNKNOWN, append(1, 1))
            .add(0, 5, 8, TransactionOutcome.DURABLE, readList(1))
            .add(1, 10, 12, TransactionOutcome.DURABLE, readList(1, 1))
            .build();
    for (Precedence precedence : Precedence.values()) {
      allowed(history, precedence);
      allowed(EdnReader.read(EdnTest.written(history)), precedence);
    }
  }
}
