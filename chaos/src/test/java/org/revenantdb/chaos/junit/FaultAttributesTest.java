package org.revenantdb.chaos.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Event;
import org.junit.platform.testkit.engine.Events;
import org.revenantdb.chaos.hooks.AnyRecorder;
import org.revenantdb.chaos.run.ErrorFaults;
import org.revenantdb.chaos.run.HonestTiny;
import org.revenantdb.chaos.subject.FaultKind;
import org.revenantdb.chaos.subject.FileAccess;
import org.revenantdb.chaos.teeth.BrokenSubjects;
import org.revenantdb.chaos.teeth.TinyStore;

/** The attributes for faults and for force coverage. */
class FaultAttributesTest {

  @TempDir private Path kept;

  @BeforeEach
  void keepFailuresHere() {
    System.setProperty(CrashTestSettings.DIR, kept.toString());
  }

  @AfterEach
  void forgetProperties() {
    System.clearProperty(CrashTestSettings.DIR);
  }

  private static Events run(Class<?> type) {
    return EngineTestKit.engine("junit-jupiter")
        .selectors(selectClass(type))
        .execute()
        .testEvents();
  }

  private static List<String> names(Stream<Event> events) {
    return events.map(event -> event.getTestDescriptor().getDisplayName().split(": ")[0]).toList();
  }

  private static String messages(Events events) {
    return events
        .finished()
        .map(event -> event.getRequiredPayload(TestExecutionResult.class))
        .flatMap(result -> result.getThrowable().stream())
        .map(thrown -> thrown.getMessage() + "\n")
        .toList()
        .toString();
  }

  @CrashTest(states = 50, faults = true, faultLives = 2)
  static class Honest extends HonestTiny {}

  @Test
  void a_correct_store_has_a_test_for_each_fault_and_no_test_fails() {
    Events events = run(Honest.class);
    assertEquals(0, events.failed().count(), () -> messages(events));
    List<String> passed = names(events.succeeded().stream());
    List<String> all = names(events.finished().stream());
    long ofFiles = Stream.of(FaultKind.values()).filter(kind -> !kind.isInCode()).count();
    assertEquals(1 + ofFiles, all.size(), all::toString);
    for (FaultKind kind :
        List.of(
            FaultKind.WRITE_FAILS,
            FaultKind.DISK_FULL,
            FaultKind.SHORT_WRITE,
            FaultKind.FORCE_FAILS,
            FaultKind.FORCE_FAILS_CLEAN,
            FaultKind.OUT_OF_MEMORY)) {
      assertTrue(passed.contains("FAULT, " + kind), () -> kind + " in " + messages(events));
    }
  }

  @CrashTest(
      states = 50,
      faults = true,
      faultKinds = {FaultKind.FORCE_FAILS_CLEAN},
      faultLives = 6,
      seed = 8)
  static class Swallows extends HonestTiny {
    @Override
    public TinyStore open(Path dir) throws Exception {
      return new BrokenSubjects.ForceErrorSwallowed().open(dir);
    }
  }

  @Test
  void a_store_that_swallows_a_failed_force_fails_the_test_of_that_fault_alone() {
    Events events = run(Swallows.class);
    assertEquals(List.of("FAULT, FORCE_FAILS_CLEAN"), names(events.failed().stream()));
    assertTrue(messages(events).contains("a force fails, its pages clean (operation"));
  }

  /** Sees only the forces that a life reaches, and not those of the framework beside the store. */
  abstract static class Covered extends HonestTiny {
    @Override
    public List<Class<?>> code() {
      return List.of();
    }
  }

  @CrashTest(states = 50, forceCoverage = true, seed = 5)
  static class NeedsAll extends Covered {}

  @Test
  void force_coverage_passes_if_every_force_is_needed() {
    Events events = run(NeedsAll.class);
    assertEquals(
        List.of("POWER_CUT, EXT4_ORDERED", "FORCE_COVERAGE"),
        names(events.succeeded().stream()),
        () -> messages(events));
  }

  @CrashTest(
      states = 20,
      faults = true,
      faultKinds = FaultKind.WRITE_FAILS,
      faultLives = 1,
      forceCoverage = true,
      seed = 5)
  static class Seen extends Covered {}

  @Test
  void the_page_and_the_json_of_a_class_tell_what_was_seen_and_have_each_force_and_each_fault()
      throws IOException {
    run(Seen.class);
    String json = Files.readString(kept.resolve("index.json"));
    assertEquals(3, json.split("\"seen\": \\{", -1).length - 1, json);
    for (String name : List.of("files", "operations", "forces", "places", "promises")) {
      assertTrue(json.matches("(?s).*\"" + name + "\": [1-9].*"), () -> name + " in " + json);
    }
    assertTrue(json.contains("\"force_coverage\""), json);
    assertTrue(json.contains("\"detected_by\""), json);
    assertTrue(json.contains("the fault in 1 of 1 lives"), json);
    assertTrue(json.contains("\"struck\": 1"), json);
    String page = Files.readString(kept.resolve(Seen.class.getName() + ".html"));
    assertTrue(page.contains("seen: "), page);
    assertTrue(page.contains("<section id=\"coverage\">"), page);
    assertTrue(page.contains("<section id=\"faults\">"), page);
  }

  @CrashTest(
      states = 20,
      faults = true,
      faultKinds = {FaultKind.ALLOCATION_FAILS, FaultKind.CALL_OVERFLOWS},
      faultLives = 10,
      errorsIn = "org.revenantdb.chaos.teeth.",
      seed = 5)
  static class InCode extends HonestTiny {}

  @Test
  void errors_in_code_are_tests_of_their_own_and_one_life_can_be_repeated() {
    Events events = run(InCode.class);
    assertEquals(
        List.of("POWER_CUT, EXT4_ORDERED", "FAULT, ALLOCATION_FAILS", "FAULT, CALL_OVERFLOWS"),
        names(events.succeeded().stream()),
        () -> messages(events));
    System.setProperty(ErrorFaults.ERROR, "call,n=1,in=org.revenantdb.chaos.teeth.TinyStore.put");
    try {
      Events one = run(InCode.class);
      assertEquals(
          List.of("FAULT, CALL_OVERFLOWS"), names(one.succeeded().stream()), () -> messages(one));
    } finally {
      System.clearProperty(ErrorFaults.ERROR);
    }
  }

  @Test
  void a_class_that_tests_other_code_runs_as_usual_while_one_life_is_repeated() {
    System.setProperty(ErrorFaults.ERROR, "call,n=1,in=com.acme.Store.put");
    try {
      Events events = run(Honest.class);
      assertTrue(
          names(events.succeeded().stream()).contains("FAULT, WRITE_FAILS"),
          () -> messages(events));
    } finally {
      System.clearProperty(ErrorFaults.ERROR);
    }
  }

  @CrashTest(faults = true, faultKinds = FaultKind.HEAP_FULL)
  static class NoCode extends HonestTiny {}

  @CrashTest(errorsIn = "org.revenantdb.chaos.teeth.")
  static class NoFaults extends HonestTiny {}

  @CrashTest(faults = true, faultLives = 0)
  static class NoLives extends HonestTiny {}

  @CrashTest(
      faults = true,
      faultKinds = {})
  static class NoKinds extends HonestTiny {}

  @Test
  void an_attribute_with_which_no_fault_would_occur_is_refused() {
    assertRefused(NoLives.class, "faultLives must be 1 or more, but is 0");
    assertRefused(NoKinds.class, "faultKinds = {} names no kind of fault");
    assertRefused(NoCode.class, "faultKinds names only faults in code, and errorsIn no code");
    assertRefused(NoFaults.class, "errorsIn needs faults = true");
  }

  private static void assertRefused(Class<?> type, String expected) {
    Events all =
        EngineTestKit.engine("junit-jupiter").selectors(selectClass(type)).execute().allEvents();
    String why =
        all.failed().stream()
            .map(event -> event.getRequiredPayload(TestExecutionResult.class))
            .flatMap(result -> result.getThrowable().stream())
            .map(Throwable::getMessage)
            .toList()
            .toString();
    assertTrue(why.contains(expected), why);
  }

  @CrashTest(
      files = FileAccess.ANY,
      states = 30,
      faults = true,
      faultKinds = {FaultKind.WRITE_FAILS, FaultKind.READ_FAILS},
      faultLives = 1,
      forceCoverage = true,
      seed = 5)
  static class OnRealFiles extends Covered {}

  @Test
  @Tag("slow")
  @EnabledIfSystemProperty(named = "revenant.long", matches = "true")
  void with_any_files_a_fault_that_no_hook_can_make_is_skipped_and_the_others_run() {
    Events events = run(OnRealFiles.class);
    assertEquals(0, events.failed().count(), () -> messages(events));
    assertFalse(names(events.succeeded().stream()).contains("FAULT, READ_FAILS, files = ANY"));
    if (AnyRecorder.missingHooks().isEmpty()) {
      assertEquals(
          List.of(
              "POWER_CUT, EXT4_ORDERED, files = ANY",
              "FAULT, WRITE_FAILS, files = ANY",
              "FORCE_COVERAGE, files = ANY"),
          names(events.succeeded().stream()),
          () -> messages(events));
      assertTrue(messages(events).contains("reads are not hooked"), () -> messages(events));
    }
  }
}
