package org.revenantdb.history;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.revenantdb.history.Access.append;
import static org.revenantdb.history.Access.write;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What sessions record when histories are read, lives end and calls are wrong. */
class HistoryRecorderTest {

  private final HistoryRecorder recorder = new HistoryRecorder();
  private final HistorySession session = recorder.session(0);

  private void append1(int value) {
    session.begin();
    session.appending(1, value);
    session.committing();
  }

  private static List<TransactionOutcome> outcomes(History history) {
    return IntStream.range(0, history.size())
        .mapToObj(t -> history.transaction(t).outcome())
        .toList();
  }

  @Test
  void a_session_goes_on_behind_a_history_that_was_read() {
    append1(1);
    session.ended(TransactionOutcome.DURABLE);
    assertEquals(List.of(TransactionOutcome.DURABLE), outcomes(recorder.history()));
    append1(2);
    recorder.crashed();
    assertEquals(
        List.of(TransactionOutcome.DURABLE, TransactionOutcome.UNKNOWN),
        outcomes(recorder.history()));
  }

  @Test
  void a_transaction_that_is_open_when_the_history_is_read_ends_later() {
    append1(1);
    assertEquals(List.of(TransactionOutcome.UNKNOWN), outcomes(recorder.history()));
    session.ended(TransactionOutcome.DURABLE);
    assertEquals(List.of(TransactionOutcome.DURABLE), outcomes(recorder.history()));
    assertEquals(List.of(append(1, 1)), recorder.history().transaction(0).accesses());
  }

  @Test
  void a_session_goes_on_in_the_next_life_without_what_the_last_one_left_open() {
    append1(1);
    recorder.crashed();
    append1(2);
    recorder.closed();
    session.begin();
    session.writing(2, 3);
    History history = recorder.history();
    assertEquals(
        List.of(TransactionOutcome.UNKNOWN, TransactionOutcome.UNKNOWN, TransactionOutcome.ABORTED),
        outcomes(history));
    assertEquals(List.of(append(1, 2)), history.transaction(1).accesses());
    assertEquals(List.of(write(2, 3)), history.transaction(2).accesses());
    assertEquals(2, history.transaction(2).life());
  }

  @Test
  void a_call_outside_a_transaction_is_refused() {
    assertThrows(IllegalStateException.class, () -> session.appending(1, 1));
    assertThrows(IllegalStateException.class, () -> session.ended(TransactionOutcome.DURABLE));
    session.begin();
    assertThrows(IllegalStateException.class, session::begin);
    recorder.crashed();
    assertThrows(IllegalStateException.class, session::committing);
  }

  @Test
  void a_range_read_with_a_key_outside_its_range_is_refused() {
    TreeMap<Integer, int[]> lists = new TreeMap<>();
    lists.put(7, new int[] {1});
    TreeMap<Integer, Integer> registers = new TreeMap<>();
    registers.put(2, 1);
    session.begin();
    assertThrows(IllegalArgumentException.class, () -> session.readLists(3, 7, lists));
    assertThrows(IllegalArgumentException.class, () -> session.readRegisters(3, 7, registers));
    session.ended(TransactionOutcome.ABORTED);
    assertEquals(List.of(), recorder.history().transaction(0).accesses());
  }

  @Test
  void the_counts_of_a_result_are_in_the_order_of_the_kinds() {
    Map<AnomalyKind, Integer> counts = new EnumMap<>(AnomalyKind.class);
    for (AnomalyKind kind : AnomalyKind.values()) {
      counts.put(kind, 1);
    }
    CheckResult result =
        new CheckResult(IsolationLevel.SNAPSHOT, Precedence.NONE, 1, 1, 1, counts, List.of());
    counts.clear();
    assertEquals(List.of(AnomalyKind.values()), new ArrayList<>(result.counts().keySet()));
  }

  @Test
  void a_history_does_not_change_when_its_builder_is_used_again() {
    History.Builder builder =
        new History.Builder().add(0, 1, 3, TransactionOutcome.DURABLE, write(1, 5));
    History history = builder.build();
    assertThrows(IllegalStateException.class, () -> builder.crashed(9));
    assertThrows(IllegalStateException.class, () -> builder.closed(9));
    assertThrows(IllegalStateException.class, () -> builder.flushed(8, 9));
    assertThrows(IllegalStateException.class, () -> builder.name(1, "x"));
    assertThrows(
        IllegalStateException.class, () -> builder.add(0, 10, 11, TransactionOutcome.DURABLE));
    assertEquals(1, history.lives());
    assertEquals(1, history.size());
  }
}
