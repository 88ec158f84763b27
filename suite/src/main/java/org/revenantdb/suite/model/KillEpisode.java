package org.revenantdb.suite.model;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Map;
import java.util.SplittableRandom;
import org.revenantdb.chaos.crash.FileTrees;
import org.revenantdb.chaos.crash.ForkedJvm;
import org.revenantdb.chaos.crash.KillPoint;
import org.revenantdb.chaos.crash.Seeds;
import org.revenantdb.chaos.oracle.CrashOracle;
import org.revenantdb.chaos.oracle.Finding;
import org.revenantdb.chaos.oracle.Judgement;
import org.revenantdb.suite.model.Store.Limits;

/**
 * One database and its lives: children work on it and are killed, and each recovered state is
 * checked.
 *
 * <p>A round: a child works and is killed (or closes in order). Perhaps children that only reopen
 * are killed while they recover. Perhaps the next child continues without a check. Otherwise the
 * parent opens the store, reads all of it, asks the oracle, checks the structure, does some work,
 * perhaps cleans, and closes.
 *
 * <p>The same seed gives the same actions of the parent, but not the same interleaving of a child's
 * threads. So a repeated episode is similar, not identical. For that reason the image of the
 * database before the failed opening is kept.
 */
final class KillEpisode {

  /**
   * A child that runs this long without reaching its kill point is killed then, because the round
   * must be short.
   */
  private static final Duration LONGEST_LIFE = Duration.ofMillis(1_500);

  private static final int MOST_SESSIONS = 6;
  private static final int MAX_UNSEEN = 2;

  private final ModelOptions options;
  private final Path dir;
  private final Path database;
  private final long seed;
  private final SplittableRandom random;
  private final Tally tally;
  private final Store.Opener opener;
  private final CrashOracle<RowKey> oracle = new CrashOracle<>();
  private int life;
  private int unseen;
  private long typicalOpenNanos = Duration.ofMillis(40).toNanos();

  KillEpisode(ModelOptions options, Path dir, long seed, Tally tally) {
    this.options = options;
    this.dir = dir;
    this.database = dir.resolve("db");
    this.seed = seed;
    this.random = new SplittableRandom(Seeds.of(seed, 0));
    this.tally = tally;
    this.opener = options.newOpener();
  }

  /** How the child ends. */
  private enum Ending {
    AFTER_ACKNOWLEDGED,
    AFTER_LINES,
    WHILE_OPENING,
    WHILE_CLOSING,
    IN_ORDER
  }

  /** Runs one round; throws a failure. */
  void round() {
    life++;
    work(ending());
    recoverAndKill();
    if (unseen < MAX_UNSEEN && random.nextInt(10) < 3) {
      unseen++;
      tally.secondLivesUnseen++;
      return;
    }
    unseen = 0;
    look();
  }

  /** The last check of an episode. */
  void end() {
    if (unseen > 0) {
      look();
    }
  }

  private Ending ending() {
    int dice = random.nextInt(100);
    if (dice < 60) {
      return Ending.AFTER_ACKNOWLEDGED;
    }
    if (dice < 78) {
      return Ending.AFTER_LINES;
    }
    if (dice < 84) {
      return Ending.WHILE_OPENING;
    }
    return dice < 90 ? Ending.WHILE_CLOSING : Ending.IN_ORDER;
  }

  private void work(Ending ending) {
    boolean closes = ending == Ending.WHILE_CLOSING || ending == Ending.IN_ORDER;
    int transactions = closes ? random.nextInt(3, 40) : 0;
    KillPoint acknowledged = KillPoint.logUniform(random, 2_000);
    KillPoint lines = KillPoint.logUniform(random, 20_000);
    Duration delay = delay();
    ChildLedger ledger = new ChildLedger(oracle);
    keepImage();
    try (ForkedJvm child = worker(transactions);
        BufferedWriter record = record()) {
      boolean killed = false;
      long opened = 0;
      for (String line; (line = child.readLine()) != null; ) {
        ledger.accept(line);
        record.write(line);
        record.newLine();
        if (opened == 0 && ledger.opened()) {
          opened = System.nanoTime();
        }
        boolean due =
            switch (ending) {
              case AFTER_ACKNOWLEDGED -> acknowledged.reached(ledger.acknowledged());
              case AFTER_LINES -> lines.reached(ledger.lines());
              case WHILE_OPENING -> ledger.opening();
              case WHILE_CLOSING -> ledger.closing();
              case IN_ORDER -> false;
            };
        if (!killed && due) {
          killed = true;
          if (ending == Ending.WHILE_OPENING || ending == Ending.WHILE_CLOSING) {
            child.killAfter(delay);
          } else {
            child.kill();
          }
        }
        if (!killed
            && !closes
            && opened != 0
            && System.nanoTime() - opened > LONGEST_LIFE.toNanos()) {
          killed = true;
          child.kill();
        }
      }
      count(ledger, child);
      if (ledger.failure() != null) {
        child.awaitEnd();
        throw new ModelFailure(
            "life " + life + ": " + ledger.failure() + "\n" + child.stderr().strip());
      }
      child.demandOrderlyEnd();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot keep the record of the episode", e);
    }
  }

  private void count(ChildLedger ledger, ForkedJvm child) {
    tally.acknowledged += ledger.acknowledged();
    tally.rolledBack += ledger.rolledBack();
    tally.count(ledger.counters());
    if (ledger.opened()) {
      typicalOpenNanos = Math.max(Duration.ofMillis(2).toNanos(), ledger.openNanos());
      tally.recovered(ledger.openNanos());
    }
    if (ledger.closed()) {
      tally.cleanCloses++;
    } else if (child.killed()) {
      tally.kills++;
      if (!ledger.opened()) {
        tally.killsWhileOpening++;
      } else if (ledger.closing()) {
        tally.killsWhileClosing++;
      }
    }
  }

  /** Kills children up to three times in a row while they recover. */
  private void recoverAndKill() {
    int dice = random.nextInt(100);
    int depth = dice < 65 ? 0 : dice < 85 ? 1 : dice < 95 ? 2 : 3;
    for (int i = 0; i < depth; i++) {
      Duration delay = delay();
      ChildLedger ledger = new ChildLedger(oracle);
      keepImage();
      try (ForkedJvm child = child(ReopenMain.class).fork()) {
        for (String line; (line = child.readLine()) != null; ) {
          ledger.accept(line);
          if (ledger.opening() && !child.killed()) {
            child.killAfter(delay);
          }
        }
        if (ledger.failure() != null) {
          throw new ModelFailure(
              "after life %d: %s%n%s".formatted(life, ledger.failure(), child.stderr().strip()));
        }
        child.demandOrderlyEnd();
      }
      tally.kills++;
      if (!ledger.opened()) {
        tally.killsOfRecovery++;
      }
    }
  }

  /** A time within the duration of an opening, or a little more. */
  private Duration delay() {
    return Duration.ofNanos((long) (random.nextDouble() * 1.3 * typicalOpenNanos));
  }

  private void look() {
    keepImage();
    try (Store store = opener.open(database, drawLimits())) {
      tally.recovered(store.recovery().nanos());
      Map<RowKey, Long> recovered = Verifier.contents(store, random);
      judge(recovered);
      tally.verifications++;
      tally.rowsVerified += recovered.size();
      Verifier.demandSound(store, "after the recovery");
      Verifier.demandNewWork(store, life);
      if (random.nextInt(10) < 4) {
        Verifier.demandCleanable(store);
        if (!Verifier.contents(store, random).equals(recovered)) {
          throw new ModelFailure("cleaning changed what can be read");
        }
      }
      tally.count(store.counters());
    }
    tally.cleanCloses++;
    FileTrees.delete(dir.resolve("said.txt"));
  }

  /** Keeps the files, in case the opening that follows fails. */
  private void keepImage() {
    FileTrees.copy(database, dir.resolve("before-open"));
  }

  private void judge(Map<RowKey, Long> recovered) {
    Judgement judgement = oracle.judge(recovered);
    if (!judgement.holds()) {
      StringBuilder text = new StringBuilder("after life " + life + " the oracle finds:");
      for (Finding finding : judgement.findings()) {
        text.append("\n  ").append(finding);
      }
      throw new ModelFailure(text.toString());
    }
    tally.inDoubtSurvived += judgement.survivedInDoubt();
    tally.inDoubtLost += judgement.lostInDoubt();
  }

  private ForkedJvm worker(int transactions) {
    return child(WorkerMain.class)
        .argument(seed)
        .argument(life)
        .argument(random.nextInt(1, MOST_SESSIONS + 1))
        .argument(transactions)
        .fork();
  }

  private Limits drawLimits() {
    return Limits.draw(random, options.poolBytes());
  }

  private ForkedJvm.Builder child(Class<?> main) {
    Limits limits = drawLimits();
    return ForkedJvm.of(main)
        .withCodeOf(opener.getClass())
        .shortLived()
        .heap("128m")
        .flags("--sun-misc-unsafe-memory-access=deny", "--illegal-native-access=deny")
        .argument(opener.getClass().getName())
        .argument(database)
        .argument(limits.poolBytes())
        .argument(limits.logBytes());
  }

  /** The lines of the children since the last check. */
  private BufferedWriter record() throws IOException {
    return Files.newBufferedWriter(
        dir.resolve("said.txt"), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
  }
}
