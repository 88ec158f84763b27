package org.revenantdb.chaos.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.chaos.crash.ForkedJvm;
import org.revenantdb.chaos.crash.Seeds;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.subject.Recovered;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.chaos.teeth.BrokenSubjects;
import org.revenantdb.chaos.teeth.TinyStore;
import org.revenantdb.chaos.trace.Trace;
import org.revenantdb.testing.Drawn;

/** Subjects of every bad kind: each is reported with its reason, and none of them passes. */
class PowerCutRunTest {

  private static final Duration LONG = Duration.ofMinutes(1);

  private final long seed = Seeds.fresh();

  private <S> Recording record(Supplier<CrashSubject<S>> subjects, Duration limit)
      throws IOException {
    System.out.println("seed " + seed);
    return new LifeRecorder<>(subjects, seed, /* lives= */ 2, limit).record();
  }

  private PowerCutOptions options(Duration limit) {
    return PowerCutOptions.of(PlatformProfile.STRICT_POSIX, seed)
        .withStates(150)
        .withWorkers(2)
        .withLimit(limit);
  }

  private Outcome run(Supplier<CrashSubject<TinyStore>> subjects, Duration limit)
      throws IOException {
    Recording recording = record(subjects, limit);
    return new PowerCutRun<>(subjects, recording, options(limit), new SeenImages()).run();
  }

  private void assertBroken(Supplier<CrashSubject<TinyStore>> subjects, String why)
      throws IOException {
    assertVerdict(Verdict.HARNESS_BROKEN, why, run(subjects, LONG));
  }

  private void assertHangs(
      Supplier<CrashSubject<TinyStore>> subjects, Verdict verdict, String where)
      throws IOException {
    Outcome outcome = run(subjects, Duration.ofSeconds(1));
    assertVerdict(verdict, where, outcome);
    assertVerdict(verdict, "did not end within 1 s", outcome);
  }

  private static void assertVerdict(Verdict verdict, String why, Outcome outcome) {
    assertEquals(verdict, outcome.verdict(), outcome::toString);
    assertTrue(outcome.reason().contains(why), outcome::reason);
  }

  private Outcome deathsOf(Recording recording, int untriedFrom) {
    TreeMap<Long, Long> looks = new TreeMap<>();
    List<Long> places = recording.promises().places().stream().sorted().toList();
    looks.put(places.get(untriedFrom), Long.MAX_VALUE);
    Trace whole = recording.trace();
    Trace trace =
        new Trace(whole.start(), whole.operations(), whole.gaps(), whole.escapes(), looks);
    Recording unsettled =
        new Recording(trace, recording.promises(), Verdict.SURVIVED, "", recording.end());
    assertTrue(
        unsettled.seen().text().contains("amid stores into mapped memory"), unsettled.seen()::text);
    return PowerCutRun.deaths(
            () -> new StateChecker<>(HonestTiny::new, /* resume= */ true), unsettled, options(LONG))
        .run();
  }

  /** The first verdict was SURVIVED. */
  @Test
  void deaths_that_are_tried_at_less_than_half_of_the_promises_are_no_measurement()
      throws IOException {
    Recording recording = record(HonestTiny::new, LONG);
    int promises = recording.promises().places().size();
    assertFalse(recording.seen().text().contains("mapped"), recording.seen()::text);
    assertVerdict(
        Verdict.NOT_MEASURED, "stores into mapped memory", deathsOf(recording, promises / 4));
    assertVerdict(Verdict.SURVIVED, "", deathsOf(recording, promises * 3 / 4));
  }

  @Test
  void deaths_at_a_part_of_the_boundaries_are_told_as_a_part() throws IOException {
    Recording recording = record(HonestTiny::new, LONG);
    for (int states : new int[] {10, 100_000}) {
      Outcome outcome =
          PowerCutRun.deaths(
                  () -> new StateChecker<>(HonestTiny::new, /* resume= */ true),
                  recording,
                  options(LONG).withStates(states))
              .run();
      assertTrue(
          outcome
              .seen()
              .text()
              .matches(
                  states == 10
                      ? "a process died at 10 of [0-9]{3,} boundaries between operations"
                      : "a process died at each of [0-9]{3,} boundaries between operations"),
          outcome.seen()::text);
    }
  }

  /** Hangs here until its image was opened in another JVM, and then goes on. */
  static class SlowHere extends HonestTiny {
    private static final String OPENED = "power.cut.run.test.opened";
    private static volatile boolean here;

    @Override
    public TinyStore open(Path dir) throws Exception {
      Path opened = Path.of(System.getProperty(OPENED, ""));
      while (here && !Files.exists(opened)) {
        LockSupport.parkNanos(Duration.ofMillis(1).toNanos());
      }
      if (!here && !Files.exists(opened)) {
        Files.createFile(opened);
      }
      return super.open(dir);
    }
  }

  /** Failed with states that survived behind the one that was told, and with an interrupted one. */
  @Test
  void a_thread_that_was_only_slow_does_not_go_on_while_its_hang_is_told(@TempDir Path dir)
      throws IOException {
    Supplier<CrashSubject<TinyStore>> subjects = Subjects.of(SlowHere.class);
    Path opened = dir.resolve("opened");
    System.setProperty(SlowHere.OPENED, opened.toString());
    SlowHere.here = true;
    try {
      Files.createFile(opened);
      Recording recording = record(subjects, LONG);
      Files.delete(opened);
      PowerCutOptions options = options(Duration.ofSeconds(1)).withWorkers(1);
      Outcome outcome = new PowerCutRun<>(subjects, recording, options, new SeenImages()).run();
      assertEquals(Map.of(Verdict.NOT_MEASURED, 1L), outcome.verdicts(), outcome::toString);
      assertEquals(0, outcome.states());
    } finally {
      System.clearProperty(SlowHere.OPENED);
    }
  }

  @Test
  void correctSubject_survives_andStatesAreCounted() throws IOException {
    Outcome outcome = run(HonestTiny::new, LONG);
    assertVerdict(Verdict.SURVIVED, "", outcome);
    assertTrue(outcome.states() >= 100, outcome::toString);
    assertEquals(outcome.verdicts().get(Verdict.SURVIVED), (long) outcome.recoveryMillis().length);
  }

  @Test
  void failure_endsItsStoryInTheUsersCode_andItsFileFailsAgain(@TempDir Path dir)
      throws IOException {
    Supplier<CrashSubject<TinyStore>> subjects = BrokenSubjects.NoForce::new;
    Recording recording = record(subjects, LONG);
    PowerCutOptions options = options(LONG).withKeep(dir);
    Outcome outcome = new PowerCutRun<>(subjects, recording, options, new SeenImages()).run();
    assertVerdict(Verdict.LOST, "", outcome);
    Failure failure = outcome.failures().getFirst();
    String last = ofCause(failure).getLast();
    assertTrue(last.contains("TinyStoreSubject.") || last.contains("TinyStore."), failure::story);
    assertNotNull(failure.file());
    assertEquals(Verdict.LOST, FailureFile.read(failure.file()).replay().verdict());
  }

  /** The lines of a story that say what has to be lost. */
  private static List<String> ofCause(Failure failure) {
    return failure.whole().lines().takeWhile(line -> !line.startsWith("the same lost")).toList();
  }

  @Test
  void failures_that_need_the_same_lost_operations_are_one_entry() throws IOException {
    Outcome outcome = run(BrokenSubjects.NoForce::new, LONG);
    assertTrue(outcome.failures().size() > 0, outcome::toString);
    List<String> causes =
        outcome.failures().stream()
            .map(PowerCutRunTest::ofCause)
            .map(lines -> lines.stream().filter(line -> line.startsWith("    at ")).toList())
            .map(stack -> String.join("\n", stack))
            .toList();
    assertEquals(causes.stream().distinct().toList(), causes);
  }

  private static Failure failure(Verdict verdict, String title, String... cause) {
    String story = "lost: a write\n\n" + Failure.AT_LENGTH + "\nstacks";
    return new Failure(verdict, title, List.of(), story, 7, null, Set.of(cause), List.of());
  }

  @Test
  void a_failure_that_needs_more_than_another_one_has_its_cause() {
    List<Failure> kept =
        Failure.oneOfEachCause(
            List.of(
                failure(Verdict.CORRUPT, "more", "put", "rename"),
                failure(Verdict.LOST, "less", "put"),
                failure(Verdict.CORRUPT, "worse", "put"),
                failure(Verdict.LOST, "other", "create"),
                failure(Verdict.LOST, "unknown"),
                failure(Verdict.LOST, "unknown, too")));
    assertEquals(
        List.of("unknown", "unknown, too", "worse", "other"),
        kept.stream().map(Failure::title).toList());
    assertEquals(List.of("less", "more"), kept.get(2).also());
    assertEquals(kept, Failure.oneOfEachCause(kept));
    assertEquals(
        """
        lost: a write
        the same lost operations also led to:
          less
          more
        at length:
        stacks\
        """,
        kept.get(2).whole());
  }

  /** A seed belongs to one life, and must not be used by another. */
  static class RemembersSeeds extends HonestTiny {

    /** As short as the work after a crash, so that the same places occur again. */
    @Override
    public void work(TinyStore store, Promises promises) throws Exception {
      for (int i = 0; i < 3; i++) {
        promises.attempt("key", "value" + i);
        store.put("key", "value" + i);
        promises.durable("key", "value" + i);
      }
    }

    @Override
    public void resume(TinyStore store, Promises promises) throws Exception {
      String key = "seed" + promises.seed();
      if (store.get(key) != null) {
        throw new IllegalStateException("another life had this seed");
      }
      promises.attempt(key, "given");
      store.put(key, "given");
      promises.durable(key, "given");
      super.resume(store, promises);
    }
  }

  @Test
  void noTwoLivesOfOneStore_haveTheSameSeed_howeverDeepTheCrashesAre() throws IOException {
    Supplier<CrashSubject<TinyStore>> subjects = RemembersSeeds::new;
    Recording recording = new LifeRecorder<>(subjects, seed, /* lives= */ 1, LONG).record();
    PowerCutOptions deep = options(LONG).withStates(600).withDepth(3);
    Outcome outcome = new PowerCutRun<>(subjects, recording, deep, new SeenImages()).run();
    assertVerdict(Verdict.SURVIVED, "", outcome);
  }

  // Throws.

  static class ThrowsInOpen extends HonestTiny {
    @Override
    public TinyStore open(Path dir) {
      throw new IllegalStateException("planted");
    }
  }

  static class ThrowsInWork extends HonestTiny {
    @Override
    public void work(TinyStore store, Promises promises) throws Exception {
      super.work(store, promises);
      throw new StackOverflowError("planted");
    }
  }

  static class ThrowsInCheck extends HonestTiny {
    @Override
    public void check(TinyStore store, Recovered recovered) throws Exception {
      super.check(store, recovered);
      throw new IllegalStateException("planted");
    }
  }

  static class ThrowsInResume extends HonestTiny {
    @Override
    public void resume(TinyStore store, Promises promises) {
      throw new IllegalStateException("planted");
    }
  }

  static class ThrowsInClose extends HonestTiny {
    @Override
    public void close(TinyStore store) {
      throw new IllegalStateException("planted");
    }
  }

  static class ThrowsInItsConstructor extends HonestTiny {
    ThrowsInItsConstructor() {
      throw new IllegalStateException("planted");
    }
  }

  @Test
  void subject_thatThrowsOnAnIntactDisk_isBroken() throws IOException {
    assertBroken(ThrowsInOpen::new, "open in life 1, on an intact disk failed");
    assertBroken(ThrowsInWork::new, "work in life 1, on an intact disk failed");
    assertBroken(ThrowsInCheck::new, "check failed: java.lang.IllegalStateException: planted");
    assertBroken(ThrowsInResume::new, "resume failed: java.lang.IllegalStateException: planted");
    assertBroken(ThrowsInClose::new, "close in life 1, on an intact disk failed");
    assertBroken(Subjects.of(ThrowsInItsConstructor.class), "the constructor of");
  }

  // Hangs.

  static class HangsInOpen extends HonestTiny {
    @Override
    public TinyStore open(Path dir) throws Exception {
      new CountDownLatch(1).await();
      return super.open(dir);
    }
  }

  static class HangsInWork extends HonestTiny {
    @Override
    public void work(TinyStore store, Promises promises) throws Exception {
      super.work(store, promises);
      new CountDownLatch(1).await();
    }
  }

  static class HangsInCheck extends HonestTiny {
    @Override
    public void check(TinyStore store, Recovered recovered) throws Exception {
      super.check(store, recovered);
      new CountDownLatch(1).await();
    }
  }

  @Test
  @Drawn(oneIn = 2)
  void subject_thatHangsOnAnIntactDisk_isBroken() throws IOException {
    assertHangs(HangsInOpen::new, Verdict.HARNESS_BROKEN, "open in life 1");
    assertHangs(HangsInWork::new, Verdict.HARNESS_BROKEN, "work in life 1");
    assertHangs(HangsInCheck::new, Verdict.HARNESS_BROKEN, "check failed");
  }

  /** Opens an intact directory, but hangs if a log has a name and no content. */
  static class HangsOnACrash extends HonestTiny {
    @Override
    public TinyStore open(Path dir) throws Exception {
      if (Files.exists(dir.resolve("current.tmp"))) {
        new CountDownLatch(1).await();
      }
      return super.open(dir);
    }
  }

  @Test
  void store_thatHangsOnACrashState_isCorrupt() throws IOException {
    assertHangs(HangsOnACrash::new, Verdict.CORRUPT, "");
  }

  // Ends the JVM.

  /** A JVM in which a subject ends it, on an intact disk or on a crash state. */
  public static final class Exits {
    private Exits() {}

    /** Runs; the parent checks the exit code. */
    public static void main(String[] arguments) throws IOException {
      boolean early = arguments[0].equals("work");
      ExitGuard.tellIn(Path.of(arguments[1]));
      Supplier<CrashSubject<TinyStore>> subjects =
          () ->
              new HonestTiny() {
                @Override
                public void work(TinyStore store, Promises promises) throws Exception {
                  super.work(store, promises);
                  if (early) {
                    System.exit(0);
                  }
                }

                @Override
                public TinyStore open(Path dir) throws Exception {
                  if (Files.exists(dir.resolve("current.tmp"))) {
                    System.exit(0);
                  }
                  return super.open(dir);
                }
              };
      PowerCutRunTest test = new PowerCutRunTest();
      System.out.println(test.run(subjects, LONG).verdict());
    }
  }

  private static void assertExitIsSeen(Path dir, String where, String said) throws IOException {
    try (ForkedJvm child =
        ForkedJvm.of(Exits.class)
            .withCodeOf(Exits.class)
            .argument(where)
            .argument(dir.resolve("chaos"))
            .fork()) {
      child.drain();
      assertEquals(70, child.awaitEnd(), child::stderr);
      assertTrue(child.stderr().contains("HARNESS_BROKEN: the JVM was ended"), child::stderr);
      assertTrue(child.stderr().contains(said), child::stderr);
      assertTrue(child.stderr().contains("by the subject, at"), child::stderr);
      assertTrue(child.stderr().contains("PowerCutRunTest$Exits$1." + where), child::stderr);
      String kept = Files.readString(dir.resolve("chaos").resolve("EXIT.txt"));
      assertTrue(kept.contains(said), kept);
    }
  }

  @Test
  void subject_thatEndsTheJvm_isBroken_evenWithExitCodeZero(@TempDir Path dir) throws IOException {
    assertExitIsSeen(dir, "work", "work in life 1, on an intact disk");
    assertExitIsSeen(dir, "open", "power cut, STRICT_POSIX");
  }

  // Writes outside the directory, maps files, is not deterministic.

  static class Strays extends HonestTiny {
    @Override
    public TinyStore open(Path dir) throws Exception {
      Files.writeString(dir.resolveSibling("elsewhere"), "x");
      return super.open(dir);
    }
  }

  @Test
  void subject_thatWritesOutsideItsDirectory_isBroken() throws IOException {
    assertBroken(Strays::new, "writes outside its directory");
  }

  /** Only after a crash, so that the recorded lives do not contain it. */
  static class MapsInRecovery extends HonestTiny {
    @Override
    public TinyStore open(Path dir) throws Exception {
      if (Files.exists(dir.resolve("current.tmp"))) {
        try (FileChannel channel =
            FileChannel.open(
                dir.resolve("current.tmp"), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
          channel.map(FileChannel.MapMode.READ_WRITE, 0, 8);
        }
      }
      return super.open(dir);
    }
  }

  @Test
  void recovery_thatMapsAFileForWriting_isNotMeasured() throws IOException {
    Supplier<CrashSubject<TinyStore>> subjects = MapsInRecovery::new;
    Recording recording = record(subjects, LONG);
    PowerCutOptions deep = options(LONG).withDepth(2);
    Outcome outcome = new PowerCutRun<>(subjects, recording, deep, new SeenImages()).run();
    assertVerdict(Verdict.NOT_MEASURED, "cannot be mapped", outcome);
  }

  static class Moody extends HonestTiny {
    private final AtomicInteger asked;

    Moody(AtomicInteger asked) {
      this.asked = asked;
    }

    @Override
    public void check(TinyStore store, Recovered recovered) throws Exception {
      super.check(store, recovered);
      recovered.demand(asked.incrementAndGet() % 9 != 0, "a bad mood");
    }
  }

  @Test
  void subject_thatIsNotDeterministic_isBroken() throws IOException {
    AtomicInteger asked = new AtomicInteger();
    Recording recording = record(HonestTiny::new, LONG);
    Outcome outcome =
        new PowerCutRun<TinyStore>(
                () -> new Moody(asked), recording, options(LONG).withWorkers(1), new SeenImages())
            .run();
    assertVerdict(Verdict.HARNESS_BROKEN, "not deterministic", outcome);
  }

  // Detects nothing.

  static class ChecksNothing extends HonestTiny {
    @Override
    public void check(TinyStore store, Recovered recovered) {}
  }

  static class PromisesNothing extends HonestTiny {
    @Override
    public void work(TinyStore store, Promises promises) throws Exception {
      promises.attempt("a", "1");
      store.put("a", "1");
    }
  }

  /** Checks the promises themselves. */
  static class AnswersForTheStore extends HonestTiny {
    @Override
    public void check(TinyStore store, Recovered recovered) {
      recovered.demand(true, "never");
    }
  }

  static class OnlyLazy extends HonestTiny {
    @Override
    public void work(TinyStore store, Promises promises) throws Exception {
      for (int i = 0; i < 9; i++) {
        store.put("k" + i, "v" + i + promises.seed());
        promises.lazy("k" + i, "v" + i + promises.seed());
      }
    }

    @Override
    public void resume(TinyStore store, Promises promises) throws Exception {
      work(store, promises);
    }
  }

  @Test
  void subject_thatDetectsNoLoss_isBroken() throws IOException {
    assertBroken(ChecksNothing::new, "verifies nothing");
    assertBroken(PromisesNothing::new, "promised nothing");
    assertBroken(AnswersForTheStore::new, "");
    assertBroken(OnlyLazy::new, "the subject's check accepts an empty directory");
  }

  /** The check ignores half of the keys, and all promises are in that half. */
  static class LooksAway extends HonestTiny {
    @Override
    public void check(TinyStore store, Recovered recovered) {
      TinyStore[] asked = {store};
      recovered.verify(key -> asked[0].get(key) == null ? MEMORY.get(key) : asked[0].get(key));
    }

    private static final Map<String, String> MEMORY = new ConcurrentHashMap<>();

    @Override
    public void work(TinyStore store, Promises promises) throws Exception {
      for (int i = 0; i < 9; i++) {
        String value = "v" + i + promises.seed();
        store.put("k" + i, value);
        MEMORY.put("k" + i, value);
        promises.durable("k" + i, value);
      }
    }
  }

  @Test
  void subject_whoseCheckRemembersInsteadOfReading_isBroken() throws IOException {
    assertBroken(LooksAway::new, "the subject's check accepts an empty directory");
  }

  /** If a life ends with an empty store, an empty directory is right only at its end. */
  static class RemovesAllInTheEnd extends HonestTiny {
    @Override
    public void work(TinyStore store, Promises promises) throws Exception {
      super.work(store, promises);
      for (String key : List.copyOf(store.content().keySet())) {
        promises.attempt(key, null);
        store.remove(key);
        promises.durable(key, null);
      }
    }
  }

  @Test
  void subject_thatRemovesEverythingInTheEnd_isUsable() throws IOException {
    assertVerdict(Verdict.SURVIVED, "", run(RemovesAllInTheEnd::new, LONG));
  }

  // Threads of the store.

  private static void dieInAThread() throws InterruptedException {
    Thread thread =
        Thread.ofPlatform()
            .name("flusher")
            .start(() -> {
              throw new IllegalStateException("planted");
            });
    thread.join();
  }

  static class DiesInWork extends HonestTiny {
    @Override
    public void work(TinyStore store, Promises promises) throws Exception {
      super.work(store, promises);
      dieInAThread();
    }
  }

  static class DiesInRecovery extends HonestTiny {
    @Override
    public TinyStore open(Path dir) throws Exception {
      if (Files.exists(dir.resolve("current.tmp"))) {
        dieInAThread();
      }
      return super.open(dir);
    }
  }

  static class DiesInAVirtualThread extends HonestTiny {
    @Override
    public void check(TinyStore store, Recovered recovered) throws Exception {
      super.check(store, recovered);
      Thread.startVirtualThread(
              () -> {
                throw new IllegalStateException("planted");
              })
          .join();
    }
  }

  @Test
  void uncaughtExceptionInAThread_isReported() throws IOException {
    assertBroken(DiesInWork::new, "\"flusher\" died");
    assertBroken(DiesInAVirtualThread::new, "a thread of the store failed");
    Outcome outcome = run(DiesInRecovery::new, LONG);
    assertVerdict(Verdict.CORRUPT, "\"flusher\" died", outcome);
    String story = outcome.failures().getFirst().story();
    assertTrue(story.contains("Caused by: java.lang.IllegalStateException: planted"), story);
    assertFalse(story.contains("java.lang.Thread.run"), story);
  }

  // Checks that fail after a finding.

  static class RefusesAfterAFinding extends HonestTiny {
    private boolean crashed;

    @Override
    public TinyStore open(Path dir) throws Exception {
      crashed = Files.exists(dir.resolve("current.tmp"));
      return super.open(dir);
    }

    @Override
    public void check(TinyStore store, Recovered recovered) throws Exception {
      super.check(store, recovered);
      if (crashed) {
        recovered.demand(false, "an odd page");
        throw new IOException("refused");
      }
    }

    @Override
    public boolean refuses(Throwable failure) {
      return failure instanceof IOException;
    }
  }

  @Test
  void what_a_check_found_before_it_failed_is_told_and_is_no_refusal() throws IOException {
    Outcome outcome = run(RefusesAfterAFinding::new, LONG);
    assertVerdict(Verdict.CORRUPT, "an odd page", outcome);
    assertVerdict(Verdict.CORRUPT, "refused", outcome);
    String findings = outcome.failures().getFirst().findings().toString();
    assertTrue(findings.contains("an odd page"), findings);
  }

  @Test
  void handlerOfTheJvm_isTheSameAfterwards() throws IOException {
    Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
    run(HonestTiny::new, LONG);
    assertEquals(before, Thread.getDefaultUncaughtExceptionHandler());
  }

  /** A task that a worker cannot do, such as keeping a file, must not pass for success. */
  @Test
  void worker_thatFails_breaksTheRun(@TempDir Path dir) throws IOException {
    Path file = Files.createFile(dir.resolve("a file, and no directory"));
    Supplier<CrashSubject<TinyStore>> subjects = BrokenSubjects.NoForce::new;
    PowerCutOptions options = options(LONG).withKeep(file);
    Recording recording = record(subjects, LONG);
    Outcome outcome = new PowerCutRun<>(subjects, recording, options, new SeenImages()).run();
    assertVerdict(Verdict.HARNESS_BROKEN, "the framework failed at", outcome);
  }
}
