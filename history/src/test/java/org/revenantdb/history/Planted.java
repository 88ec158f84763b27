package org.revenantdb.history;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Set;

/**
 * A history written by hand. Transactions are concurrent unless time passes explicitly: each begins
 * at the start of its moment and ends at the end of it.
 */
final class Planted {

  private static final int MOMENT = 10;

  private final History.Builder builder = new History.Builder();
  private int process;
  private long now;

  Planted committed(Access... accesses) {
    return add(TransactionOutcome.DURABLE, accesses);
  }

  Planted lazy(Access... accesses) {
    return add(TransactionOutcome.LAZY, accesses);
  }

  Planted aborted(Access... accesses) {
    return add(TransactionOutcome.ABORTED, accesses);
  }

  Planted unknown(Access... accesses) {
    return add(TransactionOutcome.UNKNOWN, accesses);
  }

  private Planted add(TransactionOutcome outcome, Access... accesses) {
    builder.add(process++, now + 1, now + MOMENT - 1, outcome, accesses);
    return this;
  }

  /** The next transactions begin when all so far have ended. */
  Planted then() {
    now += MOMENT;
    return this;
  }

  Planted flushed() {
    then();
    builder.flushed(now, now);
    return this;
  }

  Planted crash() {
    then();
    builder.crashed(now);
    return this;
  }

  Planted close() {
    then();
    builder.closed(now);
    return this;
  }

  History history() {
    return builder.build();
  }

  /** The same processes again: the next transaction belongs to process 0. */
  Planted sameProcesses() {
    process = 0;
    return then();
  }

  /**
   * The anomaly is found at the weakest level that forbids it and at all stronger ones, and at no
   * weaker one.
   */
  void shows(AnomalyKind kind) {
    History history = history();
    for (IsolationLevel level : IsolationLevel.values()) {
      CheckResult result = HistoryChecker.check(history, level);
      assertEquals(kind.forbiddenAt(level), result.has(kind), () -> level + ": " + result);
      if (!kind.forbiddenAt(level)) {
        assertTrue(result.holds(), result::toString);
      }
    }
  }

  /** Like {@link #shows}, and no other anomalies. */
  void showsOnly(AnomalyKind kind, AnomalyKind... besides) {
    shows(kind);
    CheckResult result = HistoryChecker.check(history(), IsolationLevel.SERIALIZABLE);
    Set<AnomalyKind> all = new java.util.HashSet<>(Set.of(besides));
    all.add(kind);
    assertEquals(all, result.counts().keySet(), result::toString);
    assertFalse(result.anomalies().getFirst().story().isBlank());
  }

  /** Allowed at the strongest level. */
  void holds() {
    CheckResult result =
        HistoryChecker.check(history(), IsolationLevel.SERIALIZABLE, Precedence.REAL_TIME);
    assertTrue(result.holds(), result::toString);
  }

  CheckResult at(IsolationLevel level, Precedence precedence) {
    return HistoryChecker.check(history(), level, precedence);
  }
}
