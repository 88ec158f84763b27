package org.revenantdb.history;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.history.Access.NIL;
import static org.revenantdb.history.Access.read;
import static org.revenantdb.history.Access.readRegisters;
import static org.revenantdb.history.Access.write;

import org.junit.jupiter.api.Test;

/** Each anomaly of the literature that registers can show. */
class RegisterAnomaliesTest {

  private static final int X = 1;
  private static final int Y = 2;

  private final Planted history = new Planted();

  @Test
  void a_serial_history_holds() {
    history
        .committed(read(X, NIL), write(X, 1), write(Y, 1))
        .then()
        .committed(read(X, 1), write(X, 2), read(X, 2))
        .then()
        .aborted(read(X, 2), write(X, 3))
        .then()
        .committed(read(X, 2), read(Y, 1))
        .holds();
  }

  @Test
  void a_value_that_time_has_replaced_is_stale_when_real_time_counts() {
    history
        .committed(write(X, 1))
        .then()
        .committed(write(X, 2), write(Y, 1))
        .then()
        .committed(read(X, 1), read(Y, 1));
    assertTrue(history.at(IsolationLevel.SERIALIZABLE, Precedence.NONE).holds());
    CheckResult strict = history.at(IsolationLevel.SNAPSHOT, Precedence.REAL_TIME);
    assertTrue(strict.has(AnomalyKind.READ_SKEW), strict::toString);
  }

  @Test
  void G0_dirty_write_with_the_order_that_reads_give() {
    // A transaction that writes what it has read builds on it: X goes one way round, Y the other.
    history
        .committed(read(Y, 2), write(X, 1), write(Y, 3))
        .committed(read(X, 1), write(X, 2), write(Y, 2))
        .shows(AnomalyKind.DIRTY_WRITE);
  }

  @Test
  void G1a_aborted_read() {
    history.aborted(write(X, 1)).committed(read(X, 1)).showsOnly(AnomalyKind.ABORTED_READ);
  }

  @Test
  void G1b_intermediate_read() {
    history
        .committed(write(X, 1), write(X, 2))
        .committed(read(X, 1))
        .showsOnly(AnomalyKind.INTERMEDIATE_READ);
  }

  @Test
  void G1c_circular_information_flow() {
    history
        .committed(write(X, 1), read(Y, 1))
        .committed(write(Y, 1), read(X, 1))
        .showsOnly(AnomalyKind.CIRCULAR_INFORMATION_FLOW);
  }

  @Test
  void G_single_read_skew() {
    history
        .committed(write(X, 1), write(Y, 1))
        .committed(read(X, NIL), read(Y, 1))
        .showsOnly(AnomalyKind.READ_SKEW);
  }

  @Test
  void G_single_read_skew_of_replaced_values() {
    history
        .committed(write(X, 1), write(Y, 1))
        .then()
        .committed(read(X, 1), read(Y, 1), write(X, 2), write(Y, 2))
        .committed(read(X, 1), read(Y, 2))
        .showsOnly(AnomalyKind.READ_SKEW);
  }

  @Test
  void G_nonadjacent_long_fork() {
    history
        .committed(write(X, 1))
        .committed(write(Y, 1))
        .committed(read(X, 1), read(Y, NIL))
        .committed(read(X, NIL), read(Y, 1))
        .showsOnly(AnomalyKind.NONADJACENT);
  }

  @Test
  void G2_item_write_skew() {
    history
        .committed(read(X, NIL), read(Y, NIL), write(X, 1))
        .committed(read(X, NIL), read(Y, NIL), write(Y, 1))
        .showsOnly(AnomalyKind.WRITE_SKEW);
  }

  /** The accounts of Fekete, O'Neil and O'Neil (2004), after their opening. */
  private Planted accounts() {
    return history.committed(write(X, 0), write(Y, 100)).then();
  }

  @Test
  void G2_item_read_only_anomaly_of_three() {
    accounts()
        .committed(read(X, 0), read(Y, 100), write(X, -11))
        .committed(read(Y, 100), write(Y, 120))
        .committed(read(X, 0), read(Y, 120))
        .showsOnly(AnomalyKind.WRITE_SKEW);
  }

  @Test
  void G2_item_read_only_anomaly_of_accounts_that_were_never_opened() {
    history
        .committed(read(X, NIL), read(Y, NIL), write(X, -11))
        .committed(read(Y, NIL), write(Y, 20))
        .committed(read(X, NIL), read(Y, 20))
        .showsOnly(AnomalyKind.WRITE_SKEW);
  }

  @Test
  void G2_item_needs_the_reader_of_the_read_only_anomaly() {
    accounts()
        .committed(read(X, 0), read(Y, 100), write(X, -11))
        .committed(read(Y, 100), write(Y, 120))
        .holds();
  }

  @Test
  void G2_read_only_anomaly_through_ranges() {
    history
        .committed(readRegisters(0, 9), write(X, -11))
        .committed(read(Y, NIL), write(Y, 20))
        .committed(readRegisters(0, 9, read(Y, 20)))
        .showsOnly(AnomalyKind.PREDICATE_WRITE_SKEW);
  }

  @Test
  void P4_lost_update() {
    history
        .committed(write(X, 1))
        .then()
        .committed(read(X, 1), write(X, 2))
        .committed(read(X, 1), write(X, 3))
        .shows(AnomalyKind.LOST_UPDATE);
  }

  @Test
  void P2_fuzzy_read() {
    history
        .committed(write(X, 1))
        .committed(read(X, NIL), read(X, 1))
        .shows(AnomalyKind.NON_REPEATABLE_READ);
  }

  @Test
  void internal() {
    history.committed(write(X, 1), read(X, NIL)).showsOnly(AnomalyKind.INTERNAL);
  }

  @Test
  void dirty_update() {
    history
        .aborted(write(X, 1))
        .committed(read(X, 1), write(X, 2))
        .showsOnly(AnomalyKind.DIRTY_UPDATE, AnomalyKind.ABORTED_READ);
  }

  @Test
  void phantom_value() {
    history.committed(read(X, 7)).showsOnly(AnomalyKind.PHANTOM_VALUE);
  }

  @Test
  void many_first_writers_and_readers_of_nothing_are_no_cycle_of_one() {
    for (int i = 0; i < 5; i++) {
      history.committed(read(X, NIL), write(10 + i, 1), write(X, i));
    }
    CheckResult result = history.at(IsolationLevel.READ_COMMITTED, Precedence.NONE);
    assertTrue(result.holds(), result::toString);
    Planted one = new Planted().committed(read(X, NIL), write(X, 1));
    one.committed(write(X, 2)).committed(write(X, 3)).holds();
  }
}
