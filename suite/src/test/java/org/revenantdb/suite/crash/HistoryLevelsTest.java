package org.revenantdb.suite.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.revenantdb.chaos.history.HistoryDriver;
import org.revenantdb.chaos.history.HistoryStore;
import org.revenantdb.chaos.history.HistoryWorkload;
import org.revenantdb.history.AnomalyKind;
import org.revenantdb.history.CheckResult;
import org.revenantdb.history.History;
import org.revenantdb.history.HistoryChecker;
import org.revenantdb.history.HistoryRecorder;
import org.revenantdb.history.IsolationLevel;
import org.revenantdb.history.Precedence;
import org.revenantdb.history.TransactionOutcome;
import org.revenantdb.testing.Drawn;

/**
 * Many transactions of each isolation level on few keys, without crashes: 8,000 of each level,
 * under {@code -Plong} 100,000. Another number: {@code -Drevenant.history.transactions=N}; another
 * seed: {@code -Drevenant.chaos.seed=N}.
 */
class HistoryLevelsTest {

  private static final long SEED = Long.getLong("revenant.chaos.seed", 20_261_123);
  private static final int TRANSACTIONS =
      Integer.getInteger(
          "revenant.history.transactions", Boolean.getBoolean("revenant.long") ? 100_000 : 8_000);
  private static final int SESSIONS = 8;
  private static final int KEYS = 12;

  @TempDir Path dir;

  private History history(IsolationLevel level, int transactions, int run) throws Exception {
    System.out.println("HistoryLevelsTest -Drevenant.chaos.seed=" + SEED + " " + level);
    HistoryRecorder recorder = new HistoryRecorder();
    try (HistoryStore store =
        HistoryBinding.Opener.of(level).open(dir.resolve(level + "-" + run))) {
      // Lives of a few thousand, because otherwise the lists get long.
      int lives = Math.max(1, transactions / 4_000);
      for (int life = 0; life < lives; life++) {
        HistoryWorkload workload =
            new HistoryWorkload(
                SESSIONS, transactions / lives / SESSIONS, KEYS, /* lazyOfTen= */ 9);
        new HistoryDriver(workload, SEED + run, life).run(store, recorder::session);
      }
    }
    return recorder.history();
  }

  @ParameterizedTest
  @EnumSource
  @Tag("slow")
  @Drawn(oneIn = 2)
  void transactions_of_each_level_are_a_history_of_that_level(IsolationLevel level)
      throws Exception {
    // One history mostly has so many conflicts; which sessions meet depends on the machine.
    long conflicts = 0;
    for (int run = 0; conflicts <= TRANSACTIONS / 10; run++) {
      conflicts += conflictsOfALegalHistory(level, run);
    }
  }

  private long conflictsOfALegalHistory(IsolationLevel level, int run) throws Exception {
    History history = history(level, TRANSACTIONS, run);
    long begun = System.nanoTime();
    CheckResult result = HistoryChecker.check(history, level, Precedence.REAL_TIME);
    long millis = (System.nanoTime() - begun) / 1_000_000;
    assertTrue(result.holds(), result::toString);
    long aborted =
        IntStream.range(0, history.size())
            .filter(i -> history.transaction(i).outcome() == TransactionOutcome.ABORTED)
            .count();
    // Of those without a conflict one in sixteen rolls back by itself.
    long inConflict = Math.max(0, (16 * aborted - history.size()) / 15);
    System.out.printf(
        "%s: %d transactions, %d aborted, %d of them in conflicts; checked in %d ms%n",
        level, history.size(), aborted, inConflict, millis);
    return inConflict;
  }

  @Test
  void snapshot_isolation_has_write_skew_and_is_not_serializable() throws Exception {
    Set<AnomalyKind> skews = Set.of(AnomalyKind.WRITE_SKEW, AnomalyKind.PREDICATE_WRITE_SKEW);
    Set<AnomalyKind> found = EnumSet.noneOf(AnomalyKind.class);
    for (int run = 0; !found.containsAll(skews); run++) { // no seed says which sessions meet
      History history = history(IsolationLevel.SNAPSHOT, 2_000, run);
      assertTrue(HistoryChecker.check(history, IsolationLevel.SNAPSHOT).holds());
      found.addAll(HistoryChecker.check(history, IsolationLevel.SERIALIZABLE).counts().keySet());
    }
    assertEquals(skews, found);
  }

  @Test
  void read_committed_has_read_skew_and_is_not_snapshot_isolation() throws Exception {
    boolean held = true;
    for (int run = 0; held; run++) {
      History history = history(IsolationLevel.READ_COMMITTED, 2_000, run);
      assertTrue(HistoryChecker.check(history, IsolationLevel.READ_COMMITTED).holds());
      held = HistoryChecker.check(history, IsolationLevel.SNAPSHOT).holds();
    }
  }

  @Test
  void serializable_transactions_are_serializable() throws Exception {
    CheckResult result =
        HistoryChecker.check(
            history(IsolationLevel.SERIALIZABLE, 2_000, 0),
            IsolationLevel.SERIALIZABLE,
            Precedence.REAL_TIME);
    assertTrue(result.holds(), result::toString);
  }
}
