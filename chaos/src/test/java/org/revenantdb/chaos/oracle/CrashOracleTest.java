package org.revenantdb.chaos.oracle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.revenantdb.chaos.oracle.Finding.Kind;

/** The oracle accepts every legal state and finds every planted error. */
class CrashOracleTest {

  private static final long NOTHING = Attempt.ABSENT;

  private final CrashOracle<String> oracle = new CrashOracle<>();
  private long clock;
  private int begun;

  private Attempt<String> begin() {
    long before = ++clock;
    Attempt<String> attempt = new Attempt<>("T" + ++begun, before, ++clock);
    oracle.add(attempt);
    return attempt;
  }

  private void write(Attempt<String> attempt, String key, long version, long replaced) {
    oracle.add(attempt.write(key, version, replaced));
  }

  private void read(Attempt<String> attempt, String key, long version) {
    oracle.add(attempt.read(key, version));
  }

  private void acknowledge(Attempt<String> attempt) {
    attempt.committing();
    attempt.acknowledged(++clock);
  }

  private void accepts(Map<String, Long> recovered) {
    Judgement judgement = oracle.judge(recovered);
    assertTrue(judgement.holds(), judgement::toString);
    assertEquals(recovered, oracle.base());
  }

  private void finds(Kind kind, Map<String, Long> recovered) {
    Judgement judgement = oracle.judge(recovered);
    assertFalse(judgement.holds());
    List<Kind> kinds = judgement.findings().stream().map(Finding::kind).toList();
    assertTrue(kinds.contains(kind), judgement::toString);
  }

  /** A verified base: a is version 1, b is version 2. */
  private void base() {
    Attempt<String> first = begin();
    write(first, "a", 1, NOTHING);
    write(first, "b", 2, NOTHING);
    acknowledge(first);
    accepts(Map.of("a", 1L, "b", 2L));
  }

  // ------------------------------------------------------------------------------- legal states

  @Test
  void acknowledged_isThere_holds() {
    base();
    Attempt<String> t = begin();
    write(t, "a", 3, 1);
    write(t, "b", NOTHING, 2);
    acknowledge(t);
    accepts(Map.of("a", 3L));
  }

  @Test
  void inDoubt_whole_orNotAtAll_holds() {
    base();
    Attempt<String> t = begin();
    write(t, "a", 3, 1);
    write(t, "b", 4, 2);
    t.committing();
    Judgement there = oracle.judge(Map.of("a", 3L, "b", 4L));
    assertEquals(new Judgement(List.of(), 1, 0), there);
    Attempt<String> u = begin();
    write(u, "a", 5, 3);
    write(u, "b", 6, 4);
    u.committing();
    Judgement gone = oracle.judge(Map.of("a", 3L, "b", 4L));
    assertEquals(new Judgement(List.of(), 0, 1), gone);
  }

  @Test
  void runningAndRolledBack_areGone_holds() {
    base();
    Attempt<String> running = begin();
    write(running, "a", 3, 1);
    Attempt<String> back = begin();
    write(back, "b", 4, 2);
    back.rolledBack();
    accepts(Map.of("a", 1L, "b", 2L));
  }

  @Test
  void order_ofCommits_followsFromTheBeginnings_notFromTheAcknowledgements() {
    base();
    Attempt<String> t = begin();
    write(t, "a", 3, 1);
    t.committing();
    Attempt<String> u = begin();
    write(u, "a", 4, 3);
    acknowledge(u);
    t.acknowledged(++clock);
    accepts(Map.of("a", 4L, "b", 2L));
  }

  @Test
  void inDoubt_whoseVersionAnotherInDoubtReplaced_holds() {
    base();
    Attempt<String> t = begin();
    write(t, "a", 3, 1);
    t.committing();
    Attempt<String> u = begin();
    write(u, "a", 4, 3);
    u.committing();
    accepts(Map.of("a", 4L, "b", 2L));
  }

  @Test
  void insertedAndDeleted_inDoubt_leavesNothing_evenIfItWasRead() {
    Attempt<String> t = begin();
    write(t, "c", 3, NOTHING);
    t.committing();
    Attempt<String> reader = begin();
    read(reader, "c", 3);
    Attempt<String> u = begin();
    write(u, "c", NOTHING, 3);
    u.committing();
    accepts(Map.of());
  }

  @Test
  void deleted_andInsertedAgain_holds() {
    base();
    Attempt<String> t = begin();
    write(t, "a", NOTHING, 1);
    acknowledge(t);
    Attempt<String> reader = begin();
    read(reader, "a", NOTHING);
    Attempt<String> u = begin();
    write(u, "a", 5, NOTHING);
    acknowledge(u);
    read(reader, "a", NOTHING);
    accepts(Map.of("a", 5L, "b", 2L));
  }

  @Test
  void readOfNothing_beforeAnInsertAndADelete_isNotFractured() {
    base();
    long before = ++clock;
    Attempt<String> t = begin();
    Attempt<String> reader = new Attempt<>("R", before, ++clock);
    oracle.add(reader);
    write(t, "c", 3, NOTHING);
    write(t, "c", NOTHING, 3);
    write(t, "a", 4, 1);
    acknowledge(t);
    read(reader, "c", NOTHING);
    read(reader, "a", 1);
    accepts(Map.of("a", 4L, "b", 2L));
  }

  // ------------------------------------------------------------------------------- planted errors

  @Test
  void lost_acknowledgedInsert() {
    Attempt<String> t = begin();
    write(t, "a", 1, NOTHING);
    acknowledge(t);
    finds(Kind.LOST, Map.of());
  }

  @Test
  void lost_acknowledgedUpdate() {
    base();
    Attempt<String> t = begin();
    write(t, "a", 3, 1);
    acknowledge(t);
    finds(Kind.LOST, Map.of("a", 1L, "b", 2L));
  }

  @Test
  void lost_versionThatWasVerifiedBefore() {
    base();
    finds(Kind.LOST, Map.of("a", 1L));
  }

  @Test
  void resurrected_acknowledgedDelete() {
    base();
    Attempt<String> t = begin();
    write(t, "a", NOTHING, 1);
    acknowledge(t);
    finds(Kind.RESURRECTED, Map.of("a", 1L, "b", 2L));
  }

  @Test
  void torn_halfOfATransactionInDoubt() {
    base();
    Attempt<String> t = begin();
    write(t, "a", 3, 1);
    write(t, "b", 4, 2);
    t.committing();
    finds(Kind.TORN, Map.of("a", 3L, "b", 2L));
  }

  @Test
  void torn_halfOfAnAcknowledgedTransaction_isALoss() {
    base();
    Attempt<String> t = begin();
    write(t, "a", 3, 1);
    write(t, "b", 4, 2);
    acknowledge(t);
    finds(Kind.LOST, Map.of("a", 3L, "b", 2L));
  }

  @Test
  void phantom_versionThatWasNeverWritten() {
    base();
    finds(Kind.PHANTOM, Map.of("a", 77L, "b", 2L));
  }

  @Test
  void phantom_keyThatWasNeverWritten() {
    base();
    finds(Kind.PHANTOM, Map.of("a", 1L, "b", 2L, "z", 9L));
  }

  @Test
  void uncommitted_runningTransactionIsThere() {
    base();
    Attempt<String> t = begin();
    write(t, "a", 3, 1);
    finds(Kind.UNCOMMITTED, Map.of("a", 3L, "b", 2L));
  }

  @Test
  void uncommitted_rolledBackTransactionIsThere() {
    base();
    Attempt<String> t = begin();
    write(t, "a", 3, 1);
    t.rolledBack();
    finds(Kind.UNCOMMITTED, Map.of("a", 3L, "b", 2L));
  }

  @Test
  void torn_survivorIsBasedOnHalfOfATransactionInDoubt() {
    base();
    Attempt<String> t = begin();
    write(t, "a", 3, 1);
    write(t, "b", 4, 2);
    t.committing();
    Attempt<String> u = begin();
    write(u, "a", 5, 3);
    acknowledge(u);
    finds(Kind.LOST, Map.of("a", 5L, "b", 2L));
  }

  @Test
  void lostUpdate_twoReplacedTheSame() {
    base();
    Attempt<String> t = begin();
    Attempt<String> u = begin();
    write(t, "a", 3, 1);
    write(u, "a", 4, 1);
    acknowledge(t);
    acknowledge(u);
    finds(Kind.LOST_UPDATE, Map.of("a", 4L, "b", 2L));
  }

  @Test
  void dirtyRead_ofARolledBackVersion() {
    base();
    Attempt<String> t = begin();
    write(t, "a", 3, 1);
    Attempt<String> reader = begin();
    read(reader, "a", 3);
    t.rolledBack();
    finds(Kind.DIRTY_READ, Map.of("a", 1L, "b", 2L));
  }

  @Test
  void dirtyRead_ofAVersionThatDidNotSurvive() {
    base();
    Attempt<String> t = begin();
    write(t, "a", 3, 1);
    t.committing();
    Attempt<String> reader = begin();
    read(reader, "a", 3);
    finds(Kind.DIRTY_READ, Map.of("a", 1L, "b", 2L));
  }

  @Test
  void staleRead_ofWhatWasReplacedBeforeTheReaderBegan() {
    base();
    Attempt<String> t = begin();
    write(t, "a", 3, 1);
    acknowledge(t);
    Attempt<String> reader = begin();
    read(reader, "a", 1);
    finds(Kind.STALE_READ, Map.of("a", 3L, "b", 2L));
  }

  @Test
  void fracturedRead_ofHalfATransaction() {
    base();
    Attempt<String> reader = begin();
    Attempt<String> t = new Attempt<>("T", clock - 1, clock - 1);
    oracle.add(t);
    write(t, "a", 3, 1);
    write(t, "b", 4, 2);
    acknowledge(t);
    read(reader, "a", 3);
    read(reader, "b", 2);
    finds(Kind.FRACTURED_READ, Map.of("a", 3L, "b", 4L));
  }

  @Test
  void ownRead_ownChangeNotSeen() {
    base();
    Attempt<String> t = begin();
    write(t, "a", 3, 1);
    read(t, "a", 1);
    acknowledge(t);
    finds(Kind.OWN_READ, Map.of("a", 3L, "b", 2L));
  }

  @Test
  void ownRead_snapshotMoved() {
    base();
    Attempt<String> t = begin();
    write(t, "a", 3, 1);
    Attempt<String> reader = begin();
    read(reader, "a", 1);
    acknowledge(t);
    read(reader, "a", 3);
    finds(Kind.OWN_READ, Map.of("a", 3L, "b", 2L));
  }

  @Test
  void findings_keepTheBase() {
    base();
    Map<String, Long> before = oracle.base();
    finds(Kind.LOST, Map.of());
    assertEquals(before, oracle.base());
  }
}
