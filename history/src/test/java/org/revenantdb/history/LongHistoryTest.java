package org.revenantdb.history;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.history.Access.append;
import static org.revenantdb.history.Access.readList;
import static org.revenantdb.history.Access.write;

import org.junit.jupiter.api.Test;

/** A hundred thousand transactions: the cost in steps, not in seconds. */
class LongHistoryTest {

  private static final int TRANSACTIONS = 100_000;

  @Test
  void the_cost_is_linear_in_the_history() {
    History history = new Simulation(Simulation.Kind.SNAPSHOT, 7).withUnknown().run(TRANSACTIONS);
    for (Precedence precedence : Precedence.values()) {
      long begun = System.nanoTime();
      CheckResult result = HistoryChecker.check(history, IsolationLevel.SNAPSHOT, precedence);
      System.out.printf(
          "%,d transactions, %s: %,d edges, %,d steps, %d ms%n",
          TRANSACTIONS,
          precedence,
          result.dependencies(),
          result.steps(),
          (System.nanoTime() - begun) / 1_000_000);
      assertTrue(result.holds(), result::toString);
      assertTrue(result.dependencies() < 12L * TRANSACTIONS, result::toString);
      assertTrue(result.steps() < 5 * result.dependencies(), result::toString);
    }
  }

  /** Everything is one component then, and a search from each of its nodes would not end. */
  @Test
  void a_store_that_is_wrong_everywhere_is_reported_soon() {
    History history =
        new Simulation(Simulation.Kind.READ_COMMITTED, 7).withUnknown().run(TRANSACTIONS);
    long begun = System.nanoTime();
    CheckResult result =
        HistoryChecker.check(history, IsolationLevel.SERIALIZABLE, Precedence.REAL_TIME);
    System.out.printf(
        "%,d transactions, wrong: %,d edges, %,d steps, %d ms%n",
        TRANSACTIONS,
        result.dependencies(),
        result.steps(),
        (System.nanoTime() - begun) / 1_000_000);
    assertFalse(result.holds());
    assertTrue(result.steps() < 100L * TRANSACTIONS, result::toString);
  }

  /** In pairs that would be ten thousand million comparisons. */
  @Test
  void a_transaction_with_a_hundred_thousand_writes_is_checked_in_one_pass() {
    Access[] writes = new Access[2 * TRANSACTIONS];
    for (int i = 0; i < TRANSACTIONS; i++) {
      writes[i] = write(i, 1);
      writes[2 * TRANSACTIONS - 1 - i] = write(i, 2);
    }
    History history =
        new History.Builder().add(0, 1, 3, TransactionOutcome.DURABLE, writes).build();
    HistoryIndex index = new HistoryIndex(history);
    for (int i = 0; i < TRANSACTIONS; i++) {
      assertEquals(2 * TRANSACTIONS - 1 - i, index.nextOwn(i));
      assertEquals(HistoryIndex.NOTHING, index.nextOwn(2 * TRANSACTIONS - 1 - i));
    }
  }

  /** The cycle is as long as the history: a recursion would overflow the stack. */
  @Test
  void a_cycle_through_the_whole_history_is_found() {
    History.Builder builder = new History.Builder();
    for (int t = 0; t < TRANSACTIONS; t++) {
      int next = (t + 1) % TRANSACTIONS;
      builder.add(t, 1, 10, TransactionOutcome.DURABLE, readList(t, t), append(next, next));
    }
    CheckResult result = HistoryChecker.check(builder.build(), IsolationLevel.READ_COMMITTED);
    assertTrue(result.has(AnomalyKind.CIRCULAR_INFORMATION_FLOW));
  }

  /** All have read nothing and written the same key: as pairs ten thousand million edges. */
  @Test
  void a_key_that_all_have_read_and_written_has_few_edges() {
    History.Builder builder = new History.Builder();
    for (int t = 0; t < TRANSACTIONS; t++) {
      builder.add(t, 1, 10, TransactionOutcome.DURABLE, readList(0), append(0, t));
    }
    CheckResult result = HistoryChecker.check(builder.build(), IsolationLevel.SERIALIZABLE);
    assertTrue(result.has(AnomalyKind.LOST_UPDATE));
    assertTrue(result.dependencies() < 8L * TRANSACTIONS, "" + result.dependencies());
  }
}
