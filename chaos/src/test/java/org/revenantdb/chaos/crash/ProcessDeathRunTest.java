package org.revenantdb.chaos.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.revenantdb.chaos.run.Failure;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.subject.Recovered;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.testing.Drawn;

/**
 * Correct stores survive and broken ones are found. {@link ProcessDeathPlacesTest} kills at every
 * place; {@link ProcessDeathSubjectsTest} has the subjects that are at fault themselves.
 */
@Tag("slow")
class ProcessDeathRunTest extends ProcessDeaths {

  static final class Honest extends LineSubject {}

  @Test
  @Drawn(oneIn = 2)
  void honestStore_survivesKillsAtRandom_andLeavesNothingBehind() throws IOException {
    List<Options.Progressed> progress = new ArrayList<>();
    Outcome outcome = run(Honest.class, options(6).withListener(progress::add));
    assertEquals(Verdict.SURVIVED, outcome.verdict(), outcome.reason());
    assertEquals(List.of(), outcome.failures());
    assertTrue(outcome.kills() >= 6, "kills: " + outcome.kills());
    assertTrue(outcome.states() > 1, "states: " + outcome.states());
    assertEquals(outcome.kills(), progress.getLast().kills());
    List<Long> seeds = progress.stream().flatMap(step -> step.seeds().stream()).toList();
    assertEquals(outcome.kills(), Set.copyOf(seeds).size(), "each has a seed of its own: " + seeds);
    try (Stream<Path> left = Files.list(scratch)) {
      assertEquals(List.of(), left.toList());
    }
  }

  /** Several threads, each with its own keys. */
  static final class Threads extends LineSubject {
    @Override
    public void work(LineStore store, Promises promises) throws Exception {
      List<Thread> threads = new ArrayList<>();
      for (int t = 0; t < 3; t++) {
        String name = "t" + t;
        threads.add(Thread.startVirtualThread(() -> putSome(store, promises, name)));
      }
      for (Thread thread : threads) {
        thread.join();
      }
    }

    private static void putSome(LineStore store, Promises promises, String name) {
      try {
        for (int i = 0; i < 60; i++) {
          put(store, promises, name + "." + i % 7, promises.seed() + "." + i);
        }
      } catch (IOException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  @Test
  @Drawn(oneIn = 2)
  void honestStore_ofSeveralThreads_survives() {
    Outcome outcome = run(Threads.class, options(FEW));
    assertEquals(Verdict.SURVIVED, outcome.verdict(), outcome.reason());
  }

  static final class Buffering extends LineSubject {
    @Override
    public LineStore open(Path dir) throws Exception {
      return LineStore.open(dir, LineStore.Break.BUFFER_IN_THE_HEAP);
    }
  }

  @Test
  @Drawn(oneIn = 2)
  void storeThatAcknowledgesFromTheHeap_isLost() throws IOException {
    ProcessDeathRun run = new ProcessDeathRun(Buffering.class, options(2));
    Outcome outcome = run.run();
    // In a few kills, none may come while an acknowledged line is only in the heap.
    for (int more = 1; outcome.verdict() == Verdict.SURVIVED; more++) {
      run = new ProcessDeathRun(Buffering.class, options(seed + more, 2));
      outcome = run.run();
    }
    assertEquals(Verdict.LOST, outcome.verdict(), outcome.reason());
    assertEquals(Verdict.LOST, outcome.failures().getFirst().verdict());
    assertEquals("", outcome.failures().getFirst().story());
    assertFalse(outcome.failures().getFirst().findings().isEmpty());
    Evidence evidence = run.evidence().getFirst();
    assertEquals(outcome.failures().getFirst(), evidence.failure());
    assertTrue(Files.exists(evidence.imageBefore().resolve("log")));
    assertTrue(evidence.log().answerCount(evidence.seq()) > 0);
  }

  /** Says of each line that it is accepted, and at the end that all are durable. */
  static class Lazy extends LineSubject {
    @Override
    public LineStore open(Path dir) throws Exception {
      return LineStore.open(dir, LineStore.Break.BUFFER_IN_THE_HEAP);
    }

    @Override
    public void work(LineStore store, Promises promises) throws Exception {
      for (int i = 0; i < 60; i++) {
        Promises.Group group = promises.begin();
        String value = promises.seed() + "." + i;
        group.put("k" + i % 7, value).committing();
        store.put("k" + i % 7, value);
        group.lazy();
      }
      store.sync();
      promises.allDurable();
    }
  }

  /** The same, and promises that a kill takes none of them back. */
  static final class LazyAndKept extends Lazy {
    @Override
    public boolean keepsLazyWhenKilled() {
      return true;
    }
  }

  @Test
  @Drawn(oneIn = 4)
  void a_kill_may_take_lazy_commits_back_unless_the_subject_keeps_them() {
    Outcome outcome = run(Lazy.class, options(FEW));
    assertEquals(Verdict.SURVIVED, outcome.verdict(), outcome.reason());
    outcome = run(LazyAndKept.class, options(2));
    // In a few kills, none may come while an accepted line is only in the heap.
    for (int more = 1; outcome.verdict() == Verdict.SURVIVED; more++) {
      outcome = run(LazyAndKept.class, options(seed + more, 2));
    }
    assertEquals(Verdict.LOST, outcome.verdict(), outcome.reason());
  }

  static final class Dropping extends LineSubject {
    @Override
    public LineStore open(Path dir) throws Exception {
      return LineStore.open(dir, LineStore.Break.DROPS_THE_LAST_LINE);
    }
  }

  /** No process has died when the loss is found; a power cut reports it under the same name. */
  @Test
  void storeThatLosesWithoutAnyCrash_isHarnessBroken() {
    assertHarnessBroken(
        Dropping.class, "the subject's own check does not hold on an intact disk: it found LOST");
  }

  /** Announces nothing, like the shortest subjects. */
  static final class Silent extends LineSubject {
    @Override
    public void work(LineStore store, Promises promises) throws Exception {
      for (int i = 0; i < 40; i++) {
        store.put("k" + i % 5, promises.seed() + "." + i);
        promises.durable("k" + i % 5, promises.seed() + "." + i);
      }
    }
  }

  @Test
  void honestStore_thatAnnouncesNothing_survives_evenInARelativePath() {
    Path relative = Path.of("target", "relative-scratch");
    try {
      Outcome outcome = run(Silent.class, Options.of(relative, seed, FEW));
      assertEquals(Verdict.SURVIVED, outcome.verdict(), outcome.reason());
    } finally {
      FileTrees.delete(relative);
    }
  }

  @Test
  void run_withoutAnyDeath_isRefused() {
    for (int kills : new int[] {0, -1}) {
      assertThrows(
          IllegalArgumentException.class, () -> new ProcessDeathRun(Honest.class, options(kills)));
    }
  }

  // Zombies.

  @Test
  @EnabledOnOs({OS.LINUX, OS.MAC})
  @Drawn(oneIn = 2)
  void storeWithALock_refusesTheZombiesSuccessor() {
    Outcome outcome = run(Honest.class, options(0).withZombies(1));
    assertEquals(Verdict.SURVIVED, outcome.verdict(), outcome.reason());
    assertEquals(1, outcome.kills());
  }

  static final class Fenced implements CrashSubject<EpochStore> {
    @Override
    public EpochStore open(Path dir) throws Exception {
      return EpochStore.open(dir);
    }

    @Override
    public void work(EpochStore store, Promises promises) throws Exception {
      for (int i = 0; i < 40; i++) {
        String value = promises.seed() + "." + i;
        promises.attempt("k" + i % 7, value);
        store.put("k" + i % 7, value);
        promises.durable("k" + i % 7, value);
      }
    }

    @Override
    public void check(EpochStore store, Recovered recovered) {
      recovered.verify(store::get);
    }
  }

  /** The successor's promises must hold, too, and the store may refuse the zombie. */
  @Test
  @EnabledOnOs({OS.LINUX, OS.MAC})
  @Drawn(oneIn = 2)
  void storeThatFencesAZombie_survivesIt() {
    List<String> places = new ArrayList<>();
    Options options = options(0).withZombies(FEW).withListener(step -> places.add(step.place()));
    assertEquals(Verdict.SURVIVED, run(Fenced.class, options).verdict());
    for (String place : places) {
      assertTrue(place.contains("had the store, and then "), place);
      // A zombie killed at its first report after it continued is no longer refused.
      assertTrue(place.contains("threw in work") || place.contains("was killed in work"), place);
    }
  }

  static final class Unlocked extends LineSubject {
    @Override
    public LineStore open(Path dir) throws Exception {
      return LineStore.open(dir, LineStore.Break.NO_LOCK);
    }
  }

  @Test
  @EnabledOnOs({OS.LINUX, OS.MAC})
  @Drawn(oneIn = 3)
  void storeWithoutALock_isFoundByAZombie() {
    Outcome outcome = run(Unlocked.class, options(0).withZombies(1));
    // A zombie may not overwrite what the successor has written meanwhile.
    for (int more = 1; outcome.verdict() == Verdict.SURVIVED; more++) {
      outcome = run(Unlocked.class, options(seed + more, 0).withZombies(1));
    }
    assertTrue(outcome.verdict().compareTo(Verdict.LOST) >= 0, outcome.reason());
    assertTrue(outcome.verdict() != Verdict.HARNESS_BROKEN, outcome.reason());
    assertReason("was stopped while another one had the store", outcome);
  }

  // Stores that cannot be recovered.

  abstract static class FailsAfterACrash extends LineSubject {
    @Override
    public LineStore open(Path dir) throws Exception {
      Path dirty = dir.resolve("dirty");
      if (Files.exists(dirty)) {
        fail();
      }
      Files.writeString(dirty, "x");
      return super.open(dir);
    }

    @Override
    public void close(LineStore store) throws Exception {
      super.close(store);
      // The store does not know its directory; the child's working directory does.
      Files.delete(Path.of("store", "dirty"));
    }

    abstract void fail() throws Exception;
  }

  static final class ThrowsInRecovery extends FailsAfterACrash {
    @Override
    void fail() throws Exception {
      throw new IOException("it was dirty");
    }
  }

  static final class FindsAndThrows extends FailsAfterACrash {
    private boolean crashed;

    @Override
    void fail() {
      crashed = true;
    }

    @Override
    public void check(LineStore store, Recovered recovered) {
      super.check(store, recovered);
      if (crashed) {
        recovered.demand(false, "an odd page");
        throw new IllegalStateException("refused");
      }
    }
  }

  static final class HangsInRecovery extends FailsAfterACrash {
    @Override
    void fail() throws Exception {
      new CountDownLatch(1).await();
    }
  }

  static final class ExitsInRecovery extends FailsAfterACrash {
    @Override
    void fail() {
      Runtime.getRuntime().halt(9);
    }
  }

  /** The first opening after a crash fails; the next one of the same files does not. */
  static final class Moody extends FailsAfterACrash {
    @Override
    void fail() throws Exception {
      Path mood = Path.of(System.getProperty("java.io.tmpdir"), "mood");
      if (!Files.exists(mood)) {
        Files.writeString(mood, "better");
        throw new IOException("bad mood");
      }
    }
  }

  @Test
  @Drawn(oneIn = 2)
  void subject_thatFailsOnceAndNotAgain_isHarnessBroken() {
    Outcome outcome;
    long next = seed;
    do {
      // A process that is killed while it fails leaves no report of its one failure.
      System.out.println("seed " + next);
      outcome = run(Moody.class, Options.of(scratch, next, 2));
      next++;
    } while (outcome.verdict() == Verdict.SURVIVED);
    assertEquals(Verdict.HARNESS_BROKEN, outcome.verdict(), outcome.reason());
    assertReason("not deterministic", outcome);
  }

  /** A kill may come when nothing is dirty, so several may be needed. */
  private Outcome assertCorrupt(
      Class<? extends CrashSubject<?>> subject, Duration stallLimit, String reason) {
    Outcome outcome;
    long next = seed;
    do {
      Options options = Options.of(scratch, next, 1).withStallLimit(stallLimit);
      System.out.println("seed " + next);
      outcome = run(subject, options);
      next++;
    } while (outcome.verdict() == Verdict.SURVIVED);
    assertEquals(Verdict.CORRUPT, outcome.verdict(), outcome.reason());
    assertReason(reason, outcome);
    assertFalse(outcome.failures().isEmpty());
    return outcome;
  }

  @Test
  @Drawn(oneIn = 2)
  void store_thatCannotBeOpenedAfterACrash_isCorrupt() {
    assertCorrupt(ThrowsInRecovery.class, PATIENT, "threw in open");
  }

  @Test
  @Drawn(oneIn = 2)
  void what_a_check_found_before_it_failed_is_told_beside_the_exception() {
    Outcome outcome =
        assertCorrupt(FindsAndThrows.class, PATIENT, "an odd page, then threw in check");
    String findings = outcome.failures().getFirst().findings().toString();
    assertTrue(findings.contains("an odd page"), findings);
  }

  @Test
  @Drawn(oneIn = 4)
  void store_whoseRecoveryHangs_isCorrupt() {
    Outcome outcome =
        assertCorrupt(HangsInRecovery.class, IMPATIENT, "did not come to an end in open");
    String story = outcome.failures().getFirst().story();
    assertTrue(story.startsWith("its stack:\n    at "), story);
    int where = story.indexOf("HangsInRecovery.fail");
    assertTrue(where > 0 && where < story.indexOf(Failure.AT_LENGTH), story);
    assertTrue(story.indexOf("Full thread dump") > story.indexOf(Failure.AT_LENGTH), story);
  }

  @Test
  @Drawn(oneIn = 2)
  void store_whoseRecoveryEndsTheProcess_isCorrupt() {
    assertCorrupt(ExitsInRecovery.class, PATIENT, "exit code 9 in open");
  }
}
