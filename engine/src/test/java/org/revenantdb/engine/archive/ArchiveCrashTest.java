package org.revenantdb.engine.archive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.archive.Archived.quiet;
import static org.revenantdb.engine.backup.BackedUp.SMALL;
import static org.revenantdb.engine.backup.BackedUp.contents;
import static org.revenantdb.engine.backup.BackedUp.put;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.ArchivePolicy;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.RestoreRequest;
import org.revenantdb.engine.StorageException;
import org.revenantdb.recovery.testing.Await;
import org.revenantdb.recovery.testing.CrashDisk;

/**
 * The machines of database and archive are killed, or lose power, at operations of the archive. The
 * archive as it is has a prefix of the commits, with all that were shipped; and the database goes
 * on archiving to it. {@code -Drevenant.seed=n} repeats the choices of a run.
 */
class ArchiveCrashTest {
  private static final int STEPS = 8;

  /**
   * Both disks after a crash.
   *
   * @param least the last step that was shipped before
   * @param most the last step that had begun before
   */
  private record State(String when, CrashDisk database, CrashDisk archive, int least, int most) {}

  @TempDir Path temporary;
  private final long seed =
      Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));
  private final Random random = new Random(seed);
  private final Map<Integer, Map<String, Map<String, String>>> contentsAfter =
      new ConcurrentHashMap<>();
  private volatile int begun;
  private volatile int shipped;

  private static DatabaseOptions options(CrashDisk archive) {
    return SMALL.withArchive(
        quiet(archive.path("/archive"))
            .withBaseEvery(Duration.ofMillis(1))
            .withPolicy(ArchivePolicy.moments(Duration.ZERO)));
  }

  @Test
  @Tag("slow")
  void whatever_a_crash_leaves_of_an_archive_is_a_prefix_and_can_be_gone_on_with() {
    CrashDisk disk = new CrashDisk();
    CrashDisk archive = new CrashDisk();
    List<State> states = new ArrayList<>();
    AtomicInteger operations = new AtomicInteger();
    // Of so many operations one, on average. A countdown leaves no run without states.
    int one = Boolean.getBoolean("revenant.long") ? 2 : 30;
    CrashDisk.Observer observer =
        new CrashDisk.Observer() {
          private int next = 1 + random.nextInt(one);

          @Override
          public void beforeChange() {}

          @Override
          public synchronized void beforeChange(String what) {
            if (operations.incrementAndGet() > 2 && --next <= 0) {
              next = 1 + random.nextInt(2 * one - 1);
              int least = shipped;
              // The archive first: it has no log that the database does not have.
              boolean isCut = random.nextBoolean();
              CrashDisk ofArchive = isCut ? archive.afterPowerCut(random) : archive.afterKill();
              boolean isBoth = random.nextBoolean();
              CrashDisk ofDatabase = isBoth ? disk.afterPowerCut(random) : disk.afterKill();
              states.add(
                  new State(
                      operations
                          + ", before: "
                          + what
                          + (isCut ? ", archive cut" : "")
                          + (isBoth ? ", database cut" : ""),
                      ofDatabase,
                      ofArchive,
                      least,
                      begun));
            }
          }
        };
    for (int life = 0; life < 2; life++) {
      try (Database db = Database.open(disk.path("/db"), options(archive))) {
        for (int i = 1; i <= STEPS / 2; i++) {
          int step = life * STEPS / 2 + i;
          begun = step;
          put(db, "rows", 10 * step, 10 * step + 50, step, 300);
          contentsAfter.put(step, contents(db));
          archive.observe(observer);
          db.archiveNow();
          shipped = step;
          if (i % 2 == 0) {
            int bases = (int) db.statistics().archive().bases();
            while (db.statistics().archive().bases() == bases) {
              db.archiveNow();
              Await.pause();
            }
          }
        }
        archive.observe(() -> {});
      }
    }
    assertTrue(states.size() > 3, () -> states.size() + " states, -Drevenant.seed=" + seed);
    int number = 0;
    for (State state : states) {
      try {
        check(state, number++);
      } catch (Throwable wrong) {
        throw new AssertionError(
            state.when + ", -Drevenant.seed=" + seed + ", " + state.archive.files(), wrong);
      }
    }
  }

  private void check(State state, int number) {
    Path archive = state.archive.path("/archive");
    Path first = temporary.resolve("first" + number);
    try {
      Database.restore(archive, first, RestoreRequest.latest());
      assertPrefix(first, state);
    } catch (StorageException none) {
      assertEquals(0, state.least, none::getMessage);
      assertTrue(
          none.reason() == StorageException.Reason.ARCHIVE_LACKS_MOMENT
              || none.reason() == StorageException.Reason.NOT_A_DATABASE,
          none::getMessage);
    }
    Map<String, Map<String, String>> expected;
    try (Database db = Database.open(state.database.path("/db"), options(state.archive))) {
      db.archiveNow();
      assertEquals(0, db.statistics().archive().gaps());
      put(db, "rows", 0, 10, 99, 10);
      expected = contents(db);
    }
    // Not before: pruning takes away what a restore reads.
    Path second = temporary.resolve("second" + number);
    Database.restore(archive, second, RestoreRequest.latest());
    try (Database copy = Database.open(second, SMALL)) {
      assertEquals(expected, contents(copy));
    }
  }

  private void assertPrefix(Path target, State state) {
    try (Database copy = Database.open(target, SMALL)) {
      Map<String, Map<String, String>> has = contents(copy);
      boolean isOne = false;
      for (int step = Math.max(1, state.least); step <= state.most; step++) {
        isOne |= has.equals(contentsAfter.get(step));
      }
      assertTrue(
          isOne || (state.least == 0 && has.values().stream().allMatch(Map::isEmpty)),
          () -> "no state from " + state.least + " to " + state.most + ": " + has);
    }
  }

  @Test
  void a_life_that_is_killed_before_it_has_written_anything_leaves_no_trace() {
    CrashDisk disk = new CrashDisk();
    CrashDisk archive = new CrashDisk();
    DatabaseOptions options = SMALL.withArchive(quiet(archive.path("/archive")));
    try (Database db = Database.open(disk.path("/db"), options)) {
      put(db, "rows", 0, 30, 1, 200);
      db.archiveNow();
    }
    CrashDisk killed;
    CrashDisk left;
    try (Database db = Database.open(disk.path("/db"), options)) {
      db.archiveNow();
      left = archive.afterKill();
      killed = disk.afterKill();
    }
    try (Database db =
        Database.open(killed.path("/db"), SMALL.withArchive(quiet(left.path("/archive"))))) {
      put(db, "rows", 0, 10, 2, 200);
      db.archiveNow();
      assertEquals(0, db.statistics().archive().gaps());
      Path target = temporary.resolve("target");
      Database.restore(left.path("/archive"), target, RestoreRequest.latest());
      try (Database copy = Database.open(target, SMALL)) {
        assertEquals(contents(db), contents(copy));
      }
    }
  }

  @Test
  void whatever_a_crash_leaves_of_a_restore_is_refused_or_whole() {
    Path archive = temporary.resolve("archive");
    Map<String, Map<String, String>> expected;
    try (Database db = Database.open(temporary.resolve("db"), SMALL.withArchive(quiet(archive)))) {
      put(db, "rows", 0, 300, 1, 200);
      db.archiveNow();
      put(db, "rows", 100, 400, 2, 200);
      expected = contents(db);
    }
    CrashDisk disk = new CrashDisk();
    List<CrashDisk> states = new ArrayList<>();
    disk.observe(
        () -> states.add(random.nextBoolean() ? disk.afterKill() : disk.afterPowerCut(random)));
    Database.restore(archive, disk.path("/copies/one"), RestoreRequest.latest());
    disk.observe(() -> {});
    states.add(disk.afterPowerCut(random));
    int whole = 0;
    for (CrashDisk state : states) {
      try (Database copy = Database.open(state.path("/copies/one"), SMALL.withReadOnly(true))) {
        assertEquals(expected, contents(copy), "-Drevenant.seed=" + seed);
        whole++;
      } catch (StorageException refused) {
        assertEquals(StorageException.Reason.NOT_A_DATABASE, refused.reason(), refused::getMessage);
      }
    }
    int times = whole;
    assertTrue(whole >= 1 && states.size() - whole > 10, () -> times + " of " + states.size());
  }
}
