package org.revenantdb.chaos.history;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.chaos.history.Access.NIL;
import static org.revenantdb.chaos.history.Access.append;
import static org.revenantdb.chaos.history.Access.read;
import static org.revenantdb.chaos.history.Access.readList;
import static org.revenantdb.chaos.history.Access.write;

import java.io.IOException;
import java.util.EnumMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The format of Elle, written and read back. */
class EdnTest {

  @Test
  void a_history_is_written_in_the_format_of_Jepsen() throws IOException {
    History history =
        new Planted()
            .committed(append(5, 1), readList(5, 1), readList(6))
            .then()
            .lazy(write(7, 1), read(7, 1), read(8, NIL))
            .crash()
            .unknown(append(5, 2), readList(5, 1, 2))
            .then()
            .aborted(append(5, 3))
            .history();
    assertEquals(
        """
        {:index 0, :type :invoke, :process 0, :f :txn, :value [[:append 5 1] [:r 5 nil] [:r 6 nil]]}
        {:index 1, :type :ok, :process 0, :f :txn, :value [[:append 5 1] [:r 5 [1]] [:r 6 []]]}
        {:index 2, :type :invoke, :process 1, :f :txn, :value [[:w 7 1] [:r 7 nil] [:r 8 nil]]}
        {:index 3, :type :ok, :process 1, :f :txn, :value [[:w 7 1] [:r 7 1] [:r 8 nil]], :lazy true}
        {:index 4, :type :info, :process :nemesis, :f :crash, :value nil}
        {:index 5, :type :invoke, :process 2, :f :txn, :value [[:append 5 2] [:r 5 nil]]}
        {:index 6, :type :info, :process 2, :f :txn, :value [[:append 5 2] [:r 5 nil]]}
        {:index 7, :type :invoke, :process 3, :f :txn, :value [[:append 5 3]]}
        {:index 8, :type :fail, :process 3, :f :txn, :value [[:append 5 3]]}
        """,
        written(history));
  }

  @Test
  void lists_and_registers_are_written_separately() throws IOException {
    History history =
        new Planted()
            .committed(append(6, 1), write(7, 1), read(9, NIL), readList(8))
            .then()
            .committed(write(7, 2))
            .crash()
            .unknown(append(6, 2))
            .history();
    StringBuilder lists = new StringBuilder();
    EdnWriter.write(history, EdnWriter.Part.LISTS, lists);
    assertEquals(
        """
        {:index 0, :type :invoke, :process 0, :f :txn, :value [[:append 6 1] [:r 8 nil]]}
        {:index 1, :type :ok, :process 0, :f :txn, :value [[:append 6 1] [:r 8 []]]}
        {:index 2, :type :info, :process :nemesis, :f :crash, :value nil}
        {:index 3, :type :invoke, :process 2, :f :txn, :value [[:append 6 2]]}
        {:index 4, :type :info, :process 2, :f :txn, :value [[:append 6 2]]}
        """,
        lists.toString());
    StringBuilder registers = new StringBuilder();
    EdnWriter.write(history, EdnWriter.Part.REGISTERS, registers);
    assertEquals(
        """
        {:index 0, :type :invoke, :process 0, :f :txn, :value [[:w 7 1] [:r 9 nil]]}
        {:index 1, :type :ok, :process 0, :f :txn, :value [[:w 7 1] [:r 9 nil]]}
        {:index 2, :type :invoke, :process 1, :f :txn, :value [[:w 7 2]]}
        {:index 3, :type :ok, :process 1, :f :txn, :value [[:w 7 2]]}
        {:index 4, :type :info, :process :nemesis, :f :crash, :value nil}
        """,
        registers.toString());
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void a_history_is_read_back_unchanged(long seed) throws IOException {
    for (Simulation.Kind kind : Simulation.Kind.values()) {
      History history = new Simulation(kind, seed).withUnknown().run(300);
      History again = EdnReader.read(written(history));
      History asReads = RangeReads.asReads(history);
      assertEquals(history.size(), again.size());
      for (int t = 0; t < history.size(); t++) {
        RecordedTransaction one = asReads.transaction(t);
        boolean answered = one.outcome() == TransactionOutcome.DURABLE;
        assertEquals(one.outcome(), again.transaction(t).outcome());
        assertEquals(
            one.accesses().stream().filter(access -> answered || isWrite(access)).toList(),
            again.transaction(t).accesses());
      }
      assertEquals(written(again), written(EdnReader.read(written(again))));
      // Reads of transactions without an answer are not in the file, but nothing else is missing.
      History allAnswered = new Simulation(kind, seed).run(300);
      CheckResult before = check(allAnswered);
      CheckResult after = check(EdnReader.read(written(allAnswered)));
      assertEquals(asItems(before.counts()), asItems(after.counts()), before::toString);
    }
  }

  /** Elle knows no ranges; an anomaly through a range is reported under the name of an item. */
  private static Map<AnomalyKind, Integer> asItems(Map<AnomalyKind, Integer> counts) {
    Map<AnomalyKind, Integer> items = new EnumMap<>(AnomalyKind.class);
    counts.forEach((kind, count) -> {
      AnomalyKind item =
          switch (kind) {
            case PHANTOM -> AnomalyKind.NON_REPEATABLE_READ;
            case PREDICATE_READ_SKEW -> AnomalyKind.READ_SKEW;
            case PREDICATE_NONADJACENT -> AnomalyKind.NONADJACENT;
            case PREDICATE_WRITE_SKEW -> AnomalyKind.WRITE_SKEW;
            default -> kind;
          };
      items.merge(item, count, Integer::sum);
    });
    return items;
  }

  private static boolean isWrite(Access access) {
    return access instanceof Access.Append || access instanceof Access.Write;
  }

  private static CheckResult check(History history) {
    return HistoryChecker.check(history, IsolationLevel.SERIALIZABLE, Precedence.REAL_TIME);
  }

  @Test
  void a_process_without_an_answer_gets_a_new_number() throws IOException {
    History history =
        new Planted().unknown(append(1, 1)).sameProcesses().committed(append(1, 2)).history();
    assertTrue(written(history).contains(":type :ok, :process 1,"));
  }

  @Test
  void Jepsens_records_times_and_other_processes_are_read() {
    History history =
        EdnReader.read(
            """
            [#jepsen.history.Op{:index 0, :time 31415926535, :type :info, :process :nemesis, :f :kill}
            #jepsen.history.Op{:index 1, :time 31415926536, :type :invoke, :process 3, :f :txn,
              :value [[:r 9 nil] [:append 9 4]]}
            {:index 2 :type :ok :process 3 :f :txn :value [[:r 9 [-2 3]] [:append 9 4]]
             :error "\\"why\\" not"}]
            """);
    RecordedTransaction only = history.transaction(0);
    assertEquals(1, history.size());
    assertEquals(1, history.lives());
    assertEquals(java.util.List.of(readList(9, -2, 3), append(9, 4)), only.accesses());
    assertEquals(TransactionOutcome.DURABLE, only.outcome());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{:type :ok",
        "{:type :ok, :process 1, :value []}",
        "{:type}",
        "17",
        "{:type :invoke, :process 1}{:type :ok, :process 1, :value [[:r 1]]}",
        "{:type :invoke, :process 1}{:type :ok, :process 1, :value [[:append 1 :x]]}",
        "{:a [[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]}"
      })
  void a_text_that_is_not_a_history_is_refused(String text) {
    assertThrows(IllegalArgumentException.class, () -> EdnReader.read(text));
  }

  static String written(History history) throws IOException {
    StringBuilder text = new StringBuilder();
    EdnWriter.write(history, text);
    return text.toString();
  }
}
