package org.revenantdb.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.revenantdb.recovery.log.LogOptions;
import org.revenantdb.recovery.testing.CrashDisk;

/** R17: how large the log directory may be. */
@Timeout(300)
class LogBoundTest {
  private static final int SEGMENT = 1 << 20;
  private static final long RECOVERY = 4L * SEGMENT;
  private static final long SMALLEST = LogOptions.smallestLogSize(RECOVERY, SEGMENT);

  private static final DatabaseOptions OPTIONS =
      DatabaseOptions.defaults()
          .withPoolBytes(4L << 20)
          .withLogSegmentBytes(SEGMENT)
          .withMaxRecoveryLog(RECOVERY)
          .withMaxLogSize(SMALLEST)
          .withDurability(Durability.LAZY);

  @Test
  void a_log_size_that_recovery_could_exceed_is_refused() {
    IllegalArgumentException told =
        assertThrows(IllegalArgumentException.class, () -> OPTIONS.withMaxLogSize(SMALLEST - 1));
    assertTrue(told.getMessage().contains(String.valueOf(SMALLEST)), told.getMessage());
    assertEquals(SMALLEST, OPTIONS.withMaxLogSize(SMALLEST).logBytes(SEGMENT));
  }

  @Test
  void the_log_size_is_twice_what_recovery_may_read_unless_said_otherwise() {
    assertEquals(
        2 * RECOVERY, OPTIONS.withMaxLogSize(0).withMaxRecoveryLog(RECOVERY).logBytes(SEGMENT));
    assertEquals(256L << 20, DatabaseOptions.defaults().logBytes(4 << 20));
  }

  /** Sampled before each change of the disk, in four lives that end by a kill. */
  @Tag("slow")
  @Test
  void R17_the_log_directory_is_never_larger_than_it_may_be() throws InterruptedException {
    long seed = Long.getLong("log.seed", System.nanoTime());
    AtomicLong most = new AtomicLong();
    CrashDisk disk = new CrashDisk();
    for (int life = 0; life < 4; life++) {
      CrashDisk current = disk;
      current.observe(() -> most.accumulateAndGet(files(current), Math::max));
      try (Database database = Database.open(current.path("/db"), OPTIONS)) {
        Table table = database.table("t");
        List<Thread> writers = new ArrayList<>();
        for (int writer = 0; writer < 4; writer++) {
          Random random = new Random(seed + life * 4L + writer);
          writers.add(
              Thread.ofVirtual()
                  .start(() -> {
                    for (int i = 0; i < 250; i++) {
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
    assertTrue(most.get() * SEGMENT > RECOVERY, "the log was in need of room: " + most);
  }

  private static long files(CrashDisk disk) {
    return disk.files().stream().filter(name -> name.startsWith("/db/log/")).count();
  }
}
