package org.revenantdb.engine.backup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.backup.BackedUp.SMALL;
import static org.revenantdb.engine.backup.BackedUp.contents;
import static org.revenantdb.engine.backup.BackedUp.opened;
import static org.revenantdb.engine.backup.CommitHistory.ticket;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.BackupOptions;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.testing.Drawn;

/**
 * Copies made beside random transactions hold exactly a prefix of the commits.
 *
 * <p>{@code -Drevenant.seed=n} repeats the choices of a run, {@code -Drevenant.rounds=n} makes more
 * of them.
 */
class BackupHistoryTest {
  @TempDir Path temporary;
  private final long seed =
      Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));

  @Test
  @Tag("slow")
  @Drawn(oneIn = 2)
  void R26_a_copy_made_beside_transactions_is_a_prefix_of_the_commits() throws Exception {
    boolean isLong = Boolean.getBoolean("revenant.long");
    for (int round = 0; round < Integer.getInteger("revenant.rounds", isLong ? 10 : 1); round++) {
      round(seed + round, /* backups= */ isLong ? 4 : 2);
    }
  }

  private void round(long roundSeed, int backups) throws Exception {
    try {
      copies(new Random(roundSeed), temporary.resolve("round" + roundSeed), backups);
    } catch (Throwable failed) {
      throw new AssertionError("-Drevenant.seed=" + roundSeed, failed);
    }
  }

  private static void copies(Random random, Path folder, int backups) throws Exception {
    CommitHistory history = new CommitHistory();
    DatabaseOptions options =
        SMALL.withMaxRecoveryPages(random.nextBoolean() ? 256 : Integer.MAX_VALUE);
    try (Database db = Database.open(folder.resolve("db"), options)) {
      CommitHistory.create(db);
      history.start(db, random);
      try {
        for (int i = 0; i < backups; i++) {
          check(db, history, random, folder.resolve("copy" + i));
        }
      } finally {
        history.stop();
      }
      assertEquals(history.upTo(ticket(db)).tables, contents(db), "the original");
      BackedUp.assertSound(db.check());
    }
  }

  private static void check(Database db, CommitHistory history, Random random, Path target) {
    history.pace(random.nextInt(100));
    AtomicLong least = new AtomicLong();
    BackedUp.steps(
        db,
        step -> {
          switch (step) {
            case HELD, CHECKPOINTED, PAGES_READ, PAGES_COPIED ->
                history.pace(random.nextInt(1 + random.nextInt(60)));
            case ALL_PAGES_COPIED -> {
              history.pace(random.nextInt(30));
              least.set(history.acknowledged.get());
            }
            case END_KNOWN, LOG_COPIED -> history.pace(random.nextInt(30));
            default -> {}
          }
        });
    BackupOptions options =
        BackupOptions.defaults().withBytesPerSecond(random.nextBoolean() ? 0 : 100 << 20);
    if (random.nextBoolean()) {
      db.backup(target, options);
    } else {
      ByteArrayOutputStream stream = new ByteArrayOutputStream();
      db.backup(stream, options);
      Database.unpackBackup(new ByteArrayInputStream(stream.toByteArray()), target);
    }
    long has;
    try (Database copy = Database.open(target, SMALL.withReadOnly(true))) {
      has = ticket(copy);
    }
    assertTrue(has >= least.get(), () -> has + " commits, but " + least + " were acknowledged");
    assertEquals(history.upTo(has).tables, opened(target), "the copy, with " + has + " commits");
  }
}
