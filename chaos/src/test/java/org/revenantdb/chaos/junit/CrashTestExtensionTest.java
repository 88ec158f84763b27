package org.revenantdb.chaos.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
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
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
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
import org.revenantdb.testing.Drawn;

/**
 * Passes for correct stores, fails with a story for broken ones, and never passes if the crash
 * could not be observed.
 */
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
            CrashTestSettings.STATES,
            CrashTestSettings.SECONDS)
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

  /** A correct tiny store. */
  abstract static class Sample extends HonestTiny {}

  @CrashTest(
      profile = {PlatformProfile.EXT4_ORDERED, PlatformProfile.STRICT_POSIX},
      states = 100,
      depth = 2)
  static class Honest extends Sample {}

  @Test
  void correctSubject_passesOnceForEachProfile() {
    Events events = run(Honest.class);
    events.assertStatistics(statistics -> statistics.started(2).succeeded(2));
    assertEquals(
        List.of(
            "POWER_CUT, EXT4_ORDERED, depth 2: what was not forced is lost as on ext4 with"
                + " data=ordered, also during recovery",
            "POWER_CUT, STRICT_POSIX, depth 2: what was not forced is lost in any part and any"
                + " order, also during recovery"),
        events.finished().map(event -> event.getTestDescriptor().getDisplayName()).toList());
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

  @Test
  void property_forSeconds_isTheBudgetOfATest() {
    CrashTest test = Honest.class.getAnnotation(CrashTest.class);
    assertNull(CrashTestSettings.of(test).powerCut(PlatformProfile.EXT4_ORDERED).budget());
    System.setProperty(CrashTestSettings.SECONDS, "90");
    CrashTestSettings settings = CrashTestSettings.of(test);
    Duration budget = Duration.ofSeconds(90);
    assertEquals(budget, settings.powerCut(PlatformProfile.EXT4_ORDERED).budget());
    assertEquals(budget, settings.faultCuts().budget());
    System.setProperty(CrashTestSettings.SECONDS, "0");
    assertRefused(Honest.class, "-Drevenant.chaos.seconds must be 1 or more, but is 0");
  }

  /**
   * Both were once ignored, and the test passed with another seed or the usual number of states.
   */
  @Test
  void property_thatIsNotANumber_isRefused() {
    for (String property :
        List.of(CrashTestSettings.SEED, CrashTestSettings.STATES, CrashTestSettings.SECONDS)) {
      System.setProperty(property, "abc");
      assertRefused(Honest.class, "-D" + property + " must be a number, but is \"abc\"");
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
  void attribute_withWhichNothingWouldBeMeasured_isRefusedWithAMessage() {
    assertRefused(NoCrash.class, "crash = {} names no kind of crash");
    assertRefused(NoProfile.class, "profile = {} names no platform profile");
    assertRefused(NoStates.class, "states must be 1 or more, but is 0");
    assertRefused(
        NoKills.class, "kills must be 1 or more (or 0 with failpoints or zombies), but is 0");
    assertRefused(FewerKills.class, "but is -1");
    assertRefused(NoTime.class, "timeoutSeconds must be 1 or more, but is 0");
    assertRefused(NoLives.class, "lives must be 1 or more, but is 0");
    assertRefused(NoDepth.class, "depth must be 1 to 3, but is 0");
    assertRefused(FewerZombies.class, "zombies must be 0 or more, but is -1");
    assertRefused(TooManySubsets.class, "exhaustive must be 0 to 16, but is 17");
    assertRefused(FewerWorkers.class, "workers must be 0 or more, but is -1");
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
  void subject_thatWritesAValueTwice_getsAWarning() {
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

  /** Once nothing was kept, so that the failure could not be examined. */
  @Test
  @Drawn(oneIn = 4)
  void state_thatAStoreHangsOn_isKeptWithItsLossesAndHangsAgain() throws IOException {
    String message = messageOf(HangsWhereSomethingIsMissing.class);
    assertTrue(message.startsWith("CORRUPT: HangsWhereSomethingIsMissing, POWER_CUT"), message);
    assertTrue(message.contains("check of a crash state did not end within 1 s"), message);
    assertTrue(message.contains("lost: write log-"), message);
    assertTrue(message.contains("its stack:\n"), message);
    Path file = keptFile();
    assertTrue(message.contains("-Drevenant.chaos.replay=" + file), message);
    System.setProperty(CrashTestSettings.REPLAY, file.toString());
    String again = messageOf(HangsWhereSomethingIsMissing.class);
    assertTrue(again.contains("it did not end within 1 s"), again);
  }

  @Test
  void file_thatIsMissingOrNotAFailure_isReported() throws IOException {
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

  /** Not run by itself: JUnit does not search for static nested classes. */
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
  void subject_thatLoses_failsWithTheWholeStory() throws IOException {
    String message = messageOf(Forgetful.class);
    assertTrue(message.startsWith("LOST: Forgetful, POWER_CUT, EXT4_ORDERED; "), message);
    Matcher numbers =
        Pattern.compile(
                "; (\\d+) checks of (\\d+) different states: (\\d+) SURVIVED, (\\d+) LOST\n")
            .matcher(message);
    assertTrue(numbers.find(), message);
    long checks = Long.parseLong(numbers.group(1));
    assertTrue(Long.parseLong(numbers.group(2)) <= checks, message);
    assertEquals(
        checks, Long.parseLong(numbers.group(3)) + Long.parseLong(numbers.group(4)), message);
    assertTrue(message.contains("LOST: "), message);
    assertTrue(message.contains("lost: write log-"), message);
    assertTrue(message.contains("TinyStore.append"), message);
    assertTrue(message.contains("-Drevenant.chaos.seed=4711"), message);
    assertTrue(message.matches("(?s).*\\nseen \\d+ files, \\d+ operations, .*"), message);
    assertTrue(message.contains("-Drevenant.chaos.replay=" + kept), message);
  }

  @CrashTest(states = 60, seed = 4711, workers = 1)
  static class InOneThread extends Forgetful {}

  @Test
  void one_seed_and_one_worker_give_the_same_states_and_the_same_failure_again() {
    assertEquals(messageOf(InOneThread.class), messageOf(InOneThread.class));
  }

  @Test
  @Drawn(oneIn = 4)
  void file_ofAFailure_failsAgainForItsSubjectAndIsSkippedForOthers() throws IOException {
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
  void subject_thatMapsAFileForWriting_isSkippedAndNeverPasses() {
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
    assertTrue(String.valueOf(why.getMessage()).contains("\nseen "), why::toString);
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
  void subject_withDifferentAnswersAboutTheSameFiles_isBroken() {
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
  void class_thatIsNotASubject_isReported() {
    assertRefused(NoSubject.class, "does not implement");
    assertRefused(NoSubjectEither.class, "does not implement");
  }

  @CrashTest(failpoints = true)
  static class AsksForNoDeath extends Sample {}

  @Test
  void failpoints_withoutTheDeathOfAProcess_areRefused() {
    assertRefused(AsksForNoDeath.class, "failpoints and zombies need crash = PROCESS_DEATH");
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
        "PROCESS_DEATH, failpoints, zombies: a process is killed at random moments, before and after"
            + " each place that changes a file, or stopped while another one has the store",
        new ProcessDeathCase(Deaths.class, CrashTestSettings.of(test)).shown());
  }

  @CrashTest(
      crash = {Crash.POWER_CUT, Crash.PROCESS_DEATH},
      states = 50,
      kills = 2)
  static class Both extends Sample {}

  @Test
  @Tag("slow")
  @Drawn(oneIn = 2)
  void subject_underBothCrashes_passesBoth_andHasAPage() throws IOException {
    Events events = run(Both.class);
    events.assertStatistics(statistics -> statistics.started(2).succeeded(2));
    assertEquals(List.of("POWER_CUT, EXT4_ORDERED", "PROCESS_DEATH"), names(events));
    String page = Files.readString(kept.resolve(Both.class.getName() + ".html"));
    assertTrue(page.contains("power cut, EXT4_ORDERED") && page.contains("process death"), page);
    String index = Files.readString(kept.resolve("index.html"));
    assertTrue(index.contains("SURVIVED") && index.contains(Both.class.getName()), index);
    String json = Files.readString(kept.resolve("index.json"));
    assertTrue(json.contains(Both.class.getName()), json);
    assertEquals(2, json.split("\"seen\": \\{", -1).length - 1, json);
    assertTrue(json.contains("operations on files are not recorded without failpoints"), json);
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
  @Drawn(oneIn = 2)
  void subject_thatAcknowledgesFromItsHeap_failsAndItsFileOutlivesTheScratch() throws IOException {
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
    return events
        .finished()
        .map(event -> event.getTestDescriptor().getDisplayName().split(": ")[0])
        .toList();
  }
}
