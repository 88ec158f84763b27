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
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.run.PowerCutOptions;
import org.revenantdb.chaos.subject.FaultKind;
import org.revenantdb.chaos.subject.Verdict;

/** A mistake that only an error of the virtual machine shows is found, and only that one. */
class ErrorFaultsTest {

  private static final long SEED = 11;
  private static final int LIVES = 60;
  private static final String STORE = LineFile.class.getName();

  /** A hang takes as long as the limit. */
  private static final Duration LIMIT = Duration.ofSeconds(1);

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
    return faults.run(kind, faults.cases(kind, lives), seen::add);
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
      Outcome outcome = run(Lines.Sound.class, kind, LIVES, Duration.ofMinutes(1));
      assertEquals(Verdict.SURVIVED, outcome.verdict(), () -> kind + " " + outcome);
    }
  }

  @Test
  void an_incomplete_file_that_replaces_the_old_one_loses_what_was_acknowledged()
      throws IOException {
    assertFound(
        Lines.InstallsHalfAFile.class,
        FaultKind.ALLOCATION_FAILS,
        Verdict.LOST,
        LIVES,
        "an allocation fails (-Drevenant.chaos.error='allocation,n=",
        " in " + STORE);
  }

  @Test
  void a_lock_that_an_allocation_leaves_held_stops_another_thread() throws IOException {
    assertFound(
        Lines.AllocatesBeforeTry.class,
        FaultKind.ALLOCATION_FAILS,
        Verdict.CORRUPT,
        LIVES,
        "new work in another thread after an allocation fails",
        "did not end within",
        "the thread of that step:",
        STORE + ".put",
        "the injected error:",
        "OutOfMemoryError");
  }

  @Test
  void a_lock_that_a_call_leaves_held_stops_another_thread() throws IOException {
    assertFound(
        Lines.CallsBeforeTry.class,
        FaultKind.CALL_OVERFLOWS,
        Verdict.CORRUPT,
        LIVES,
        "did not end within",
        "StackOverflowError");
    assertFound(
        Lines.ReleasesByACall.class,
        FaultKind.CALL_OVERFLOWS,
        Verdict.CORRUPT,
        LIVES,
        "did not end within",
        STORE + ".release");
  }

  @Test
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
  void the_target_of_a_failure_repeats_it() throws IOException {
    ErrorFaults<LineFile> faults = faults(Lines.InstallsHalfAFile.class, LIMIT);
    FaultRun<LineFile> run = faults.run(faults.cases(FaultKind.ALLOCATION_FAILS, LIVES));
    Outcome outcome = run.run();
    String title = outcome.failures().getFirst().title();
    int begin = title.indexOf(ErrorFaults.ERROR + "='") + ErrorFaults.ERROR.length() + 2;
    String text = title.substring(begin, title.indexOf('\'', begin));
    FaultCase again = ErrorFaults.of(Target.parse(text));
    FaultRun<LineFile> one = faults(Lines.InstallsHalfAFile.class, LIMIT).run(List.of(again));
    assertEquals(Verdict.LOST, one.run().verdict(), text);
    FaultRow row = one.rows().getFirst();
    assertEquals(1, row.struck(), text);
    FaultRun<LineFile> sound = faults(Lines.Sound.class, LIMIT).run(List.of(again));
    assertEquals(Verdict.SURVIVED, sound.run().verdict(), text);
  }
}
