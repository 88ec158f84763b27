package org.revenantdb.chaos.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestTemplate;
import org.junit.jupiter.api.io.TempDir;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Events;
import org.opentest4j.TestAbortedException;
import org.revenantdb.chaos.crash.Options;
import org.revenantdb.chaos.oracle.Finding;
import org.revenantdb.chaos.oracle.RecoveredState;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.run.HonestTiny;
import org.revenantdb.chaos.subject.Crash;
import org.revenantdb.chaos.subject.CrashCase;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.subject.Recovered;
import org.revenantdb.chaos.teeth.BrokenSubjects;
import org.revenantdb.chaos.teeth.TinyStore;

/** Green for the honest, red with a story for the broken, and never green for what was not seen. */
class CrashTestExtensionTest {

  @TempDir private Path kept;

  @BeforeEach
  void keepFailuresHere() {
    System.setProperty(CrashTestSettings.DIR, kept.toString());
  }

  @AfterEach
  void forgetProperties() {
    List.of(
            CrashTestSettings.DIR,
            CrashTestSettings.REPLAY,
            CrashTestSettings.SEED,
            CrashTestSettings.STATES)
        .forEach(System::clearProperty);
  }

  private static Events run(Class<?> type) {
    return EngineTestKit.engine("junit-jupiter")
        .selectors(selectClass(type))
        .execute()
        .testEvents();
  }

  private static Throwable failureOf(Events events) {
    assertEquals(1, events.failed().count(), () -> events.list().toString());
    return events.failed().stream()
        .findFirst()
        .flatMap(event -> event.getPayload(TestExecutionResult.class))
        .flatMap(TestExecutionResult::getThrowable)
        .orElseThrow();
  }

  private static String messageOf(Class<?> type) {
    Throwable failure = failureOf(run(type));
    assertInstanceOf(AssertionError.class, failure);
    return String.valueOf(failure.getMessage());
  }

  private static void assertHarnessBroken(Class<?> type, String why) {
    String message = messageOf(type);
    assertTrue(message.startsWith("HARNESS_BROKEN: " + type.getSimpleName()), message);
    assertTrue(message.contains(why), message);
  }

  /** A tiny store that keeps its word. */
  abstract static class Sample extends HonestTiny {}

  @CrashTest(
      profile = {PlatformProfile.EXT4_ORDERED, PlatformProfile.STRICT_POSIX},
      states = 100,
      depth = 2)
  static class Honest extends Sample {}

  @Test
  void subject_thatKeepsItsWord_isGreenOnceForEachProfile() {
    Events events = run(Honest.class);
    events.assertStatistics(statistics -> statistics.started(2).succeeded(2));
    assertEquals(
        List.of("POWER_CUT, EXT4_ORDERED, depth 2", "POWER_CUT, STRICT_POSIX, depth 2"),
        names(events));
  }

  @Test
  void property_forStates_overridesTheAttribute() {
    System.setProperty(CrashTestSettings.STATES, "7");
    assertEquals(7, CrashTestSettings.of(Honest.class.getAnnotation(CrashTest.class)).states());
  }

  @Test
  void property_forTheSeed_mayBeZero_andWithoutOneTheSeedIsFresh() {
    CrashTest test = Honest.class.getAnnotation(CrashTest.class);
    assertTrue(CrashTestSettings.of(test).seed() > 0);
    System.setProperty(CrashTestSettings.SEED, "0");
    assertEquals(0, CrashTestSettings.of(test).seed());
  }

  /** Both were ignored, and the test green with another seed, or as many states as ever. */
  @Test
  void property_thatIsNoNumber_isRefused() {
    for (String property : List.of(CrashTestSettings.SEED, CrashTestSettings.STATES)) {
      System.setProperty(property, "abc");
      assertRefused(Honest.class, "-D" + property + " takes a number, not \"abc\"");
      System.clearProperty(property);
    }
  }

  @CrashTest(crash = {})
  static class NoCrash extends Sample {}

  @CrashTest(profile = {})
  static class NoProfile extends Sample {}

  @CrashTest(states = 0)
  static class NoStates extends Sample {}

  @CrashTest(crash = Crash.PROCESS_DEATH, kills = 0)
  static class NoKills extends Sample {}

  @CrashTest(crash = Crash.PROCESS_DEATH, kills = -1, failpoints = true)
  static class FewerKills extends Sample {}

  @CrashTest(timeoutSeconds = 0)
  static class NoTime extends Sample {}

  @CrashTest(lives = 0)
  static class NoLives extends Sample {}

  @CrashTest(depth = 0)
  static class NoDepth extends Sample {}

  @CrashTest(crash = Crash.PROCESS_DEATH, zombies = -1)
  static class FewerZombies extends Sample {}

  @CrashTest(exhaustive = 17)
  static class TooManySubsets extends Sample {}

  @CrashTest(workers = -1)
  static class FewerWorkers extends Sample {}

  @Test
  void attribute_withWhichNothingWouldBeMeasured_isRefusedInASentence() {
    assertRefused(NoCrash.class, "crash = {} is no crash");
    assertRefused(NoProfile.class, "profile = {} is no platform");
    assertRefused(NoStates.class, "states is 1 or more, not 0");
    assertRefused(NoKills.class, "kills is 1 or more (or 0 beside failpoints or zombies), not 0");
    assertRefused(FewerKills.class, "not -1");
    assertRefused(NoTime.class, "timeoutSeconds is 1 or more, not 0");
    assertRefused(NoLives.class, "lives is 1 or more, not 0");
    assertRefused(NoDepth.class, "depth is 1 to 3, not 0");
    assertRefused(FewerZombies.class, "zombies is 0 or more, not -1");
    assertRefused(TooManySubsets.class, "exhaustive is 0 to 16, not 17");
    assertRefused(FewerWorkers.class, "workers is 0 or more, not -1");
  }

  private static void assertRefused(Class<?> type, String why) {
    Events events =
        EngineTestKit.engine("junit-jupiter").selectors(selectClass(type)).execute().allEvents();
    assertTrue(
        events.failed().stream()
            .flatMap(event -> event.getPayload(TestExecutionResult.class).stream())
            .flatMap(result -> result.getThrowable().stream())
            .anyMatch(thrown -> String.valueOf(thrown.getMessage()).contains(why)),
        () -> why + " is not among " + events.list());
  }

  @CrashTest(states = 20)
  static class SameValues extends Sample {
    @Override
    public void work(TinyStore store, Promises promises) throws Exception {
      for (int i = 0; i < 10; i++) {
        promises.attempt("a", "1");
        store.put("a", "1");
        promises.durable("a", "1");
      }
      super.work(store, promises);
    }
  }

  @Test
  void subject_thatWritesTheSameTwice_isWarned() {
    String printed = printedBy(() -> run(SameValues.class));
    assertTrue(
        printed.contains(
            "SameValues, POWER_CUT, EXT4_ORDERED: warning: 1 value(s) were given to the same key"
                + " more than once"),
        printed);
    assertFalse(printedBy(() -> run(Honest.class)).contains("warning"));
  }

  private static String printedBy(Runnable body) {
    PrintStream real = System.out;
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    System.setOut(new PrintStream(bytes, /* autoFlush= */ true, StandardCharsets.UTF_8));
    try {
      body.run();
    } finally {
      System.setOut(real);
    }
    return bytes.toString(StandardCharsets.UTF_8);
  }

  @CrashTest(states = 40, workers = 1, timeoutSeconds = 1)
  static class HangsWhereSomethingIsMissing extends Sample {
    @Override
    public TinyStore open(Path dir) throws Exception {
      return new BrokenSubjects.NoForce().open(dir);
    }

    @Override
    public void check(TinyStore store, Recovered recovered) throws Exception {
      RecoveredState look = (RecoveredState) recovered;
      super.check(store, recovered);
      if (look.findings().stream().anyMatch(finding -> finding.kind() == Finding.Kind.LOST)) {
        new CountDownLatch(1).await();
      }
    }
  }

  /** Nothing was kept of it, so that nobody could look into it. */
  @Test
  void state_thatAStoreHangsOn_isKeptWithWhatWasLostAndHangsAgain() throws IOException {
    String message = messageOf(HangsWhereSomethingIsMissing.class);
    assertTrue(message.startsWith("CORRUPT: HangsWhereSomethingIsMissing, POWER_CUT"), message);
    assertTrue(message.contains("check of a crash state did not end within 1 s"), message);
    assertTrue(message.contains("lost: write log-"), message);
    assertTrue(message.contains("it stands at\n"), message);
    Path file = keptFile();
    assertTrue(message.contains("-Drevenant.chaos.replay=" + file), message);
    System.setProperty(CrashTestSettings.REPLAY, file.toString());
    String again = messageOf(HangsWhereSomethingIsMissing.class);
    assertTrue(again.contains("it did not end within 1 s"), again);
  }

  @Test
  void file_thatIsNotThereOrNoFailure_isToldInASentence() throws IOException {
    Path missing = kept.resolve("missing.zip");
    System.setProperty(CrashTestSettings.REPLAY, missing.toString());
    String ofNothing = messageOf(Honest.class);
    assertTrue(
        ofNothing.startsWith("nothing was replayed: there is no file " + missing + "; give"),
        ofNothing);
    Path other = Files.writeString(kept.resolve("other.zip"), "no zip");
    System.setProperty(CrashTestSettings.REPLAY, other.toString());
    String message = messageOf(Honest.class);
    assertTrue(message.contains(other + " is no file of a failure"), message);
    System.setProperty(CrashTestSettings.REPLAY, kept.toString());
    String ofADirectory = messageOf(Honest.class);
    assertTrue(ofADirectory.startsWith("nothing was replayed: " + kept), ofADirectory);
  }

  /** Not run by itself: JUnit does not look for static nested classes. */
  static class Outer {

    @Nested
    @CrashTest(states = 10)
    class UnderPowerCuts extends Sample {}

    @Nested
    @CrashTest(crash = Crash.PROCESS_DEATH, kills = 1)
    class UnderDeaths extends Sample {}
  }

  @Test
  @Tag("slow")
  void subject_thatIsAnInnerClass_isBrokenUnderBothCrashes() {
    Events events = run(Outer.class);
    assertEquals(2, events.failed().count(), () -> events.list().toString());
    events.failed().stream()
        .flatMap(event -> event.getPayload(TestExecutionResult.class).stream())
        .map(result -> String.valueOf(result.getThrowable().orElseThrow().getMessage()))
        .forEach(message -> {
          assertTrue(message.startsWith("HARNESS_BROKEN: Under"), message);
          assertTrue(message.contains("a nested class must be static"), message);
        });
  }

  @CrashTest(states = 100, seed = 4711)
  static class Forgetful extends Sample {
    @Override
    public TinyStore open(Path dir) throws Exception {
      return new BrokenSubjects.NoForce().open(dir);
    }
  }

  @Test
  void subject_thatLoses_isRedWithTheWholeStory() throws IOException {
    String message = messageOf(Forgetful.class);
    assertTrue(
        message.matches("(?s)LOST: Forgetful, POWER_CUT, EXT4_ORDERED; \\d+ different states, .*"),
        message);
    assertTrue(message.contains("LOST: "), message);
    assertTrue(message.contains("lost: write log-"), message);
    assertTrue(message.contains("TinyStore.append"), message);
    assertTrue(message.contains("-Drevenant.chaos.seed=4711"), message);
    assertTrue(message.contains("-Drevenant.chaos.replay=" + kept), message);
  }

  @Test
  void file_ofAFailure_isRedAgainForItsSubjectAndSkippedForOthers() throws IOException {
    messageOf(Forgetful.class);
    Path file = keptFile();
    System.setProperty(CrashTestSettings.REPLAY, file.toString());
    String message = messageOf(Forgetful.class);
    assertTrue(message.startsWith("LOST: Forgetful, replay of " + file.getFileName()), message);
    assertTrue(message.contains("lost: write log-"), message);
    String printed =
        printedBy(() ->
            run(Honest.class)
                .assertStatistics(statistics -> statistics.aborted(1).succeeded(0).failed(0)));
    assertTrue(
        printed.contains("skipped, " + file + " is a failure of " + Forgetful.class.getName()),
        printed);
  }

  @CrashTest(states = 10)
  static class Mapping extends Sample {
    @Override
    public TinyStore open(Path dir) throws Exception {
      try (FileChannel channel =
          FileChannel.open(
              dir.resolve("mapped"),
              StandardOpenOption.CREATE,
              StandardOpenOption.READ,
              StandardOpenOption.WRITE)) {
        channel.map(FileChannel.MapMode.READ_WRITE, 0, 4096).put(0, (byte) 1);
      }
      return super.open(dir);
    }
  }

  @Test
  void subject_thatMapsAFileForWriting_isSkippedAndNeverGreen() {
    Events events = run(Mapping.class);
    events.assertStatistics(statistics -> statistics.aborted(1).succeeded(0).failed(0));
    Throwable why =
        events.aborted().stream()
            .findFirst()
            .flatMap(event -> event.getPayload(TestExecutionResult.class))
            .flatMap(TestExecutionResult::getThrowable)
            .orElseThrow();
    assertInstanceOf(TestAbortedException.class, why);
    assertTrue(String.valueOf(why.getMessage()).contains("NOT_MEASURED"), why::toString);
  }

  @CrashTest(states = 10)
  static class Throwing extends Sample {
    @Override
    public TinyStore open(Path dir) {
      throw new IllegalStateException("planted");
    }
  }

  @Test
  void subject_thatCannotBeOpenedOnAnIntactDisk_isBroken() {
    assertHarnessBroken(Throwing.class, "planted");
  }

  @CrashTest(states = 10)
  static class Blind extends Sample {
    @Override
    public void check(TinyStore store, Recovered recovered) {}
  }

  @Test
  void subject_thatChecksNothing_isBroken() {
    assertHarnessBroken(Blind.class, "verifies nothing");
  }

  @CrashTest(states = 10)
  static class Silent extends Sample {
    @Override
    public void work(TinyStore store, Promises promises) throws IOException {
      store.put("a", "1");
    }
  }

  @Test
  void subject_thatPromisesNothing_isBroken() {
    assertHarnessBroken(Silent.class, "promised nothing");
  }

  @CrashTest(states = 100, workers = 1)
  static class Moody extends Sample {
    private static final AtomicInteger ASKED = new AtomicInteger();

    @Override
    public void check(TinyStore store, Recovered recovered) throws Exception {
      super.check(store, recovered);
      recovered.demand(ASKED.getAndIncrement() % 7 != 6, "a bad mood");
    }
  }

  @Test
  void subject_thatAnswersTwiceAboutTheSameInTwoWays_isBroken() {
    assertHarnessBroken(Moody.class, "not deterministic");
  }

  @CrashTest(states = 10)
  static class Straying extends Sample {
    @Override
    public TinyStore open(Path dir) throws Exception {
      Files.writeString(dir.resolveSibling("elsewhere"), "x");
      return super.open(dir);
    }
  }

  @Test
  void subject_thatWritesOutsideItsDirectory_isBroken() {
    assertHarnessBroken(Straying.class, "outside its directory");
  }

  @CrashTest(states = 10, timeoutSeconds = 1)
  static class Hanging extends Sample {
    @Override
    public void work(TinyStore store, Promises promises) throws InterruptedException {
      new CountDownLatch(1).await();
    }
  }

  @Test
  void subject_thatHangs_isBroken() {
    assertHarnessBroken(Hanging.class, "did not end");
  }

  @CrashTest
  static class NoSubject {
    @TestTemplate
    void survives(CrashCase crashCase) throws Exception {
      crashCase.run();
    }
  }

  @CrashTest
  static class NoSubjectEither {
    @Test
    void green() {}
  }

  @Test
  void class_thatIsNoSubject_isToldSo() {
    assertRefused(NoSubject.class, "does not implement");
    assertRefused(NoSubjectEither.class, "does not implement");
  }

  @CrashTest(failpoints = true)
  static class AsksForNoDeath extends Sample {}

  @Test
  void failpoints_withoutTheDeathOfAProcess_areToldSo() {
    assertRefused(AsksForNoDeath.class, "asks for failpoints or zombies");
  }

  @CrashTest(crash = Crash.PROCESS_DEATH, kills = 1, failpoints = true, zombies = 1)
  static class Deaths extends Sample {}

  @Test
  void attributes_ofTheDeathOfAProcess_reachItsOptions() {
    CrashTest test = Deaths.class.getAnnotation(CrashTest.class);
    Options options = CrashTestSettings.of(test).processDeath(kept);
    assertEquals(1, options.kills());
    assertTrue(options.failpoints());
    assertEquals(1, options.zombies());
    assertEquals(
        "PROCESS_DEATH, failpoints, zombies",
        new ProcessDeathCase(Deaths.class, CrashTestSettings.of(test)).name());
  }

  @CrashTest(
      crash = {Crash.POWER_CUT, Crash.PROCESS_DEATH},
      states = 50,
      kills = 2)
  static class Both extends Sample {}

  @Test
  @Tag("slow")
  void subject_underBothCrashes_isGreenForEach() {
    Events events = run(Both.class);
    events.assertStatistics(statistics -> statistics.started(2).succeeded(2));
    assertEquals(List.of("POWER_CUT, EXT4_ORDERED", "PROCESS_DEATH"), names(events));
  }

  @CrashTest(crash = Crash.PROCESS_DEATH, kills = 4)
  static class Hoarding extends Sample {
    @Override
    public TinyStore open(Path dir) throws Exception {
      return new BrokenSubjects.AcknowledgedFromHeap().open(dir);
    }
  }

  @Test
  @Tag("slow")
  void subject_thatAcknowledgesFromItsHeap_isRedAndItsFileOutlivesTheScratch() throws IOException {
    String message = messageOf(Hoarding.class);
    assertTrue(message.matches("(?s)LOST: Hoarding, PROCESS_DEATH; \\d+ kills, .*"), message);
    String found =
        message.lines().filter(line -> line.startsWith("after a")).findFirst().orElse("");
    String finding = found.substring(found.indexOf("found ") + "found ".length());
    assertEquals(message.indexOf(finding), message.lastIndexOf(finding), message);
    Path file = keptFile();
    assertTrue(message.contains("-Drevenant.chaos.replay=" + file), message);
    try (Stream<Path> files = Files.list(kept)) {
      assertTrue(files.allMatch(Files::isRegularFile));
    }
    System.setProperty(CrashTestSettings.REPLAY, file.toString());
    String again = messageOf(Hoarding.class);
    assertTrue(again.startsWith("LOST: Hoarding, replay of " + file.getFileName()), again);
  }

  private Path keptFile() throws IOException {
    try (Stream<Path> files = Files.list(kept)) {
      return files.filter(each -> each.toString().endsWith(".zip")).findFirst().orElseThrow();
    }
  }

  private static List<String> names(Events events) {
    return events.finished().map(event -> event.getTestDescriptor().getDisplayName()).toList();
  }
}
