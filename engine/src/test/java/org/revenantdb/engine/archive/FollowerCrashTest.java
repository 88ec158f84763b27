package org.revenantdb.engine.archive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.archive.Archived.quiet;
import static org.revenantdb.engine.archive.Followed.QUIET;
import static org.revenantdb.engine.backup.BackedUp.SMALL;
import static org.revenantdb.engine.backup.BackedUp.contents;
import static org.revenantdb.engine.backup.BackedUp.put;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Follower;
import org.revenantdb.engine.StorageException;
import org.revenantdb.recovery.testing.CrashDisk;

/**
 * The machine of a follower, or those of database and archive, are killed or lose power at
 * operations on their files. A follower that begins again shows at least what it has shown, always
 * a state that the database has had, and goes on. {@code -Drevenant.seed=n} repeats the choices of
 * a run.
 */
class FollowerCrashTest {
  private static final int STEPS = 6;

  /**
   * The disk of a follower after a crash.
   *
   * @param lsn what it had shown before
   */
  private record State(String when, CrashDisk disk, long lsn, boolean isPromoting) {}

  @TempDir Path temporary;
  private final long seed =
      Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));
  private final Random random = new Random(seed);
  private final List<State> states = new ArrayList<>();
  private volatile long shownLsn;
  private volatile boolean isPromoting;

  private CrashDisk.Observer observer(CrashDisk disk, int one) {
    return new CrashDisk.Observer() {
      @Override
      public void beforeChange() {}

      @Override
      public synchronized void beforeChange(String what) {
        // The first of a fold, a promotion and a rename matter most.
        boolean isRare = what.contains("fold") || what.contains("states") || isPromoting;
        if (random.nextInt(isRare ? Math.max(1, one / 6) : one) == 0) {
          boolean isCut = random.nextInt(3) > 0;
          states.add(
              new State(
                  "before: " + what + (isCut ? ", cut" : ", killed"),
                  isCut ? disk.afterPowerCut(random) : disk.afterKill(),
                  shownLsn,
                  isPromoting));
        }
      }
    };
  }

  @Test
  @Tag("slow")
  void R6_R7_whatever_a_crash_leaves_of_a_follower_it_goes_on_and_never_back() {
    Path archive = temporary.resolve("archive");
    CrashDisk disk = new CrashDisk();
    int one = Boolean.getBoolean("revenant.long") ? 8 : 160;
    Map<Long, Map<String, Map<String, String>>> contentsAt = new HashMap<>();
    Map<String, Map<String, String>> last = Map.of();
    try (Database db = Database.open(temporary.resolve("db"), SMALL.withArchive(quiet(archive)))) {
      put(db, "rows", 0, 100, 1, 100);
      db.archiveNow();
      disk.observe(observer(disk, one));
      Follower follower = Database.follow(archive, disk.path("/follower"), QUIET);
      for (int step = 0; step < STEPS || states.size() < 8; step++) {
        note(follower, contentsAt);
        put(db, "rows", 30 * (step % STEPS), 500, step, 900);
        db.archiveNow();
        last = contents(db);
        follower.refresh();
        if (step == STEPS / 2) {
          note(follower, contentsAt);
          follower.close();
          follower = Database.follow(archive, disk.path("/follower"), QUIET);
        }
      }
      note(follower, contentsAt);
      assertTrue(follower.statistics().folds() > 0); // each step has 400 KB of log or more
      isPromoting = true;
      follower.promoteWithoutFence(SMALL).close(); // so that those of before can be promoted, too
      disk.observe(() -> {});
    }
    for (State state : states) {
      try {
        check(state, archive, contentsAt, last);
      } catch (Throwable wrong) {
        throw new AssertionError(
            state.when + ", -Drevenant.seed=" + seed + ", " + state.disk.files(), wrong);
      }
    }
  }

  private void note(Follower follower, Map<Long, Map<String, Map<String, String>>> contentsAt) {
    try (Database snapshot = follower.snapshot()) {
      long lsn = follower.statistics().lsn();
      contentsAt.put(lsn, contents(snapshot));
      shownLsn = lsn;
    }
  }

  private static void check(
      State state,
      Path archive,
      Map<Long, Map<String, Map<String, String>>> contentsAt,
      Map<String, Map<String, String>> last) {
    Path own = state.disk.path("/follower");
    try (Follower follower = Database.follow(archive, own, QUIET)) {
      long lsn = follower.statistics().lsn();
      assertTrue(lsn >= state.lsn, () -> lsn + " after " + state.lsn);
      Map<String, Map<String, String>> expected = contentsAt.get(lsn);
      if (expected != null) { // else the crash came between taking and showing
        assertEquals(expected, Followed.contents(follower));
      }
      follower.refresh();
      assertEquals(last, Followed.contents(follower));
      try (Database promoted = follower.promoteWithoutFence(SMALL)) {
        assertEquals(last, contents(promoted));
      }
    } catch (StorageException refused) {
      boolean isUnfinished = state.lsn == 0 && refused.getMessage().contains("unfinished");
      boolean isPromoted =
          state.isPromoting && refused.reason() == StorageException.Reason.NOT_A_DATABASE;
      assertTrue(isUnfinished || isPromoted, refused::getMessage);
      if (isPromoted) {
        try (Database promoted = Database.open(own, SMALL.withCreate(false))) {
          assertEquals(last, contents(promoted));
        }
      }
    }
  }

  @Test
  @Tag("slow")
  void R6_a_follower_may_be_ahead_of_an_archive_that_has_lost_its_last_block() {
    CrashDisk disk = new CrashDisk();
    CrashDisk archive = new CrashDisk();
    List<CrashDisk[]> cuts = new ArrayList<>();
    archive.observe(
        new CrashDisk.Observer() {
          @Override
          public void beforeChange() {}

          @Override
          public synchronized void beforeChange(String what) {
            if (what.contains(".rva") && what.contains("force") && shownLsn > 0) {
              // The archive first: it has no log that the database does not have.
              CrashDisk seen = archive.afterKill();
              CrashDisk cut = archive.afterPowerCut(random);
              cuts.add(new CrashDisk[] {seen, cut, disk.afterPowerCut(random)});
            }
          }
        });
    try (Database db =
        Database.open(disk.path("/db"), SMALL.withArchive(quiet(archive.path("/archive"))))) {
      put(db, "rows", 0, 100, 1, 100);
      db.archiveNow();
      shownLsn = 1;
      for (int step = 0; step < 3; step++) {
        put(db, "rows", 0, 100, step, 500);
        db.archiveNow();
      }
    }
    assertTrue(cuts.size() > 2, cuts::toString);
    int number = 0;
    for (CrashDisk[] cut : cuts) {
      Path own = temporary.resolve("follower" + number++);
      long before;
      try (Follower follower = Database.follow(cut[0].path("/archive"), own, QUIET)) {
        before = follower.statistics().lsn();
      }
      Path left = cut[1].path("/archive");
      try (Database db = Database.open(cut[2].path("/db"), SMALL.withArchive(quiet(left)));
          Follower follower = Database.follow(left, own, QUIET)) {
        follower.refresh();
        assertTrue(follower.statistics().lsn() >= before);
        put(db, "rows", 50, 150, 9, 500);
        db.archiveNow();
        follower.refresh();
        assertEquals(contents(db), Followed.contents(follower), "-Drevenant.seed=" + seed);
      }
    }
  }
}
