package org.revenantdb.chaos.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestTemplate;
import org.junit.jupiter.api.io.TempDir;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Events;
import org.opentest4j.TestAbortedException;
import org.revenantdb.chaos.crash.Options;
import org.revenantdb.chaos.power.PlatformProfile;
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
    List.of(CrashTestSettings.DIR, CrashTestSettings.REPLAY, CrashTestSettings.STATES)
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
        List.of("POWER_CUT, EXT4_ORDERED, 100 states", "POWER_CUT, STRICT_POSIX, 100 states"),
        names(events));
  }

  @Test
  void property_forStates_overridesTheAttribute() {
    System.setProperty(CrashTestSettings.STATES, "7");
    assertEquals("POWER_CUT, EXT4_ORDERED, 7 states", names(run(Honest.class)).getFirst());
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
        message.startsWith("LOST: Forgetful, POWER_CUT, EXT4_ORDERED, 100 states\n"), message);
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
    run(Honest.class).assertStatistics(statistics -> statistics.aborted(1).succeeded(0).failed(0));
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

  @Test
  void class_thatIsNoSubject_isToldSo() {
    Events events =
        EngineTestKit.engine("junit-jupiter")
            .selectors(selectClass(NoSubject.class))
            .execute()
            .allEvents();
    assertTrue(
        events.failed().stream().anyMatch(event -> event.toString().contains("does not implement")),
        () -> events.list().toString());
  }

  @CrashTest(failpoints = true)
  static class AsksForNoDeath extends Sample {}

  @Test
  void failpoints_withoutTheDeathOfAProcess_areToldSo() {
    Events events =
        EngineTestKit.engine("junit-jupiter")
            .selectors(selectClass(AsksForNoDeath.class))
            .execute()
            .allEvents();
    assertTrue(
        events.failed().stream()
            .anyMatch(event -> event.toString().contains("asks for failpoints or zombies")),
        () -> events.list().toString());
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
        "PROCESS_DEATH, 1 kills, failpoints, 1 zombies",
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
    assertEquals(
        List.of("POWER_CUT, EXT4_ORDERED, 50 states", "PROCESS_DEATH, 2 kills"), names(events));
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
    assertTrue(message.startsWith("LOST: Hoarding, PROCESS_DEATH, 4 kills\n"), message);
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
