package org.revenantdb.history;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.history.Access.NIL;
import static org.revenantdb.history.Access.append;
import static org.revenantdb.history.Access.read;
import static org.revenantdb.history.Access.readList;
import static org.revenantdb.history.Access.readLists;
import static org.revenantdb.history.Access.readRegisters;
import static org.revenantdb.history.Access.write;

import java.io.IOException;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Anomalies through ranges, planted in lists and in registers: keys that appear, and when. */
class PredicateAnomaliesTest {

  private static final int X = 4;
  private static final int Y = 7;
  private static final int END = 10;

  /** The kind of the keys. A list has one value here. */
  enum Of {
    LISTS,
    REGISTERS;

    Access put(int key, int value) {
      return this == LISTS ? append(key, value) : write(key, value);
    }

    Access has(int key, int value) {
      return this == LISTS ? readList(key, value) : read(key, value);
    }

    Access hasNot(int key) {
      return this == LISTS ? readList(key) : read(key, NIL);
    }

    /** A range with keys that have the value 1. */
    Access range(int from, int to, int... keys) {
      Access[] found = Arrays.stream(keys).mapToObj(key -> has(key, 1)).toArray(Access[]::new);
      return this == LISTS ? readLists(from, to, found) : readRegisters(from, to, found);
    }
  }

  private final Planted history = new Planted();

  @ParameterizedTest
  @EnumSource
  void a_serial_history_holds(Of of) {
    history
        .committed(of.range(0, END), of.put(X, 1), of.range(0, END, X))
        .then()
        .committed(of.range(0, END, X), of.range(0, X), of.hasNot(Y), of.put(Y, 1))
        .then()
        .aborted(of.range(0, END, X, Y), of.put(5, 1))
        .then()
        .committed(of.range(0, END, X, Y), of.range(X, Y, X), of.range(Y, END, Y))
        .holds();
  }

  @ParameterizedTest
  @EnumSource
  void G_single_phantom(Of of) {
    history
        .committed(of.put(X, 1), of.put(Y, 1))
        .committed(of.range(0, Y), of.has(Y, 1))
        .showsOnly(AnomalyKind.PREDICATE_READ_SKEW);
  }

  @ParameterizedTest
  @EnumSource
  void G_single_phantom_at_the_end_of_a_range(Of of) {
    history
        .committed(of.put(X, 1))
        .then()
        .committed(of.put(END - 1, 1), of.put(END, 1))
        .committed(of.range(X, END, X), of.has(END, 1))
        .showsOnly(AnomalyKind.PREDICATE_READ_SKEW);
  }

  @ParameterizedTest
  @EnumSource
  void a_new_key_behind_a_range_is_not_a_phantom(Of of) {
    history
        .committed(of.put(X, 1), of.put(END, 1))
        .committed(of.range(X + 1, END), of.has(X, 1), of.has(END, 1))
        .holds();
  }

  @ParameterizedTest
  @EnumSource
  void G_single_phantom_between_two_ranges(Of of) {
    history
        .committed(of.put(X, 1), of.put(Y, 1))
        .committed(of.range(0, Y), of.range(Y, END, Y))
        .showsOnly(AnomalyKind.PREDICATE_READ_SKEW);
  }

  @ParameterizedTest
  @EnumSource
  void G_single_in_one_range(Of of) {
    history
        .committed(of.put(X, 1), of.put(Y, 1))
        .committed(of.range(0, Integer.MAX_VALUE, Y))
        .showsOnly(AnomalyKind.PREDICATE_READ_SKEW);
  }

  @Test
  void G_single_of_a_list_in_a_range_and_a_register() {
    history
        .committed(append(X, 1), write(Y, 1))
        .committed(readLists(0, END), read(Y, 1))
        .showsOnly(AnomalyKind.PREDICATE_READ_SKEW);
  }

  @ParameterizedTest
  @EnumSource
  void G_single_item_of_a_key_that_the_range_showed(Of of) {
    Access both =
        of == Of.LISTS
            ? readLists(0, END, readList(X, 1), readList(Y, 1, 2))
            : readRegisters(0, END, read(X, 1), read(Y, 2));
    Access seen = of == Of.LISTS ? readList(X, 1) : read(X, 1);
    history
        .committed(of.put(X, 1), of.put(Y, 1))
        .then()
        .committed(seen, of.has(Y, 1), of.put(X, 2), of.put(Y, 2))
        .committed(both)
        .showsOnly(AnomalyKind.READ_SKEW);
  }

  @ParameterizedTest
  @EnumSource
  void G_nonadjacent_long_fork(Of of) {
    history
        .committed(of.put(X, 1))
        .committed(of.put(Y, 1))
        .committed(of.range(0, END, X))
        .committed(of.range(0, END, Y))
        .showsOnly(AnomalyKind.PREDICATE_NONADJACENT);
  }

  @ParameterizedTest
  @EnumSource
  void G2_write_skew(Of of) {
    history
        .committed(of.range(0, END), of.put(X, 1))
        .committed(of.range(0, END), of.put(Y, 1))
        .showsOnly(AnomalyKind.PREDICATE_WRITE_SKEW);
  }

  @ParameterizedTest
  @EnumSource
  void G2_write_skew_at_the_end_of_a_range(Of of) {
    history
        .committed(of.put(X, 1))
        .then()
        .committed(of.range(X, END, X), of.put(END - 1, 1))
        .committed(of.range(X, END, X), of.put(X + 1, 1))
        .showsOnly(AnomalyKind.PREDICATE_WRITE_SKEW);
  }

  @ParameterizedTest
  @EnumSource
  void G2_of_a_range_and_a_key(Of of) {
    history
        .committed(of.range(0, Y), of.put(Y, 1))
        .committed(of.hasNot(Y), of.put(X, 1))
        .showsOnly(AnomalyKind.PREDICATE_WRITE_SKEW);
  }

  @ParameterizedTest
  @EnumSource
  void no_G2_if_one_of_them_was_rolled_back(Of of) {
    history
        .committed(of.range(0, END), of.put(X, 1))
        .aborted(of.range(0, END), of.put(Y, 1))
        .then()
        .committed(of.range(0, END, X))
        .holds();
  }

  @ParameterizedTest
  @EnumSource
  void P3_phantom(Of of) {
    history
        .committed(of.put(X, 1))
        .committed(of.range(0, END), of.range(0, END, X))
        .shows(AnomalyKind.PHANTOM);
    new Planted()
        .committed(of.put(X, 1))
        .committed(of.range(0, END), of.has(X, 1))
        .shows(AnomalyKind.PHANTOM);
    new Planted()
        .committed(of.put(X, 1))
        .committed(of.has(X, 1), of.range(0, END))
        .shows(AnomalyKind.PHANTOM);
  }

  @ParameterizedTest
  @EnumSource
  void P4_of_a_key_that_both_saw_as_missing(Of of) {
    history
        .committed(of.range(0, END), of.put(X, 1))
        .committed(of.range(0, END), of.put(X, 2))
        .shows(AnomalyKind.LOST_UPDATE);
  }

  @ParameterizedTest
  @EnumSource
  void internal_own_write_is_not_in_the_range(Of of) {
    history.committed(of.put(X, 1), of.range(0, END)).showsOnly(AnomalyKind.INTERNAL);
  }

  @ParameterizedTest
  @EnumSource
  void G1a_of_what_a_range_showed(Of of) {
    history
        .aborted(of.put(X, 1))
        .committed(of.range(0, END, X))
        .showsOnly(AnomalyKind.ABORTED_READ);
  }

  @ParameterizedTest
  @EnumSource
  void phantom_value_of_a_key_that_was_never_written(Of of) {
    history.committed(of.put(X, 1)).committed(of.range(0, END, Y)).shows(AnomalyKind.PHANTOM_VALUE);
  }

  @ParameterizedTest
  @EnumSource
  void a_stale_range_is_allowed_until_real_time_counts(Of of) {
    history.committed(of.put(X, 1)).then().committed(of.range(0, END));
    assertTrue(history.at(IsolationLevel.SERIALIZABLE, Precedence.SESSION).holds());
    CheckResult strict = history.at(IsolationLevel.SNAPSHOT, Precedence.REAL_TIME);
    assertTrue(strict.has(AnomalyKind.PREDICATE_READ_SKEW), strict::toString);
  }

  // ------------------------------------------------------------------------------ over crashes

  @ParameterizedTest
  @EnumSource
  void a_durable_write_is_not_in_the_range_of_a_later_life(Of of) {
    history.committed(of.put(X, 1)).crash().committed(of.range(0, END));
    history.showsOnly(AnomalyKind.LOST_WRITE);
  }

  @ParameterizedTest
  @EnumSource
  void a_suffix_of_lazy_writes_may_be_lost_from_a_range(Of of) {
    history
        .lazy(of.put(X, 1))
        .then()
        .lazy(of.range(0, END, X), of.put(Y, 1))
        .crash()
        .committed(of.range(0, END, X))
        .then()
        .committed(of.range(0, END, X), of.put(Y, 2))
        .holds();
  }

  @ParameterizedTest
  @EnumSource
  void a_lazy_write_is_missing_in_a_range_with_a_write_that_was_built_on_it(Of of) {
    history
        .lazy(of.put(X, 1))
        .lazy(of.range(0, END, X), of.put(Y, 1))
        .crash()
        .committed(of.range(0, END, Y))
        .showsOnly(AnomalyKind.NOT_A_PREFIX);
  }

  @ParameterizedTest
  @EnumSource
  void half_a_transaction_is_in_a_range(Of of) {
    history
        .lazy(of.put(X, 1), of.put(Y, 1))
        .crash()
        .committed(of.range(0, END, Y))
        .shows(AnomalyKind.TORN);
  }

  @ParameterizedTest
  @EnumSource
  void an_unknown_transaction_is_committed_when_a_range_shows_it(Of of) {
    history
        .unknown(of.put(X, 1), of.put(Y, 1))
        .committed(of.range(0, END, Y))
        .showsOnly(AnomalyKind.PREDICATE_READ_SKEW);
  }

  // ---------------------------------------------------------------------------- words and wire

  @Test
  void the_story_contains_the_range_and_the_missing_key() {
    history
        .committed(append(5, 1), append(6, 1))
        .committed(append(3, 1))
        .committed(readLists(0, 6, readList(3, 1)), readList(6, 1));
    CheckResult result = history.at(IsolationLevel.SNAPSHOT, Precedence.NONE);
    assertEquals(1, result.anomalies().size(), result::toString);
    String story = result.anomalies().getFirst().story();
    assertTrue(story.contains("durable): range [0, 6) as {3=[1]}, read 6=[1]\n"), story);
    assertTrue(story.contains("T2 read the range [0, 6) without 5, T0 wrote 1 to it"), story);
  }

  @Test
  void many_ranges_and_many_new_keys_are_no_cycle_of_one() {
    for (int i = 0; i < 5; i++) {
      history.committed(readRegisters(0, END), write(20 + i, 1)).committed(write(X, i));
    }
    history.holds();
  }

  @Test
  void a_range_has_its_own_keys_in_order() {
    assertThrows(IllegalArgumentException.class, () -> readLists(0, X, readList(X, 1)));
    assertThrows(IllegalArgumentException.class, () -> readRegisters(Y, END, read(X, 1)));
    assertThrows(
        IllegalArgumentException.class, () -> readRegisters(0, END, read(Y, 1), read(X, 1)));
  }

  @Test
  void ranges_are_written_as_reads_of_keys_for_Elle() throws IOException {
    History planted =
        history
            .committed(append(2, 1), write(3, 1), append(12, 1))
            .committed(readLists(0, END), readRegisters(0, END, read(3, 1)))
            .aborted(append(6, 1))
            .history();
    assertTrue(
        EdnTest.written(planted)
            .contains(":type :ok, :process 1, :f :txn, :value [[:r 2 []] [:r 3 1]]}"),
        () -> planted.transaction(1).toString());
  }
}
