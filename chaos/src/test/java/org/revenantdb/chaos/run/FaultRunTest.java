package org.revenantdb.chaos.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.chaos.fault.Fault;
import org.revenantdb.chaos.fault.FaultPlan;
import org.revenantdb.chaos.fault.FaultRule;
import org.revenantdb.chaos.fault.FileOperation;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.run.FaultCase.Contract;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.subject.Recovered;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.chaos.teeth.BrokenSubjects;
import org.revenantdb.chaos.teeth.TinyStore;

/** What a store must do after reported and unreported faults. */
class FaultRunTest {

  private static final long SEED = 8;

  private static PowerCutOptions options() {
    return PowerCutOptions.of(PlatformProfile.EXT4_ORDERED, SEED)
        .withStates(150)
        .withLimit(Duration.ofMinutes(1));
  }

  private static FaultCase failedForce(int nth) {
    FaultRule rule =
        FaultRule.of(new Fault.FailForce(/* clean= */ true))
            .kinds(FileOperation.Kind.FORCE)
            .path("log-*")
            .nth(nth);
    return new FaultCase(
        "failed force", rule.toString(), () -> FaultPlan.of(rule), Contract.NOTHING_LOST);
  }

  private static FaultCase flippedRead(Contract contract) {
    FaultRule rule =
        FaultRule.of(new Fault.FlipBit(3)).kinds(FileOperation.Kind.READ).path("current").nth(1);
    return new FaultCase("flip", rule.toString(), () -> FaultPlan.of(rule), contract);
  }

  private static FaultCase never() {
    FaultRule rule =
        FaultRule.of(new Fault.Fail("x")).kinds(FileOperation.Kind.FORCE).path("no such file");
    return new FaultCase("never", rule.toString(), () -> FaultPlan.of(rule), Contract.NOTHING_LOST);
  }

  private static FaultRun<TinyStore> run(
      Supplier<CrashSubject<TinyStore>> subjects, FaultCase... cases) {
    return new FaultRun<>(subjects, options(), List.of(cases));
  }

  @Test
  void honestStore_whoseForceFails_survives_andTheRowsShowIt() throws IOException {
    FaultRun<TinyStore> run = run(HonestTiny::new, failedForce(3), failedForce(40), never());
    Outcome outcome = run.run();
    assertEquals(Verdict.SURVIVED, outcome.verdict(), outcome::toString);
    assertEquals(2, run.rows().size());
    FaultRow row = run.rows().getFirst();
    assertEquals("failed force", row.name());
    assertEquals(2, row.lives());
    assertEquals(2, row.struck());
    assertEquals(0, row.worked(), "a put whose force fails throws");
    assertEquals(0, row.failed());
    assertTrue(row.states() > 100, row::toString);
    assertEquals(outcome.states(), row.states());
    assertEquals(new FaultRow("never", 1, 0, 1, 0, 0, 0), run.rows().getLast());
  }

  /** The result of a fault is shrunk like that of a power cut, and its file fails again. */
  @Test
  void storeThatSwallowsAFailedForce_isFound_withFewLosses(@TempDir Path dir) throws IOException {
    Outcome outcome =
        new FaultRun<TinyStore>(
                BrokenSubjects.ForceErrorSwallowed::new,
                options().withKeep(dir),
                List.of(failedForce(30), failedForce(31)))
            .run();
    assertEquals(Verdict.LOST, outcome.verdict(), outcome::toString);
    Failure failure = outcome.failures().getFirst();
    assertTrue(failure.title().contains("after failed force"), failure::title);
    List<String> losses =
        failure.story().lines().filter(line -> line.matches("(lost|torn).*")).toList();
    assertTrue(losses.size() == 1 || losses.size() == 2, failure::story);
    assertNotNull(failure.file());
    assertEquals(Verdict.LOST, FailureFile.read(failure.file()).replay().verdict());
  }

  // A subject that is itself at fault.

  static class HangsInCheck extends HonestTiny {
    @Override
    public void check(TinyStore store, Recovered recovered) throws Exception {
      super.check(store, recovered);
      new CountDownLatch(1).await();
    }
  }

  static class ChecksNothing extends HonestTiny {
    @Override
    public void check(TinyStore store, Recovered recovered) {}
  }

  static class ThrowsInWork extends HonestTiny {
    @Override
    public void work(TinyStore store, Promises promises) {
      throw new IllegalStateException("planted");
    }
  }

  private static void assertBroken(
      Supplier<CrashSubject<TinyStore>> subjects, PowerCutOptions options, String why)
      throws IOException {
    Outcome outcome = new FaultRun<>(subjects, options, List.of(failedForce(3))).run();
    assertEquals(Verdict.HARNESS_BROKEN, outcome.verdict(), outcome::toString);
    assertTrue(outcome.reason().contains(why), outcome::reason);
  }

  @Test
  void faultySubject_isBroken() throws IOException {
    PowerCutOptions impatient = options().withLimit(Duration.ofSeconds(1));
    assertBroken(HangsInCheck::new, impatient, "did not end within 1 s");
    assertBroken(ChecksNothing::new, options(), "verifies nothing");
    assertBroken(ThrowsInWork::new, options(), "planted");
  }

  @Test
  void run_withoutAnyCase_doesNotPass() throws IOException {
    assertEquals(Verdict.HARNESS_BROKEN, run(HonestTiny::new).run().verdict());
  }

  // Damage that is not reported to the store.

  /** Throws an unclear exception for a damaged pointer instead of a refusal. */
  static class Stumbles extends HonestTiny {
    @Override
    public TinyStore open(Path dir) throws Exception {
      try {
        return super.open(dir);
      } catch (IOException e) {
        throw new NullPointerException("a stumble: " + e);
      }
    }
  }

  /** Accepts the damaged content as true. */
  static class BeginsAnew extends HonestTiny {
    @Override
    public TinyStore open(Path dir) throws Exception {
      try {
        return super.open(dir);
      } catch (IOException e) {
        throw new DamagedException(e);
      }
    }
  }

  private static final class DamagedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    DamagedException(Throwable cause) {
      super(cause);
    }
  }

  /** Opens a second time in its life, so that there is something to read. */
  private static Supplier<CrashSubject<TinyStore>> reopening(CrashSubject<TinyStore> store) {
    return () ->
        new HonestTiny() {
          @Override
          public TinyStore open(Path dir) throws Exception {
            store.open(dir).close();
            return store.open(dir);
          }
        };
  }

  @Test
  void refusal_isAClearReport_andNotAnAccident() throws IOException {
    FaultCase flip = flippedRead(Contract.RIGHT_OR_REFUSED);
    assertEquals(Verdict.SURVIVED, run(reopening(new HonestTiny()), flip).run().verdict());
    assertEquals(Verdict.SURVIVED, run(reopening(new BeginsAnew()), flip).run().verdict());
    FaultRun<TinyStore> stumbling = run(reopening(new Stumbles()), flip);
    Outcome outcome = stumbling.run();
    assertEquals(Verdict.CORRUPT, outcome.verdict(), outcome::toString);
    assertTrue(outcome.reason().contains("something other than a clear refusal"), outcome::reason);
    assertEquals(1, stumbling.rows().getFirst().struck());
  }
}
