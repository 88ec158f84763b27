package org.revenantdb.engine.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.DatabaseStatistics;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.access.ApiAccess;
import org.revenantdb.recovery.log.LogOptions;
import org.revenantdb.recovery.testing.CrashDisk;
import org.revenantdb.recovery.testing.FaultyFileSystem;
import org.revenantdb.recovery.testing.IoEvent;

/** R17: how large the log directory may be. */
class LogBoundTest {
  private static final int SEGMENT = 1 << 20;
  private static final long RECOVERY = 4L * SEGMENT;
  private static final long SMALLEST = LogOptions.smallestLogSize(RECOVERY, SEGMENT);

  /** What those may use who take credit: all but the reserve. */
  private static final long BOUND = RECOVERY - RECOVERY / 8;

  /** Of a row that may have to split its leaf. */
  private static final long LARGEST_CREDIT = 176 * 1024;

  private static final DatabaseOptions OPTIONS =
      DatabaseOptions.defaults()
          .withPoolBytes(64L << 20)
          .withMaxRecoveryPages(1 << 20) // the log is what is scarce
          .withLogSegmentBytes(SEGMENT)
          .withMaxRecoveryLog(RECOVERY)
          .withMaxLogSize(SMALLEST)
          .withDurability(Durability.LAZY);

  @Test
  void a_log_size_that_recovery_could_exceed_is_refused() {
    IllegalArgumentException told =
        assertThrows(IllegalArgumentException.class, () -> OPTIONS.withMaxLogSize(SMALLEST - 1));
    assertTrue(told.getMessage().contains(String.valueOf(SMALLEST)), told.getMessage());
    assertEquals(SMALLEST, ApiAccess.api().logBytes(OPTIONS.withMaxLogSize(SMALLEST), SEGMENT));
  }

  @Test
  void the_log_size_is_twice_what_recovery_may_read_unless_said_otherwise() {
    assertEquals(
        2 * RECOVERY,
        ApiAccess.api().logBytes(OPTIONS.withMaxLogSize(0).withMaxRecoveryLog(RECOVERY), SEGMENT));
    assertEquals(512L << 20, ApiAccess.api().logBytes(DatabaseOptions.defaults(), 4 << 20));
  }

  /** Sampled before each change of the disk, in four lives that end by a kill. */
  @Tag("slow")
  @Test
  void R17_the_log_directory_is_never_larger_than_it_may_be() throws InterruptedException {
    long seed = Long.getLong("log.seed", System.nanoTime());
    System.out.println("LogBoundTest -Dlog.seed=" + seed);
    AtomicLong most = new AtomicLong();
    CrashDisk disk = new CrashDisk();
    for (int life = 0; life < 4; life++) {
      CrashDisk current = disk;
      current.observe(() -> most.accumulateAndGet(files(current), Math::max));
      try (Database database = Database.open(current.path("/db"), OPTIONS)) {
        Table table = database.getOrCreateTable("t");
        List<Thread> writers = new ArrayList<>();
        for (int writer = 0; writer < 4; writer++) {
          Random random = new Random(seed + life * 4L + writer);
          writers.add(
              Thread.ofVirtual()
                  .start(() -> {
                    // Until the log was in need of room.
                    for (int i = 0; i < 250 || most.get() * SEGMENT <= RECOVERY; i++) {
                      database.run(tx -> {
                        byte[] key = ("key" + random.nextInt(2000)).getBytes();
                        tx.put(table, key, new byte[random.nextInt(20_000)]);
                      });
                    }
                  }));
        }
        for (Thread writer : writers) {
          writer.join();
        }
        database.sync();
        disk = current.afterKill();
      }
    }
    assertTrue(most.get() * SEGMENT <= SMALLEST, "files: " + most + ", log.seed=" + seed);
  }

  /**
   * The slowest checkpoint there is, one that never ends: writers then come up to the bound and no
   * further. All of them wait for credit at last, nothing is granted, and what is in use lacks less
   * than one credit of the bound.
   */
  @Test
  void R17_writers_come_to_the_bound_of_the_log_and_no_further(@TempDir Path directory)
      throws InterruptedException {
    FaultyFileSystem files = new FaultyFileSystem();
    CountDownLatch ends = new CountDownLatch(1);
    AtomicLong most = new AtomicLong();
    Path log = directory.resolve("db").resolve("log");
    DatabaseOptions options = OPTIONS.withPoolBytes(32L << 20); // nothing has to be evicted
    try (Database database = Database.open(files.wrap(directory.resolve("db")), options)) {
      Table table = database.getOrCreateTable("t");
      database.run(tx -> tx.put(table, "key".getBytes(), new byte[100]));
      database.cleanNow();
      database.checkpoint();
      files.gate(event -> {
        if (event.is(IoEvent.Kind.WRITE, "revenant.dw")) {
          awaitUninterruptibly(ends); // pages are not written, so the redo point stands still
        }
        most.accumulateAndGet(count(log), Math::max);
      });
      AtomicBoolean enough = new AtomicBoolean();
      List<Thread> writers = new ArrayList<>();
      for (int writer = 0; writer < 3; writer++) {
        int number = writer;
        writers.add(
            Thread.ofPlatform()
                .start(() -> {
                  for (int i = 0; !enough.get(); i++) {
                    byte[] key = ("key" + number + " " + i % 100).getBytes();
                    database.run(tx -> tx.put(table, key, new byte[1_000]));
                  }
                }));
      }
      long used = 0;
      try {
        while (used <= BOUND - LARGEST_CREDIT
            || !writers.stream().allMatch(LogBoundTest::waitsForLog)) {
          used = used(database); // for ever, if they stop before
        }
        used = used(database);
      } finally {
        enough.set(true); // also where that throws, or the close waits for ever
        ends.countDown();
      }
      for (Thread writer : writers) {
        writer.join();
      }
      assertTrue(used <= BOUND, "log in use: " + used + " of " + BOUND);
      assertTrue(most.get() * SEGMENT <= SMALLEST, "files: " + most);
      assertTrue(most.get() * SEGMENT >= used, "files: " + most);
    }
  }

  private static long used(Database database) {
    DatabaseStatistics now = database.statistics();
    return now.files().logTail() - now.files().redoPoint();
  }

  private static boolean waitsForLog(Thread writer) {
    StackTraceElement[] stack = writer.getStackTrace();
    return Arrays.stream(stack).anyMatch(frame -> frame.getClassName().endsWith(".LsnWaiters"))
        && Arrays.stream(stack).anyMatch(frame -> frame.getClassName().endsWith(".LogSpace"));
  }

  private static long count(Path directory) {
    String @Nullable [] names = directory.toFile().list();
    return names == null ? 0 : names.length;
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException nobodyInterruptsThreadsOfTheEngine) {
      throw new AssertionError(nobodyInterruptsThreadsOfTheEngine);
    }
  }

  private static long files(CrashDisk disk) {
    return disk.files().stream().filter(name -> name.startsWith("/db/log/")).count();
  }
}
