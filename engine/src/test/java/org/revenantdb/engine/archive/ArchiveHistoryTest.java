package org.revenantdb.engine.archive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.backup.BackedUp.SMALL;
import static org.revenantdb.engine.backup.BackedUp.opened;
import static org.revenantdb.engine.backup.CommitHistory.ticket;

import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.RestoreRequest;
import org.revenantdb.engine.backup.CommitHistory;
import org.revenantdb.testing.Drawn;

/**
 * A database that is restored to a random moment has exactly a prefix of the commits, and the right
 * one. {@code -Drevenant.seed=n} repeats the choices of a run, {@code -Drevenant.rounds=n} makes
 * more of them.
 */
class ArchiveHistoryTest {
  /**
   * A moment as a thread beside the writers saw it.
   *
   * @param lsn the tail of the log
   * @param least tickets that were acknowledged before the tail was read
   * @param most the highest ticket of a commit that had begun after that
   * @param time the clock after that
   */
  private record Seen(long lsn, long least, long most, long time) {}

  @TempDir Path temporary;
  private final long seed =
      Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));

  @Test
  @Tag("slow")
  @Drawn(oneIn = 2)
  void R26_a_restored_moment_is_the_prefix_of_the_commits_that_the_model_knows() throws Exception {
    boolean isLong = Boolean.getBoolean("revenant.long");
    for (int round = 0; round < Integer.getInteger("revenant.rounds", isLong ? 10 : 1); round++) {
      try {
        round(new Random(seed + round), temporary.resolve("round" + round), isLong ? 8 : 3);
      } catch (Throwable failed) {
        throw new AssertionError("-Drevenant.seed=" + (seed + round), failed);
      }
    }
  }

  private static void round(Random random, Path folder, int moments) throws Exception {
    Path archive = folder.resolve("archive");
    CommitHistory history = new CommitHistory();
    List<Seen> seen = new ArrayList<>();
    DatabaseOptions options = Archived.drawn(random, archive);
    for (int life = 0; life < 2 + random.nextInt(2); life++) {
      try (Database db = Database.open(folder.resolve("db"), options)) {
        if (life == 0) {
          CommitHistory.create(db);
        }
        db.archiveNow();
        history.start(db, random);
        try {
          for (int i = 0; i < moments; i++) {
            history.await(random.nextInt(60));
            long least = history.acknowledged.get();
            long lsn = Archived.tail(db);
            seen.add(new Seen(lsn, least, history.begun(), System.currentTimeMillis()));
          }
          history.await(random.nextInt(20));
          db.archiveNow();
        } finally {
          history.stop();
        }
        assertEquals(0, db.statistics().archive().gaps());
      }
    }
    int number = 0;
    for (Seen one : seen) {
      check(
          archive, folder.resolve("at" + number++), history, RestoreRequest.atLsn(one.lsn()), one);
      Path byTime = folder.resolve("time" + number);
      Database.restore(archive, byTime, RestoreRequest.at(Instant.ofEpochMilli(one.time())));
      long has = has(byTime);
      assertEquals(history.upTo(has).tables, opened(byTime), "by time, " + has + " commits");
    }
    Path last = folder.resolve("last");
    Database.restore(archive, last, RestoreRequest.latest());
    long all;
    try (Database db = Database.open(folder.resolve("db"), SMALL)) {
      all = ticket(db);
    }
    assertEquals(all, has(last));
    assertEquals(history.upTo(all).tables, opened(last), "the latest moment");
  }

  private static long has(Path target) {
    try (Database db = Database.open(target, SMALL.withReadOnly(true))) {
      return ticket(db);
    }
  }

  private static void check(
      Path archive, Path target, CommitHistory history, RestoreRequest options, Seen seen) {
    Database.restore(archive, target, options);
    long has = has(target);
    assertTrue(has >= seen.least() && has <= seen.most(), () -> has + " commits at " + seen);
    assertEquals(history.upTo(has).tables, opened(target), has + " commits at " + seen);
  }
}
