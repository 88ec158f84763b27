package org.revenantdb.engine.backup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.backup.BackedUp.SMALL;
import static org.revenantdb.engine.backup.BackedUp.assertSound;
import static org.revenantdb.engine.backup.BackedUp.contents;
import static org.revenantdb.engine.backup.BackedUp.put;

import java.io.ByteArrayInputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.BackupOptions;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.StorageException;
import org.revenantdb.recovery.testing.CrashDisk;

/**
 * The target at each of its file operations, as a kill and as a power cut leave it: an unfinished
 * backup that is refused, or a whole one. {@code -Drevenant.seed=n} repeats a run.
 */
class BackupCrashTest {
  private static final String TARGET = "/copies/one";

  private record State(String when, CrashDisk disk) {}

  @TempDir Path temporary;
  private final Random random = new Random();
  private Map<String, Map<String, String>> expected = Map.of();

  /** The base of an increment; null if a database is made. */
  private @Nullable Path kept;

  /** Makes the target. */
  @FunctionalInterface
  private interface Make {
    void make(Database db, Path target);
  }

  @Test
  void whatever_a_crash_leaves_of_a_target_is_refused_or_whole() {
    crashes(20, 50, Database::backup);
  }

  @Test
  void whatever_a_crash_leaves_of_an_unpacked_stream_is_refused_or_whole() {
    crashes(
        20,
        50,
        (db, target) -> Database.unpackBackup(new ByteArrayInputStream(Streamed.of(db)), target));
  }

  @Test
  void whatever_a_crash_leaves_of_an_applied_chain_is_refused_or_whole() {
    crashes(
        20,
        50,
        (db, target) -> {
          Path whole = temporary.resolve("whole");
          BackupOptions since = BackupOptions.defaults().withSince(db.backup(whole).id());
          put(db, "rows", 0, 50, 2, 200);
          Path increment = temporary.resolve("increment");
          db.backup(increment, since);
          expected = contents(db);
          Database.applyBackups(List.of(whole, increment), target);
        });
  }

  /** The increment is applied to its base, which no crash has met. */
  @Test
  void whatever_a_crash_leaves_of_an_increment_is_refused_or_whole() {
    Path whole = temporary.resolve("whole");
    kept = whole;
    crashes(
        10,
        30,
        (db, target) -> { // one file
          BackupOptions since = BackupOptions.defaults().withSince(db.backup(whole).id());
          put(db, "rows", 0, 1_500, 2, 200);
          db.checkpoint();
          put(db, "rows", 0, 50, 3, 200);
          expected = contents(db);
          db.backup(target, since);
        });
  }

  /** The source: whatever it had noted for a backup that had returned is there. */
  @Test
  void R26_a_backup_that_had_returned_is_a_base_after_a_power_cut_of_the_source() {
    long seed = Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));
    random.setSeed(seed);
    for (int round = 0; round < 6; round++) {
      try {
        powerCutOfTheSource(round);
      } catch (Throwable wrong) {
        throw new AssertionError("-Drevenant.seed=" + seed + ", round " + round, wrong);
      }
    }
  }

  private void powerCutOfTheSource(int round) {
    Path base = temporary.resolve("base" + round);
    CrashDisk disk = new CrashDisk();
    String id;
    List<CrashDisk> states = new ArrayList<>();
    try (Database db = Database.open(disk.path("/db"), SMALL)) {
      put(db, "rows", 0, 1_500, 1, 200);
      id = Objects.requireNonNull(db.backup(base).id());
      disk.observe(() -> {
        if (random.nextInt(8) == 0 && states.size() < 3) {
          states.add(disk.afterPowerCut(random));
        }
      });
      put(db, "rows", 0, 700, 2, 200);
      db.checkpoint();
      put(db, "rows", 500, 1_000, 3, 200);
      disk.observe(() -> {});
      states.add(disk.afterPowerCut(random));
    }
    int number = 0;
    for (CrashDisk state : states) {
      Path increment = temporary.resolve("increment" + round + "-" + number);
      Path result = temporary.resolve("result" + round + "-" + number++);
      Map<String, Map<String, String>> now;
      try (Database db = Database.open(state.path("/db"), SMALL)) {
        put(db, "more", 0, 10, 4, 200);
        db.backup(increment, BackupOptions.defaults().withSince(id));
        now = contents(db);
      }
      Database.applyBackups(List.of(base, increment), result);
      try (Database copy = Database.open(result, SMALL)) {
        assertEquals(now, contents(copy));
        assertSound(copy.check());
      }
    }
  }

  private void crashes(int operations, int unfinished, Make make) {
    long seed = Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));
    random.setSeed(seed);
    CrashDisk disk = new CrashDisk();
    List<State> states = new ArrayList<>();
    try (Database db = Database.open(temporary.resolve("db"), SMALL)) {
      put(db, "rows", 0, 1_500, 1, 200);
      put(db, "large", 0, 2, 1, 30_000);
      expected = contents(db);
      AtomicInteger operation = new AtomicInteger();
      disk.observeOperations(what -> {
        String when = operation.incrementAndGet() + ", before: " + what;
        states.add(new State("kill at " + when, disk.afterKill()));
        for (int i = 0; i < 3; i++) {
          states.add(new State("power cut at " + when, disk.afterPowerCut(random)));
        }
      });
      make.make(db, disk.path(TARGET));
      disk.observe(() -> {});
      states.add(new State("power cut at the end", disk.afterPowerCut(random)));
      assertTrue(operation.get() > operations, () -> "only " + operation + " operations");
    }
    int whole = 0;
    for (State state : states) {
      try {
        whole += isWhole(state) ? 1 : 0;
      } catch (Throwable wrong) {
        throw new AssertionError("-Drevenant.seed=" + seed + ", " + state.when, wrong);
      }
    }
    assertTrue(isWhole(states.getLast()), "a backup that had returned");
    int refused = states.size() - whole;
    assertTrue(whole > 1 && refused > unfinished, whole + " whole, " + refused + " refused");
  }

  /** True if it opens, and then it is right; false if it is refused as it has to be. */
  private boolean isWhole(State state) {
    Path target = state.disk.path(TARGET);
    boolean isEmpty = state.disk.files().stream().noneMatch(file -> file.startsWith(TARGET + "/"));
    boolean isWhole;
    if (kept != null && !isEmpty) {
      return isWholeIncrement(target);
    }
    try (Database copy = Database.open(target, SMALL.withReadOnly(true))) {
      assertEquals(expected, contents(copy));
      isWhole = true;
    } catch (StorageException refused) {
      assertEquals(StorageException.Reason.NOT_A_DATABASE, refused.reason(), refused::getMessage);
      assertTrue(
          isEmpty || refused.getMessage().contains("unfinished backup"), refused::getMessage);
      isWhole = false;
    }
    // An open that may create a database must not make one of an unfinished backup.
    try (Database copy = Database.open(target, SMALL)) {
      assertEquals(isWhole ? expected : Map.of(), contents(copy));
      assertTrue(isWhole || isEmpty, "a new database in place of an unfinished backup");
      assertSound(copy.check());
    } catch (StorageException refused) {
      assertTrue(!isWhole && !isEmpty, refused::getMessage);
      assertTrue(refused.getMessage().contains("unfinished backup"), refused::getMessage);
    }
    return isWhole;
  }

  private boolean isWholeIncrement(Path target) {
    for (boolean readOnly : new boolean[] {true, false}) {
      StorageException refused =
          assertThrows(
              StorageException.class, () -> Database.open(target, SMALL.withReadOnly(readOnly)));
      assertEquals(StorageException.Reason.NOT_A_DATABASE, refused.reason(), refused::getMessage);
    }
    Path result = temporary.resolve("result" + results++);
    boolean isWhole = Files.exists(target.resolve(BackupTarget.INCREMENT));
    try {
      Database.applyBackups(List.of(Objects.requireNonNull(kept), target), result);
    } catch (StorageException refused) {
      assertFalse(isWhole, refused::getMessage);
      assertTrue(refused.getMessage().contains("unfinished backup"), refused::getMessage);
      assertFalse(Files.exists(result), "something is left");
      return false;
    }
    assertTrue(isWhole, "an unfinished one was applied");
    try (Database copy = Database.open(result, SMALL)) {
      assertEquals(expected, contents(copy));
      assertSound(copy.check());
    }
    return true;
  }

  private int results;
}
