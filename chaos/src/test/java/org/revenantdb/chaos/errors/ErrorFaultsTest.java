package org.revenantdb.chaos.errors;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.revenantdb.chaos.inject.Target;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.run.ErrorFaults;
import org.revenantdb.chaos.run.FaultCase;
import org.revenantdb.chaos.run.FaultRow;
import org.revenantdb.chaos.run.FaultRun;
import org.revenantdb.chaos.run.KnownFailures;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.run.PowerCutOptions;
import org.revenantdb.chaos.subject.FaultKind;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.testing.Drawn;

/** A mistake that only an error of the virtual machine shows is found, and only that one. */
class ErrorFaultsTest {

  private static final long SEED = 11;
  private static final int LIVES = 60;
  private static final int FEW = 12;
  private static final String STORE = LineFile.class.getName();

  /** A hang takes as long as the limit. */
  private static final Duration LIMIT = Duration.ofSeconds(1);

  private static final Duration LONG = Duration.ofMinutes(1);

  private final List<String> seen = new ArrayList<>();

  private static ErrorFaults<LineFile> faults(Class<?> subject, Duration limit) {
    return new ErrorFaults<>(
        subject,
        List.of(STORE),
        PowerCutOptions.of(PlatformProfile.EXT4_ORDERED, SEED).withStates(20).withLimit(limit));
  }

  private Outcome run(Class<?> subject, FaultKind kind, int lives, Duration limit)
      throws IOException {
    ErrorFaults<LineFile> faults = faults(subject, limit);
    Outcome outcome = faults.run(kind, faults.cases(kind, lives), KnownFailures.NONE);
    seen.add(outcome.seen().text());
    return outcome;
  }

  private void assertFound(
      Class<?> subject, FaultKind kind, Verdict verdict, int lives, String... words)
      throws IOException {
    Outcome outcome = run(subject, kind, lives, LIMIT);
    assertEquals(verdict, outcome.verdict(), () -> seen + " " + outcome);
    List<String> texts =
        outcome.failures().stream()
            .map(failure -> failure.title() + "\n" + failure.story())
            .toList();
    assertTrue(
        texts.stream().anyMatch(text -> Stream.of(words).allMatch(text::contains)),
        () -> List.of(words) + " in " + texts);
  }

  @Test
  void a_sound_store_survives_each_of_the_errors() throws IOException {
    for (FaultKind kind :
        List.of(FaultKind.ALLOCATION_FAILS, FaultKind.HEAP_FULL, FaultKind.CALL_OVERFLOWS)) {
      Outcome outcome = run(Lines.Sound.class, kind, FEW, LONG);
      assertEquals(Verdict.SURVIVED, outcome.verdict(), () -> kind + " " + outcome);
    }
  }

  private void assertFound(Class<?> subject, Target target, Verdict verdict, String... words)
      throws IOException {
    Outcome outcome = faults(subject, LIMIT).run(List.of(ErrorFaults.of(target))).run();
    String told = outcome.failures().toString();
    assertEquals(verdict, outcome.verdict(), told);
    for (String word : words) {
      assertTrue(told.contains(word), () -> word + " in " + told);
    }
  }

  private static Target newLine() {
    return Target.allocation(1).in(STORE + ".put").of("byte[]");
  }

  @Test
  void a_lock_that_an_allocation_leaves_held_stops_another_thread() throws IOException {
    assertFound(
        Lines.AllocatesBeforeTry.class,
        newLine(),
        Verdict.CORRUPT,
        "new work in another thread after an allocation fails did not end within",
        "the thread of that step:",
        "work must release it when it throws",
        STORE + ".put",
        "the injected error:",
        "OutOfMemoryError");
  }

  @Test
  void a_lock_that_stays_held_is_found_although_the_store_has_interrupted_its_caller()
      throws IOException {
    assertFound(
        Lines.InterruptsItself.class, newLine(), Verdict.CORRUPT, "in another thread after");
  }

  @Test
  @Drawn(oneIn = 4)
  void a_lock_that_a_call_leaves_held_stops_another_thread() throws IOException {
    assertFound(
        Lines.CallsBeforeTry.class,
        Target.call(2).in(STORE + ".bytes"),
        Verdict.CORRUPT,
        "did not end within",
        "StackOverflowError");
    assertFound(
        Lines.ReleasesByACall.class,
        Target.call(1).in(STORE + ".release"),
        Verdict.CORRUPT,
        "did not end within",
        STORE + ".release");
  }

  @Test
  void a_place_that_hangs_is_told_once_and_does_not_end_the_run() throws IOException {
    FaultCase hangs = ErrorFaults.of(newLine());
    FaultRun<LineFile> run =
        faults(Lines.AllocatesBeforeTry.class, Duration.ofMillis(200))
            .run(List.of(hangs, hangs, hangs, hangs));
    Outcome outcome = run.run();
    assertEquals(4, run.rows().getFirst().lives());
    assertEquals(1, outcome.failures().size(), outcome::toString);
    assertEquals("", run.notRun());
  }

  @Test
  void an_exception_of_the_subject_is_no_mistake_of_the_store() throws IOException {
    assertFound(
        Lines.Forgets.class,
        Target.allocation(1).in(STORE + ".put"),
        Verdict.HARNESS_BROKEN,
        "the subject, and not the store, failed",
        "Lines$Forgets.close");
  }

  @Test
  void a_store_that_was_not_closed_after_an_error_does_not_disturb_the_next_life()
      throws IOException {
    Outcome outcome = run(Lines.OneAtATime.class, FaultKind.ALLOCATION_FAILS, FEW, LONG);
    assertEquals(Verdict.SURVIVED, outcome.verdict(), outcome::toString);
  }

  @Test
  @Drawn(oneIn = 4)
  void a_thread_that_dies_while_all_calls_succeed_is_found() throws IOException {
    assertFound(
        Lines.ThreadDies.class,
        FaultKind.ALLOCATION_FAILS,
        Verdict.CORRUPT,
        LIVES,
        "a thread of the store died, and no call failed",
        "\"rewriter\" died");
  }

  @Test
  void what_a_half_file_has_lost_is_lost_again_with_the_target_of_the_failure() throws IOException {
    ErrorFaults<LineFile> faults = faults(Lines.InstallsHalfAFile.class, LIMIT);
    FaultRun<LineFile> run = faults.run(faults.cases(FaultKind.ALLOCATION_FAILS, LIVES));
    Outcome outcome = run.run();
    assertEquals(Verdict.LOST, outcome.verdict(), outcome::toString);
    String title = outcome.failures().getFirst().title();
    assertTrue(title.contains(" in " + STORE), title);
    int begin = title.indexOf(ErrorFaults.ERROR + "='") + ErrorFaults.ERROR.length() + 2;
    String text = title.substring(begin, title.indexOf('\'', begin));
    assertTrue(text.contains(",in=" + STORE), text);
    FaultCase again = ErrorFaults.of(Target.parse(text));
    FaultRun<LineFile> one = faults(Lines.InstallsHalfAFile.class, LIMIT).run(List.of(again));
    assertEquals(Verdict.LOST, one.run().verdict(), text);
    FaultRow row = one.rows().getFirst();
    assertEquals(1, row.struck(), text);
    FaultRun<LineFile> sound = faults(Lines.Sound.class, LIMIT).run(List.of(again));
    assertEquals(Verdict.SURVIVED, sound.run().verdict(), text);
  }
}
