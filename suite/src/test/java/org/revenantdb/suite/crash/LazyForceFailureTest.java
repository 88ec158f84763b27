package org.revenantdb.suite.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.disk.MemoryFileSystem;
import org.revenantdb.chaos.fault.Fault;
import org.revenantdb.chaos.fault.FaultInjector;
import org.revenantdb.chaos.fault.FaultPlan;
import org.revenantdb.chaos.fault.FaultRule;
import org.revenantdb.chaos.fault.FileOperation;
import org.revenantdb.chaos.oracle.PromiseLog;
import org.revenantdb.chaos.power.Losses;
import org.revenantdb.chaos.power.PowerCut;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.recording.RecordingFileSystem;
import org.revenantdb.chaos.run.FaultCase;
import org.revenantdb.chaos.run.FaultRun;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.run.PowerCutOptions;
import org.revenantdb.chaos.run.StateChecker;
import org.revenantdb.chaos.run.StateResult;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseStoppedException;
import org.revenantdb.engine.OutcomeUnknownException;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;

/**
 * Forces of the log that fail, in particular the one that makes lazy commits durable and for which
 * no thread waits. The system may mark the pages as clean (then no later force covers them), or
 * not.
 */
class LazyForceFailureTest {

  private static final byte[] KEY = "k".getBytes(StandardCharsets.US_ASCII);
  private static final String[] TABLES = {"first", "second", "third"};
  private static final int CASES = Boolean.getBoolean("revenant.long") ? 30 : 8;
  private static final long SEED = Long.getLong("revenant.chaos.seed", 20_261_122);

  /** A database whose lazy commits are forced at once, without a request, on a disk that fails. */
  private static final class Life {
    final AtomicBoolean fails = new AtomicBoolean();
    final LazySubject subject = new LazySubject(Duration.ZERO);
    final PromiseLog log = new PromiseLog();
    final Path directory =
        Files.createDirectory(MemoryFileSystem.of(new DiskImage()).root().resolve("store"));
    final RecordingFileSystem disk;
    final Promises promises;
    final Database db;

    Life(boolean clean) throws IOException {
      FaultInjector force =
          operation ->
              fails.get()
                      && operation.kind() == FileOperation.Kind.FORCE
                      && operation.path().contains("log/")
                  ? new Fault.FailForce(clean)
                  : Fault.NONE;
      disk = RecordingFileSystem.over(directory).faults(force).start();
      promises = log.promises(disk.clock(), SEED);
      db = subject.open(disk.directory());
    }

    /** A transaction over all tables; reports when it is durable. */
    CompletionStage<@Nullable Void> lazily(int number) {
      try (Transaction tx = db.begin(TransactionOptions.lazy())) {
        Promises.Group group = promises.begin();
        for (String name : TABLES) {
          byte[] value = Cell.value(number, 24);
          group.put(Cell.key(name, KEY), Cell.promised(value));
          tx.put(db.getOrCreateTable(name), KEY, value);
        }
        group.committing();
        tx.commit();
        group.lazy();
        return tx.whenDurable();
      }
    }

    /**
     * The result of the next open, on the files as they were left and as the power cut left them.
     */
    void assertSurvived() {
      long now = disk.clock().next();
      PowerCut cut = new PowerCut(disk.trace(), PlatformProfile.SECTOR_4K.rules());
      assertSurvived("opened as it was left", cut.state(now, Losses.none()).image(), now);
      DiskImage least = cut.state(now, Losses.of(cut.pending(now))).image();
      assertSurvived("opened after a power cut", least, now);
    }

    private void assertSurvived(String how, DiskImage image, long place) {
      StateResult result =
          new StateChecker<Database>(LazySubject::new, /* resume= */ true).check(image, log, place);
      assertTrue(result.survived(), how + ": " + result);
    }
  }

  @ParameterizedTest(name = "taken for clean: {0}")
  @ValueSource(booleans = {false, true})
  void failed_force_for_lazy_commits_is_reported_to_all_callers(boolean clean) throws IOException {
    Life life = new Life(clean);
    Worker durable = new Worker(life.db, life.promises, SEED, 1);
    for (String name : TABLES) {
      durable.commit(writes -> writes.put(name, KEY, 30));
    }
    life.lazily(1).toCompletableFuture().join();
    life.promises.allDurable();
    Table table = life.db.getOrCreateTable(TABLES[0]);
    life.fails.set(true);

    CompletionStage<@Nullable Void> hoped = life.lazily(2);
    CompletionException told =
        assertThrows(CompletionException.class, () -> hoped.toCompletableFuture().join());
    assertInstanceOf(OutcomeUnknownException.class, told.getCause(), "who hung on the commit");

    life.fails.set(false); // the failure is final: the disk is not used again
    assertThrows(DatabaseStoppedException.class, life.db::sync, "sync");
    assertThrows(DatabaseStoppedException.class, () -> readDurably(life.db, table), "read");
    assertThrows(DatabaseStoppedException.class, () -> life.lazily(3), "another lazy one");
    assertThrows(DatabaseStoppedException.class, life.db::close, "close");
    life.assertSurvived();
  }

  /** It reads what was committed lazily, or nothing. */
  private static void readDurably(Database db, Table table) {
    try (Transaction tx = db.begin(TransactionOptions.durable())) {
      tx.get(table, KEY);
    }
  }

  @Test
  @Tag("slow")
  void any_failed_force_of_the_log_leaves_durable_commits_and_a_prefix() throws IOException {
    System.out.println("LazyForceFailureTest -Drevenant.chaos.seed=" + SEED);
    SplittableRandom random = new SplittableRandom(SEED);
    List<FaultCase> cases = new ArrayList<>();
    for (int i = 0; i < CASES; i++) {
      FaultRule rule =
          FaultRule.of(new Fault.FailForce(/* clean= */ i % 2 == 0))
              .kinds(FileOperation.Kind.FORCE)
              .path("**log/*")
              .nth(1 + random.nextInt(100));
      cases.add(
          new FaultCase(
              i % 2 == 0 ? "failed force, clean" : "failed force",
              rule.toString(),
              () -> FaultPlan.of(rule),
              FaultCase.Contract.NOTHING_LOST));
    }
    PowerCutOptions cuts =
        PowerCutOptions.of(PlatformProfile.STRICT_POSIX, SEED)
            .withStates(5)
            .withLimit(Duration.ofSeconds(60));
    // In half of the lives lazy commits are forced at once, so the failing force is mostly theirs.
    for (Duration delay : List.of(Duration.ZERO, Duration.ofDays(1))) {
      List<FaultCase> some =
          delay.isZero() ? cases.subList(0, CASES / 2) : cases.subList(CASES / 2, CASES);
      FaultRun<Database> run = new FaultRun<>(() -> new LazySubject(delay), cuts, some);
      Outcome outcome = run.run();
      assertEquals(Verdict.SURVIVED, outcome.verdict(), outcome::toString);
      assertTrue(run.rows().stream().mapToLong(row -> row.struck()).sum() > CASES / 4);
    }
  }
}
