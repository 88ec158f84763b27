package org.revenantdb.engine.archive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.archive.Followed.QUIET;
import static org.revenantdb.engine.archive.Followed.assertSound;
import static org.revenantdb.engine.backup.BackedUp.SMALL;
import static org.revenantdb.engine.backup.BackedUp.key;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.DatabaseStoppedException;
import org.revenantdb.engine.Follower;
import org.revenantdb.engine.OutcomeUnknownException;
import org.revenantdb.engine.StorageException;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.backup.NumberedCommits;
import org.revenantdb.engine.testing.OtherProcess;
import org.revenantdb.testing.Drawn;

/**
 * A writer and a follower, each a process that is killed again and again. In the end a follower is
 * promoted beside the writer, which stops. {@code -Drevenant.seed=n} repeats the choices of a run,
 * {@code -Drevenant.kills=n} says how many kills there are.
 */
class FollowerKillTest {
  private static final int FENCED = 3;

  @TempDir Path temporary;
  private final long seed =
      Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));
  private volatile long shipped;

  private static DatabaseOptions options(Path archive) {
    return SMALL.withArchive(Archived.quiet(archive).withInterval(Duration.ofMillis(20)));
  }

  /** Commits without an end, and prints which commits were shipped. */
  static final class Writer {
    public static void main(String[] arguments) {
      try (Database db = Database.open(Path.of(arguments[0]), options(Path.of(arguments[1])))) {
        Table rows = db.getOrCreateTable("rows");
        for (long n = NumberedCommits.count(db) + 1; true; n++) {
          NumberedCommits.commit(db, rows, n);
          if (n % 50 == 0) {
            db.archiveNow();
            System.out.println(n);
          }
        }
      } catch (DatabaseStoppedException | OutcomeUnknownException | StorageException stopped) {
        System.exit(isFenced(stopped) ? FENCED : 1);
      }
    }

    private static boolean isFenced(Throwable why) {
      for (Throwable one = why; one != null; one = one.getCause()) {
        if (String.valueOf(one.getMessage()).contains(Fence.NAME)) {
          return true;
        }
      }
      return false;
    }
  }

  /** Looks at snapshots without an end, and prints how many commits each has. */
  static final class Reader {
    public static void main(String[] arguments) throws InterruptedException {
      Follower follower =
          Database.follow(
              Path.of(arguments[0]),
              Path.of(arguments[1]),
              QUIET.withInterval(Duration.ofMillis(10)));
      while (true) {
        try (Database snapshot = follower.snapshot()) {
          System.out.println(NumberedCommits.checked(snapshot));
        }
        Thread.sleep(5); // the output is read as fast as it is written
      }
    }
  }

  private OtherProcess writer(Path archive) throws IOException {
    OtherProcess started =
        OtherProcess.start(Writer.class, temporary.resolve("db").toString(), archive.toString());
    Thread _ =
        Thread.ofVirtual()
            .start(() -> {
              try {
                for (String line = started.readLine(); line != null; line = started.readLine()) {
                  shipped = Math.max(shipped, Long.parseLong(line));
                }
              } catch (IOException killed) {
                // What was read before counts.
              }
            });
    return started;
  }

  @Test
  @Tag("slow")
  @Drawn(oneIn = 2)
  void R6_a_follower_beside_kills_of_both_processes_shows_prefixes_and_takes_over()
      throws Exception {
    Random random = new Random(seed);
    random.nextLong();
    Path archive = temporary.resolve("archive");
    Path own = temporary.resolve("follower");
    try (Database db = Database.open(temporary.resolve("db"), options(archive))) {
      db.createTable("rows");
      db.archiveNow();
    }
    OtherProcess writer = writer(archive);
    OtherProcess reader = OtherProcess.start(Reader.class, archive.toString(), own.toString());
    long shown = 0;
    try {
      int kills =
          Integer.getInteger("revenant.kills", Boolean.getBoolean("revenant.long") ? 40 : 3);
      for (int kill = 0; kill <= kills; kill++) {
        long wanted = shown + 1 + random.nextInt(200);
        while (shown < wanted) {
          String line = reader.readLine();
          assertNotNull(line, "the follower has ended, -Drevenant.seed=" + seed);
          long now = Long.parseLong(line);
          assertTrue(now >= shown, now + " after " + shown + ", -Drevenant.seed=" + seed);
          shown = now;
        }
        if (kill == kills) {
          break;
        }
        if (kill % 2 == 0) {
          reader.kill();
          reader = OtherProcess.start(Reader.class, archive.toString(), own.toString());
        } else {
          writer.kill();
          writer = writer(archive);
        }
      }
      reader.kill();
      long least = shipped;
      Follower follower = Database.follow(archive, own, QUIET);
      try (Database promoted = follower.promote(SMALL)) {
        long has = NumberedCommits.checked(promoted);
        assertTrue(has >= Math.max(least, shown), has + " after " + least + " and " + shown);
        assertSound(promoted);
        promoted.run(tx -> tx.put(promoted.table("rows"), key(2_000_000), key(1)));
      }
      assertEquals(FENCED, writer.waitFor());
      StorageException told =
          assertThrows(
              StorageException.class,
              () -> Database.open(temporary.resolve("db"), options(archive)).close());
      assertEquals(StorageException.Reason.FENCED, told.reason(), told::getMessage);
    } finally {
      reader.close();
      writer.close();
    }
  }
}
