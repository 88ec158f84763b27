package org.revenantdb.suite.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.revenantdb.chaos.history.HistoryKills;
import org.revenantdb.chaos.history.HistoryPowerCuts;
import org.revenantdb.chaos.history.HistoryStore;
import org.revenantdb.chaos.history.HistoryWorkload;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.history.AnomalyKind;
import org.revenantdb.history.CheckResult;
import org.revenantdb.history.History;
import org.revenantdb.history.HistoryChecker;
import org.revenantdb.history.IsolationLevel;
import org.revenantdb.history.Precedence;
import org.revenantdb.testing.Drawn;

/**
 * RevenantDB's histories at each isolation level after power cuts and kills, and those of broken
 * bindings. Another seed: {@code -Drevenant.chaos.seed=N}.
 */
class HistoryCrashTest {

  private static final long SEED = Long.getLong("revenant.chaos.seed", 20_261_123);

  private static final int STATES = Integer.getInteger("revenant.chaos.states", 60);
  private static final int LIVES =
      Integer.getInteger("revenant.chaos.kills", Boolean.getBoolean("revenant.long") ? 8 : 4);
  private static final HistoryWorkload WORKLOAD = new HistoryWorkload(4, 40, 24, 5);

  @TempDir Path dir;

  private static HistoryPowerCuts recorded(HistoryStore.Opener opener, IsolationLevel level)
      throws Exception {
    System.out.println("HistoryCrashTest -Drevenant.chaos.seed=" + SEED);
    return HistoryPowerCuts.record(opener, WORKLOAD, level, SEED, /* lives= */ 2);
  }

  @ParameterizedTest
  @EnumSource
  @Drawn(oneIn = 2)
  void power_cuts_leave_a_history_of_the_level(IsolationLevel level) throws Exception {
    HistoryPowerCuts recorded = recorded(HistoryBinding.Opener.of(level), level);
    for (PlatformProfile profile :
        new PlatformProfile[] {PlatformProfile.SECTOR_4K, PlatformProfile.STRICT_POSIX}) {
      Outcome outcome = recorded.cut(profile, STATES / 2);
      assertEquals(Verdict.SURVIVED, outcome.verdict(), outcome::toString);
      assertTrue(outcome.states() > STATES / 4, outcome::toString);
    }
  }

  @ParameterizedTest
  @EnumSource
  @Tag("slow")
  @Drawn(oneIn = 2)
  void kills_leave_a_history_of_the_level(IsolationLevel level) {
    HistoryKills kills =
        new HistoryKills(
            HistoryBinding.Opener.of(level).getClass(),
            WORKLOAD,
            level,
            SEED,
            dir.resolve("killed"));
    Outcome outcome = kills.run(LIVES / 2);
    assertEquals(Verdict.SURVIVED, outcome.verdict(), outcome::toString);
    History history = kills.history();
    assertEquals(LIVES / 2 + 2, history.lives());
    assertTrue(outcome.kills() > 0, outcome::toString);
    System.out.println(history.size() + " transactions, " + outcome.kills() + " kills");
  }

  // -------------------------------------------------------------------------------- the teeth
  // The seed does not determine which sessions meet. So a broken twin runs again until it is found.

  @Test
  void a_snapshot_for_each_read_is_read_committed_and_not_snapshot_isolation() throws Exception {
    boolean convicted = false;
    while (!convicted) {
      History history =
          recorded(new BrokenBindings.SnapshotOfEachRead(), IsolationLevel.READ_COMMITTED)
              .history();
      CheckResult weak =
          HistoryChecker.check(history, IsolationLevel.READ_COMMITTED, Precedence.REAL_TIME);
      assertTrue(weak.holds(), weak::toString);
      CheckResult strong = HistoryChecker.check(history, IsolationLevel.SNAPSHOT);
      convicted = strong.has(AnomalyKind.READ_SKEW) || strong.has(AnomalyKind.NON_REPEATABLE_READ);
    }
  }

  @Test
  void a_snapshot_for_each_range_shows_phantoms() throws Exception {
    Set<AnomalyKind> found = EnumSet.noneOf(AnomalyKind.class);
    Set<AnomalyKind> phantoms = EnumSet.of(AnomalyKind.PHANTOM, AnomalyKind.PREDICATE_READ_SKEW);
    while (!found.containsAll(phantoms)) {
      History history =
          recorded(new BrokenBindings.SnapshotOfEachRange(), IsolationLevel.READ_COMMITTED)
              .history();
      CheckResult weak =
          HistoryChecker.check(history, IsolationLevel.READ_COMMITTED, Precedence.REAL_TIME);
      assertTrue(weak.holds(), weak::toString);
      CheckResult strong =
          HistoryChecker.check(history, IsolationLevel.SNAPSHOT, Precedence.REAL_TIME);
      found.addAll(strong.counts().keySet());
    }
  }

  @Test
  void read_committed_survives_power_cuts_as_read_committed() throws Exception {
    Outcome outcome =
        recorded(new BrokenBindings.SnapshotOfEachRead(), IsolationLevel.READ_COMMITTED)
            .cut(PlatformProfile.SECTOR_4K, STATES / 2);
    assertEquals(Verdict.SURVIVED, outcome.verdict(), outcome::toString);
  }

  @Test
  void a_lazy_commit_reported_as_durable_is_lost() throws Exception {
    Outcome outcome;
    do {
      outcome =
          recorded(new BrokenBindings.LazyForDurable(), IsolationLevel.READ_COMMITTED)
              .cut(PlatformProfile.SECTOR_4K, 4 * STATES);
    } while (outcome.verdict() == Verdict.SURVIVED);
    assertEquals(Verdict.LOST, outcome.verdict(), outcome.toString());
    assertTrue(outcome.reason().contains(AnomalyKind.LOST_WRITE.name()), outcome.toString());
  }

  @Test
  void half_a_commit_is_seen() throws Exception {
    boolean convicted = false;
    while (!convicted) {
      History history =
          recorded(new BrokenBindings.HalfCommit(), IsolationLevel.SNAPSHOT).history();
      convicted = HistoryChecker.check(history, IsolationLevel.SNAPSHOT).has(AnomalyKind.READ_SKEW);
    }
  }

  @Test
  void half_a_commit_after_a_crash_is_found() throws Exception {
    HistoryWorkload alone = new HistoryWorkload(1, 80, 24, 5);
    Outcome outcome;
    do {
      outcome =
          HistoryPowerCuts.record(
                  new BrokenBindings.HalfCommit(),
                  alone,
                  IsolationLevel.READ_COMMITTED,
                  SEED,
                  /* lives= */ 2)
              .cut(PlatformProfile.SECTOR_4K, 4 * STATES);
    } while (outcome.verdict() == Verdict.SURVIVED);
    assertEquals(Verdict.LOST, outcome.verdict(), outcome.toString());
    assertTrue(outcome.reason().contains(AnomalyKind.TORN.name()), outcome.toString());
  }
}
