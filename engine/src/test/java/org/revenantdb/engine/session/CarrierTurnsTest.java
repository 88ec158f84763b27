package org.revenantdb.engine.session;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.Isolation;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.engine.testing.OtherProcess;
import org.revenantdb.engine.testing.Samples;

/**
 * A virtual thread that works in the database without ever waiting does not keep the only carrier
 * from one that was woken in the engine: that may have been handed a latch for which all others
 * wait.
 */
@Tag("stress")
class CarrierTurnsTest {
  @TempDir private Path folder;

  @Test
  void a_virtual_thread_that_never_waits_lets_one_that_was_woken_have_the_only_carrier()
      throws Exception {
    try (OtherProcess other =
        OtherProcess.start(
            OneCarrier.class,
            List.of(
                "-Djdk.virtualThreadScheduler.parallelism=1",
                "-Djdk.virtualThreadScheduler.maxPoolSize=1"),
            ProcessBuilder.Redirect.INHERIT,
            folder.resolve("db").toString())) {
      for (String work : OneCarrier.KINDS) {
        assertEquals(work, other.readLine());
      }
      assertEquals(0, other.waitFor());
    }
  }

  /**
   * Another process: for each kind of work one thread that does nothing else, and one behind it.
   */
  static final class OneCarrier {
    static final List<String> KINDS = List.of("begin", "count", "get", "put", "scan");

    private OneCarrier() {}

    public static void main(String[] arguments) throws Exception {
      // No put waits for the disk, or for room.
      DatabaseOptions options =
          DatabaseOptions.defaults()
              .withDurability(Durability.LAZY)
              .withMaxLazyDelay(DatabaseOptions.NEVER);
      try (Database db = Database.open(Path.of(arguments[0]), options)) {
        Table table = db.getOrCreateTable("t");
        byte[] key = Samples.bytes("k");
        db.run(tx -> tx.put(table, key, key));
        Map<String, Runnable> kinds =
            new TreeMap<>(
                Map.of(
                    "begin",
                    () -> db.begin().close(),
                    "count",
                    () -> db.run(tx -> tx.count(table, null, null)),
                    "get",
                    () -> db.run(tx -> tx.get(table, key)),
                    "put",
                    () -> db.run(tx -> tx.put(table, key, key)),
                    "scan",
                    () -> scan(db, table)));
        for (Map.Entry<String, Runnable> kind : kinds.entrySet()) {
          goesOn(db, table, kind.getValue(), /* interrupted= */ false);
          goesOn(db, table, kind.getValue(), /* interrupted= */ true);
          System.out.println(kind.getKey());
        }
      }
    }

    private static void scan(Database db, Table table) {
      try (Transaction tx = db.begin();
          Cursor cursor = tx.scan(table, null, null)) {
        while (cursor.next()) {
          cursor.key();
        }
      }
    }

    /** One thread works until another, which has waited for a row, has got it. */
    private static void goesOn(Database db, Table table, Runnable work, boolean interrupted)
        throws InterruptedException {
      AtomicBoolean begun = new AtomicBoolean();
      AtomicBoolean ended = new AtomicBoolean();
      byte[] row = Samples.bytes("row");
      Transaction holder = db.begin();
      holder.put(table, row, row);
      Thread waiter =
          Thread.ofVirtual()
              .start(() -> {
                TransactionOptions patient =
                    TransactionOptions.lazy()
                        .withIsolation(Isolation.READ_COMMITTED)
                        .withLockTimeout(Duration.ofDays(1));
                db.run(patient, tx -> tx.put(table, row, row));
                ended.set(true);
              });
      awaitParked(waiter);
      Thread busy =
          Thread.ofVirtual()
              .start(() -> {
                if (interrupted) {
                  Thread.currentThread().interrupt();
                }
                while (!ended.get()) {
                  work.run();
                  begun.set(true);
                }
              });
      while (!begun.get()) {
        Thread.yield();
      }
      holder.commit();
      busy.join();
      waiter.join();
    }

    private static void awaitParked(Thread thread) {
      while (!Set.of(Thread.State.WAITING, Thread.State.TIMED_WAITING)
          .contains(thread.getState())) {
        Thread.yield();
      }
    }
  }
}
