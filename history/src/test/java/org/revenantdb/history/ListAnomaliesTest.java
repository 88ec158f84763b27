package org.revenantdb.history;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.history.Access.append;
import static org.revenantdb.history.Access.readList;

import org.junit.jupiter.api.Test;

/** Each anomaly of the literature, planted in lists: found where it is, and nowhere else. */
class ListAnomaliesTest {

  private static final int X = 1;
  private static final int Y = 2;
  private static final int Z = 3;

  private final Planted history = new Planted();

  @Test
  void a_serial_history_holds() {
    history
        .committed(append(X, 1), append(Y, 1))
        .then()
        .committed(readList(X, 1), append(X, 2))
        .then()
        .aborted(readList(X, 1, 2), append(X, 3))
        .then()
        .committed(readList(X, 1, 2), readList(Y, 1), append(Y, 2), readList(Y, 1, 2))
        .then()
        .committed(readList(X, 1, 2), readList(Y, 1, 2), readList(Z))
        .holds();
  }

  @Test
  void G0_dirty_write() {
    history
        .committed(append(X, 1), append(Y, 1))
        .committed(append(X, 2), append(Y, 2))
        .committed(readList(X, 1, 2))
        .committed(readList(Y, 2, 1))
        .shows(AnomalyKind.DIRTY_WRITE);
  }

  @Test
  void G0_within_one_key() {
    history
        .committed(append(X, 1), append(X, 3))
        .committed(append(X, 2))
        .committed(readList(X, 1, 2, 3))
        .showsOnly(AnomalyKind.DIRTY_WRITE);
  }

  @Test
  void G1a_aborted_read() {
    history.aborted(append(X, 1)).committed(readList(X, 1)).showsOnly(AnomalyKind.ABORTED_READ);
  }

  @Test
  void G1b_intermediate_read() {
    history
        .committed(append(X, 1), append(X, 2))
        .committed(readList(X, 1))
        .shows(AnomalyKind.INTERMEDIATE_READ);
  }

  @Test
  void G1c_circular_information_flow() {
    history
        .committed(append(X, 1), readList(Y, 1))
        .committed(append(Y, 1), readList(X, 1))
        .showsOnly(AnomalyKind.CIRCULAR_INFORMATION_FLOW);
  }

  @Test
  void G_single_read_skew() {
    history
        .committed(append(X, 1), append(Y, 1))
        .committed(readList(X), readList(Y, 1))
        .committed(readList(X, 1))
        .showsOnly(AnomalyKind.READ_SKEW);
  }

  @Test
  void G_single_where_the_missed_append_was_never_read() {
    history
        .committed(append(X, 1), append(Y, 1))
        .committed(readList(X), readList(Y, 1))
        .showsOnly(AnomalyKind.READ_SKEW);
  }

  @Test
  void G_nonadjacent_long_fork() {
    history
        .committed(append(X, 1))
        .committed(append(Y, 1))
        .committed(readList(X, 1), readList(Y))
        .committed(readList(X), readList(Y, 1))
        .showsOnly(AnomalyKind.NONADJACENT);
  }

  @Test
  void G2_item_write_skew() {
    history
        .committed(readList(X), append(Y, 1))
        .committed(readList(Y), append(X, 1))
        .committed(readList(X, 1), readList(Y, 1))
        .showsOnly(AnomalyKind.WRITE_SKEW);
  }

  @Test
  void G2_item_without_a_later_read() {
    history
        .committed(readList(X), append(Y, 1))
        .committed(readList(Y), append(X, 1))
        .showsOnly(AnomalyKind.WRITE_SKEW);
  }

  @Test
  void G2_item_read_only_anomaly_of_three() {
    // Fekete, O'Neil and O'Neil: serializable without the third transaction, which only reads.
    history
        .committed(readList(X), readList(Y), append(X, 1))
        .committed(readList(Y), append(Y, 1))
        .committed(readList(X), readList(Y, 1))
        .showsOnly(AnomalyKind.WRITE_SKEW);
  }

  @Test
  void G2_item_needs_the_reader_of_the_read_only_anomaly() {
    history
        .committed(readList(X), readList(Y), append(X, 1))
        .committed(readList(Y), append(Y, 1))
        .holds();
  }

  @Test
  void P4_lost_update_of_which_one_value_is_gone() {
    history
        .committed(append(X, 1))
        .then()
        .committed(readList(X, 1), append(X, 2))
        .committed(readList(X, 1), append(X, 3))
        .then()
        .committed(readList(X, 1, 3))
        .shows(AnomalyKind.LOST_UPDATE);
  }

  @Test
  void P4_lost_update_of_which_both_values_are_there() {
    history
        .committed(readList(X), append(X, 2))
        .committed(readList(X), append(X, 3))
        .committed(readList(X, 2, 3))
        .shows(AnomalyKind.LOST_UPDATE);
  }

  @Test
  void no_P4_if_one_of_them_was_rolled_back() {
    history
        .committed(readList(X), append(X, 2))
        .aborted(readList(X), append(X, 3))
        .then()
        .committed(readList(X, 2))
        .holds();
  }

  @Test
  void P2_fuzzy_read() {
    history
        .committed(append(X, 1))
        .committed(readList(X), readList(X, 1))
        .shows(AnomalyKind.NON_REPEATABLE_READ);
  }

  @Test
  void P2_fuzzy_read_around_an_append() {
    history
        .committed(append(X, 1))
        .committed(readList(X), append(X, 2), readList(X, 1, 2))
        .shows(AnomalyKind.NON_REPEATABLE_READ);
  }

  @Test
  void internal_own_append_is_not_there() {
    history.committed(append(X, 1), readList(X)).showsOnly(AnomalyKind.INTERNAL);
  }

  @Test
  void internal_others_append_behind_own() {
    history
        .committed(append(X, 2))
        .committed(append(X, 1), readList(X, 1, 2))
        .shows(AnomalyKind.INTERNAL);
  }

  @Test
  void dirty_update() {
    history
        .aborted(append(X, 1))
        .committed(append(X, 2))
        .committed(readList(X, 1, 2))
        .showsOnly(AnomalyKind.DIRTY_UPDATE, AnomalyKind.ABORTED_READ);
  }

  @Test
  void duplicate() {
    history.committed(append(X, 1)).committed(readList(X, 1, 1)).showsOnly(AnomalyKind.DUPLICATE);
  }

  @Test
  void phantom_value() {
    history.committed(append(X, 1)).committed(readList(X, 1, 7)).shows(AnomalyKind.PHANTOM_VALUE);
  }

  @Test
  void incompatible_order() {
    history
        .committed(append(X, 1))
        .committed(append(X, 2))
        .committed(readList(X, 1, 2))
        .committed(readList(X, 2))
        .shows(AnomalyKind.INCOMPATIBLE_ORDER);
  }

  @Test
  void stale_read_is_allowed_until_real_time_counts() {
    history.committed(append(X, 1)).then().committed(readList(X));
    for (IsolationLevel level : IsolationLevel.values()) {
      assertTrue(history.at(level, Precedence.NONE).holds());
    }
    CheckResult strict = history.at(IsolationLevel.SNAPSHOT, Precedence.REAL_TIME);
    assertTrue(strict.has(AnomalyKind.READ_SKEW), strict::toString);
    assertTrue(strict.anomalies().getFirst().story().contains("T0 had ended when T1 began"));
  }

  @Test
  void session_order_counts_for_the_same_process_only() {
    history.committed(append(X, 1)).then().committed(readList(X));
    assertTrue(history.at(IsolationLevel.SNAPSHOT, Precedence.SESSION).holds());
    Planted own = new Planted().committed(append(X, 1)).sameProcesses().committed(readList(X));
    assertTrue(own.at(IsolationLevel.SNAPSHOT, Precedence.SESSION).has(AnomalyKind.READ_SKEW));
  }

  @Test
  void an_unknown_transaction_counts_as_committed_when_it_was_seen() {
    history
        .unknown(append(X, 1), append(Y, 1))
        .committed(readList(X, 1), readList(Y))
        .showsOnly(AnomalyKind.READ_SKEW);
  }

  @Test
  void an_unknown_transaction_does_not_count_when_it_was_not_seen() {
    history
        .unknown(readList(Y), append(X, 1))
        .then()
        .committed(readList(X), append(Y, 1))
        .then()
        .committed(readList(X), readList(Y, 1))
        .holds();
  }

  @Test
  void an_unknown_transaction_is_committed_when_a_seen_one_has_seen_it() {
    history
        .unknown(append(X, 1), append(Z, 1))
        .unknown(readList(X, 1), append(Y, 1))
        .committed(readList(Y, 1), readList(Z))
        .shows(AnomalyKind.READ_SKEW);
  }

  @Test
  void the_story_contains_transactions_accesses_and_reasons() {
    history
        .committed(append(5, 1), append(5, 2))
        .committed(append(5, 3), append(6, 1))
        .committed(readList(6, 1), readList(5, 1, 2));
    CheckResult result = history.at(IsolationLevel.SNAPSHOT, Precedence.NONE);
    assertEquals(1, result.anomalies().size(), result::toString);
    String story = result.anomalies().getFirst().story();
    assertTrue(story.contains("T2 (process 2, 1 to 9, durable): read 6=[1], read 5=[1 2]"), story);
    assertTrue(story.contains("T2 read 2 in key 5, T1 wrote 3 behind it"), story);
    assertTrue(story.contains("T1 wrote 1 to key 6, T2 read it"), story);
  }

  @Test
  void a_value_written_twice_is_refused() {
    history.committed(append(X, 1)).committed(append(X, 1));
    assertThrows(
        IllegalArgumentException.class,
        () -> HistoryChecker.check(history.history(), IsolationLevel.SNAPSHOT));
  }

  @Test
  void a_key_is_a_list_or_a_register() {
    history.committed(append(X, 1)).committed(Access.read(X, 1));
    assertThrows(
        IllegalArgumentException.class,
        () -> HistoryChecker.check(history.history(), IsolationLevel.SNAPSHOT));
  }
}
