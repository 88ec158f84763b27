package org.revenantdb.engine.backup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.backup.BackedUp.SMALL;
import static org.revenantdb.engine.backup.BackedUp.opened;
import static org.revenantdb.engine.backup.CommitHistory.ticket;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.BackupOptions;
import org.revenantdb.engine.BackupReport;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.StorageException;
import org.revenantdb.engine.testing.LiveCopy;
import org.revenantdb.recovery.testing.CrashDisk;
import org.revenantdb.testing.Drawn;

/**
 * Increments made beside random transactions, with restarts, kills and power cuts of the source
 * between them: each chain is exactly a prefix of the commits.
 *
 * <p>{@code -Drevenant.seed=n} repeats the choices of a run, {@code -Drevenant.rounds=n} makes more
 * of them.
 */
class IncrementHistoryTest {
  private static final int ATTEMPTS = 100;

  @TempDir Path temporary;
  private final long seed =
      Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));

  @Test
  @Tag("slow")
  @Drawn(oneIn = 2)
  void R26_a_chain_made_across_crashes_is_a_prefix_of_the_commits() throws Exception {
    boolean isLong = Boolean.getBoolean("revenant.long");
    for (int round = 0; round < Integer.getInteger("revenant.rounds", isLong ? 20 : 1); round++) {
      try {
        new Round(new Random(seed + round), temporary.resolve("round" + round)).run();
      } catch (Throwable failed) {
        throw new AssertionError("-Drevenant.seed=" + (seed + round), failed);
      }
    }
  }

  /**
   * A backup that was made.
   *
   * @param chain its files, the whole backup first
   * @param has how many commits it has
   */
  private record Made(String id, List<Path> chain, long has) {}

  private static final class Round {
    private final Random random;
    private final Path folder;
    private final DatabaseOptions options;
    private final CommitHistory history = new CommitHistory();
    private final List<Made> made = new ArrayList<>();
    private CrashDisk disk = new CrashDisk();
    private Database db;
    private int paths;

    Round(Random random, Path folder) throws IOException {
      this.random = random;
      this.folder = Files.createDirectories(folder);
      random.nextInt(8); // the first draws of neighbouring seeds are alike
      options =
          SMALL
              .withMaxRecoveryPages(random.nextBoolean() ? 256 : Integer.MAX_VALUE)
              .withCountersFile(false);
      db = Database.open(disk.path("/db"), options);
    }

    void run() throws Exception {
      try {
        CommitHistory.create(db);
        int increments = 1 + random.nextInt(5);
        for (int i = 0; i <= increments; i++) {
          history.start(db, random);
          try {
            backUp();
          } finally {
            if (i == 0
                || random.nextInt(3) == 0) { // at least one increment has a base before a crash
              crash();
            } else {
              history.stop();
              if (random.nextInt(3) == 0) {
                db.close();
                db = Database.open(disk.path("/db"), options);
              }
            }
          }
        }
      } finally {
        db.close();
      }
      for (Made one : made) { // the parts have not changed, whatever was applied meanwhile
        check(one);
      }
    }

    /** A kill or a power cut beside the writers, and an open of what is left. */
    private void crash() throws Exception {
      history.pace(random.nextInt(60));
      CrashDisk left = random.nextBoolean() ? disk.afterKill() : disk.afterPowerCut(random);
      history.stop();
      db.close();
      disk = left;
      db = Database.open(disk.path("/db"), options);
      history.forget(ticket(db));
    }

    private void backUp() throws IOException {
      history.pace(random.nextInt(100));
      AtomicLong least = new AtomicLong();
      BackedUp.steps(
          db,
          step -> {
            switch (step) {
              case HELD, CHECKPOINTED, PAGES_READ, PAGES_COPIED ->
                  history.pace(random.nextInt(1 + random.nextInt(40)));
              case ALL_PAGES_COPIED -> {
                history.pace(random.nextInt(20));
                least.set(history.acknowledged.get());
              }
              case END_KNOWN, LOG_COPIED, FORCED -> history.pace(random.nextInt(20));
              default -> {}
            }
          });
      Made base = base();
      Path target;
      BackupReport report = null;
      int attempts = 0;
      do {
        assertTrue(attempts++ < ATTEMPTS, "the log of no attempt was copied in time");
        target = folder.resolve("backup" + paths++);
        try {
          report = make(target, base == null ? null : base.id());
        } catch (StorageException tooSlow) { // the files of the database are in memory
          assertEquals(StorageException.Reason.BACKUP_TOO_SLOW, tooSlow.reason());
        }
      } while (report == null);
      List<Path> chain = new ArrayList<>(base == null ? List.of() : base.chain());
      chain.add(target);
      Path result = result(chain);
      long has;
      try (Database copy = Database.open(result, SMALL.withReadOnly(true))) {
        has = ticket(copy);
      }
      assertTrue(has >= least.get(), () -> has + " commits, but " + least + " were acknowledged");
      assertEquals(history.upTo(has).tables, opened(result), chain + ", with " + has + " commits");
      made.add(new Made(report.id(), chain, has));
    }

    /** Mostly the last one, sometimes an earlier one; null for a whole backup. */
    private Made base() {
      if (made.size() == 1) {
        return made.getFirst();
      }
      if (made.isEmpty() || random.nextInt(12) == 0) {
        return null;
      }
      return random.nextInt(4) == 0 ? made.get(random.nextInt(made.size())) : made.getLast();
    }

    private BackupReport make(Path target, String since) throws IOException {
      BackupOptions wanted = BackupOptions.defaults();
      if (since != null) {
        wanted = wanted.withSince(since);
      }
      if (random.nextBoolean()) {
        return db.backup(target, wanted);
      }
      try (OutputStream stream = Files.newOutputStream(target)) {
        return db.backup(stream, wanted);
      }
    }

    /** The whole backup alone is a database, or is unpacked. */
    private Path result(List<Path> chain) throws IOException {
      Path result = folder.resolve("result" + paths++);
      if (chain.size() > 1) {
        Database.applyBackups(chain, result);
      } else if (Files.isDirectory(chain.getFirst())) {
        LiveCopy.copy(chain.getFirst(), result);
      } else {
        try (InputStream stream = Files.newInputStream(chain.getFirst())) {
          Database.unpackBackup(stream, result);
        }
      }
      return result;
    }

    /** What was made before a crash is still a prefix, if not of what follows it. */
    private void check(Made one) throws IOException {
      try (Database copy = Database.open(result(one.chain), SMALL)) {
        assertEquals(one.has, ticket(copy));
        BackedUp.assertSound(copy.check());
      }
    }
  }
}
