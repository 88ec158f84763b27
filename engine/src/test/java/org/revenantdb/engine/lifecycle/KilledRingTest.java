package org.revenantdb.engine.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.testing.OtherProcess;
import org.revenantdb.engine.testing.Samples;
import org.revenantdb.recovery.testing.Await;
import org.revenantdb.testing.Drawn;

/**
 * A killed process loses no lazy commit that has returned (protocols.md §46). Issue 32: of 60,077
 * rows that were committed lazily and acknowledged before a SIGKILL, 471 were lost.
 *
 * <p>The ledger of what was acknowledged is a mapped file as well, so it survives in the same way.
 *
 * <p>2 kills; under {@code -Plong} 100. {@code -Drevenant.rounds=n} sets another number, {@code
 * -Drevenant.seed=n} repeats a run.
 */
@Tag("slow")
class KilledRingTest {
  private static final int THREADS = 4;
  private static final int MOST = 40_000;
  private static final int ROUNDS =
      Integer.getInteger("revenant.rounds", Boolean.getBoolean("revenant.long") ? 100 : 2);
  private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

  @TempDir private Path folder;

  /** Nothing but a full ring makes the log write: so most of a ring is in no segment. */
  private static final DatabaseOptions OPTIONS =
      Samples.SMALL
          .withDurability(Durability.LAZY)
          .withMaxLazyDelay(DatabaseOptions.NEVER)
          .withMaxRecoveryLog(32L << 20);

  /** Commits rows lazily, each thread its own, and enters each in the ledger when it returned. */
  public static final class Writers {
    public static void main(String[] arguments) throws IOException {
      Database db = Database.open(Path.of(arguments[0]), OPTIONS);
      int threads = Integer.parseInt(arguments[2]);
      Table table = db.getOrCreateTable("t");
      MemorySegment ledger = ledger(Path.of(arguments[1]));
      for (int t = 0; t < threads; t++) {
        int thread = t;
        Thread.ofPlatform().start(() -> write(db, table, thread, ledger));
      }
    }

    private static void write(Database db, Table table, int thread, MemorySegment ledger) {
      byte[] value = Samples.random(thread, 60);
      for (long i = 0; i < MOST; i++) {
        long row = i;
        db.run(tx -> tx.put(table, key(thread, row), value));
        LONG.setRelease(ledger, (long) thread * Long.BYTES, i + 1);
      }
    }
  }

  private static byte[] key(int thread, long row) {
    return Samples.bytes("%d-%08d".formatted(thread, row));
  }

  private static MemorySegment ledger(Path file) throws IOException {
    try (FileChannel channel =
        FileChannel.open(
            file, StandardOpenOption.READ, StandardOpenOption.WRITE, StandardOpenOption.CREATE)) {
      return channel.map(
          FileChannel.MapMode.READ_WRITE, 0, (long) THREADS * Long.BYTES, Arena.ofAuto());
    }
  }

  private static long acknowledged(MemorySegment ledger, int thread) {
    return (long) LONG.getAcquire(ledger, (long) thread * Long.BYTES);
  }

  private static long acknowledged(MemorySegment ledger) {
    long sum = 0;
    for (int t = 0; t < THREADS; t++) {
      sum += acknowledged(ledger, t);
    }
    return sum;
  }

  /**
   * One process, killed once so many commits have returned.
   *
   * @return how many had returned, and how many of them are not there
   */
  private long[] kill(int round, int threads, long commits) throws Exception {
    Path directory = folder.resolve("db" + round);
    Path file = folder.resolve("ledger" + round);
    MemorySegment ledger = ledger(file);
    try (OtherProcess writers =
        OtherProcess.start(
            Writers.class, directory.toString(), file.toString(), Integer.toString(threads))) {
      while (acknowledged(ledger) < commits) {
        assertTrue(writers.isAlive(), "it commits until it is killed");
        Await.pause();
      }
      writers.kill();
    }
    long lost = 0;
    try (Database db = Database.open(directory, OPTIONS.withReadOnly(true))) {
      lost += lost(db, ledger);
    }
    try (Database db = Database.open(directory, OPTIONS)) {
      lost = Math.max(lost, lost(db, ledger));
      assertEquals(List.of(), db.check().problems());
    }
    try (Database db = Database.open(directory, OPTIONS.withReadOnly(true))) {
      lost = Math.max(lost, lost(db, ledger));
    }
    return new long[] {acknowledged(ledger), lost};
  }

  private static long lost(Database db, MemorySegment ledger) {
    Table table = db.findTable("t");
    long lost = 0;
    for (int t = 0; t < THREADS; t++) {
      int thread = t;
      long[] missing = {0};
      db.run(tx -> {
        for (long row = 0; row < acknowledged(ledger, thread); row++) {
          missing[0] += table == null || tx.get(table, key(thread, row)) == null ? 1 : 0;
        }
      });
      lost += missing[0];
    }
    return lost;
  }

  @Test
  @Drawn(oneIn = 2)
  void killed_processes_lose_no_lazy_commit_that_has_returned() throws Exception {
    long seed = Long.getLong("revenant.seed", System.nanoTime());
    System.out.println("KilledRingTest -Drevenant.seed=" + seed + " -Drevenant.rounds=" + ROUNDS);
    Random random = new Random(seed);
    List<String> losses = new ArrayList<>();
    long acknowledged = 0;
    for (int round = 0; round < ROUNDS; round++) {
      int threads = round % 2 == 0 ? 1 : THREADS;
      long[] result = kill(round, threads, random.nextLong(100, 20_000));
      acknowledged += result[0];
      if (result[1] != 0) {
        losses.add("kill " + round + ": " + result[1] + " of " + result[0]);
      }
    }
    assertEquals(List.of(), losses, "seed " + seed);
    System.out.println(ROUNDS + " kills, " + acknowledged + " lazy commits acknowledged, 0 lost");
  }
}
