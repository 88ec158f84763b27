package org.revenantdb.kafka.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.chaos.crash.FileTrees;
import org.revenantdb.kafka.trials.Broker;
import org.revenantdb.testing.Drawn;

/**
 * The disk of the stores is full: while records are processed, from the beginning of a restoration
 * on, and when the database is created. The application ends, and says why. When there is room
 * again it goes on: its stores are what their changelogs hold, none restores what it had, and the
 * output is what a model computes.
 */
@Tag("slow")
class FullDiskTest {
  private static final int MEGABYTES = 64;
  private static final int RECORDS = 400;
  private static final int MORE = 200;

  /** Kafka Streams can write its own files, and we no database. */
  private static final int TOO_LITTLE = 1 << 20;

  /** What {@link TellingApplication} ends with when a thread of Kafka Streams has failed. */
  private static final int FAILED = 4;

  @TempDir Path home;

  @Test
  @Drawn(oneIn = 3)
  void an_application_whose_disk_was_full_goes_on_with_its_stores_when_there_is_room()
      throws Exception {
    Random random = KilledLives.random(FullDiskTest.class);
    try (SmallDisk disk = new SmallDisk(Files.createDirectory(home.resolve("small")), MEGABYTES);
        Broker broker = Brokers.start(home);
        CountingTrial trial = new CountingTrial(broker, random)) {
      KilledLives lives = trial.lives(disk, home, "revenant.max.recovery.log.bytes=" + (16 << 20));
      StoredRows rows =
          new StoredRows(
              lives, disk.path().resolve(CountingApplication.ID), _ -> StoredRows.Rows.PLAIN);
      trial.send(RECORDS);
      fail(disk, trial, lives, KilledLives.Life::awaitRunning);
      rows.compareWithChangelogs(home);
      trial.compareOutput(lives);
      lives.last(life -> trial.awaitProcessed(lives, life));
      assertEquals(CountingTrial.STORES, rows.compareWithChangelogs(home).size());
      FileTrees.delete(disk.path().resolve(CountingApplication.ID));
      lives.forget();
      fail(disk, trial, lives, KilledLives.Life::awaitRestoration);
      rows.compareWithChangelogs(home);
      FileTrees.delete(disk.path().resolve(CountingApplication.ID));
      lives.forget();
      disk.fill(TOO_LITTLE);
      fail(disk, trial, lives, _ -> {});
      lives.last(life -> trial.awaitProcessed(lives, life));
      trial.compareAllOutput(lives);
      assertEquals(CountingTrial.STORES, rows.compareWithChangelogs(home).size());
      assertEquals(trial.counts(), rows.counts(CountingApplication.COUNTS));
      assertEquals(trial.sums(), rows.counts(CountingApplication.SUMS));
      assertEquals(trial.groups(), rows.counts(CountingApplication.GROUPS));
    }
  }

  /** Until when the disk has room. */
  @FunctionalInterface
  private interface Until {
    void await(KilledLives.Life life) throws Exception;
  }

  /** A life that ends because the disk is full, which it says. Then there is room again. */
  private static void fail(SmallDisk disk, CountingTrial trial, KilledLives lives, Until until)
      throws Exception {
    int before = lives.log().length();
    KilledLives.Life life = lives.begin();
    try {
      until.await(life);
      if (!disk.isFilled()) {
        disk.fill(/* left= */ 0);
      }
      while (life.isAlive()) {
        trial.send(MORE);
      }
      assertEquals(FAILED, life.exitCode(), lives::log);
      String said = lives.log().substring(before);
      assertTrue(
          said.contains("full") && said.contains("make room")
              // a task is restored, and the stores of another one are still to be created
              || said.contains("marker file") && said.contains("No space left on device"),
          said);
    } finally {
      life.destroy();
      disk.makeRoom();
    }
    lives.fence(trial.admin());
  }
}
