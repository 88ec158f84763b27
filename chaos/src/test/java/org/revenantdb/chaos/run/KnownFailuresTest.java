package org.revenantdb.chaos.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.revenantdb.chaos.subject.Verdict;

/** What two failures of one cause have in common, over seeds, edits and class loaders. */
class KnownFailuresTest {

  private static Set<String> stable(String place) {
    return KnownFailures.stable(Set.of(place));
  }

  private static Failure failure(Verdict verdict, String title, String... places) {
    return new Failure(
        verdict, title, List.of(), "", 7, /* file= */ null, Set.of(places), List.of());
  }

  @Test
  void a_place_is_the_operation_and_its_innermost_methods() {
    assertEquals(
        Set.of("Write at org.example.Log.put < at org.example.Log.lambda < at org.example.App.run"),
        stable(
            """
            Write    at org.example.Log.put(Log.java:17)
                at org.example.Log.lambda$lambda$3(Log.java:9)
                at app//org.example.App.run(App.kt:120)
                at org.example.Main.main(Main.java:1)\
            """));
    assertEquals(
        stable("Write    at a.B.c(B.java:1)\n    at m@1.0/a.B.lambda$d$0(B.java:2)"),
        stable("Write    at a.B.c(B.java:99)\n    at m@2.0/a.B.lambda$d$7(Unknown Source)"));
  }

  @Test
  void values_numbers_and_identities_are_no_part_of_a_place() {
    assertEquals(
        stable("CORRUPT after a force fails in a.B.c:12: PHANTOM: \"k1\" holds \"v | 1\" of 4,711"),
        stable("CORRUPT after a force fails in a.B.c:7: PHANTOM: \"k2\" holds \"v\" of 3"));
    assertEquals(
        stable("CORRUPT open  java.io.IOException at a.B$1@1f3c"),
        stable("CORRUPT open  java.io.IOException at a.B$1@77aa"));
    assertFalse(stable("a | b & c").iterator().next().matches(".*[|&].*"));
  }

  @Test
  void different_methods_and_different_kinds_of_operation_are_different_causes() {
    assertFalse(
        stable("Write    at a.B.c(B.java:1)").equals(stable("Write    at a.B.d(B.java:1)")));
    assertFalse(
        stable("Write    at a.B.c(B.java:1)").equals(stable("Rename    at a.B.c(B.java:1)")));
  }

  @Test
  void a_failure_has_a_known_cause_if_it_needs_all_that_the_cause_needs() {
    KnownFailures known =
        KnownFailures.of(
            List.of(Set.of("Write at a.B.c", "Rename at a.B.d"), Set.of("Write at a.B.x")),
            /* learns= */ false);
    assertFalse(known.explain(failure(Verdict.LOST, "t", "Write    at a.B.c(B.java:1)")));
    assertTrue(
        known.explain(
            failure(
                Verdict.LOST,
                "t",
                "Write    at a.B.c(B.java:1)",
                "Rename    at a.B.d(B.java:2)",
                "Delete    at a.B.e(B.java:3)")));
    assertEquals(Map.of(Set.of("Write at a.B.c", "Rename at a.B.d"), Verdict.LOST), known.seen());
    assertEquals(List.of(Set.of("Write at a.B.x")), known.unseen());
    assertEquals(List.of(), known.learned());
  }

  @Test
  void a_broken_harness_and_kinds_that_were_not_told_are_never_accepted() {
    KnownFailures learner = KnownFailures.of(List.of(), /* learns= */ true);
    assertFalse(learner.explain(failure(Verdict.HARNESS_BROKEN, "the framework failed")));
    assertFalse(learner.explain(failure(Verdict.CORRUPT, Tally.MORE)));
    assertTrue(learner.explain(failure(Verdict.CORRUPT, "a state did not end within 60 s")));
    assertTrue(learner.explain(failure(Verdict.CORRUPT, "a state did not end within 30 s")));
    assertEquals(List.of(Set.of("a state did not end within # s")), learner.learned());
  }

  @Test
  void kinds_of_failure_beyond_those_that_are_told_are_one_more_failure() {
    Tally tally = new Tally(KnownFailures.of(List.of(), /* learns= */ false));
    Tally usual = new Tally(KnownFailures.NONE);
    for (Tally one : List.of(tally, usual)) {
      one.count(Verdict.CORRUPT);
      for (int kind = 0; kind <= Tally.KINDS; kind++) {
        one.isNew("kind " + kind);
      }
      one.isNew("kind 0");
    }
    assertEquals(
        List.of(Tally.MORE),
        tally.outcome("part", 0).failures().stream().map(Failure::title).toList());
    assertEquals(List.of(), usual.outcome("part", 0).failures());
  }
}
