package org.revenantdb.engine.session;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.testing.Refusals.assertRefused;
import static org.revenantdb.engine.testing.Samples.SMALL;
import static org.revenantdb.engine.testing.Samples.bytes;
import static org.revenantdb.engine.testing.Samples.get;
import static org.revenantdb.engine.testing.Samples.keys;
import static org.revenantdb.engine.testing.Samples.put;
import static org.revenantdb.engine.testing.Samples.random;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.CheckReport;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseClosedException;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.LeakedTransaction;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionStateException;
import org.revenantdb.engine.access.ApiAccess;
import org.revenantdb.engine.testing.Samples;
import org.revenantdb.recovery.testing.Await;
import org.revenantdb.recovery.testing.FaultyFileSystem;
import org.revenantdb.recovery.testing.IoEvent;

/** Interrupts, hand-overs, use by two, leaks, closing under way, very many sessions. */
@Tag("stress")
class ThreadsTest {
  @TempDir private Path folder;

  private Path directory() {
    return folder.resolve("db");
  }

  private static <T> FutureTask<T> start(Callable<T> work) {
    FutureTask<T> task = new FutureTask<>(work);
    Thread.ofPlatform().daemon().start(task);
    return task;
  }

  // ------------------------------------------------------------------------------ interrupts

  @Test
  void interrupted_caller_worksAndStaysInterrupted() throws IOException {
    byte[] large = random(1, 400_000);
    Thread.currentThread().interrupt();
    try {
      Database db = Samples.open(directory());
      assertTrue(Thread.currentThread().isInterrupted(), "after open");
      Table table = db.getOrCreateTable("t");
      assertTrue(Thread.currentThread().isInterrupted(), "after table");
      Transaction tx = db.begin();
      tx.put(table, bytes("k"), bytes("v"));
      tx.put(table, bytes("l"), large);
      tx.put(table, bytes("s"), new ByteArrayInputStream(large));
      assertTrue(Thread.currentThread().isInterrupted(), "after put");
      tx.commit();
      assertTrue(Thread.currentThread().isInterrupted(), "after commit");
      db.checkpoint();
      db.cleanNow();
      assertTrue(Thread.currentThread().isInterrupted(), "after checkpoint");
      assertTrue(db.check().isSound());
      db.close();
      assertTrue(Thread.currentThread().isInterrupted(), "after close");
      db = Samples.open(directory());
      try (Transaction reader = db.begin()) {
        Table again = db.getOrCreateTable("t");
        assertArrayEquals(bytes("v"), reader.get(again, bytes("k")));
        assertArrayEquals(large, reader.get(again, bytes("l")));
        assertArrayEquals(large, reader.open(again, bytes("s")).readAllBytes());
        assertEquals(List.of("k", "l", "s"), keys(reader.scan(again, null, null)));
        assertTrue(Thread.currentThread().isInterrupted(), "after get");
      }
      assertTrue(db.recoveryReport().clean());
      db.close();
    } finally {
      assertTrue(Thread.interrupted());
    }
  }

  /**
   * Interrupts a caller while the engine is inside a call on a file, which is held until the
   * interrupt has been sent.
   */
  private void interruptedDuring(
      IoEvent.Kind kind, String file, FaultyFileSystem faulty, Callable<Void> work)
      throws Exception {
    CountDownLatch inside = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    faulty.hook(event -> {
      if (event.kind() == kind && event.file().toString().contains(file)) {
        inside.countDown();
        try {
          goOn.await();
        } catch (InterruptedException e) {
          throw new AssertionError("a thread of the engine was interrupted", e);
        }
      }
    });
    AtomicReference<Boolean> kept = new AtomicReference<>();
    FutureTask<Void> task =
        new FutureTask<>(() -> {
          work.call();
          kept.set(Thread.currentThread().isInterrupted());
          return null;
        });
    Thread caller = Thread.ofPlatform().daemon().start(task);
    inside.await();
    caller.interrupt();
    goOn.countDown();
    task.get();
    faulty.hook(event -> {});
    assertEquals(Boolean.TRUE, kept.get(), "interrupt status is kept");
  }

  @Test
  void interrupt_duringOpenCommitReadAndClose_disturbsNothing() throws Exception {
    FaultyFileSystem faulty = new FaultyFileSystem();
    Path directory = faulty.wrap(directory());
    AtomicReference<Database> open = new AtomicReference<>();
    interruptedDuring(
        IoEvent.Kind.FORCE,
        "log",
        faulty,
        () -> {
          open.set(Database.open(directory, SMALL));
          return null;
        });
    Table table = open.get().getOrCreateTable("t");
    interruptedDuring(
        IoEvent.Kind.FORCE,
        ".log",
        faulty,
        () -> {
          open.get().run(tx -> tx.put(table, bytes("k"), random(3, 100_000)));
          return null;
        });
    interruptedDuring(
        IoEvent.Kind.WRITE,
        "revenant.dw",
        faulty,
        () -> {
          open.get().checkpoint();
          return null;
        });
    interruptedDuring(
        IoEvent.Kind.FORCE,
        "revenant.data",
        faulty,
        () -> {
          open.get().run(tx -> tx.put(table, bytes("l"), random(4, 100_000)));
          open.get().close();
          return null;
        });
    open.set(Database.open(directory, SMALL));
    assertTrue(open.get().recoveryReport().clean());
    Table again = open.get().getOrCreateTable("t");
    interruptedDuring(
        IoEvent.Kind.READ,
        "revenant.data",
        faulty,
        () -> {
          open.get().run(tx -> assertArrayEquals(random(3, 100_000), tx.get(again, bytes("k"))));
          return null;
        });
    open.get().run(tx -> assertArrayEquals(random(4, 100_000), tx.get(again, bytes("l"))));
    open.get().close();
  }

  @Test
  void run_ofAnInterruptedThread_givesUpAtTheFirstConflict() {
    try (Database db = Samples.open(directory());
        Transaction holder = db.begin()) {
      Table table = db.getOrCreateTable("t");
      holder.put(table, bytes("k"), bytes("held"));
      AtomicInteger attempts = new AtomicInteger();
      Thread.currentThread().interrupt();
      assertThrows(
          ConflictException.class,
          () ->
              db.run(tx -> {
                attempts.incrementAndGet();
                tx.put(table, bytes("k"), bytes("v"));
              }));
      assertTrue(Thread.interrupted());
      assertEquals(1, attempts.get());
    }
  }

  // ------------------------------------------------------------------------------- hand-over

  @Test
  void transaction_handedToAnotherThread_works() throws Exception {
    try (Database db = Samples.open(directory())) {
      Table table = db.getOrCreateTable("t");
      Transaction tx = db.begin();
      tx.put(table, bytes("a"), bytes("1"));
      Cursor cursor = tx.scan(table, null, null);
      start(
              () -> {
                tx.put(table, bytes("b"), bytes("2"));
                assertTrue(cursor.next());
                return null;
              })
          .get();
      assertTrue(cursor.next());
      start(
              () -> {
                tx.commit();
                return null;
              })
          .get();
      assertEquals("1", get(db, "t", "a"));
      assertEquals("2", get(db, "t", "b"));
    }
  }

  @Test
  void transaction_usedByTwoAtOnce_refusesTheSecond() throws Exception {
    try (Database db = Samples.open(directory())) {
      put(db, "t", "k", "v");
      CountDownLatch inside = new CountDownLatch(1);
      CountDownLatch goOn = new CountDownLatch(1);
      Table table = db.getOrCreateTable("t");
      Transaction tx = db.begin();
      FutureTask<String> first =
          start(() ->
              ApiAccess.api()
                  .inside(
                      tx,
                      () -> {
                        inside.countDown();
                        try {
                          goOn.await();
                        } catch (InterruptedException e) {
                          throw new AssertionError(e);
                        }
                        return "done";
                      }));
      inside.await();
      List<Runnable> uses =
          List.of(
              () -> tx.get(table, bytes("k")),
              () -> tx.put(table, bytes("k"), bytes("w")),
              () -> tx.delete(table, bytes("k")),
              tx::commit,
              tx::rollback,
              tx::close,
              () -> tx.scan(table, null, null).next());
      for (Runnable use : uses) {
        TransactionStateException refused =
            assertRefused(
                TransactionStateException.Reason.IN_USE, use::run, "use " + uses.indexOf(use));
        assertTrue(refused.getMessage().contains("two threads"), refused.getMessage());
      }
      goOn.countDown();
      assertEquals("done", first.get());
      tx.put(table, bytes("k"), bytes("w"));
      tx.commit();
      assertEquals("w", get(db, "t", "k"));
    }
  }

  @Test
  void transaction_mayBeUsedByAnother_whileAStreamIsRead() throws Exception {
    try (Database db = Samples.open(directory());
        Transaction tx = db.begin()) {
      Table table = db.getOrCreateTable("t");
      CountDownLatch reading = new CountDownLatch(1);
      CountDownLatch goOn = new CountDownLatch(1);
      InputStream blocking =
          new InputStream() {
            private int left = 300_000;

            @Override
            public int read() throws IOException {
              if (left == 150_000) {
                reading.countDown();
                try {
                  goOn.await();
                } catch (InterruptedException e) {
                  throw new IOException(e);
                }
              }
              return left-- > 0 ? 7 : -1;
            }
          };
      FutureTask<Void> putting =
          start(() -> {
            tx.put(table, bytes("streamed"), blocking);
            return null;
          });
      reading.await();
      tx.put(table, bytes("between"), bytes("v"));
      assertFalse(tx.exists(table, bytes("streamed")));
      goOn.countDown();
      putting.get();
      byte[] expected = new byte[300_000];
      Arrays.fill(expected, (byte) 7);
      assertArrayEquals(expected, tx.get(table, bytes("streamed")));
      tx.commit();
    }
  }

  // ---------------------------------------------------------------------------------- leaks

  @Test
  void leakedTransaction_isReportedWithoutAStackUnlessThatIsWanted() throws Exception {
    ConcurrentLinkedQueue<LeakedTransaction> leaks = new ConcurrentLinkedQueue<>();
    try (Database db = Database.open(directory(), SMALL.withLeakListener(leaks::add))) {
      forgetATransaction(db, db.getOrCreateTable("t"));
      awaitGarbage(leaks);
      assertNull(leaks.remove().begun());
    }
  }

  @Test
  void leakedTransaction_isRolledBack_andReportedWithTheStackThatBeganIt() throws Exception {
    ConcurrentLinkedQueue<LeakedTransaction> leaks = new ConcurrentLinkedQueue<>();
    try (Database db =
        Database.open(directory(), SMALL.withLeakListener(leaks::add).withLeakTraces(true))) {
      Table table = db.getOrCreateTable("t");
      forgetATransaction(db, table);
      awaitGarbage(leaks);
      LeakedTransaction leak = leaks.remove();
      assertTrue(leak.transactionId() > 0);
      assertTrue(
          Arrays.stream(leak.begun().getStackTrace())
              .anyMatch(frame -> frame.getMethodName().equals("forgetATransaction")),
          () -> Arrays.toString(leak.begun().getStackTrace()));
      assertNull(get(db, "t", "k"));
      put(db, "t", "k", "free again");
      assertEquals("free again", get(db, "t", "k"));
      try (Transaction ended = db.begin()) {
        ended.put(table, bytes("k"), bytes("x"));
      }
      assertTrue(leaks.isEmpty());
    }
  }

  private static void forgetATransaction(Database db, Table table) {
    db.begin().put(table, bytes("k"), bytes("v"));
  }

  /**
   * Garbage collections until something is reported, however long the threads of the runtime take
   * to come to it; there is no other way to make it happen. If nothing is, it is a hang.
   */
  private static void awaitGarbage(ConcurrentLinkedQueue<LeakedTransaction> leaks)
      throws InterruptedException {
    while (leaks.isEmpty()) {
      System.gc();
      Thread.sleep(10);
    }
  }

  @Test
  void leakedReader_isReported_andHoldsNothingBack() throws Exception {
    ConcurrentLinkedQueue<LeakedTransaction> leaks = new ConcurrentLinkedQueue<>();
    try (Database db = Database.open(directory(), SMALL.withLeakListener(leaks::add))) {
      put(db, "t", "k", "0");
      forgetAReader(db);
      for (int i = 0; i < 5; i++) {
        put(db, "t", "k", "" + i);
      }
      awaitGarbage(leaks);
      assertEquals(0, leaks.remove().transactionId());
      db.cleanNow();
      assertEquals(0, db.check().pagesToClean(), "no snapshot needs a former version");
    }
  }

  private static void forgetAReader(Database db) {
    assertNotNull(db.begin().get(db.getOrCreateTable("t"), bytes("k")));
  }

  @Test
  void leakListener_thatThrows_doesNoHarm() throws Exception {
    ConcurrentLinkedQueue<LeakedTransaction> leaks = new ConcurrentLinkedQueue<>();
    DatabaseOptions options =
        SMALL.withLeakListener(leak -> {
          leaks.add(leak);
          throw new IllegalStateException("listener");
        });
    try (Database db = Database.open(directory(), options)) {
      Table table = db.getOrCreateTable("t");
      for (int i = 0; i < 2; i++) {
        forgetATransaction(db, table);
        awaitGarbage(leaks);
        leaks.clear();
        put(db, "t", "k", "v");
      }
    }
  }

  // ---------------------------------------------------------------------------------- close

  @Test
  void close_waitsForWhoIsInside_andRollsBackWhatIsOpen() throws Exception {
    Database db = Samples.open(directory());
    put(db, "t", "k", "v");
    Table table = db.getOrCreateTable("t");
    Transaction open = db.begin();
    open.put(table, bytes("open"), bytes("v"));
    Transaction tx = db.begin();
    CountDownLatch inside = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    // Somebody inside, held until the closing has begun.
    FutureTask<Object> insider =
        start(() ->
            ApiAccess.api()
                .inside(
                    tx,
                    () -> {
                      inside.countDown();
                      try {
                        goOn.await();
                      } catch (InterruptedException e) {
                        throw new AssertionError(e);
                      }
                      return "done";
                    }));
    inside.await();
    FutureTask<Void> closing =
        start(() -> {
          db.close();
          return null;
        });
    // The gate shuts at once for others ...
    while (true) {
      try (Transaction late = db.begin()) {
        Await.pause();
      } catch (DatabaseClosedException e) {
        break;
      }
    }
    assertFalse(closing.isDone());
    // ... and close ends when the last one has left.
    goOn.countDown();
    assertEquals("done", insider.get());
    closing.get();
    assertThrows(DatabaseClosedException.class, open::commit);
    assertThrows(DatabaseClosedException.class, () -> tx.get(table, bytes("k")));
    try (Database again = Samples.open(directory())) {
      assertTrue(again.recoveryReport().clean());
      assertEquals("v", get(again, "t", "k"));
      assertNull(get(again, "t", "open"));
      assertTrue(again.check().isSound());
    }
  }

  @Test
  void close_underLoad_losesNothingThatWasAcknowledged() throws Exception {
    Set<String> acknowledged = ConcurrentHashMap.newKeySet();
    for (int round = 0; round < 5; round++) {
      Database db = Samples.open(directory());
      Table table = db.getOrCreateTable("t");
      CountDownLatch underWay = new CountDownLatch(40);
      List<FutureTask<Void>> sessions = new ArrayList<>();
      for (int s = 0; s < 6; s++) {
        String session = round + "." + s;
        sessions.add(
            start(() -> {
              for (int i = 0; ; i++) {
                String key = session + "." + i;
                try {
                  db.run(tx -> {
                    tx.put(table, bytes(key), random(1, 50));
                    if (key.hashCode() % 10 == 0) {
                      tx.put(table, bytes(key + "large"), random(2, 40_000));
                    }
                  });
                } catch (DatabaseClosedException e) {
                  return null;
                }
                acknowledged.add(key);
                underWay.countDown();
              }
            }));
      }
      underWay.await();
      List<FutureTask<Void>> closers = new ArrayList<>();
      for (int c = 0; c < 2; c++) {
        closers.add(
            start(() -> {
              db.close();
              return null;
            }));
      }
      for (FutureTask<Void> closer : closers) {
        closer.get();
      }
      for (FutureTask<Void> session : sessions) {
        session.get();
      }
    }
    try (Database db = Samples.open(directory());
        Transaction tx = db.begin()) {
      assertTrue(db.recoveryReport().clean());
      Table table = db.getOrCreateTable("t");
      for (String key : acknowledged) {
        assertTrue(tx.exists(table, bytes(key)), key);
      }
      assertTrue(db.check().isSound());
    }
  }

  @Test
  void close_during_check_and_two_checks_at_once_wait_for_each_other() throws Exception {
    for (int round = 0; round < 10; round++) {
      Database db = Samples.open(directory());
      put(db, "t", "k" + round, "v");
      db.run(tx -> tx.put(db.getOrCreateTable("t"), bytes("l"), random(1, 300_000)));
      List<FutureTask<Void>> checks = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        checks.add(
            start(() -> {
              try {
                CheckReport report = db.check();
                assertTrue(report.isSound(), report.toString());
              } catch (DatabaseClosedException e) {
                // closed first
              }
              return null;
            }));
      }
      FutureTask<Void> writing =
          start(() -> {
            try {
              for (int i = 0; i < 20; i++) {
                db.run(tx -> tx.put(db.getOrCreateTable("t"), bytes("m"), random(2, 30_000)));
              }
            } catch (DatabaseClosedException e) {
              // closed first
            }
            return null;
          });
      db.close();
      for (FutureTask<Void> check : checks) {
        check.get();
      }
      writing.get();
    }
  }

  // ------------------------------------------------------------------------- very many sessions

  @Test
  void virtualThreads_athousandSessions() throws Exception {
    try (Database db = Samples.open(directory())) {
      Table table = db.getOrCreateTable("t");
      List<Thread> threads = new ArrayList<>();
      ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
      CountDownLatch allOpen = new CountDownLatch(1_000);
      for (int i = 0; i < 1_000; i++) {
        int n = i;
        threads.add(
            Thread.ofVirtual()
                .uncaughtExceptionHandler((t, e) -> failures.add(e))
                .start(() -> {
                  try (Transaction tx = db.begin()) {
                    allOpen.countDown();
                    allOpen.await(); // a thousand transactions are open now
                    tx.put(table, bytes("k%04d".formatted(n)), random(n, n));
                    tx.commit();
                  } catch (InterruptedException e) {
                    throw new AssertionError(e);
                  }
                  // All count up the same few rows.
                  byte[] counter = bytes("counter" + n % 10);
                  db.run(tx -> {
                    byte[] old = tx.get(table, counter);
                    tx.put(table, counter, new byte[old == null ? 1 : old.length + 1]);
                  });
                }));
      }
      for (Thread thread : threads) {
        thread.join();
      }
      assertEquals(List.of(), List.copyOf(failures));
      try (Transaction tx = db.begin()) {
        for (int n = 0; n < 1_000; n++) {
          assertArrayEquals(random(n, n), tx.get(table, bytes("k%04d".formatted(n))));
        }
        for (int n = 0; n < 10; n++) {
          assertEquals(100, tx.get(table, bytes("counter" + n)).length);
        }
      }
      assertTrue(db.check().isSound());
    }
  }
}
