package org.revenantdb.history;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.history.Access.NIL;
import static org.revenantdb.history.Access.append;
import static org.revenantdb.history.Access.read;
import static org.revenantdb.history.Access.readList;
import static org.revenantdb.history.Access.write;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
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
    assertEquals(List.of(readList(9, -2, 3), append(9, 4)), only.accesses());
    assertEquals(TransactionOutcome.DURABLE, only.outcome());
  }

  @Test
  void an_invocation_without_an_answer_may_have_written() {
    // Its write was seen. If the reader dropped it, the read would be one of a value never written.
    History history =
        EdnReader.read(
            """
            {:type :invoke, :process 0, :f :txn, :value [[:append 1 1] [:r 1 nil]]}
            {:type :invoke, :process 1, :f :txn, :value [[:r 1 nil]]}
            {:type :ok, :process 1, :f :txn, :value [[:r 1 [1]]]}
            """);
    assertEquals(2, history.size());
    assertTrue(check(history).holds(), () -> check(history).toString());
    RecordedTransaction open = history.transaction(1);
    assertEquals(TransactionOutcome.UNKNOWN, open.outcome());
    assertEquals(List.of(append(1, 1)), open.accesses());
  }

  @Test
  void an_answer_without_a_value_has_the_writes_of_its_invocation() {
    History history =
        EdnReader.read(
            """
            {:type :invoke, :process 0, :f :txn, :value [[:append 1 1] [:r 1 nil]]}
            {:type :info, :process 0, :f :txn, :value nil, :error :timeout}
            {:type :invoke, :process 1, :f :txn, :value [[:append 1 2]]}
            {:type :fail, :process 1, :f :txn}
            {:type :invoke, :process 2, :f :txn, :value [[:r 1 nil]]}
            {:type :ok, :process 2, :f :txn, :value [[:r 1 [1 2]]]}
            """);
    assertEquals(List.of(append(1, 1)), history.transaction(0).accesses());
    assertEquals(List.of(append(1, 2)), history.transaction(1).accesses());
    assertEquals(Set.of(AnomalyKind.ABORTED_READ), check(history).counts().keySet());
  }

  @Test
  void a_list_that_was_read_as_nil_is_an_empty_list() {
    History history =
        EdnReader.read(
            """
            {:type :ok, :process 0, :value [[:r 1 nil] [:r 2 nil]]}
            {:type :ok, :process 1, :value [[:append 1 7] [:w 2 8]]}
            """);
    assertEquals(List.of(readList(1), read(2, NIL)), history.transaction(0).accesses());
    assertTrue(check(history).holds());
  }

  @Test
  void keys_may_be_keywords_strings_and_long_numbers_and_keep_their_names() throws IOException {
    String text =
        """
        {:index 0, :type :invoke, :process 0, :f :txn, :value [[:append :x 1] [:w "a b" 1] [:w 12345678901 1] [:w 5 1]]}
        {:index 1, :type :ok, :process 0, :f :txn, :value [[:append :x 1] [:w "a b" 1] [:w 12345678901 1] [:w 5 1]]}
        """;
    assertEquals(text, written(EdnReader.read(text)));
    History history =
        EdnReader.read(
            """
            {:type :ok, :process 0, :value [[:append :x 1] [:r :y [1]]]}
            {:type :ok, :process 1, :value [[:append :x 2] [:append :y 1]]}
            {:type :ok, :process 2, :value [[:r :x [1 2]]]}
            """);
    CheckResult result = check(history);
    assertTrue(result.has(AnomalyKind.CIRCULAR_INFORMATION_FLOW), result::toString);
    assertTrue(result.toString().contains("wrote 1 to key :y"), result::toString);
    History cut = history.cutAt(3);
    assertEquals(":x", cut.keyName(((Access.Append) cut.transaction(0).accesses().get(0)).key()));
  }

  @Test
  void a_transaction_without_an_invocation_may_have_begun_when_the_one_before_had_ended() {
    // Process 1 may have read before process 0 wrote, so real time forbids nothing.
    String concurrent =
        """
        {:type :ok, :process 0, :value [[:w 1 1]]}
        {:type :ok, :process 1, :value [[:r 1 nil]]}
        """;
    assertTrue(check(EdnReader.read(concurrent)).holds());
    String later = concurrent + "{:type :ok, :process 0, :value [[:r 1 nil]]}";
    assertFalse(check(EdnReader.read(later)).holds());
  }

  @Test
  void comments_sets_tags_and_characters_of_other_events_are_skipped() {
    History history =
        EdnReader.read(
            """
            ; a comment {
            {:type :info, :process :nemesis, :f :start, :value #{:n1 :n2}, :at #inst "2026-11-28"}
            #_{:type :ok, :process 0, :value [[:w 1 1]]}
            {:type :ok, :process 0, :value [[:w 1 2]], :sign \\}, :big 1N}
            """);
    assertEquals(List.of(write(1, 2)), history.transaction(0).accesses());
    assertEquals(1, history.size());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          {:type :ok | 1: a bracket is not closed by }: the file is not complete
          {:a} | 1: a map has a key without a value: write as many values as keys
          ] {:a 1} | 1: ']' closes a bracket that was not opened
          [(^) | 1: a bracket opens inside that of line 1: an event is a map
          ^[{:type :ok, :process 1, :value [[:w 1 1]]} | 2: a bracket is not closed by ] behind the last event: the file is not complete
          [{:type :ok, :process 1, :value [[:w 1 1]]}) | 1: ')' closes a bracket that was not opened
          {"type": "ok", "process": 0} | 1: ':' stands alone: this may be JSON, and the file must be EDN
          {"type" "ok", "process" 0} | 1: an event has no :process
          {} | 1: an event has no :process
          {:type :ok, :type :ok} | 1: a map has the key :type twice: leave one of them out
          } | 1: '}' closes a bracket that was not opened
          17 | 1: an event is a map
          {:type :ok, :process 1 :value 3} | 1: the :value of a transaction is a vector of operations
          {:type :ok, :process 1} | 1: the :value of a transaction is a vector
          {:type :ok, :value [[:w 1 1]]} | 1: an event has no :process: give each client a number
          {:type :done, :process 1, :value []} | 1: an event has :type :done: use :invoke, :ok, :fail or :info
          {:type :invoke, :process 1}^{:type :invoke, :process 1} | 2: process 1 begins a transaction, but that of line 1 has no answer: end it with :info
          {:type :ok, :process 1, :value []}^{:type :ok, :process 1, :value [[:r 1]]} | 2: an operation is [f key value] with f :r, :w or :append, but is [:r, 1]
          {:type :ok, :process 1,^:value [[:append 1 :x]]} | 1: a value is an integer of at most 31 bits, but is :x: number the values
          {:type :ok, :process 1, :value [[:append 1 12345678901]]} | 1: a value is an integer of at most 31 bits, but is 12345678901
          {:type :ok, :process 1, :value [[:r 1 [1 nil]]]} | 1: a value is an integer of at most 31 bits, but is nil
          {:type :ok, :process 1, :value [[:w [1] 1]]} | 1: a key is an integer, a keyword, a symbol or a string, but is [1]: give it a name
          {:type :ok, :process 1, :value [[:w 1.5 1]]} | 1: a key is an integer, a keyword, a symbol or a string, but is 1.5: give it a name
          {:type :ok, :process 1, :value [[:w \\a 1]]} | 1: a key is an integer, a keyword, a symbol or a string, but is \\a: give it a name
          {:type :ok, :process 1, :value [[:w 007 1]]} | 1: a key is an integer, a keyword, a symbol or a string, but is 007: give it a name
          {:type :ok, :process 1, :value [[:w ##Inf 1]]} | 1: a key is an integer, a keyword, a symbol or a string, but is ##Inf: give it a name
          {:type :ok, :process 1, :value [[:r 1 #{2 1}]]} | 1: a value is an integer of at most 31 bits, but is #{2, 1}: number the values, and write a list that was read as a vector
          {:type :ok, :process 3000000000, :value [[:append 1 1]]} | 1: a client is process 3000000000: give each client a number of at most 31 bits
          {:type :ok, :process "0", :value [[:r 1 nil]]} | 1: a client is process "0": give each client a number of at most 31 bits
          {:type :info, :process :c1, :value [[:w 1 1]]} | 1: a client is process :c1: give each client a number of at most 31 bits
          ; nothing^ | 2: there is no transaction up to the end
          {:type :info, :process :nemesis, :f :start} | 1: there is no transaction up to the end
          {:type :info, :process 1, :value :timeout} | 1: the writes of a transaction without an answer are not in the file
          {:type :invoke, :process 1, :value nil}^{:type :info, :process 1} | 1: the writes of a transaction without an answer are not in the file
          {:type :ok, :process 0, :value [[:w 1 1]]}^{:type :invoke, :process 0, :value [[:w 1 1]]} | 2: process 0 is answered in line 1, before it begins
          {:type :invoke, :process 0, :value [[:r 1 nil]]}^{:process :nemesis, :f :crash}^{:type :ok, :process 0, :value [[:r 1 []]]} | 3: process 0 is answered after its life ended in line 2: put the :ok before that line
          {:type :ok, :process 1, :value [[:cas 1 1]]} | 1: an operation is :r, :w or :append, but is :cas: no other operation can be checked
          ^^{:a [[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]} | 3: more than 16 brackets or tags in each other
          {:a #_#_#_#_#_#_#_#_#_#_#_#_#_#_#_#_#_#_#_ 1} | 1: more than 16 brackets or tags in each other
          {:a "no end} | 1: a string does not end: the file is not complete
          {:a "\\u12"} | 1: a string has \\u without four digits
          """)
  void a_text_that_is_not_a_history_is_refused_with_file_line_and_cure(
      String text, String message, @TempDir Path folder) throws IOException {
    Path file = Files.writeString(folder.resolve("h.edn"), text.replace('^', '\n'));
    Exception refused = assertThrows(IllegalArgumentException.class, () -> EdnReader.read(file));
    String said = String.valueOf(refused.getMessage());
    assertTrue(said.startsWith(file + ":" + message), said);
  }

  // ------------------------------------------------------------------- events that come late

  @Test
  void a_timeout_reported_behind_the_end_of_its_life_is_one_transaction_of_that_life() {
    History history =
        EdnReader.read(
            """
            {:type :invoke, :process 0, :value [[:append 1 1]]}
            {:type :invoke, :process 1, :value [[:append 1 2]]}
            {:type :info, :process :nemesis, :f :crash}
            {:type :info, :process 0, :value nil, :error :timeout}
            {:type :fail, :process 1, :value [[:append 1 2]]}
            {:type :invoke, :process 1, :value [[:append 1 3]]}
            {:type :ok, :process 1, :value [[:append 1 3]]}
            """);
    assertEquals(3, history.size());
    assertEquals(TransactionOutcome.UNKNOWN, history.transaction(0).outcome());
    assertEquals(TransactionOutcome.ABORTED, history.transaction(1).outcome());
    for (int t = 0; t < 2; t++) {
      assertEquals(0, history.transaction(t).life());
      assertEquals(List.of(append(1, t + 1)), history.transaction(t).accesses());
    }
    assertEquals(1, history.transaction(2).life());
  }

  @Test
  void an_answer_whose_value_is_no_operations_has_the_writes_of_its_invocation() {
    History history =
        EdnReader.read(
            """
            {:type :invoke, :process 0, :value [[:append 1 1]]}
            {:type :info, :process 0, :value :timeout}
            {:type :invoke, :process 1, :value [[:append 1 2]]}
            {:type :fail, :process 1, :value [:aborted "by the store"]}
            {:type :fail, :process 2, :value 5}
            """);
    assertEquals(List.of(append(1, 1)), history.transaction(0).accesses());
    assertEquals(List.of(append(1, 2)), history.transaction(1).accesses());
    assertEquals(List.of(), history.transaction(2).accesses());
  }

  // ------------------------------------------------------------------------- values of EDN

  @Test
  void keys_that_are_equal_in_EDN_are_one_key() {
    History history =
        EdnReader.read(
            """
            {:type :ok, :process 0, :value [[:w "A" 1] [:w +1 1] [:w 9N 1] [:w +9999999999 1]]}
            {:type :ok, :process 1, :value [[:r "\\u0041" 1] [:r 1 1] [:r 9 1] [:r 9999999999N 1]]}
            """);
    List<Access> writes = history.transaction(0).accesses();
    List<Access> reads = history.transaction(1).accesses();
    for (int i = 0; i < 4; i++) {
      assertEquals(writes.get(i).key(), reads.get(i).key());
    }
    assertEquals("\"A\"", history.keyName(writes.get(0).key()));
    assertEquals(1, writes.get(1).key());
  }

  @Test
  void keys_that_differ_in_EDN_are_different_keys() {
    History history =
        EdnReader.read(
            "{:type :ok, :process 0, :value [[:w 1 1] [:w :1 1] [:w \"1\" 1] [:w a 1]]}");
    assertEquals(4, history.transaction(0).accesses().stream().map(Access::key).distinct().count());
  }

  @Test
  void infinity_is_a_value_and_does_not_take_the_next_one() {
    History history = EdnReader.read("{:time ##Inf, :type :ok, :process 0, :value [[:w 1 1]]}");
    assertEquals(List.of(write(1, 1)), history.transaction(0).accesses());
  }

  @ParameterizedTest
  @ValueSource(strings = {"\n", "\r\n", "\r"})
  void a_comment_ends_with_its_line_and_lines_are_counted(String end) {
    String text =
        String.join(end, "\ufeff; by hand", "{:type :ok, :process 0, :value [[:w 1 1]]}", "", "17");
    Exception refused = assertThrows(IllegalArgumentException.class, () -> EdnReader.read(text));
    assertTrue(String.valueOf(refused.getMessage()).startsWith("text:4: "), refused::toString);
    assertEquals(1, EdnReader.read(text.substring(0, text.length() - 2)).size());
  }

  @Test
  void nested_comments_do_not_overflow_the_stack() {
    for (String deep :
        List.of("#_ [".repeat(200_000), "#_".repeat(300_000), "#x ".repeat(99_999))) {
      assertThrows(IllegalArgumentException.class, () -> EdnReader.read(deep));
    }
  }

  // ---------------------------------------------------------------- written and read back

  @Test
  void a_key_with_any_name_is_read_back_as_one_key() throws IOException {
    String[] names = {
      "user 42",
      "1",
      ":x",
      "y",
      "\"z\"",
      "nil",
      "\\ \" \n \t \u0001",
      "1.5",
      "",
      "#_a",
      "99999999999"
    };
    History.Builder builder = new History.Builder();
    Access[] writes = new Access[names.length + 1];
    for (int key = 0; key < names.length; key++) {
      builder.name(key + 10, names[key]);
      writes[key] = write(key + 10, 7);
    }
    writes[names.length] = write(1, 7); // has the digits of a name
    String text = written(builder.add(0, 1, 3, TransactionOutcome.DURABLE, writes).build());
    History again = EdnReader.read(text);
    assertEquals(
        writes.length,
        again.transaction(0).accesses().stream().map(Access::key).distinct().count(),
        text);
    assertEquals(text, written(again));
    assertTrue(text.contains("[:w \"user 42\" 7] [:w \"1\" 7] [:w :x 7] [:w y 7]"), text);
  }

  @Test
  void a_name_that_another_key_has_is_refused() {
    History.Builder builder = new History.Builder().name(1, ":x").name(1, ":x").name(3, "a b");
    assertThrows(IllegalArgumentException.class, () -> builder.name(2, ":x"));
    assertThrows(IllegalArgumentException.class, () -> builder.name(2, "\"a b\""));
    builder.name(1, ":y").name(2, ":x");
    assertEquals(":x", builder.build().keyName(2));
  }

  @Test
  void processes_with_any_number_are_read_back() throws IOException {
    History.Builder builder = new History.Builder();
    for (int process : new int[] {-1, Integer.MAX_VALUE, Integer.MIN_VALUE, 2_000_000_000}) {
      int value = builder.size();
      builder.add(process, 1, 3, TransactionOutcome.DURABLE, append(1, value));
      builder.add(process, 4, 6, TransactionOutcome.UNKNOWN, append(1, value + 10));
      builder.add(process, 7, 9, TransactionOutcome.DURABLE, append(1, value + 20));
    }
    History again = EdnReader.read(written(builder.build()));
    assertEquals(12, again.size());
    Set<Integer> processes = new HashSet<>();
    for (int t = 0; t < again.size(); t++) {
      processes.add(again.transaction(t).process());
    }
    // One that gets no answer goes on under another number, which nobody else has.
    assertEquals(8, processes.size());
    assertTrue(processes.containsAll(Set.of(-1, Integer.MAX_VALUE, Integer.MIN_VALUE)));
  }

  @Test
  void transactions_of_a_process_that_touch_are_read_back() throws IOException {
    History history =
        new History.Builder()
            .add(0, 1, 5, TransactionOutcome.DURABLE, append(1, 1))
            .add(0, 5, 8, TransactionOutcome.DURABLE, append(1, 2))
            .add(0, 9, 12, TransactionOutcome.DURABLE, append(1, 3))
            .crashed(20)
            .add(0, 20, 22, TransactionOutcome.DURABLE, readList(1, 1, 2, 3))
            .build();
    String text = written(history);
    History again = EdnReader.read(text);
    assertEquals(4, again.size(), text);
    assertEquals(1, again.transaction(3).life(), text);
    assertTrue(check(again).holds(), text);
  }

  static String written(History history) throws IOException {
    StringBuilder text = new StringBuilder();
    EdnWriter.write(history, text);
    return text.toString();
  }
}
