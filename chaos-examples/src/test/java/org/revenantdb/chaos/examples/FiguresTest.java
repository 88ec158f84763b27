package org.revenantdb.chaos.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.revenantdb.chaos.hooks.AnyRun;
import org.revenantdb.chaos.run.Failure;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.subject.Verdict;

/** What the table and the JSON tell, and what the exit code says. */
class FiguresTest {
  private static final long SEED = 7;
  private static final int STATES = 60;

  private static Failure failure(Verdict verdict, String... operations) {
    StringBuilder story = new StringBuilder("power cut at place 9, the last to begin was force x");
    for (String operation : operations) {
      story.append('\n').append(operation).append(" by thread main\n    at a.B.write(B.java:1)");
    }
    Path file = Path.of("failure.zip");
    return new Failure(verdict, "it is gone", List.of(), story.toString(), 1, file);
  }

  private static Outcome outcome(long states, Failure... failures) {
    Verdict verdict = failures.length == 0 ? Verdict.SURVIVED : failures[0].verdict();
    Map<Verdict, Long> verdicts =
        failures.length == 0
            ? Map.of(Verdict.SURVIVED, states)
            : Map.of(Verdict.SURVIVED, states - 3, verdict, 3L);
    return new Outcome(
        "a part", verdict, "", verdicts, states, 0, new double[0], List.of(failures));
  }

  private static Row row(Example store, Part part, long states, Failure... failures) {
    return new Row(store, part, outcome(states, failures), /* seconds= */ 0.5);
  }

  private static StoreResult result(Example store, Row... rows) {
    return result(store, List.of(), /* forces= */ null, rows);
  }

  private static StoreResult result(
      Example store, List<FaultLine> faults, @Nullable ForceLine forces, Row... rows) {
    return new StoreResult(
        store,
        List.of(rows),
        "1 files",
        /* controlsEqual= */ 16,
        /* controlsTried= */ 16,
        new AnyRun.Durations(10, 15),
        "",
        faults,
        forces);
  }

  private static Figures figures(StoreResult... results) {
    return new Figures(List.of(results), SEED, STATES);
  }

  private static void assertHas(Figures figures, String... fields) {
    String json = figures.json().toString();
    for (String field : fields) {
      assertTrue(json.contains(field), () -> field + " in " + json);
    }
  }

  @ParameterizedTest
  @EnumSource(Part.class)
  void a_failure_of_a_clean_store_is_a_false_alarm_after_any_crash(Part part) {
    for (Example store : List.of(Example.REVENANT, Example.SQLITE)) {
      Figures figures =
          figures(result(store, row(store, part, 30, failure(Verdict.LOST, "lost: create log"))));
      assertEquals(
          List.of(store.title() + ", " + part.title() + ": it is gone"), figures.falseAlarms());
      assertFalse(figures.isGood(/* isComplete= */ false));
      assertHas(figures, "\"false_alarms\": 1", "\"states_of_all\": 30");
      assertTrue(figures.text().contains("FALSE:     " + store.title()), figures::text);
    }
  }

  @Test
  void what_is_judged_outside_the_promises_of_a_clean_store_is_no_false_alarm() {
    Figures figures =
        figures(
            result(
                Example.LUCENE,
                row(
                    Example.LUCENE,
                    Part.NAMES,
                    30,
                    failure(Verdict.CORRUPT, "lost: delete segments_3", "lost: create _5.si"))));
    assertEquals(List.of(), figures.falseAlarms());
    assertTrue(figures.isGood(/* isComplete= */ true));
    assertTrue(figures.text().contains("expected:  Lucene"), figures::text);
  }

  @Test
  void only_the_judged_operations_of_a_clean_store_are_excused() {
    Figures figures =
        figures(
            result(
                Example.LUCENE,
                row(
                    Example.LUCENE,
                    Part.STRICT,
                    30,
                    failure(Verdict.CORRUPT, "lost: delete segments_3"),
                    failure(
                        Verdict.LOST,
                        "lost: delete segments_3",
                        "torn, units {1} of 2 lost: write segments_4 0+700"),
                    failure(Verdict.CORRUPT)),
                // Names are durable in order there.
                row(
                    Example.LUCENE,
                    Part.ORDERED,
                    30,
                    failure(Verdict.CORRUPT, "lost: delete segments_3"))));
    assertEquals(3, figures.falseAlarms().size(), figures::text);
  }

  @Test
  void a_failure_of_another_store_is_no_false_alarm_but_is_told_if_nothing_explains_it() {
    Figures figures =
        figures(
            result(
                Example.TUPL,
                row(Example.TUPL, Part.ORDERED, 30, failure(Verdict.LOST, "lost: create db.db"))));
    assertEquals(List.of(), figures.falseAlarms());
    assertTrue(figures.isGood(/* isComplete= */ false));
    assertTrue(
        figures.text().contains("new:       TuplDB, SYNC, power cut, ext4 ordered: it is gone"),
        figures::text);
    assertHas(figures, "\"new_findings\": 1");
  }

  @Test
  void a_known_finding_that_a_whole_run_misses_is_no_success() {
    Figures figures = figures(result(Example.LMDB, row(Example.LMDB, Part.NAMES, 30)));
    assertTrue(figures.isGood(/* isComplete= */ false));
    assertFalse(figures.isGood(/* isComplete= */ true));
    assertTrue(figures.text().contains("NOT FOUND: LMDB"), figures::text);
    assertHas(figures, "\"known_found\": 0", "\"known_findings\": 1");
  }

  @Test
  void a_part_that_was_not_measured_is_no_success() {
    Outcome unknown = Outcome.of("x", Verdict.NOT_MEASURED, "the trace is not what happened");
    Figures figures =
        figures(result(Example.SQLITE, new Row(Example.SQLITE, Part.DEATH, unknown, 0)));
    assertFalse(figures.isGood(/* isComplete= */ false));
    assertHas(figures, "\"not_measured\": 1");
  }

  @Test
  void the_first_findings_are_counted_apart_from_the_later_ones() {
    Figures figures =
        figures(
            result(
                Example.MVSTORE,
                row(
                    Example.MVSTORE,
                    Part.NAMES,
                    30,
                    failure(Verdict.LOST, "lost: create store.mv"))),
            result(
                Example.KAFKA,
                row(
                    Example.KAFKA,
                    Part.NAMES,
                    30,
                    failure(Verdict.LOST, "lost: create directory pairs-0"))));
    assertHas(
        figures,
        "\"known_found\": 1",
        "\"known_findings\": 2",
        "\"known_found_beyond\": 1",
        "\"known_findings_beyond\": 1",
        "./revenant chaos --examples --store KAFKA --states 60 --seed 7",
        "failure.zip");
    assertEquals(
        1,
        Finding.KNOWN.stream()
            .filter(figures.found()::contains)
            .filter(one -> one.rank() == Finding.Rank.FIRST)
            .count());
  }

  @Test
  void eight_findings_are_the_first_ones_and_three_are_beyond() {
    assertEquals(8, count(Finding.Rank.FIRST));
    assertEquals(3, count(Finding.Rank.BEYOND));
  }

  private static long count(Finding.Rank rank) {
    return Finding.KNOWN.stream().filter(one -> one.rank() == rank).count();
  }

  @Test
  void the_figures_of_one_store_are_not_those_of_all() {
    Figures figures =
        figures(
            result(
                Example.REVENANT,
                row(Example.REVENANT, Part.DEATH, 20),
                row(Example.REVENANT, Part.STRICT, 21, failure(Verdict.LOST, "lost: create log"))),
            result(Example.MVSTORE, row(Example.MVSTORE, Part.DEATH, 50)),
            result(Example.LUCENE, row(Example.LUCENE, Part.DEATH, 1)));
    assertHas(
        figures,
        "\"states\": 41",
        "\"states_failed\": 3",
        "\"states_of_all\": 92",
        "\"any_states_per_second\": 100.0",
        "\"any_small_store\": \"H2 MVStore, commit and sync\"",
        "\"states_per_second_of_all\": 46.0",
        "\"process_deaths\": 71",
        "\"any_overhead\": 1.5",
        "\"control_equal_share\": 1.0",
        "\"controls_tried\": 48",
        "\"clean_states_least\": 1",
        "\"too_few_states\": [\"RevenantDB\", \"Lucene, one writer, commit\"]");
  }

  @Test
  void without_the_store_that_a_figure_is_of_there_is_no_figure() {
    String json = figures(result(Example.TUPL, row(Example.TUPL, Part.DEATH, 9))).json().toString();
    assertFalse(json.contains("\"states\": 9,\n  \"states_failed\""), json);
    assertFalse(json.contains("\"any_states_per_second\""), json);
    assertFalse(json.contains("\"clean_states_least\""), json);
  }

  @Test
  void a_comparison_that_failed_counts_as_tried() {
    StoreResult half =
        new StoreResult(
            Example.SQLITE, List.of(), "", 3, 4, /* durations= */ null, "why", List.of(), null);
    assertHas(
        figures(half),
        "\"control_equal_share\": 0.75",
        "\"overheads_not_measured\": {\n    \"SQLite JDBC, WAL, synchronous=FULL\": \"why\"");
    assertFalse(figures(half).json().toString().contains("any_overhead"));
  }

  @Test
  void a_clean_store_with_few_states_is_warned_of() {
    String text =
        figures(
                result(Example.SQLITE, row(Example.SQLITE, Part.DEATH, 1_999)),
                result(Example.ROCKSDB, row(Example.ROCKSDB, Part.DEATH, 2_000)),
                result(Example.TUPL, row(Example.TUPL, Part.DEATH, 1)))
            .text();
    assertTrue(text.contains("warning:   SQLite JDBC, WAL, synchronous=FULL: 1999 states"), text);
    assertEquals(1, text.lines().filter(line -> line.startsWith("warning")).count(), text);
  }

  @Test
  void faults_and_forces_are_counted_and_decide_nothing() {
    Outcome impossible = Outcome.of("x", Verdict.NOT_MEASURED, "hooks cannot interrupt a thread");
    Figures figures =
        figures(
            result(
                Example.SQLITE,
                List.of(
                    new FaultLine(
                        Example.SQLITE,
                        "a force fails",
                        outcome(40, failure(Verdict.LOST)),
                        "in 3 of 3"),
                    new FaultLine(Example.SQLITE, "a write fails", outcome(50), "in 2"),
                    new FaultLine(Example.SQLITE, "an interrupt", impossible, "")),
                new ForceLine(Example.SQLITE, 2, List.of("a.B.c")),
                row(Example.SQLITE, Part.DEATH, 30)));
    assertTrue(
        figures
            .text()
            .endsWith(
                "faults: 3 kinds in 1 stores, 90 states, 1 with findings; forces: 2 of 3 places needed"),
        figures::text);
    assertTrue(figures.isGood(/* isComplete= */ true));
    assertHas(
        figures,
        "\"fault_states\": 90",
        "\"fault_findings\": 1",
        "\"force_places\": 3",
        "\"force_places_needed\": 2",
        "\"process_deaths\": 30",
        "it is gone",
        "hooks cannot interrupt a thread",
        "a.B.c");
  }

  @Test
  void without_faults_the_figures_have_none() {
    Figures figures = figures(result(Example.SQLITE, row(Example.SQLITE, Part.DEATH, 30)));
    assertFalse(figures.text().contains("faults"), figures::text);
    assertFalse(figures.json().toString().contains("fault_"));
    assertEquals("", new FaultLine(Example.SQLITE, "f", outcome(1), "").first());
  }

  /** The source is in the module next to this one. */
  @Test
  void the_test_that_a_stranger_writes_has_at_most_30_lines() throws IOException {
    long lines = StrangersTest.count(Path.of("..")).orElseThrow();
    assertTrue(lines <= 30 && lines > 15, lines + " lines");
    assertTrue(StrangersTest.count(Path.of("nowhere")).isEmpty());
  }
}
