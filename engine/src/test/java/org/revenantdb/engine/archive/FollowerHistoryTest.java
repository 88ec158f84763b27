package org.revenantdb.engine.archive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.backup.BackedUp.SMALL;
import static org.revenantdb.engine.backup.BackedUp.assertSound;
import static org.revenantdb.engine.backup.BackedUp.contents;
import static org.revenantdb.engine.backup.BackedUp.opened;
import static org.revenantdb.engine.backup.CommitHistory.ticket;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Follower;
import org.revenantdb.engine.backup.CommitHistory;
import org.revenantdb.testing.Drawn;

/**
 * Beside random transactions, tables that come and go, compaction, and lives of the database, every
 * snapshot of a follower has exactly a prefix of the commits, and none goes back; also when the
 * follower is closed and begun again, and when it is promoted in the end. {@code -Drevenant.seed=n}
 * repeats the choices of a run, {@code -Drevenant.rounds=n} makes more of them.
 */
class FollowerHistoryTest {
  @TempDir Path temporary;
  private final long seed =
      Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));

  /** A snapshot that is still open, and what it has. */
  private record Held(Database snapshot, long commits) {}

  @Test
  @Tag("slow")
  @Drawn(oneIn = 3)
  void R6_R12_every_snapshot_is_a_prefix_of_the_commits_and_none_goes_back() throws Exception {
    boolean isLong = Boolean.getBoolean("revenant.long");
    for (int round = 0; round < Integer.getInteger("revenant.rounds", isLong ? 20 : 1); round++) {
      try {
        round(new Random(seed + round), temporary.resolve("round" + round), isLong ? 30 : 6);
      } catch (Throwable failed) {
        throw new AssertionError("-Drevenant.seed=" + (seed + round), failed);
      }
    }
  }

  private static void round(Random random, Path folder, int looks) throws Exception {
    random.nextLong();
    Path archive = folder.resolve("archive");
    Path own = folder.resolve("follower");
    CommitHistory history = new CommitHistory();
    DatabaseOptions options = Archived.drawn(random, archive);
    Follower follower = null;
    long last = 0;
    Deque<Held> held = new ArrayDeque<>();
    long folds = 0;
    int lives = 2 + random.nextInt(2);
    for (int life = 0; life < lives || folds < 2; life++) {
      try (Database db = Database.open(folder.resolve("db"), options)) {
        if (life == 0) {
          CommitHistory.create(db);
        }
        db.archiveNow();
        if (follower == null) {
          follower = Database.follow(archive, own, options(random));
        }
        history.start(db, random);
        try {
          for (int i = 0; i < looks; i++) {
            history.await(random.nextInt(60));
            long least = history.acknowledged.get();
            if (random.nextInt(3) == 0) {
              db.sync(); // what was acknowledged lazily, too
              db.archiveNow();
              follower.refresh();
            } else {
              least = last;
            }
            Database snapshot = follower.snapshot();
            long has = ticket(snapshot);
            assertTrue(has >= last, has + " commits, and " + last + " were shown");
            assertTrue(has >= least, has + " commits, and " + least + " were shipped");
            assertSound(snapshot.check());
            assertEquals(history.upTo(has).tables, contents(snapshot), has + " commits");
            last = has;
            held.add(new Held(snapshot, has));
            if (held.size() > 1 + random.nextInt(3)) {
              letGo(history, held.removeFirst());
            }
            if (random.nextInt(6) == 0) {
              while (!held.isEmpty()) {
                letGo(history, held.removeFirst());
              }
              folds += follower.statistics().folds();
              follower.close();
              follower = Database.follow(archive, own, options(random));
            }
          }
        } finally {
          history.stop();
        }
        assertEquals(0, db.statistics().archive().gaps());
      }
      folds += follower.statistics().folds(); // twice perhaps: it only ends the run
    }
    while (!held.isEmpty()) {
      letGo(history, held.removeFirst());
    }
    long all;
    try (Database db = Database.open(folder.resolve("db"), SMALL.withReadOnly(true))) {
      all = ticket(db);
    }
    try (Database promoted = follower.promote(SMALL)) {
      assertEquals(all, ticket(promoted));
    }
    assertEquals(history.upTo(all).tables, opened(own), "promoted");
  }

  private static org.revenantdb.engine.FollowerOptions options(Random random) {
    return Followed.QUIET.withInterval(Duration.ofMillis(1 + random.nextInt(50)));
  }

  private static void letGo(CommitHistory history, Held one) {
    assertEquals(one.commits(), ticket(one.snapshot()));
    assertEquals(history.upTo(one.commits()).tables, contents(one.snapshot()), "a held snapshot");
    one.snapshot().close();
  }
}
